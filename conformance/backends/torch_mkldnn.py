"""PyTorch's pooling functions on tensors in oneDNN's layout, which oneDNN's kernels pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.backends import torch_openvino
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.standalone_call import StandaloneCall
from conformance.backends.torch import THREADS, Torch
from conformance.dtypes import Array
from conformance.errors import Unsupported

# Pools with indices have no kernel for this layout.
OPERATORS = (
    "torch.avg_pool-2",
    "torch.adaptive_avg_pool-2",
    "AvgPool-1",
    "MaxPool-1",
    "AdaptiveAvgPool-8",
)

CAPABILITIES = Capabilities(
    operators=OPERATORS,
    # Whether oneDNN pools half-precision types depends on the processor.
    dtypes=("f32",),
    ranks=(4, 5),
    excluding=(
        Exclusion(
            op="torch.avg_pool-2",
            when="divisor_override != 0",
            reason="oneDNN's kernels take no divisor",
        ),
        *(
            Exclusion(op=op, when=when, reason=reason)
            for op in ("torch.adaptive_avg_pool-2", "AdaptiveAvgPool-8")
            for when, reason in (
                ("length(size) != 2", "adaptive_avg_pool3d has no kernel for oneDNN's layout"),
                (
                    "any(size % max(output_size, 1) != 0)",
                    "oneDNN's windows are all of one size, so the output has to divide the input",
                ),
            )
        ),
        *torch_openvino.EXCLUDING,
    ),
)


class TorchMkldnn(Torch):
    """PyTorch's pooling functions on the CPU, by oneDNN's kernels."""

    name = "torch-mkldnn"
    capabilities = CAPABILITIES
    options = (THREADS,)
    kernels = "onednn"

    def __init__(self, *, threads: int | None = None) -> None:
        super().__init__(threads=threads)
        # A build without oneDNN is found out here and not by each vector.
        self._warm_up()

    def call(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> StandaloneCall:
        """Return the call that computes ``op``.

        Raises:
            Unsupported: there is none.
        """
        if op not in OPERATORS:
            raise Unsupported(f"{op} has no kernel for oneDNN's layout")
        return super().call(op, inputs, attributes)
