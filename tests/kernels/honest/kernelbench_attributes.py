"""A class whose constructor takes the attributes of an image's average pooling.

level: 0
op: torch.avg_pool-2
needs: torch
"""

import torch

CAPABILITIES = {
    "dtypes": ["f32"],
    "ranks": [4],
    "excluding": [
        {"when": "rounding_type == ceil", "reason": "ceil_mode is not supported"},
        {"when": "divisor_override != 0", "reason": "divisor_override is not supported"},
    ],
}


class ModelNew(torch.nn.Module):
    """Average pooling of images, by sums of shifted copies."""

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=(0, 0),
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        super().__init__()
        self.kernel, self.stride = list(kernel_size), list(stride or kernel_size)
        self.padding, self.counted = list(padding), count_include_pad
        numbers = [*self.kernel, *self.stride, *self.padding]
        if len(numbers) != 6 or min(*self.kernel, *self.stride) < 1 or min(self.padding) < 0:
            raise ValueError("two sizes, strides and paddings")
        if any(2 * pad > size for pad, size in zip(self.padding, self.kernel, strict=True)):
            raise ValueError("padding above half of the kernel")
        if ceil_mode not in (False, True) or count_include_pad not in (False, True):
            raise ValueError("a flag is true or false")

    def forward(self, x):
        """x: (N, C, H, W)."""
        if x.ndim != 4:
            raise ValueError("an image has two axes")
        (kh, kw), (sh, sw), (ph, pw) = self.kernel, self.stride, self.padding
        wide = torch.nn.functional.pad(x.to(torch.float64), (pw, pw, ph, ph))
        ones = torch.nn.functional.pad(torch.ones_like(x, dtype=torch.float64), (pw, pw, ph, ph))
        out_h = (wide.shape[2] - kh) // sh + 1
        out_w = (wide.shape[3] - kw) // sw + 1
        if min(out_h, out_w) < 1:
            raise ValueError("the window is larger than the padded image")
        total = torch.zeros(*x.shape[:2], out_h, out_w, dtype=torch.float64)
        taps = torch.zeros_like(total)
        for i in range(kh):
            for j in range(kw):
                rows = slice(i, i + sh * (out_h - 1) + 1, sh)
                columns = slice(j, j + sw * (out_w - 1) + 1, sw)
                total += wide[:, :, rows, columns]
                taps += ones[:, :, rows, columns]
        return (total / (kh * kw if self.counted else taps)).to(x.dtype)
