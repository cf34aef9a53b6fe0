"""A function of tensors whose name ends with _kernel_impl, as BackendBench has it.

level: 0
needs: torch
"""

import torch


def mean_kernel_impl(self):
    """The mean over all spatial axes."""
    if self.ndim < 3:
        raise ValueError("there are no spatial axes")
    flat = self.flatten(2).to(torch.float64)
    return flat.mean(2).to(self.dtype).reshape(*self.shape[:2], *[1] * (self.ndim - 2))
