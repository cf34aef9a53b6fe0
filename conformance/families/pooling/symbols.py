"""A symbolic window, and unknown facts about its data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from conformance.families.pooling.tables import COUNTS
from conformance.feasible.backend import Truth
from conformance.feasible.term import ONE, ZERO, Term
from conformance.feasible.values import Value

if TYPE_CHECKING:
    from conformance.feasible.question import Question

PLACES = ("first_max", "last_max", "first_nan", "first_minus_zero")
"""Facts with an entry for each axis."""

STEPPED = {"tap": "0 <= at and at < size", "reads": "at"}
"""The rules under which a window's taps on the data are those of its steps that fall on it."""

GEOMETRY = {"step": "1", **STEPPED}
"""The rules under which they are all elements from its start to its end."""

NUMERIC = {"passes_through": "own", "order": "numeric"}
"""The rules under which the data are what their pattern fills, and the largest the largest."""


def planes(question: Question, name: str) -> Term:
    """How many images or channels there are for the facts: of empty data one."""
    return question.algebra.greatest(ONE, question.sizes(name)[0])


class SymbolicWindow:
    """Window number ``i`` on each axis, of image ``n`` and channel ``c``.

    ``holds`` says whether the data hold, anywhere, what a fact counts.
    """

    def __init__(
        self, question: Question, holds: Mapping[str, Truth], i: tuple[Term, ...], n: Term, c: Term
    ) -> None:
        self.question, self.holds = question, holds
        self.i, self.n, self.c = i, n, c
        self.facts: dict[str, tuple[Term, ...]] = {}
        """The facts that were used, each with one entry or one an axis."""
        self._tap: tuple[Term, ...] | None = None

    def inside(self) -> Truth:
        """Whether it is a window of the output. The facts of empty data are those of one plane."""
        question, algebra = self.question, self.question.algebra
        ranges = [*zip(self.i, question.numbers("out"), strict=True)]
        ranges += [(self.n, planes(question, "N")), (self.c, planes(question, "C"))]
        if self._tap is not None:
            ranges += [*zip(self._tap, self._numbers("taps"), strict=True)]
        return question.logic.all(
            truth
            for number, end in ranges
            for truth in (algebra.most(ZERO, number), algebra.less(number, end))
        )

    def value(self, name: str) -> Value | None:
        """What a name stands for that depends on the window; None for any other."""
        if name == "i":
            return Value(self.i, True, False, True)
        if name == "t":
            return Value(self.tap, True, False, True)
        if name == "at":
            return Value(self._at(), True, False, True)
        if name in ("n", "c"):
            return Value((self.n if name == "n" else self.c,), False, False, True)
        if name == "on_data":
            return Value(self.on_data, True, False, True)
        if name in COUNTS:
            # What no element of the data is, is counted as one 0 for all windows.
            return Value(self.fact(name), False, False, self.holds[name])
        if name == "maxima":
            return Value(self.fact(name), False, False, True)
        if name in PLACES:
            return Value(self.fact(name), True, False, True)
        if name == "position":
            return Value(self._position(), True, False, True)
        return None

    @property
    def tap(self) -> tuple[Term, ...]:
        """The number of one of its taps, on each axis."""
        if self._tap is None:
            self._tap = tuple(self.question.algebra.fresh("t") for _ in range(self.question.axes))
        return self._tap

    def _at(self) -> tuple[Term, ...]:
        """Where that tap is, from the first element of the data."""
        algebra = self.question.algebra
        columns = zip(self._numbers("start"), self.tap, self._numbers("step"), strict=True)
        return tuple(
            algebra.add(start, algebra.multiply(tap, step)) for start, tap, step in columns
        )

    def fact(self, name: str) -> tuple[Term, ...]:
        """An unknown fact about the window's data."""
        if name not in self.facts:
            entries = self.question.axes if name in PLACES else 1
            fresh = self.question.algebra.fresh
            self.facts[name] = tuple(fresh(name) for _ in range(entries))
        return self.facts[name]

    def _position(self) -> tuple[Term, ...]:
        question = self.question
        if not question.is_default(begins="nothing"):
            return tuple(question.algebra.fresh("position") for _ in range(question.axes))
        ties = question.value("ties", self, question.translator, 0)
        last = ties.single.when.get("last", False)
        pairs = zip(self.fact("last_max"), self.fact("first_max"), strict=True)
        return tuple(question.algebra.choose(last, a, b) for a, b in pairs)

    @cached_property
    def on_data(self) -> tuple[Term, ...]:
        """How many taps count, on each axis."""
        algebra, question = self.question.algebra, self.question
        if not question.is_default(**STEPPED):
            return tuple(algebra.fresh("on_data") for _ in range(question.axes))
        if not question.is_default(**GEOMETRY):
            return tuple(map(self._stepped, range(question.axes)))
        return tuple(
            algebra.greatest(ZERO, algebra.subtract(algebra.least(end, size), begin))
            for begin, end, size in zip(self.begin, self.end, question.numbers("size"), strict=True)
        )

    def _stepped(self, axis: int) -> Term:
        """How many steps of an axis fall on the data: from the first that is not before it to the
        first that is behind it, or behind the window."""
        algebra, divide = self.question.algebra, self.question.translator.division.divide
        start, taps, step = (self._numbers(name)[axis] for name in ("start", "taps", "step"))
        size = self.question.numbers("size")[axis]
        first, _ = divide(algebra.scale(start, -1), step, up=True)
        behind, _ = divide(algebra.subtract(size, start), step, up=True)
        taken = algebra.subtract(algebra.least(taps, behind), algebra.greatest(ZERO, first))
        forward = algebra.less(ZERO, step)
        return algebra.choose(forward, algebra.greatest(ZERO, taken), algebra.fresh("on_data"))

    @cached_property
    def begin(self) -> tuple[Term, ...]:
        """Where the first tap on the data is, on each axis, if there is one."""
        algebra = self.question.algebra
        return tuple(algebra.greatest(ZERO, start) for start in self._numbers("start"))

    @cached_property
    def end(self) -> tuple[Term, ...]:
        """Where the taps end, on each axis."""
        pairs = zip(self._numbers("start"), self._numbers("taps"), strict=True)
        return tuple(self.question.algebra.add(*pair) for pair in pairs)

    def _numbers(self, name: str) -> tuple[Term, ...]:
        return self.question.numbers(name, self)

    @cached_property
    def size(self) -> Term:
        """How many taps count, of all axes together."""
        return self.question.algebra.over_axes(self.on_data)
