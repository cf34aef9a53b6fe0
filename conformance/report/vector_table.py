"""All vectors of a run as data for the table on the page; a log may hold anything."""

from __future__ import annotations

import heapq
import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from markupsafe import Markup

from conformance.dtypes import DTYPES
from conformance.log.detail import parse_detail
from conformance.log.encoding import MAX_TEXT
from conformance.log.run_log import RunLog
from conformance.model import FAILED, Result, Returned, Status
from conformance.report.templating import bounded
from conformance.report.wording import accepted, element, in_short, milliseconds, off
from conformance.safe_text import visible

MAX_ROWS = 20_000
"""Vectors of a page, at most: all that failed, and others as far as there is room."""

SLOWEST = 3
"""The slowest vectors that are named, at most."""

_LAST = {Status.UNSUPPORTED: 1, Status.SKIPPED: 2, Status.PASS: 3}
"""The place of a status in the table; failures come first."""

MAX_DETAILS = 20_000_000
"""Letters of the arrays of a page, at most; of further failures they are left out."""


def table(run: RunLog) -> Markup:
    """The vectors of a run as JSON that stands in a page: names once, then a row each.

    It is ASCII, and what could end an element or begin one is escaped.
    """
    names = _Names()
    causes = {at: n for n, cause in enumerate(run.causes) for at in cause.vectors}
    room = MAX_DETAILS
    rows = []
    for result in shown(run):
        row = _row(result, names, causes.get((result.op, result.id)))
        if result.status in FAILED and room > 0:
            detail = _detail(result)
            room -= len(json.dumps(detail))
            row["x"] = detail
        rows.append(row)
    data = {
        "causes": [[cause.id, _seen(cause.title)] for cause in run.causes],
        "show": _show(run),
        "names": names.all,
        "rows": rows,
    }
    return embedded(data)


def shown(run: RunLog) -> Sequence[Result]:
    """The results for which a page has room: failures first, and each status as it was run."""
    return sorted(_bounded(run), key=lambda result: _LAST.get(result.status, 0))


def _bounded(run: RunLog) -> Sequence[Result]:
    if len(run.results) <= MAX_ROWS:
        return run.results
    failed = sum(result.status in FAILED for result in run.results)
    room = {True: MAX_ROWS, False: MAX_ROWS - min(MAX_ROWS, failed)}
    found = []
    for result in run.results:
        kind = result.status in FAILED
        if room[kind]:
            room[kind] -= 1
            found.append(result)
    return found


def slowest(run: RunLog) -> Sequence[Result]:
    """The vectors whose calls took the longest, of those that the log has a time of."""
    timed = (result for result in run.results if result.seconds > 0)
    return heapq.nlargest(SLOWEST, timed, key=attrgetter("seconds"))


def addressable(vector: str) -> bool:
    """Whether a vector may be the target of a link, ``#vector=`` and its id."""
    return re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", vector) is not None


def embedded(data: Any) -> Markup:
    """Data as JSON that is safe in an element of a page."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - ASCII without any sign that HTML knows


class _Names:
    """Texts that many rows share, by number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def all(self) -> list[str]:
        return [_seen(text) for text in self._numbers]


def _row(result: Result, names: _Names, cause: int | None) -> dict[str, Any]:
    """A vector by letters: v its id, o operator, s status, t type, e edges, m message, c cause,
    d the milliseconds of its call.
    """
    message = result.message
    if result.reading and not message:
        message = f"interpretation {result.reading}"
    row: dict[str, Any] = {
        "v": _seen(result.id),
        "o": names(result.op),
        "s": names(result.status.value),
        "t": names(result.dtype),
        "e": [names(edge) for edge in result.edges],
        "l": names(result.level),
    }
    some = {
        "m": _seen(message),
        "c": cause,
        "d": milliseconds(result.seconds) or None,
        "r": None if result.reject is None else names(result.reject),
        "k": None if result.known is None else names(result.known),
        "p": None if result.precision is None else names(result.precision),
        "a": _plain(result.asked),
    }
    return row | {key: value for key, value in some.items() if value not in (None, "")}


def _detail(result: Result) -> dict[str, Any]:
    """What came of a failure beside what was expected."""
    detail: dict[str, Any] = {
        "inputs": texts(result.inputs),
        "expected": texts(result.expected),
        "got": texts(result.returned),
    }
    if result.witness is not None:
        witness = in_short(result.witness, result.dtype)
        facts = (
            element(witness),
            witness.exact,
            accepted(witness),
            witness.got,
            off(witness, result.dtype),
        )
        detail["worst"] = [_seen(fact) for fact in facts]
        detail["wrong"] = [witness.wrong, witness.total]
    return {key: value for key, value in detail.items() if value}


def _plain(asked: Mapping[str, Any] | None) -> dict[str, str] | None:
    """What a vector asks, as names with a text each; a log may say anything."""
    if asked is None:
        return None
    return {_seen(str(key)): _seen(_text(value)) for key, value in _members(asked)}


def _members(asked: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Each attribute, operand and shape by its own name."""
    for key, value in asked.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}, {name}", one) for name, one in value.items())
        else:
            yield key, value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _show(run: RunLog) -> list[str]:
    """The command that shows a vector, in two parts: what comes before its id, and after it."""
    for finding in run.findings:
        command, smallest = parse_detail(finding.detail).show, finding.smallest
        if smallest and command.count(smallest) == 1:
            before, _, after = command.partition(smallest)
            return [_seen(before), _seen(after)]
    return ["conformance show ", ""]


def _seen(text: str) -> str:
    return visible(bounded(text, MAX_TEXT))


MAX_SHOWN = 512
"""Elements of an array that are shown at most."""

MAX_AXES = 8


def texts(kept: Sequence[Returned] | None) -> list[Any]:
    """Each array as nested lists of numbers as text; None in place of one that is large or damaged.

    Never more memory is taken than an array that is shown may need.
    """
    return [_nested(one) for one in kept or ()]


def _nested(one: Returned) -> Any:
    dtype, size = DTYPES.get(one.dtype), math.prod(one.shape)
    if dtype is None or not 0 < size <= MAX_SHOWN or not 0 < len(one.shape) <= MAX_AXES:
        return None
    length = size * dtype.storage.itemsize
    try:
        content = zlib.decompressobj().decompress(one.packed, length + 1)
        stored = np.frombuffer(content, dtype.storage).reshape(one.shape)
    except (zlib.error, ValueError):
        return None
    numbers = map(dtype.shortest, dtype.from_storage(stored).ravel())
    return np.array([*numbers], object).reshape(one.shape).tolist()
