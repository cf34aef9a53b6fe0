"""Axioms about the data of windows: ranges of facts, and what patterns can hold.

Each axiom follows from how :mod:`conformance.families.pooling.facts` counts, or from a table of
:mod:`.tables`. They say less than is true: what the data are is not followed any further.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.dtypes import DTYPES
from conformance.families.pooling import tables
from conformance.families.pooling.rules import INTEGER_PATTERNS
from conformance.families.pooling.symbols import (
    GEOMETRY,
    NUMERIC,
    PLACES,
    STEPPED,
    SymbolicWindow,
    planes,
)
from conformance.feasible.backend import Truth
from conformance.feasible.knowledge import Knowledge, Labelled
from conformance.feasible.question import Question
from conformance.feasible.term import ONE, ZERO, Term

ZEROS = ("zero_taps", "neginf_taps")
"""What count the same elements in an unsigned type, whose lowest number is zero."""


class Axioms(Knowledge):
    """The axioms about the data of one question."""

    arrays = (("N", "C", "size"), ("N", "C", "out"))
    counted = ("out",)
    mixed = "mixed"

    def __init__(self, question: Question) -> None:
        self.question = question
        self.holds = {name: question.logic.truth(f"holds {name}") for name in tables.COUNTS}
        """Whether the data hold, anywhere, what a fact counts."""
        self.logic = question.logic
        self.algebra = question.algebra
        self._pattern = question.pattern

    def _is(self, *patterns: str) -> Truth:
        return self.logic.any(self._pattern.is_(*patterns))

    def _filled(self) -> Truth:
        """Whether the data are as the pattern fills them, and not empty."""
        if not self.question.is_default(**NUMERIC):
            return False
        sizes = (size for name in self.arrays[0] for size in self.question.sizes(name))
        return self.logic.all(self.algebra.most(ONE, n) for n in sizes)

    def _repeats(self, times: Term) -> Truth:
        """Whether distinct numbers may be so frequent: they begin anew after the type's last."""
        total = self.question.elements(self.arrays[0])
        before = self.algebra.subtract(times, ONE)
        return self.logic.any(
            self.logic.both(truth, self.algebra.less(self.algebra.scale(before, run), total))
            for run, truth in ((_distinct(dtype), truth) for dtype, truth in self._types())
        )

    def _types(self) -> Iterator[tuple[str, Truth]]:
        yield from self.question.types[self.question.spec.data.type].when.items()

    def _of_kind(self, kind: str) -> Truth:
        return self.logic.any(truth for dtype, truth in self._types() if DTYPES[dtype].kind == kind)

    def of_patterns(self) -> Iterator[Labelled]:
        """Which patterns can hold what."""
        logic = self.logic
        spec, unsigned = self.question.spec, self._of_kind("uint")
        for count, held in self.holds.items():
            can = self._is(*(p for p, held_ in tables.CAN_HOLD.items() if count in held_))
            too = (
                logic.both(self._is(pattern), truth)
                for dtype, truth in self._types()
                for pattern in spec.data.patterns
                if count in tables.TOO.get((pattern, dtype), ())
            )
            can = logic.either(can, *too)
            if self.question.is_default(**NUMERIC):
                # Empty data count as zeros.
                zero = count == "zero_taps" or (count in ZEROS and unsigned)
                empty = logic.both(zero, logic.negate(self._filled()))
                yield f"data {count}", logic.implies(held, logic.either(can, empty))

    def of_integers(self) -> Iterator[Labelled]:
        """What an integer type cannot hold, and what it is not filled with."""
        logic = self.logic
        for kind, counts in tables.NEVER.items():
            integer = self._of_kind(kind)
            if integer is False:
                continue
            yield "data patterns", logic.implies(integer, self._is(*INTEGER_PATTERNS))
            for count in counts:
                none = logic.negate(self.holds[count])
                yield f"data {count}", logic.implies(integer, none)

    def element(self) -> SymbolicWindow:
        """A new window."""
        number = self.algebra.fresh
        i = tuple(number("i") for _ in range(self.question.axes))
        return SymbolicWindow(self.question, self.holds, i, number("n"), number("c"))

    def corners(self) -> tuple[SymbolicWindow, SymbolicWindow]:
        """The first window of the first plane, and the last one of the last."""
        question, algebra = self.question, self.algebra
        out = question.numbers("out")
        first = SymbolicWindow(question, self.holds, (ZERO,) * question.axes, ZERO, ZERO)
        last = SymbolicWindow(
            question,
            self.holds,
            tuple(algebra.subtract(n, ONE) for n in out),
            *(algebra.subtract(planes(question, name), ONE) for name in ("N", "C")),
        )
        return first, last

    def of_data(self) -> Iterator[Labelled]:
        yield from self.of_patterns()
        yield from self.of_integers()

    def of_element(self, window: SymbolicWindow) -> Iterator[Labelled]:
        """What holds for the facts of one window that is one of the output's."""
        inside = window.inside()
        for label, truth in self._of_window(window):
            yield label, self.logic.implies(inside, truth)
        for name in sorted(window.facts.keys() & self.holds.keys()):
            # Whether or not there are windows: what no element is, is counted as 0.
            none = self.algebra.equal(window.fact(name)[0], ZERO)
            yield f"data {name}", self.logic.either(self.holds[name], none)

    def _of_window(self, window: SymbolicWindow) -> Iterator[Labelled]:
        if not window.facts:
            return
        if not self.question.is_default(**STEPPED):
            taps = self.question.numbers("taps", window)
            for on_data, most in zip(window.on_data, taps, strict=True):
                above = self.algebra.most(on_data, self.algebra.greatest(ZERO, most))
                yield "data on_data", self.logic.both(self.algebra.most(ZERO, on_data), above)
        yield from self._counts(window)
        yield from self._maxima(window)
        if any(name in PLACES for name in window.facts):
            yield from self._places(window)

    def _counts(self, window: SymbolicWindow) -> Iterator[Labelled]:
        algebra, logic = self.algebra, self.logic
        size = window.size
        facts = {name: window.fact(name)[0] for name in tables.COUNTS}
        for name, fact in facts.items():
            label = f"data {name}"
            yield label, logic.both(algebra.most(ZERO, fact), algebra.most(fact, size))
        apart = ("nan_taps", "posinf_taps", "zero_taps")
        unsigned = self._of_kind("uint")  # whose lowest number is zero, and not negative
        for rest in (("negative_taps",), ("neginf_taps", "subnormal_taps")):
            sum_ = algebra.add(*(facts[name] for name in (*apart, *rest)))
            yield "data kinds", logic.either(unsigned, algebra.most(sum_, size))
        below = algebra.most(facts["neginf_taps"], facts["negative_taps"])
        yield "data kinds", logic.either(unsigned, below)
        if unsigned is not False:
            same = algebra.equal(*(facts[name] for name in ZEROS))
            yield "data kinds", logic.implies(unsigned, same)
        yield "data kinds", algebra.most(facts["minus_zero_taps"], facts["zero_taps"])
        filled = self._filled()
        signed = logic.both(filled, logic.negate(unsigned))
        for pattern, names in tables.ALL_ARE.items():
            for name in names:
                all_ = algebra.equal(facts[name], size)
                yield f"data {name}", logic.implies(logic.both(signed, self._is(pattern)), all_)
        sum_ = algebra.add(facts["zero_taps"], facts["negative_taps"])
        either = logic.both(filled, self._is(*tables.ZERO_OR_NEGATIVE))
        yield "data zero_taps", logic.implies(either, algebra.equal(sum_, size))
        lone = logic.both(filled, self._is(*tables.ONE_NONZERO))
        others = algebra.most(algebra.subtract(size, ONE), facts["zero_taps"])
        yield "data zero_taps", logic.implies(lone, others)

    def _maxima(self, window: SymbolicWindow) -> Iterator[Labelled]:
        algebra, logic = self.algebra, self.logic
        label = "data maxima"
        size, maxima = window.size, window.fact("maxima")[0]
        some = algebra.less(ZERO, size)
        yield label, logic.both(algebra.most(ZERO, maxima), algebra.most(maxima, size))
        yield label, logic.implies(some, algebra.less(ZERO, maxima))
        if not self.question.is_default(order="numeric"):
            return
        nan, posinf, neginf, negative, zero = (
            window.fact(f"{kind}_taps")[0]
            for kind in ("nan", "posinf", "neginf", "negative", "zero")
        )
        above = algebra.less(ZERO, posinf)
        yield label, logic.implies(above, algebra.equal(maxima, posinf))
        # NaN counts as minus infinity where the largest is looked for.
        lowest = algebra.add(nan, neginf)
        all_lowest = algebra.equal(lowest, size)
        yield label, logic.implies(all_lowest, algebra.equal(maxima, size))
        others = algebra.most(algebra.add(maxima, lowest), size)
        yield label, logic.either(all_lowest, others)
        if self.question.is_default(subnormals="kept"):
            below = algebra.equal(algebra.add(negative, nan, zero), size)
            zeros = logic.both(below, algebra.less(ZERO, zero))
            yield label, logic.implies(zeros, algebra.equal(maxima, zero))
        if self.question.is_default(**GEOMETRY):
            row = logic.both(self._filled(), algebra.less(ONE, window.on_data[-1]))
            differ = logic.both(row, self._is(*tables.NEIGHBOURS_DIFFER))
            yield label, logic.implies(differ, algebra.less(maxima, size))
        tied = logic.all((self._filled(), self._is(*tables.DISTINCT), algebra.less(ONE, maxima)))
        yield label, logic.implies(tied, logic.any((above, all_lowest, self._repeats(maxima))))

    def _places(self, window: SymbolicWindow) -> Iterator[Labelled]:
        algebra, logic = self.algebra, self.logic
        size, maxima = window.size, window.fact("maxima")[0]
        first, last = window.fact("first_max"), window.fact("last_max")
        some = algebra.less(ZERO, size)
        for name, present in (
            ("first_max", some),
            ("last_max", some),
            ("first_nan", algebra.less(ZERO, window.fact("nan_taps")[0])),
            ("first_minus_zero", algebra.less(ZERO, window.fact("minus_zero_taps")[0])),
        ):
            where = window.fact(name)
            label = f"data {name}"
            yield label, logic.implies(present, self._within(window, where))
            at_zero = logic.all(algebra.equal(at, ZERO) for at in where)
            yield label, logic.either(present, at_zero)
        yield "data last_max", self._not_after(first, last)
        lone = algebra.most(maxima, ONE)
        yield "data maxima", logic.same(lone, self._same(first, last))
        if self.question.is_default(**GEOMETRY):
            ends = [algebra.subtract(algebra.add(*pair), ONE) for pair in self._spans(window)]
            all_ = logic.both(some, algebra.equal(maxima, size))
            yield "data first_max", logic.implies(all_, self._same(first, window.begin))
            yield "data last_max", logic.implies(all_, self._same(last, tuple(ends)))
            nan = logic.both(some, algebra.equal(window.fact("nan_taps")[0], size))
            first_nan = window.fact("first_nan")
            yield "data first_nan", logic.implies(nan, self._same(first_nan, window.begin))

    def _spans(self, window: SymbolicWindow) -> Iterator[tuple[Term, Term]]:
        yield from zip(window.begin, window.on_data, strict=True)

    def _within(self, window: SymbolicWindow, where: tuple[Term, ...]) -> Truth:
        """Whether a position is one of the window's on the data."""
        algebra = self.algebra
        ranges: list[tuple[Term, Term]]
        if self.question.is_default(**GEOMETRY):
            ranges = [(begin, algebra.add(begin, n)) for begin, n in self._spans(window)]
        else:
            ranges = [(ZERO, size) for size in self.question.numbers("size")]
        return self.logic.all(
            self.logic.both(algebra.most(begin, at), algebra.less(at, end))
            for at, (begin, end) in zip(where, ranges, strict=True)
        )

    def _same(self, a: tuple[Term, ...], b: tuple[Term, ...]) -> Truth:
        return self.logic.all(self.algebra.equal(x, y) for x, y in zip(a, b, strict=True))

    def _not_after(self, a: tuple[Term, ...], b: tuple[Term, ...]) -> Truth:
        """Whether one position comes before another in row-major order, or is the same."""
        if not a:
            return True
        before = self.algebra.less(a[0], b[0])
        level = self.algebra.equal(a[0], b[0])
        return self.logic.either(before, self.logic.both(level, self._not_after(a[1:], b[1:])))

    def of_pair(self, one: SymbolicWindow, other: SymbolicWindow) -> Iterator[Labelled]:
        """Windows that read the same elements have the same facts."""
        names = sorted(one.facts.keys() & other.facts.keys())
        if not names:
            return
        same = self._same((*one.i, one.n, one.c), (*other.i, other.n, other.c))
        if self.question.is_default(**GEOMETRY):
            mine = (*one.begin, *one.on_data, one.n, one.c)
            its = (*other.begin, *other.on_data, other.n, other.c)
            same = self.logic.either(same, self._same(mine, its))
        equal = self.logic.all(self._same(one.fact(name), other.fact(name)) for name in names)
        inside = self.logic.both(one.inside(), other.inside())
        yield "data same window", self.logic.implies(self.logic.both(inside, same), equal)


def _distinct(dtype: str) -> int:
    return tables.distinct_numbers(DTYPES[dtype])
