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
from conformance.report.templating import cut_text
from conformance.report.wording import (
    accepted_interval,
    element_name,
    error_text,
    milliseconds,
    shorten_numbers,
)
from conformance.safe_text import visible

MAX_ROWS = 20_000
"""Vectors of a page at most: all that failed, and others as far as there is room."""

SLOWEST = 3
"""The slowest vectors that are named at most."""

_STATUS_ORDER = {Status.UNSUPPORTED: 1, Status.SKIPPED: 2, Status.PASS: 3}
"""The order of statuses in the table; failures come first."""

MAX_DETAILS = 20_000_000
"""Characters of the arrays of a page at most; further failures have no arrays."""


def vector_data(run: RunLog) -> Markup:
    """Return the vectors of a run as JSON for a page: names, then rows.

    The text is ASCII, and what could end an element or begin one is escaped.
    """
    names = _Names()
    cause_numbers = {
        vector: number for number, cause in enumerate(run.causes) for vector in cause.vectors
    }
    room = MAX_DETAILS
    rows = []
    for result in results_of_page(run):
        row = _row(result, names, cause_numbers.get((result.op, result.id)))
        if result.status in FAILED and room > 0:
            detail = _detail(result)
            room -= len(json.dumps(detail))
            row["x"] = detail
        rows.append(row)
    data = {
        "causes": [[cause.id, _visible(cause.title)] for cause in run.causes],
        "show": _show_command(run),
        "names": names.all,
        "rows": rows,
    }
    return embed_json(data)


def results_of_page(run: RunLog) -> Sequence[Result]:
    """Return the results for which a page has room, failures first."""
    return sorted(_select_results(run), key=lambda result: _STATUS_ORDER.get(result.status, 0))


def _select_results(run: RunLog) -> Sequence[Result]:
    if len(run.results) <= MAX_ROWS:
        return run.results
    failed = sum(result.status in FAILED for result in run.results)
    room = {True: MAX_ROWS, False: MAX_ROWS - min(MAX_ROWS, failed)}
    selected = []
    for result in run.results:
        is_failed = result.status in FAILED
        if room[is_failed]:
            room[is_failed] -= 1
            selected.append(result)
    return selected


def slowest_results(run: RunLog) -> Sequence[Result]:
    """Return the results whose calls took the longest, of those with a time."""
    timed = (result for result in run.results if result.seconds > 0)
    return heapq.nlargest(SLOWEST, timed, key=attrgetter("seconds"))


def is_addressable(vector_id: str) -> bool:
    """Return whether a link to a vector, ``#vector=`` and its id, works."""
    return re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", vector_id) is not None


def embed_json(data: Any) -> Markup:
    """Return data as JSON that is safe in an element of a page."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - ASCII without any sign that HTML knows


class _Names:
    """Numbers for texts that many rows share."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def all(self) -> list[str]:
        return [_visible(text) for text in self._numbers]


def _row(result: Result, names: _Names, cause_number: int | None) -> dict[str, Any]:
    """Return a vector as members named by letters.

    v is its id, o operator, s status, t type, e coverage targets, l level, m message, c cause,
    d the milliseconds of its call, r the rule that a negative test breaks, k the entry of a known
    failure, p precision, a the case.
    """
    message = result.message
    if result.reading and not message:
        message = f"interpretation {result.reading}"
    row: dict[str, Any] = {
        "v": _visible(result.id),
        "o": names(result.op),
        "s": names(result.status.value),
        "t": names(result.dtype),
        "e": [names(target) for target in result.edges],
        "l": names(result.level),
    }
    optional = {
        "m": _visible(message),
        "c": cause_number,
        "d": milliseconds(result.seconds) or None,
        "r": None if result.reject is None else names(result.reject),
        "k": None if result.known is None else names(result.known),
        "p": None if result.precision is None else names(result.precision),
        "a": _request_texts(result.asked),
    }
    return row | {key: value for key, value in optional.items() if value not in (None, "")}


def _detail(result: Result) -> dict[str, Any]:
    """Return inputs, expected and actual outputs of a failure, and its worst element."""
    detail: dict[str, Any] = {
        "inputs": array_texts(result.inputs),
        "expected": array_texts(result.expected),
        "got": array_texts(result.returned),
    }
    if result.witness is not None:
        witness = shorten_numbers(result.witness, result.dtype)
        facts = (
            element_name(witness),
            witness.exact,
            accepted_interval(witness),
            witness.got,
            error_text(witness, result.dtype),
        )
        detail["worst"] = [_visible(fact) for fact in facts]
        detail["wrong"] = [witness.wrong, witness.total]
    return {key: value for key, value in detail.items() if value}


def _request_texts(request: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return the case of a vector as texts by name; a log may hold anything."""
    if request is None:
        return None
    return {_visible(str(key)): _visible(_text(value)) for key, value in _members(request)}


def _members(request: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield each attribute, operand and shape with a name."""
    for key, value in request.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}, {name}", member) for name, member in value.items())
        else:
            yield key, value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _show_command(run: RunLog) -> list[str]:
    """Return the command that shows a vector, in two parts: before its id, and after it."""
    for finding in run.findings:
        command, vector_id = parse_detail(finding.detail).show, finding.smallest
        if vector_id and command.count(vector_id) == 1:
            before, _, after = command.partition(vector_id)
            return [_visible(before), _visible(after)]
    return ["conformance show ", ""]


def _visible(text: str) -> str:
    return visible(cut_text(text, MAX_TEXT))


MAX_ARRAY = 512
"""Elements of an array that are shown at most."""

MAX_AXES = 8
"""Axes of an array that is shown at most."""


def array_texts(arrays: Sequence[Returned] | None) -> list[Any]:
    """Return arrays as nested lists of texts; None for large or damaged arrays.

    A damaged array takes no more memory than the largest array that is shown.
    """
    return [_nested(array) for array in arrays or ()]


def _nested(array: Returned) -> Any:
    dtype, size = DTYPES.get(array.dtype), math.prod(array.shape)
    if dtype is None or not 0 < size <= MAX_ARRAY or not 0 < len(array.shape) <= MAX_AXES:
        return None
    length = size * dtype.storage.itemsize
    try:
        content = zlib.decompressobj().decompress(array.packed, length + 1)
        stored = np.frombuffer(content, dtype.storage).reshape(array.shape)
    except (zlib.error, ValueError):
        return None
    numbers = map(dtype.shortest, dtype.from_storage(stored).ravel())
    return np.array([*numbers], object).reshape(array.shape).tolist()
