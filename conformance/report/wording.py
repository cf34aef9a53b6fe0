"""Words for facts of a run, shared by all formats."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from conformance import safe_text
from conformance.log.causes import Cause
from conformance.log.encoding import MAX_TEXT
from conformance.model import Witness


def element(witness: Witness) -> str:
    """Which element a witness is about: ``result[0, 0, 3]``."""
    return f"{witness.output}[{', '.join(str(i) for i in witness.index)}]"


def accepted(witness: Witness) -> str:
    """The interval that is accepted; a single value, a choice or nothing stands as it is."""
    if not witness.hi or witness.lo == witness.hi:
        return witness.lo
    return f"[{witness.lo}, {witness.hi}]"


def distance(witness: Witness) -> str:
    """The distance in ULP, as text; empty where it has no meaning."""
    return "" if witness.ulp is None else ulps(witness.ulp)


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


def why(entry: Mapping[str, Any]) -> str:
    """Why an entry of known failures is tolerated, where to read on, and until when."""
    until = f"until {entry['expires']}" if entry.get("expires") else None
    return "; ".join(filter(None, (entry.get("reason"), entry.get("link"), until)))


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


def short(number: int) -> str:
    """A count in few letters: ``950``, ``1.2k``, ``34M``."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= 10 * size:
            return f"{number // size}{letter}"
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)
