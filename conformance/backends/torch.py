"""PyTorch's pooling functions on the CPU.

Attributes become arguments one to one. Where PyTorch's single list of pads cannot say what is
asked and padding is counted anyway, the data is padded with zeros first. Windows, divisors and
indices are left to PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.errors import Unsupported

Array = NDArray[Any]
T = TypeVar("T")

BF16 = np.dtype(ml_dtypes.bfloat16)
INDEX_TYPES = {"i32": np.int32, "i64": np.int64}
CEIL = {"floor": False, "ceil": True}

# Pads that PyTorch's argument cannot express: one number an axis, at most half the kernel.
_PADDED_BY_HAND = "any(pad_begin != pad_end or pad_begin * 2 > kernel)"
_SYMMETRIC = "PyTorch pads both ends of an axis equally and by at most half the kernel"

CAPABILITIES = Capabilities(
    operators=("AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"),
    dtypes=("f16", "bf16", "f32", "f64"),
    ranks=(3, 4, 5),
    excluding=(
        Exclusion(
            op="AvgPool-1",
            when="axes == 3 and T in [f16, bf16]",
            reason="avg_pool3d has no kernel for half-precision types on the CPU",
        ),
        Exclusion(
            op="AvgPool-1",
            when="auto_pad not in [explicit, valid]",
            reason="PyTorch's pools know no automatic padding",
        ),
        Exclusion(
            op="AvgPool-1",
            when="rounding_type not in [floor, ceil]",
            reason="ceil_mode is true or false",
        ),
        Exclusion(
            op="AvgPool-1",
            when=f"exclude_pad and {_PADDED_BY_HAND}",
            reason=f"{_SYMMETRIC}; zeros added to the data would be counted",
        ),
        Exclusion(
            op="AvgPool-1",
            when=f"any(pad_begin < 0 or pad_end < 0) and {_PADDED_BY_HAND}",
            reason=f"{_SYMMETRIC}; negative padding of the data would crop it",
        ),
        Exclusion(
            op="AvgPool-1",
            when="rounding_type == ceil and "
            f"any(last_start >= where({_PADDED_BY_HAND}, padded_end, size))",
            reason="ceil_mode ignores windows that would start in the end padding or beyond",
        ),
        Exclusion(
            op="AdaptiveMaxPool-8",
            when="index_element_type not in [i32, i64]",
            reason="PyTorch's indices are int64, which may be narrowed to i32 without loss",
        ),
    ),
)


class Torch:
    """PyTorch's pooling functions on the CPU."""

    name = "torch"
    capabilities = CAPABILITIES

    def __init__(self) -> None:
        import torch

        self.version = str(torch.__version__)
        self._torch = torch

    def environment(self) -> dict[str, str]:
        """Build and threads, which a result may depend on."""
        torch = self._torch
        return {
            "device": f"CPU ({torch.backends.cpu.get_cpu_capability()})",
            "threads": str(torch.get_num_threads()),
            "mkldnn": "available" if torch.backends.mkldnn.is_available() else "not available",
        }

    def run(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> list[Array]:
        """Outputs of ``op``; what is invalid is refused by PyTorch itself (RuntimeError)."""
        data = self._to_torch(inputs[0])
        axes = data.dim() - 2
        if op == "AvgPool-1" and axes in (1, 2, 3):
            return [self._to_numpy(self._avg_pool(data, axes, attributes))]
        functional = self._torch.nn.functional
        if op == "AdaptiveAvgPool-8" and axes in (1, 2, 3):
            pool = getattr(functional, f"adaptive_avg_pool{axes}d")
            return [self._to_numpy(pool(data, inputs[1].tolist()))]
        if op == "AdaptiveMaxPool-8" and axes in (1, 2, 3):
            pool = getattr(functional, f"adaptive_max_pool{axes}d")
            values, indices = pool(data, inputs[1].tolist(), return_indices=True)
            index_type = said(INDEX_TYPES, attributes.get("index_element_type", "i64"))
            return [self._to_numpy(values), indices.numpy().astype(index_type)]
        raise Unsupported(f"{op} on data of rank {data.dim()}")

    def _avg_pool(self, data: Any, axes: int, attributes: Mapping[str, Any]) -> Any:
        if attributes.get("auto_pad", "explicit") not in ("explicit", "valid"):
            raise Unsupported(f"auto_pad {attributes['auto_pad']}")
        padding: list[int] = [0] * axes
        if attributes.get("auto_pad", "explicit") == "explicit":
            data, padding = self._pad(data, axes, attributes)
        return getattr(self._torch.nn.functional, f"avg_pool{axes}d")(
            data,
            attributes["kernel"],
            attributes["strides"],
            padding,
            ceil_mode=said(CEIL, attributes.get("rounding_type", "floor")),
            count_include_pad=not attributes["exclude-pad"],
        )

    def _pad(self, data: Any, axes: int, attributes: Mapping[str, Any]) -> tuple[Any, list[int]]:
        """The data and the argument ``padding`` that together pad as the attributes say."""
        begin, end = attributes["pads_begin"], attributes["pads_end"]
        for pads in (begin, end):
            if len(pads) != axes:
                return data, pads  # for PyTorch to refuse
        if begin == end and all(
            2 * pad <= k for pad, k in zip(begin, attributes["kernel"], strict=False)
        ):
            return data, begin
        if attributes["exclude-pad"] or min(begin + end) < 0:
            raise Unsupported(_SYMMETRIC)
        # PyTorch takes the pads in pairs, the last axis first.
        pairs = zip(reversed(begin), reversed(end), strict=True)
        padded = self._torch.nn.functional.pad(data, list(chain.from_iterable(pairs)))
        return padded, [0] * axes

    def _to_torch(self, array: Array) -> Any:
        # Neither library knows the other's bf16; its codes pass as int16.
        if array.dtype == BF16:
            return self._torch.from_numpy(array.view(np.int16)).view(self._torch.bfloat16)
        return self._torch.from_numpy(array)

    def _to_numpy(self, tensor: Any) -> Array:
        if tensor.dtype == self._torch.bfloat16:
            codes: Array = tensor.view(self._torch.int16).numpy()
            return codes.view(BF16)
        array: Array = tensor.numpy()
        return array


def said(words: Mapping[str, T], word: str) -> T:
    """What a word means to PyTorch; Unsupported for one that means nothing to it."""
    if word not in words:
        raise Unsupported(f"PyTorch has no '{word}'")
    return words[word]
