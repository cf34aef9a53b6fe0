"""The required precision of each dtype: ``standard``, or ``f16=native,f32=standard``."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping

from conformance.choices import PRECISIONS
from conformance.dtypes import FLOATS
from conformance.errors import UsageError, closest

DEFAULT_PRECISION = "standard"


def parse_precision(required: str | Mapping[str, str]) -> dict[str, str]:
    """Parse the precision of every floating-point dtype.

    Args:
        required: one precision for all, a mapping from dtype to precision, or the same as text with
            commas. A dtype that is not mentioned is judged at ``standard``.

    Raises:
        UsageError: a dtype or a precision that does not exist, or a dtype named twice.
    """
    if isinstance(required, str) and "=" not in required:
        return dict.fromkeys(FLOATS, check_choice(required.strip(), PRECISIONS, "precision"))
    chosen: dict[str, str] = {}
    for dtype, precision in _pairs(required):
        if dtype in chosen:
            raise UsageError(
                f"precision: {dtype} is named twice", hint="Name each dtype at most once."
            )
        chosen[check_choice(dtype, FLOATS, "dtype")] = check_choice(
            precision, PRECISIONS, "precision"
        )
    return dict.fromkeys(FLOATS, DEFAULT_PRECISION) | chosen


def _pairs(required: str | Mapping[str, str]) -> Iterable[tuple[str, str]]:
    if isinstance(required, Mapping):
        return required.items()
    pairs = (item.partition("=") for item in required.split(","))
    return [(dtype.strip(), precision.strip()) for dtype, _, precision in pairs]


def check_choice(name: str, options: Iterable[str], noun: str) -> str:
    """Check that a name is one of the options, and return it.

    Raises:
        UsageError: it is not; the hint names the closest option, or all of them.
    """
    options = list(options)
    if name in options:
        return name
    raise UsageError(
        f"unknown {noun} {name!r}",
        hint=closest(str(name), options) or f"choose one of: {', '.join(options)}",
    )


def match_patterns(patterns: Iterable[str], options: Iterable[str], noun: str) -> list[str]:
    """Select options by name or pattern (``onnx.*``), in the order of the patterns.

    Raises:
        UsageError: a pattern matches no option.
    """
    options = list(options)
    matches: dict[str, None] = {}
    for pattern in patterns:
        matches |= dict.fromkeys(
            fnmatch.filter(options, pattern) or [check_choice(pattern, options, noun)]
        )
    return list(matches)


def format_precision(precision: Mapping[str, str]) -> str:
    """Format a precision as the shortest text that :func:`parse_precision` reads back."""
    values = set(precision.values())
    if len(values) == 1:
        return values.pop()
    return ",".join(f"{dtype}={p}" for dtype, p in precision.items() if p != DEFAULT_PRECISION)
