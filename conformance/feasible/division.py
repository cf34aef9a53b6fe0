"""Quotients of unknown integers."""

from __future__ import annotations

from conformance.feasible.algebra import Algebra
from conformance.feasible.backend import Truth
from conformance.feasible.lemmas import QUOTIENT, WHOLE
from conformance.feasible.term import ONE, ZERO, Product, Term, constant

Result = tuple[Term, Term]


class Division:
    """Makes quotients and rests, each once."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.logic = algebra.logic
        self._results: dict[tuple[Term, Term, bool], Result] = {}
        self._plain: dict[tuple[Term, Term, bool], Result] = {}

    def divide(self, a: Term, b: Term, *, up: bool = False) -> Result:
        """Quotient, rounded down or ``up``, and what the rounding takes away or adds.

        The rest has the sign of the divisor; of a divisor of 0 both are any number.
        """
        b = self.algebra.named(b)
        if (a, b, up) not in self._results:
            factored = None if b.constant is not None else self.algebra.factored(a)
            if factored is None:
                self._results[a, b, up] = self._divided(a, b, up)
            else:
                self._results[a, b, up] = self._of_product(*factored, b, up)
        return self._results[a, b, up]

    def _of_product(self, x: Term, y: Term, b: Term, up: bool) -> Result:
        """``x * y`` by b is ``x * (y // b)``, and ``x * (y % b)`` by b."""
        algebra = self.algebra
        quotient, rest = self._divided(y, b, False)
        left = algebra.multiply(x, rest)
        for variable in (term for term in algebra.variables_of(x) if term != b):
            taken = algebra.multiply(variable, quotient)
            both = algebra.multiply(variable, algebra.subtract(y, rest))
            if taken.variable is not None:
                algebra.multiple(taken, b, both)
        further, beyond = self._divided(left, b, up)
        result = algebra.add(algebra.multiply(x, quotient), further)
        if further.variable is not None:
            multiple = algebra.add(algebra.multiply(x, y), algebra.scale(beyond, 1 if up else -1))
            algebra.note(further, Product(result, b, multiple, WHOLE))
            algebra.define(further, *self._bounds(further, x, b, up))
            algebra.define(further, self._reduced(result, x, y, b, up))
        return result, beyond

    def _bounds(self, further: Term, x: Term, b: Term, up: bool) -> list[Truth]:
        """What a rest is, less than b, times x by b: below x, or at most x if rounded up."""
        algebra, logic = self.algebra, self.logic
        sane = logic.both(algebra.most(ZERO, x), algebra.less(ZERO, b))
        some = logic.both(algebra.less(ZERO, x), algebra.less(ZERO, b))
        most = x if up else algebra.subtract(x, ONE)
        return [
            logic.implies(sane, algebra.most(ZERO, further)),
            logic.implies(sane, algebra.most(further, x)),
            logic.implies(some, algebra.most(further, most)),
        ]

    def _reduced(self, result: Term, x: Term, y: Term, b: Term, up: bool) -> Truth:
        """``x * y`` by a multiple of y, ``m * y``, is x by m."""
        algebra, logic = self.algebra, self.logic
        times, beyond = self._divided(b, y, False)
        reduced, _ = self._divided(x, times, up)
        multiple = (
            algebra.equal(beyond, ZERO),
            algebra.less(ZERO, y),
            algebra.less(ZERO, times),
        )
        return logic.implies(logic.all(multiple), algebra.equal(result, reduced))

    def _divided(self, a: Term, b: Term, up: bool) -> Result:
        if a == ZERO:
            return ZERO, ZERO
        sign = 1 if up else -1
        if a.constant is not None and b.constant:
            times = -(-a.constant // b.constant) if up else a.constant // b.constant
            return constant(times), constant((times * b.constant - a.constant) * sign)
        if (a, b, up) not in self._plain:
            algebra, logic = self.algebra, self.logic
            self._plain[a, b, up] = quotient, rest = (
                algebra.fresh("quotient"),
                algebra.fresh("rest"),
            )
            multiple = algebra.add(a, algebra.scale(rest, sign))
            above = logic.both(algebra.most(ZERO, rest), algebra.less(rest, b))
            below = logic.both(algebra.less(b, rest), algebra.most(rest, ZERO))
            facts = [
                logic.implies(algebra.less(ZERO, b), above),
                logic.implies(algebra.less(b, ZERO), below),
            ]
            if b.constant is not None:
                facts.append(algebra.equal(algebra.scale(quotient, b.constant), multiple))
            else:
                algebra.multiple(quotient, b, multiple)
                product = Product(quotient, b, multiple, QUOTIENT)
                algebra.note(quotient, product)
                algebra.note(rest, product)
            algebra.define(quotient, *facts)
            algebra.define(rest, *facts)
        return self._plain[a, b, up]
