"""The required precision of each dtype: ``standard``, or ``f16=native,f32=standard``."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping

from conformance.choices import PRECISIONS
from conformance.dtypes import FLOATS
from conformance.errors import UsageError, closest

DEFAULT_PRECISION = "standard"


def parse_precision(asked: str | Mapping[str, str]) -> dict[str, str]:
    """The precision of every floating-point dtype.

    ``asked`` is one precision for all, a mapping from dtype to precision, or the same as text
    with commas. A dtype that is not mentioned is judged at ``standard``.

    Raises:
        UsageError: a dtype or a precision that does not exist, or a dtype named twice.
    """
    if isinstance(asked, str) and "=" not in asked:
        return dict.fromkeys(FLOATS, check_choice(asked.strip(), PRECISIONS, "precision"))
    chosen: dict[str, str] = {}
    for dtype, precision in _pairs(asked):
        if dtype in chosen:
            raise UsageError(
                f"precision: {dtype} is named twice", hint="Name each dtype at most once."
            )
        chosen[check_choice(dtype, FLOATS, "dtype")] = check_choice(
            precision, PRECISIONS, "precision"
        )
    return dict.fromkeys(FLOATS, DEFAULT_PRECISION) | chosen


def _pairs(asked: str | Mapping[str, str]) -> Iterable[tuple[str, str]]:
    if isinstance(asked, Mapping):
        return asked.items()
    pairs = (item.partition("=") for item in asked.split(","))
    return [(dtype.strip(), precision.strip()) for dtype, _, precision in pairs]


def check_choice(given: str, options: Iterable[str], what: str) -> str:
    """``given`` itself if it is one of the options.

    Raises:
        UsageError: it is not; the hint names the closest option, or all of them.
    """
    options = list(options)
    if given in options:
        return given
    raise UsageError(
        f"unknown {what} {given!r}",
        hint=closest(str(given), options) or f"choose one of: {', '.join(options)}",
    )


def match_patterns(given: Iterable[str], options: Iterable[str], what: str) -> list[str]:
    """Those of the options that are given, each by its name or by a pattern like ``onnx.*``.

    They come in the order of what is given. Raises UsageError for what names or fits none.
    """
    options = list(options)
    found: dict[str, None] = {}
    for one in given:
        found |= dict.fromkeys(fnmatch.filter(options, one) or [check_choice(one, options, what)])
    return list(found)


def format_precision(precision: Mapping[str, str]) -> str:
    """The shortest text that :func:`parse_precision` reads back as the same."""
    values = set(precision.values())
    if len(values) == 1:
        return values.pop()
    return ",".join(f"{dtype}={p}" for dtype, p in precision.items() if p != DEFAULT_PRECISION)
