"""The results of a run in little memory: those of many vectors that did not fail are packed."""

from __future__ import annotations

import json
import marshal
import re
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, overload

from conformance.model import FAILED, Result

UNPACKED = 12_000
"""Results that are kept as they are; a suite of ordinary size has fewer."""

OUTPUTS = 2_000
"""Failures of an operator that keep their arrays; those that follow have the verdict alone."""

_MOST_SHARED = 1 << 16
_SHARED = (
    *("op", "status", "kind", "reading", "precision", "level", "dtype", "reject", "known", "rank"),
    "left_out",
)
"""What many results have alike; besides ``shows`` and each of the edges."""

_DIGITS = re.compile("[0-9]+")

_ARRAYS = ("witness", "returned", "inputs", "expected")
"""What only failures have."""


class Results(Sequence[Result]):
    """Results in the order in which they came; what is read is equal to what was added.

    A packed one takes about a quarter of a kilobyte, and is unpacked each time that it is read.
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._rows: list[Result | bytes] = []
        self._shared: dict[Hashable, int] = {}
        self._values: list[Any] = []
        for result in results:
            self.append(result)

    def append(self, result: Result) -> None:
        """Add a result."""
        full = len(self._rows) >= UNPACKED and result.status not in FAILED
        self._rows.append((self._packed(result) if full else None) or result)

    def plain(self) -> Sequence[Result]:
        """Return the same results, as a tuple if none is packed."""
        packed = len(self._rows) > UNPACKED
        return self if packed else tuple(self)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Result]:
        return map(self._read, self._rows)

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Result]: ...
    def __getitem__(self, place: int | slice) -> Result | Sequence[Result]:
        if isinstance(place, slice):
            return tuple(map(self._read, self._rows[place]))
        return self._read(self._rows[place])

    def _packed(self, result: Result) -> bytes | None:
        """Return the result in few bytes; None where it holds something unusual."""
        if any(getattr(result, name) is not None for name in _ARRAYS):
            return None
        shared = [*(getattr(result, name) for name in _SHARED), tuple(result.shows.items())]
        try:
            numbers = [self._number(value) for value in (*shared, *result.edges)]
            own = (result.id, result.message, result.size, result.seconds, result.wrong)
            form, digits = _parted(result.asked)
            numbers.insert(0, self._number(form))
            row: Any = (*own, result.within, digits, array("H", numbers).tobytes())
            return marshal.dumps(row)
        except (ValueError, TypeError, OverflowError):
            return None

    def _number(self, value: Hashable) -> int:
        number = self._shared.get(value)
        if number is None:
            number = len(self._values)
            if number == _MOST_SHARED:
                raise OverflowError
            self._shared[value] = number
            self._values.append(value)
        return number

    def _read(self, row: Result | bytes) -> Result:
        if isinstance(row, Result):
            return row
        id_, message, size, seconds, wrong, within, digits, numbers = marshal.loads(row)  # noqa: S302 - written above
        form, *values = [self._values[number] for number in array("H", numbers)]
        known = dict(zip(_SHARED, values[: len(_SHARED)], strict=True))
        shows, *edges = values[len(_SHARED) :]
        return Result(
            id=id_,
            edges=tuple(edges),
            message=message,
            size=size,
            seconds=seconds,
            wrong=wrong,
            within=within,
            asked=_joined(form, digits),
            shows=MappingProxyType(dict(shows)),
            **known,
        )


def _parted(request: Mapping[str, Any] | None) -> tuple[str, str]:
    """Split a request into a form that many vectors share, and the numbers that stand in it.

    Raises ValueError where it could not be put together again.
    """
    text = json.dumps(request, separators=(",", ":"))
    if "#" in text or json.loads(text) != request:
        raise ValueError
    return _DIGITS.sub("#", text), " ".join(_DIGITS.findall(text))


def _joined(form: str, digits: str) -> Any:
    """Join what :func:`_parted` took apart."""
    first, *rest = form.split("#")
    return json.loads(first + "".join(map("".join, zip(digits.split(), rest, strict=True))))


class OutputLimit:
    """Drops the arrays of failures beyond the first :data:`OUTPUTS` of each operator."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}

    def bounded(self, result: Result) -> Result:
        """Return the result as it is kept."""
        if result.status not in FAILED:
            return result
        number = self._failures[result.op] = self._failures.get(result.op, 0) + 1
        if number <= OUTPUTS:
            return result
        return replace(result, returned=None, inputs=None, expected=None)


def without_outputs(failures: Iterable[int]) -> str:
    """Return a note if outputs of failures were dropped, else an empty text.

    ``failures`` are the counts of each operator.
    """
    if all(count <= OUTPUTS for count in failures):
        return ""
    return f"Outputs are kept of the first {OUTPUTS:,} failures of each operator."
