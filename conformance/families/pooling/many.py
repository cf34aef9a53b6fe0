"""The windows of many cases at once: positions, and taps on the data.

What the data hold is not known here (see :mod:`conformance.spec.batch`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.families.pooling.facts import MAX_TABLE
from conformance.families.pooling.rules import NAMES, RULES
from conformance.families.pooling.windows import MAX_ELEMENTS, on_data
from conformance.reference.batches import CaseBatch
from conformance.spec.batch import BatchDefinition
from conformance.spec.batch_values import UNKNOWN, BatchValue, Bools, Rows, Value
from conformance.spec.kinds import Domain

MOST_WINDOWS = 1 << 16
"""A case with more windows than this is not for a batch."""

MOST_TAPS = 1 << 14
"""Nor is one that lists more taps of an axis, where a rule says of each tap whether it counts: a
mutant may make some windows enormous, and those of all cases are listed together."""

FAR = 1 << 31
"""Nor one whose windows lie further away."""

_OF_DATA = {
    name
    for name, known in NAMES.items()
    if known.kind.domain is Domain.ELEMENT and name not in ("n", "c")
}


_CACHED = {
    frozenset({"out"}): ("_out", "axis_rows", "_begins", "_places", "grid", "longest", "listed"),
    frozenset({"taps"}): ("longest", "listed"),
    frozenset({"windows"}): ("plain_taps", "taps"),
}
"""What a batch keeps, by the names that it depends on."""


class WindowBatch(CaseBatch):
    """A batch that also knows the windows: ``i`` (their numbers), ``on_data``, and each tap."""

    def under(
        self, definitions: Mapping[str, BatchDefinition], changed: Collection[str]
    ) -> WindowBatch:
        _ = self.axis_rows, self.grid  # so that both speak of the same windows
        new = super().under(definitions, changed)
        assert isinstance(new, WindowBatch)
        for names, depending in _CACHED.items():
            if not names.isdisjoint(changed):
                for name in depending:
                    vars(new).pop(name, None)
        return new

    def worked_out(self, name: str) -> Value:
        if name in self.definitions:
            return super().worked_out(name)
        if name == "i":
            self.unsettle(self._wrong)
            return tuple(
                BatchValue(places, rows, MOST_WINDOWS)
                for places, rows in zip(self._places, self.axis_rows, strict=True)
            )
        if name == "on_data":
            self.unsettle(self._wrong)
            return tuple(map(self._on_data, range(self.axes)))
        if name in ("n", "c"):
            return UNKNOWN
        if name in _OF_DATA:
            _, unsettled = self.name("on_data")
            self.unsettle(unsettled | self._wrong | (self.listed > MAX_TABLE))
            return (UNKNOWN,) * self.axes if NAMES[name].kind.per_axis else UNKNOWN
        return super().worked_out(name)

    def has_same_rows(self, changed: Collection[str]) -> bool:
        return "out" not in changed

    def taps_differ(self, other: CaseBatch, changed: Collection[str]) -> Bools:
        """Of which cases other taps count, or they read other elements."""
        if not {"out", "taps"}.isdisjoint(changed):
            return np.ones(self.count, np.bool_)
        assert isinstance(other, WindowBatch)
        found = np.zeros(self.count, np.bool_)
        for own, its in zip(self.taps, other.taps, strict=True):
            found |= own.unsettled | its.unsettled
            moved = own.counted & (own.position != its.position)
            found[own.rows.case[(own.counted != its.counted) | moved]] = True
        return found

    @property
    def parts(self) -> NDArray[Any]:
        return np.stack(self.out).prod(axis=0)

    @property
    def results(self) -> NDArray[np.float64]:
        return self._planes * np.prod(np.asarray(self.out, np.float64), axis=0)

    @property
    def steps(self) -> NDArray[np.float64]:
        """At least the taps of all windows and planes."""
        taps = np.zeros(self.count) + self._planes
        for axis, rows in enumerate(self.axis_rows):
            entry = self.per_axis("taps")[axis]
            own = np.broadcast_to(self.lifted(entry.array, entry.rows, rows), rows.case.shape)
            taps *= np.bincount(rows.case, weights=own, minlength=self.count)
        return taps

    @property
    def _planes(self) -> NDArray[np.float64]:
        planes = [self.table.columns[name] for name in ("N", "C")]
        return np.prod(np.asarray(planes, np.float64), axis=0)

    # Windows

    @cached_property
    def _out(self) -> tuple[tuple[NDArray[np.int64], ...], Bools]:
        """How many windows there are on each axis, and where that is for no batch."""
        value, wrong = self.name("out")
        given = value if isinstance(value, tuple) else (value,) * self.axes
        whole = (np.int64(0) if one.array is None else one.array for one in given)
        outs = [np.broadcast_to(array, (self.count,)) for array in whole]
        stacked = np.stack(outs).astype(np.float64)
        wrong = wrong | (stacked < 0).any(axis=0) | (stacked > MOST_WINDOWS).any(axis=0)
        wrong = wrong | (stacked.prod(axis=0) > MOST_WINDOWS)
        return tuple(np.where(wrong, 0, out) for out in outs), wrong

    @property
    def out(self) -> tuple[NDArray[np.int64], ...]:
        """How many windows there are on each axis, (cases,); 0 where that is for no batch."""
        return self._out[0]

    @property
    def _wrong(self) -> Bools:
        return self._out[1]

    @cached_property
    def axis_rows(self) -> tuple[Rows, ...]:
        """The windows of each axis."""
        cases = np.arange(self.count)
        return tuple(Rows(np.repeat(cases, out), {}) for out in self.out)

    @cached_property
    def _begins(self) -> tuple[NDArray[np.int64], ...]:
        """Which row of an axis is the first of each case."""
        return tuple(np.cumsum(out) - out for out in self.out)

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], ...]:
        """The number of each window, by axis."""
        return tuple(
            np.arange(len(rows.case)) - begins[rows.case]
            for rows, begins in zip(self.axis_rows, self._begins, strict=True)
        )

    @cached_property
    def grid(self) -> Rows:
        total = reduce(np.multiply, self.out)
        case = np.repeat(np.arange(self.count), total)
        rest = np.arange(len(case)) - (np.cumsum(total) - total)[case]
        places = {}
        for axis in reversed(range(self.axes)):
            out = self.out[axis][case]
            places[self.axis_rows[axis]] = rest % out + self._begins[axis][case]
            rest = rest // out
        return Rows(case, places)

    # Taps

    def _on_data(self, axis: int) -> BatchValue:
        rows = self.axis_rows[axis]
        if not self.plain_taps:
            taps = self.taps[axis]
            self.unsettle(taps.unsettled)
            counts = np.bincount(taps.rows.places[rows][taps.counted], minlength=len(rows.case))
            return BatchValue(counts.astype(np.int64), rows, MAX_ELEMENTS)
        first, taps, step, size = self._geometry(axis)
        _, counts = on_data(first, taps, step, size)
        return BatchValue(counts, rows, MAX_ELEMENTS)

    def _geometry(self, axis: int) -> Iterator[Any]:
        """Start, taps, step and size of each window of an axis."""
        rows = self.axis_rows[axis]
        for name in ("start", "taps", "step", "size"):
            entry = self.per_axis(name)[axis]
            if entry.array is None:
                self.unsettle(True)
                entry = BatchValue(np.int64(0))
            array = np.broadcast_to(self.lifted(entry.array, entry.rows, rows), rows.case.shape)
            far = np.abs(array) > FAR
            self.unsettle(far, rows)
            if name == "taps":
                self.unsettle(self.longest[axis] * self.out[axis] > MAX_ELEMENTS)
            yield np.where(far, 0, array)

    @cached_property
    def longest(self) -> tuple[NDArray[np.int64], ...]:
        """The most taps that a window has on each axis, (cases,)."""
        value, _ = self.name("taps")
        found = []
        for axis, rows in enumerate(self.axis_rows):
            entry = value[axis] if isinstance(value, tuple) else value
            most = np.zeros(self.count, np.int64)
            if entry.array is not None:
                own = self.lifted(entry.array, entry.rows, rows)
                np.maximum.at(most, rows.case, np.broadcast_to(own, rows.case.shape))
            found.append(np.minimum(most, FAR))
        return tuple(found)

    @cached_property
    def listed(self) -> NDArray[np.float64]:
        """How many taps a list of those of all windows and planes has, (cases,)."""
        planes = [self.table.columns[name] for name in ("N", "C")]
        factors = [*planes, *self.out, *(np.maximum(1, most) for most in self.longest)]
        return reduce(np.multiply, [np.asarray(one, np.float64) for one in factors])

    @cached_property
    def plain_taps(self) -> bool:
        """Whether every tap on the data counts, and reads where it is."""
        return all(
            getattr(self.definitions[name], "text", "") == RULES[name].default
            for name in ("tap", "reads")
        )

    @cached_property
    def taps(self) -> tuple[Taps, ...]:
        """The taps of the windows of each axis, as many for each as the longest of its case has."""
        made = [self._listed_taps(axis) for axis in range(self.axes)]
        names = {"t": tuple(t for _, t, _, _ in made), "at": tuple(at for _, _, at, _ in made)}
        with self.meaning(names):
            read, counts = (self.tracked(partial(self._of_taps, name)) for name in ("reads", "tap"))
        found = []
        for axis, (rows, t, _, (taps, size, unsettled)) in enumerate(made):
            position, tap = (
                np.broadcast_to(self.lifted(one.array, one.rows, rows), rows.case.shape)
                for one in (read[0][axis], counts[0][axis])
            )
            inside = (position >= 0) & (position < size) & (t.array < taps)
            found.append(Taps(rows, inside & tap, position, unsettled | read[1] | counts[1]))
        return tuple(found)

    def _listed_taps(
        self, axis: int
    ) -> tuple[Rows, BatchValue, BatchValue, tuple[Any, Any, Bools]]:
        """The taps of an axis: their rows, numbers and places, and what they are judged by."""
        (first, taps, step, size), unsettled = self.tracked(lambda: tuple(self._geometry(axis)))
        rows, longest = self.axis_rows[axis], self.longest[axis]
        many = longest * self.out[axis] > MOST_TAPS
        longest = np.where(many, 0, longest)[rows.case]
        window = np.repeat(np.arange(len(rows.case)), longest)
        t = np.arange(len(window)) - (np.cumsum(longest) - longest)[window]
        at = first[window] + t * step[window]
        own = Rows(rows.case[window], {rows: window})
        judged = taps[window], size[window], unsettled | many
        return own, BatchValue(t, own, MOST_TAPS), BatchValue(at, own, FAR * MOST_TAPS), judged

    def _of_taps(self, name: str) -> tuple[BatchValue, ...]:
        """A rule about taps; alone, a tap knows the values of its own axis only."""
        value = self.definitions[name].many(self)
        found = value if isinstance(value, tuple) else (value,) * self.axes
        if any(entry.array is None for entry in found):
            self.unsettle(True)
            return (BatchValue(np.int64(0)),) * self.axes
        return found


@dataclass(frozen=True, eq=False)
class Taps:
    """The taps of one axis's windows: which count, and the position that each reads; and of which
    cases that is not settled."""

    rows: Rows
    counted: Bools
    position: NDArray[np.int64]
    unsettled: Bools
