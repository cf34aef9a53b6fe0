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


def element(witness: Witness) -> str:
    """Which element a witness is about: ``result[0, 0, 3]``."""
    return f"{witness.output}[{', '.join(str(i) for i in witness.index)}]"


def accepted(witness: Witness) -> str:
    """The interval that is accepted; a single value, a choice or nothing stands as it is."""
    if not witness.hi or witness.lo == witness.hi:
        return witness.lo
    return f"[{witness.lo}, {witness.hi}]"


def number(text: str, dtype: str) -> float:
    """The number of a type that a text names; NaN where it names none."""
    row = DTYPES.get(dtype)
    try:
        value = float(text)
    except ValueError:
        return math.nan
    if row is None or not row.is_float:
        return value
    with np.errstate(over="ignore"):
        return float(row.numpy.type(value))


def shortest(text: str, dtype: str) -> str:
    """A number in the fewest digits that name it in its type; other text as it is."""
    row = DTYPES.get(dtype)
    value = number(text, dtype)
    # Digits alone may be of another output, whose elements are integers.
    if row is None or not row.is_float or not math.isfinite(value) or text.strip("-").isdecimal():
        return text
    return row.shortest(value)


def in_short(witness: Witness, dtype: str) -> Witness:
    """The witness with its numbers of this type in the fewest digits."""
    return replace(
        witness,
        rounded=shortest(witness.rounded, dtype),
        lo=shortest(witness.lo, dtype),
        hi=shortest(witness.hi, dtype),
        got=shortest(witness.got, dtype),
    )


def distance(witness: Witness) -> str:
    """The distance in ULP, as text; empty where it has no meaning."""
    return "" if witness.ulp is None else ulps(witness.ulp)


def off(witness: Witness, dtype: str) -> str:
    """The distance in ULP and, where there is one, the relative error."""
    away = distance(witness)
    return away and ", ".join(filter(None, (away, relative(witness.exact, witness.got, dtype))))


def relative(exact: str, got: str, dtype: str) -> str:
    """The relative error of an element of this type; empty where what is expected is 0 or it is not
    finite.
    """
    expected, right = number(exact, dtype), number(exact, "")
    if not expected or not math.isfinite(expected):
        return ""
    error = abs(number(got, dtype) - right) / abs(right)
    return f"{error:.2g} relative" if math.isfinite(error) else ""


def ulps(steps: float) -> str:
    """A number of steps between representable values, as text."""
    if math.isinf(steps):
        return "infinitely far"
    return f"{steps:.3g} ULP" if steps >= 1e12 else f"{steps:,.0f} ULP"


def evidence(witness: Witness | None, off: str | None = None) -> list[tuple[str, str]]:
    """What was wrong with the worst element, as labels and texts; nothing where there is none.

    ``off`` says how wrong elements are off, where that is told otherwise than by their distance.
    """
    if witness is None:
        return []
    off = distance(witness) if off is None else off
    return [
        ("worst", element(witness)),
        ("exact", witness.exact),
        ("accepted", f"{accepted(witness)}, rounded {witness.rounded}"),
        ("got", f"{witness.got} ({off})" if off else witness.got),
    ]


BEFORE = 24
"""Characters before the first that differs from another text, which are kept for context."""


def apart(text: str, others: Iterable[str], length: int) -> str:
    """A text in at most ``length`` characters: what is cut is what it shares with others, so that
    what tells it from them stays."""
    if len(text) <= length:
        return text
    shared = max((_shared(text, one) for one in others if one != text), default=0)
    if shared < length - BEFORE:
        return shortened(text, length)
    head = length // 3
    room = length - head - len(" … ")
    start = max(head, min(shared - BEFORE, len(text) - room))
    return f"{text[:head].rstrip()} … {shortened(text[start:].lstrip(), room)}"


def _shared(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((place for place, (x, y) in pairs if x != y), min(len(a), len(b)))


def vectors(count: int) -> str:
    """``1 vector``, ``2 vectors``."""
    return safe_text.number_of(count, "vector")


def counted(causes: Iterable[Cause], noun: str = "") -> str:
    """How many causes there are, and apart from them how many groups of failures nothing explains.

    ``2, and 1 unexplained failure group``; with the ``noun`` "cause": ``2 causes``, ``1
    unexplained failure group``.
    """
    explained = [cause.explained for cause in causes]
    count = sum(explained)
    word = f" {noun}{'s' * (count != 1)}" if noun else ""
    rest = len(explained) - count
    groups = f"{rest:,} {unexplained(rest)}"
    if not rest:
        return f"{count:,}{word}"
    return f"{count:,}{word}, and {groups}" if count else groups


def unexplained(count: int) -> str:
    """What failures are called that nothing explains, in the singular for one."""
    return f"unexplained failure group{'s' * (count != 1)}"


def precision(asked: Mapping[str, str]) -> str:
    """The precision that was asked for, by element type where it differs."""
    if len(set(asked.values())) == 1:
        return next(iter(asked.values()))
    return ", ".join(f"{dtype} {name}" for dtype, name in asked.items()) or "standard"


def why(entry: KnownFailureUse) -> str:
    """Why an entry of known failures is tolerated, where to read on, and until when."""
    until = f"until {entry.expires}" if entry.expires else None
    return "; ".join(filter(None, (entry.reason, entry.link, until)))


def words(command: str) -> list[str]:
    """A command as a shell reads it; none if that is too long to be shown, or no shell could.

    Longer ones are not looked at: to take them apart takes the square of their length.
    """
    try:
        return shlex.split(command) if len(command) <= MAX_TEXT else []
    except ValueError:
        return []


def options(command: str) -> list[str]:
    """A command up to its first option, then each option with its values: where lines may break.

    A command that has no :func:`words` stays whole.
    """
    found = words(command)
    if not found:
        return [command]
    groups: list[list[str]] = [[]]
    for word in found:
        if word.startswith("--"):
            groups.append([])
        groups[-1].append(word)
    return [shlex.join(group) for group in groups if group]


def when(timestamp: str) -> str:
    """An ISO 8601 time of UTC without its fraction of a second; other text as it is."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return timestamp
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def duration(seconds: float) -> str:
    """Seconds as a person would say them."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def taken(seconds: float) -> str:
    """How long a call took: ``0.32 ms``, ``71 ms``, ``2.5 s``."""
    return duration(seconds) if seconds >= 1 else f"{milliseconds(seconds):,g} ms"


def milliseconds(seconds: float) -> float:
    """A time to two digits, which is what a single call tells."""
    return float(f"{seconds * 1000:.2g}")


def short(number: int) -> str:
    """A count in few letters: ``950``, ``1.2k``, ``34M``."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= 10 * size:
            return f"{number // size}{letter}"
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)
