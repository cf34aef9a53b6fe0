"""PyTorch's pooling functions on the CPU.

Attributes become arguments one to one. Where PyTorch's single list of pads cannot say what is
asked and padding is counted anyway, the data is padded with zeros first. Windows, divisors and
indices are left to PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
        call = _call(op, inputs, attributes)
        functional = self._torch.nn.functional
        data = self._to_torch(inputs[0])
        if call.pads:
            data = functional.pad(data, call.pads)
        result = getattr(functional, call.function)(data, *call.arguments, **call.keywords)
        if call.index_type is None:
            return [self._to_numpy(result)]
        values, indices = result
        return [self._to_numpy(values), indices.numpy().astype(call.index_type)]

    def reproduce(self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> str:
        """The same call as Python source, which sets ``outputs`` from ``inputs``."""
        call = _call(op, inputs, attributes)
        bf16 = inputs[0].dtype == BF16
        codes = ".view(np.int16)" if bf16 else ""
        typed = ".view(torch.bfloat16)" if bf16 else ""
        back = ".view(torch.int16).numpy().view(ml_dtypes.bfloat16)" if bf16 else ".numpy()"
        words = [repr(argument) for argument in call.arguments]
        words += [f"{name}={value!r}" for name, value in call.keywords.items()]
        called = f"torch.nn.functional.{call.function}({', '.join(['data', *words])})"
        lines = ["import torch", *(["import ml_dtypes"] if bf16 else [])]
        lines.append(f"data = torch.from_numpy(inputs[0]{codes}){typed}")
        if call.pads:
            lines.append(f"data = torch.nn.functional.pad(data, {call.pads})")
        if call.index_type is None:
            lines += [f"result = {called}", f"outputs = [result{back}]"]
        else:
            narrowed = f"indices.numpy().astype(np.{np.dtype(call.index_type).name})"
            lines += [f"values, indices = {called}", f"outputs = [values{back}, {narrowed}]"]
        return "\n".join(lines)

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


@dataclass(frozen=True)
class _Call:
    """One call of a function of ``torch.nn.functional``, its first argument being the data.

    ``pads`` are zeros to add to the data first, in PyTorch's order; ``index_type`` is that of the
    indices which come with the values, None where none do.
    """

    function: str
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    pads: Sequence[int] = ()
    index_type: Any = None


def _call(op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> _Call:
    """The call that asks what ``op`` asks; Unsupported where none does."""
    axes = inputs[0].ndim - 2
    if axes not in (1, 2, 3):
        raise Unsupported(f"{op} on data of rank {inputs[0].ndim}")
    if op == "AvgPool-1":
        return _avg_pool(axes, attributes)
    if op == "AdaptiveAvgPool-8":
        return _Call(f"adaptive_avg_pool{axes}d", (inputs[1].tolist(),))
    if op == "AdaptiveMaxPool-8":
        return _Call(
            f"adaptive_max_pool{axes}d",
            (inputs[1].tolist(),),
            {"return_indices": True},
            index_type=said(INDEX_TYPES, attributes.get("index_element_type", "i64")),
        )
    raise Unsupported(f"{op} is no pool of PyTorch's")


def _avg_pool(axes: int, attributes: Mapping[str, Any]) -> _Call:
    if attributes.get("auto_pad", "explicit") not in ("explicit", "valid"):
        raise Unsupported(f"auto_pad {attributes['auto_pad']}")
    padding: tuple[list[int], list[int]] = [0] * axes, []
    if attributes.get("auto_pad", "explicit") == "explicit":
        padding = _padding(axes, attributes)
    begin, pads = padding
    return _Call(
        f"avg_pool{axes}d",
        (attributes["kernel"], attributes["strides"], begin),
        {
            "ceil_mode": said(CEIL, attributes.get("rounding_type", "floor")),
            "count_include_pad": not attributes["exclude-pad"],
        },
        pads,
    )


def _padding(axes: int, attributes: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """The argument ``padding`` and the zeros added before, which together pad as asked."""
    begin, end = attributes["pads_begin"], attributes["pads_end"]
    for pads in (begin, end):
        if len(pads) != axes:
            return pads, []  # for PyTorch to refuse
    if begin == end and all(
        2 * pad <= k for pad, k in zip(begin, attributes["kernel"], strict=False)
    ):
        return begin, []
    if attributes["exclude-pad"] or min(begin + end) < 0:
        raise Unsupported(_SYMMETRIC)
    # PyTorch takes the pads in pairs, the last axis first.
    pairs = zip(reversed(begin), reversed(end), strict=True)
    return [0] * axes, list(chain.from_iterable(pairs))


def said(words: Mapping[str, T], word: str) -> T:
    """What a word means to PyTorch; Unsupported for one that means nothing to it."""
    if word not in words:
        raise Unsupported(f"PyTorch has no '{word}'")
    return words[word]
