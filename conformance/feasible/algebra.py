"""Unknown integers as sums over solver variables.

Sums are kept in a normal form, so that what cancels does so here. A product of two unknowns
becomes a variable of its own, of which the solver is told linear facts (:mod:`.lemmas`). What a
quotient is when multiplied with its divisor is a sum again: the dividend less the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from conformance.feasible.backend import Logic, Truth
from conformance.feasible.term import (
    CONSTANT,
    ONE,
    Product,
    Term,
    part,
    sum_of,
)

MOST_PARTS = 6
"""Products of longer sums are not multiplied out."""


class Algebra:
    """The unknown whole numbers of one question, and what defines them.

    ``definitions`` holds for each variable, by its z3 id, what it is: propositions that some value
    of it makes true whatever the others are. ``products`` are those that speak of products.
    """

    def __init__(self, logic: Logic) -> None:
        self.logic = logic
        self.variables: list[Any] = []
        self.definitions: dict[int, list[Truth]] = {}
        self.products: dict[int, list[Product]] = {}
        self._of_pair: dict[tuple[int, int], Term] = {}
        self._made: dict[int, Product] = {}
        self._branches: dict[int, tuple[Truth, Term, Term]] = {}
        self._choices: dict[tuple[Any, ...], Term] = {}

    def fresh(self, name: str) -> Term:
        """A new unknown."""
        self.variables.append(self.logic.number(name))
        return Term(((len(self.variables) - 1, 1),))

    def id_of(self, term: Term) -> int:
        """The z3 id of a variable."""
        assert term.variable is not None
        return int(self.variables[term.variable].get_id())

    def define(self, term: Term, *truths: Truth) -> None:
        """Notes what a variable is."""
        known = self.definitions.setdefault(self.id_of(term), [])
        known += [truth for truth in truths if truth is not True]

    def named(self, term: Term) -> Term:
        """``term``, as one variable unless it is constant."""
        if term.constant is not None or term.variable is not None:
            return term
        return self._once(("named", term), "sum", lambda value: [self.equal(value, term)])

    # Arithmetic

    def add(self, *terms: Term) -> Term:
        parts: dict[int, int] = {}
        for term in terms:
            for variable, factor in term.parts:
                parts[variable] = parts.get(variable, 0) + factor
        return sum_of(parts)

    def scale(self, term: Term, factor: int) -> Term:
        return sum_of({variable: factor * own for variable, own in term.parts})

    def subtract(self, a: Term, b: Term) -> Term:
        return self.add(a, self.scale(b, -1))

    def multiply(self, a: Term, b: Term) -> Term:
        for x, y in ((a, b), (b, a)):
            if x.constant is not None:
                return self.scale(y, x.constant)
        if len(a.parts) * len(b.parts) > MOST_PARTS:
            a, b = self.named(a), self.named(b)
        return self.add(
            *(
                self.scale(self.product(part(m), part(n)), x * y)
                for m, x in a.parts
                for n, y in b.parts
            )
        )

    def product(self, a: Term, b: Term, role: object = None) -> Term:
        """The product of two terms, each of which becomes one variable."""
        for x, y in ((a, b), (b, a)):
            if x.constant is not None:
                return self.scale(y, x.constant)
        a, b = self.named(a), self.named(b)
        key = self._pair(a, b)
        if key not in self._of_pair:
            for x, y in ((a, b), (b, a)):
                known = self._known_either_way(x, y)
                if known is not None:
                    return known
            self._of_pair[key] = value = self.fresh("product")
            made = Product(a, b, value, role)
            self._made[value.parts[0][0]] = made
            self.note(value, made)
        return self._of_pair[key]

    def _known_either_way(self, choice: Term, factor: Term) -> Term | None:
        """The product of a choice between two terms, if that of each is nothing new."""
        assert choice.variable is not None
        branches = self._branches.get(choice.variable)
        if branches is None or choice == factor:
            return None
        for branch in branches[1:]:
            for variable, _ in branch.parts:
                if variable == CONSTANT:
                    continue
                if self._pair(part(variable), factor) not in self._of_pair:
                    return None
        condition, a, b = branches
        return self.choose(condition, self.multiply(a, factor), self.multiply(b, factor))

    def over_axes(self, terms: Iterable[Term]) -> Term:
        """The product of the terms of all axes."""
        result = ONE
        for depth, term in enumerate(terms):
            result = self.product(result, term, depth)
        return result

    def _pair(self, a: Term, b: Term) -> tuple[int, int]:
        assert a.variable is not None
        assert b.variable is not None
        return min(a.variable, b.variable), max(a.variable, b.variable)

    def note(self, variable: Term, product: Product) -> None:
        """Notes a product that a variable stands in."""
        self.products.setdefault(self.id_of(variable), []).append(product)

    def multiple(self, quotient: Term, divisor: Term, value: Term) -> None:
        """Notes that a variable times another is a sum that is known."""
        self._of_pair.setdefault(self._pair(quotient, divisor), value)

    def variables_of(self, term: Term) -> list[Term]:
        """The variables of a sum."""
        return [part(variable) for variable, _ in term.parts if variable != CONSTANT]

    def factored(self, term: Term) -> tuple[Term, Term] | None:
        """``term`` as a product of a sum with a variable, if it has such a product in it.

        The variable is the oldest that there is: the case's rather than the window's.
        """
        factors = [self._factors(variable) for variable, _ in term.parts]
        common = set(factors[0]).intersection(*factors) if factors else set()
        if not common or max(map(len, factors)) == 1:
            return None
        oldest = min(common)
        others = []
        for (_, times), pair in zip(term.parts, factors, strict=True):
            rest = [*pair]
            rest.remove(oldest)
            others.append(self.scale(part(rest[0]) if rest else ONE, times))
        return self.add(*others), part(oldest)

    def _factors(self, variable: int) -> tuple[int, ...]:
        made = self._made.get(variable)
        if made is None:
            return (variable,)
        assert made.left.variable is not None
        assert made.right.variable is not None
        return made.left.variable, made.right.variable

    # Choices

    def choose(self, condition: Truth, a: Term, b: Term) -> Term:
        """``a`` where the condition holds, else ``b``."""
        if isinstance(condition, bool):
            return a if condition else b
        if a == b:
            return a
        logic = self.logic

        def facts(value: Term) -> list[Truth]:
            return [
                logic.implies(condition, self.equal(value, a)),
                logic.either(condition, self.equal(value, b)),
            ]

        value = self._once(("choose", condition.get_id(), a, b), "choice", facts)
        assert value.variable is not None
        self._branches[value.variable] = condition, a, b
        return value

    def least(self, a: Term, b: Term) -> Term:
        order = self.most(a, b)
        if isinstance(order, bool):
            return a if order else b

        def facts(value: Term) -> list[Truth]:
            chosen = self.logic.either(self.equal(value, a), self.equal(value, b))
            return [self.most(value, a), self.most(value, b), chosen]

        return self._once(("least", a, b), "least", facts)

    def greatest(self, a: Term, b: Term) -> Term:
        return self.scale(self.least(self.scale(a, -1), self.scale(b, -1)), -1)

    def _once(self, key: tuple[Any, ...], name: str, facts: Callable[[Term], list[Truth]]) -> Term:
        if key not in self._choices:
            self._choices[key] = value = self.fresh(name)
            self.define(value, *facts(value))
        return self._choices[key]

    # Comparisons

    def most(self, a: Term, b: Term) -> Truth:
        """Whether a <= b."""
        difference = self.subtract(a, b)
        if difference.constant is not None:
            return difference.constant <= 0
        left, right = self._sides(difference)
        return left <= right

    def less(self, a: Term, b: Term) -> Truth:
        return self.most(self.add(a, ONE), b)

    def equal(self, a: Term, b: Term) -> Truth:
        difference = self.subtract(a, b)
        if difference.constant is not None:
            return difference.constant == 0
        left, right = self._sides(difference)
        return left == right

    def expression(self, term: Term) -> Any:
        """``term`` for the solver."""
        left, right = self._sides(term)
        return left - right

    def _sides(self, term: Term) -> tuple[Any, Any]:
        """A term as the difference of two sums with positive factors only."""
        sides: tuple[list[Any], list[Any]] = ([], [])
        for variable, factor in term.parts:
            side = sides[0] if factor > 0 else sides[1]
            if variable == CONSTANT:
                side.append(self._literal(abs(factor)))
            else:
                one = self.variables[variable]
                side.append(one if abs(factor) == 1 else abs(factor) * one)
        left, right = (
            reduce(lambda x, y: x + y, side) if side else self._literal(0) for side in sides
        )
        return left, right

    def _literal(self, value: int) -> Any:
        return self.logic.z3.IntVal(value, self.logic.context)
