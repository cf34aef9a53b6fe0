"""Maps an operator of a specification to a call of one of PyTorch's functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from conformance.dtypes import Array
from conformance.errors import Unsupported

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One call of a function of ``torch.nn.functional``, its first argument being the data.

    ``pads`` are zeros to add to the data first, in PyTorch's order; ``index_type`` is that of the
    indices which come with the values, None where none do.
    """

    function: str
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    pads: Sequence[int] = ()
    index_type: str | None = None


def translate_word(words: Mapping[str, T], word: str) -> T:
    """Return what a word means to PyTorch.

    Raises:
        Unsupported: it means nothing to PyTorch.
    """
    if word not in words:
        raise Unsupported(f"PyTorch has no '{word}'")
    return words[word]


OPERATORS = (
    "torch.avg_pool-2",
    "torch.lp_pool-2",
    "torch.max_pool-2",
    "torch.adaptive_avg_pool-2",
    "torch.adaptive_max_pool-2",
)
"""PyTorch's own operators, whose attributes are the arguments of its functions."""


def _is_one(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1


def call(op: str, axes: int, operands: Sequence[Array], attributes: Mapping[str, Any]) -> Call:
    """Return the call that is one of PyTorch's operators, on ``axes`` spatial axes."""
    function = f"{op.removeprefix('torch.').rpartition('-')[0]}{axes}d"
    arguments = tuple(operand.tolist() for operand in operands)
    keywords = dict(attributes)
    if "max" in function:
        keywords["return_indices"] = True
    if function == "lp_pool1d":
        # It multiplies by kernel_size, so that one is a number there and no list of one.
        keywords = {key: value[0] if _is_one(value) else value for key, value in keywords.items()}
    return Call(function, arguments, keywords, index_type="int64" if "max" in function else None)
