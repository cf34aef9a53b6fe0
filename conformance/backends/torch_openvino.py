"""OpenVINO's pools as calls of PyTorch's functions.

Attributes become arguments one to one. Where PyTorch's single list of pads cannot say what is
asked and padding is counted anyway, the data is padded with zeros first. Windows, divisors and
indices are left to PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from conformance.backends.capabilities import Exclusion
from conformance.backends.torch_calls import Call, translate_word
from conformance.dtypes import Array
from conformance.errors import Unsupported

OPERATORS = ("AvgPool-1", "MaxPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8")
INDEX_TYPES = {"i32": "int32", "i64": "int64"}
CEIL = {"floor": False, "ceil": True}

# Pads that PyTorch's argument cannot express: one number an axis, at most half the kernel.
_PADDED_BY_HAND = "any(pad_begin != pad_end or pad_begin * 2 > kernel)"
_LAST_START = "(out - 1) * strides - pad_begin"
_SYMMETRIC = "PyTorch pads both ends of an axis equally and by at most half the kernel"

EXCLUDING = (
    *(
        Exclusion(op=op, when=when, reason=reason)
        for op in ("AvgPool-1", "MaxPool-1")
        for when, reason in (
            ("auto_pad not in [explicit, valid]", "PyTorch's pools know no automatic padding"),
            ("rounding_type not in [floor, ceil]", "ceil_mode is true or false"),
        )
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
        when=f"rounding_type == ceil and any({_LAST_START} >= "
        f"where({_PADDED_BY_HAND}, padded_end, size))",
        reason="ceil_mode ignores windows that would start in the end padding or beyond",
    ),
    Exclusion(
        op="MaxPool-1",
        when=_PADDED_BY_HAND,
        reason=f"{_SYMMETRIC}; zeros added to the data would be the largest of negative ones",
    ),
    Exclusion(
        op="MaxPool-1",
        when=f"rounding_type == ceil and any({_LAST_START} >= size)",
        reason="ceil_mode ignores windows that would start in the end padding or beyond",
    ),
    Exclusion(
        op="AdaptiveMaxPool-8",
        when="index_element_type not in [i32, i64]",
        reason="PyTorch's indices are int64, which may be narrowed to i32 without loss",
    ),
)
"""What these calls cannot ask."""


def call(op: str, axes: int, operands: Sequence[Array], attributes: Mapping[str, Any]) -> Call:
    """Return the call that computes ``op`` on ``axes`` spatial axes.

    Raises:
        Unsupported: no call does.
    """
    if op in ("AvgPool-1", "MaxPool-1"):
        return _pool(op, axes, attributes)
    output_size = operands[0].tolist()
    if op == "AdaptiveAvgPool-8":
        return Call(f"adaptive_avg_pool{axes}d", (output_size,))
    return Call(
        f"adaptive_max_pool{axes}d",
        (output_size,),
        {"return_indices": True},
        index_type=translate_word(INDEX_TYPES, attributes.get("index_element_type", "i64")),
    )


def _pool(op: str, axes: int, attributes: Mapping[str, Any]) -> Call:
    if attributes.get("auto_pad", "explicit") not in ("explicit", "valid"):
        raise Unsupported(f"auto_pad {attributes['auto_pad']}")
    padding: tuple[list[int], list[int]] = [0] * axes, []
    if attributes.get("auto_pad", "explicit") == "explicit":
        padding = _padding(axes, attributes)
    begin, pads = padding
    arguments = (attributes["kernel"], attributes["strides"], begin)
    ceil_mode = translate_word(CEIL, attributes.get("rounding_type", "floor"))
    if op == "MaxPool-1":
        return Call(f"max_pool{axes}d", arguments, {"ceil_mode": ceil_mode})
    counted = not attributes["exclude-pad"]
    keywords = {"ceil_mode": ceil_mode, "count_include_pad": counted}
    return Call(f"avg_pool{axes}d", arguments, keywords, pads)


def _padding(axes: int, attributes: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """The argument ``padding`` and the zeros added before, which together pad as asked."""
    begin, end = attributes["pads_begin"], attributes["pads_end"]
    for pads in (begin, end):
        if len(pads) != axes:
            return pads, []  # for PyTorch to refuse
    kernel = attributes["kernel"]
    if len(kernel) != axes:
        return begin, []  # for PyTorch to refuse
    if begin == end and all(2 * pad <= k for pad, k in zip(begin, kernel, strict=True)):
        return begin, []
    # MaxPool-1 has no such attribute, and zeros added to its data might win.
    if attributes.get("exclude-pad", True) or min(begin + end) < 0:
        raise Unsupported(_SYMMETRIC)
    # PyTorch takes the pads in pairs, the last axis first.
    pairs = zip(reversed(begin), reversed(end), strict=True)
    return [0] * axes, list(chain.from_iterable(pairs))
