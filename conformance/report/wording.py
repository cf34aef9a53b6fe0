"""Words for facts of a run, shared by all formats."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np

from conformance import safe_text
from conformance.dtypes import DTYPES
from conformance.log.causes import Cause
from conformance.log.encoding import MAX_TEXT
from conformance.log.events import KnownFailureUse
from conformance.model import Witness
from conformance.safe_text import shortened


def element_name(witness: Witness) -> str:
    """Return the name of a worst element: ``result[0, 0, 3]``."""
    return f"{witness.output}[{', '.join(str(i) for i in witness.index)}]"


def accepted_interval(witness: Witness) -> str:
    """Return the accepted interval, or the accepted value if there is only one."""
    if not witness.hi or witness.lo == witness.hi:
        return witness.lo
    return f"[{witness.lo}, {witness.hi}]"


def parse_number(text: str, dtype: str) -> float:
    """Return the number of a type that a text names; NaN if it names none."""
    row = DTYPES.get(dtype)
    try:
        value = float(text)
    except ValueError:
        return math.nan
    if row is None or not row.is_float:
        return value
    with np.errstate(over="ignore"):
        return float(row.numpy.type(value))


def shortest_digits(text: str, dtype: str) -> str:
    """Return a number in the fewest digits of its type, other text unchanged."""
    row = DTYPES.get(dtype)
    value = parse_number(text, dtype)
    # Digits alone may be of another output, whose elements are integers.
    if row is None or not row.is_float or not math.isfinite(value) or text.strip("-").isdecimal():
        return text
    return row.shortest(value)


def shorten_numbers(witness: Witness, dtype: str) -> Witness:
    """Return the worst element, its numbers of this type in the fewest digits."""
    return replace(
        witness,
        rounded=shortest_digits(witness.rounded, dtype),
        lo=shortest_digits(witness.lo, dtype),
        hi=shortest_digits(witness.hi, dtype),
        got=shortest_digits(witness.got, dtype),
    )


def ulp_distance(witness: Witness) -> str:
    """Return the distance in ULP, as text; empty if it has no meaning."""
    return "" if witness.ulp is None else ulps(witness.ulp)


def error_text(witness: Witness, dtype: str) -> str:
    """Return the distance in ULP and, if there is one, the relative error."""
    distance = ulp_distance(witness)
    relative = relative_error(witness.exact, witness.got, dtype)
    return distance and ", ".join(filter(None, (distance, relative)))


def relative_error(exact: str, got: str, dtype: str) -> str:
    """Return the relative error of an element of this type, as text.

    Empty if the expected value is 0, or a value is not finite.
    """
    rounded, expected = parse_number(exact, dtype), parse_number(exact, "")
    if not rounded or not math.isfinite(rounded):
        return ""
    error = abs(parse_number(got, dtype) - expected) / abs(expected)
    return f"{error:.2g} relative" if math.isfinite(error) else ""


def ulps(steps: float) -> str:
    """Return a number of steps between representable values, as text."""
    if math.isinf(steps):
        return "infinitely far"
    return f"{steps:.3g} ULP" if steps >= 1e12 else f"{steps:,.0f} ULP"


def worst_element_rows(witness: Witness | None, error: str | None = None) -> list[tuple[str, str]]:
    """Return labels and texts about the worst element; empty if there is none.

    ``error`` is shown in place of the distance in ULP.
    """
    if witness is None:
        return []
    error = ulp_distance(witness) if error is None else error
    return [
        ("worst", element_name(witness)),
        ("exact", witness.exact),
        ("accepted", f"{accepted_interval(witness)}, rounded {witness.rounded}"),
        ("got", f"{witness.got} ({error})" if error else witness.got),
    ]


CONTEXT = 24
"""Characters kept before the first that differs from another text."""


def shorten_distinctly(text: str, texts: Iterable[str], length: int) -> str:
    """Cut a text to ``length`` characters, and keep what distinguishes it from other texts."""
    if len(text) <= length:
        return text
    shared = max((_common_length(text, other) for other in texts if other != text), default=0)
    if shared < length - CONTEXT:
        return shortened(text, length)
    head = length // 3
    room = length - head - len(" … ")
    start = max(head, min(shared - CONTEXT, len(text) - room))
    return f"{text[:head].rstrip()} … {shortened(text[start:].lstrip(), room)}"


def _common_length(a: str, b: str) -> int:
    """Return the length of the longest beginning that two texts share."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((index for index, (x, y) in pairs if x != y), min(len(a), len(b)))


def vectors(count: int) -> str:
    """Return a count as text: ``1 vector``, ``2 vectors``."""
    return safe_text.number_of(count, "vector")


def cause_counts(causes: Iterable[Cause], noun: str = "") -> str:
    """Return the number of causes, and that of groups of failures that nothing explains.

    ``2, and 1 unexplained failure group``; with the ``noun`` "cause": ``2 causes``, ``1
    unexplained failure group``.
    """
    explained = [cause.explained for cause in causes]
    count = sum(explained)
    word = f" {noun}{'s' * (count != 1)}" if noun else ""
    group_count = len(explained) - count
    groups = f"{group_count:,} {unexplained_groups(group_count)}"
    if not group_count:
        return f"{count:,}{word}"
    return f"{count:,}{word}, and {groups}" if count else groups


def unexplained_groups(count: int) -> str:
    """Return the noun for groups of failures that nothing explains."""
    return f"unexplained failure group{'s' * (count != 1)}"


def precision_text(precision: Mapping[str, str]) -> str:
    """Return the required precision as text, by element type if it differs."""
    if len(set(precision.values())) == 1:
        return next(iter(precision.values()))
    return ", ".join(f"{dtype} {name}" for dtype, name in precision.items()) or "standard"


def known_failure_text(entry: KnownFailureUse) -> str:
    """Return why an entry of known failures is tolerated: reason, link, expiry date."""
    until = f"until {entry.expires}" if entry.expires else None
    return "; ".join(filter(None, (entry.reason, entry.link, until)))


def split_command(command: str) -> list[str]:
    """Split a command into words as a shell does; empty if malformed or too long.

    To split a long command takes time in proportion to the square of its length.
    """
    try:
        return shlex.split(command) if len(command) <= MAX_TEXT else []
    except ValueError:
        return []


def option_groups(command: str) -> list[str]:
    """Split a command where lines may break: before each option.

    A command that :func:`split_command` cannot split stays as it is.
    """
    words = split_command(command)
    if not words:
        return [command]
    groups: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            groups.append([])
        groups[-1].append(word)
    return [shlex.join(group) for group in groups if group]


def utc_time(timestamp: str) -> str:
    """Return an ISO 8601 time of UTC, to the second, other text unchanged."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return timestamp
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def duration(seconds: float) -> str:
    """Return seconds as text: ``2.5 s``, ``3 min 20 s``, ``1 h 5 min``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, whole_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {whole_seconds} s"


def call_time(seconds: float) -> str:
    """Return the time of a call as text: ``0.32 ms``, ``71 ms``, ``2.5 s``."""
    return duration(seconds) if seconds >= 1 else f"{milliseconds(seconds):,g} ms"


def milliseconds(seconds: float) -> float:
    """Return seconds as milliseconds, to the two digits that are exact for a single call."""
    return float(f"{seconds * 1000:.2g}")


def short_count(count: int) -> str:
    """Return a count in few letters: ``950``, ``1.2k``, ``34M``."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= 10 * size:
            return f"{count // size}{letter}"
        if count >= size:
            return f"{count / size:.1f}{letter}"
    return str(count)
