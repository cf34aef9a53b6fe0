"""Linear consequences of products: enough for most proofs, and fast.

Each holds for all whole numbers, so whatever follows from them is true of products too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from itertools import product as cartesian

from conformance.feasible.algebra import Algebra
from conformance.feasible.backend import Truth
from conformance.feasible.term import ONE, ZERO, Product, Term, constant

SMALL = (1, 2, 3, 4)
"""Factors for which the solver gets a product exactly."""

COUNTING = "elements"
"""The role of products that matter only if they become too large."""

QUOTIENT, WHOLE = "quotient", "whole"
"""The roles of quotients with their divisors. A whole one is a sum with another quotient in it, and
compared only with what is none: with other quotients that one is compared."""


class Lemmas:
    """Facts about products, each worked out once."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self._alone: dict[Product, list[Truth]] = {}
        self._paired: dict[tuple[Product, Product], list[Truth]] = {}

    def of(self, products: Sequence[Product], known: Sequence[Product] = ()) -> Iterator[Truth]:
        """Facts about ``products``, and about pairs that share a factor or a role.

        Of ``known`` ones only what joins them to the others.
        """
        for product in products:
            if product not in self._alone:
                self._alone[product] = [fact for fact in self._facts(product) if fact is not True]
            yield from self._alone[product]
        for pair in (*combinations(products, 2), *cartesian(known, products)):
            if pair not in self._paired:
                self._paired[pair] = [fact for fact in self._together(*pair) if fact is not True]
            yield from self._paired[pair]

    def near(self, product: Product, left: int, right: int) -> Iterator[Truth]:
        """Facts that are exact where one factor has this value, and close nearby.

        ``(a - left) * (b - right)`` is positive if both factors are larger, or smaller (the tangent
        planes of incremental linearization: Cimatti et al., ACM TOCL 19(3), 2018).
        """
        algebra, logic = self.algebra, self.algebra.logic
        a, b, value = product.left, product.right, product.value
        at, beside = constant(left), constant(right)
        yield logic.implies(algebra.equal(a, at), algebra.equal(value, algebra.scale(b, left)))
        yield logic.implies(algebra.equal(b, beside), algebra.equal(value, algebra.scale(a, right)))
        plane = algebra.add(
            algebra.scale(a, right), algebra.scale(b, left), constant(-left * right)
        )
        for x, most, y in ((a, at, b), (b, beside, a)):
            ray = algebra.scale(y, most.constant or 0)
            for within, above in (
                (algebra.most(x, most), algebra.most(value, ray)),
                (algebra.most(most, x), algebra.most(ray, value)),
            ):
                yield logic.implies(logic.both(algebra.most(ZERO, y), within), above)
        for low, high in (((a, at), (b, beside)), ((at, a), (beside, b))):
            alike = logic.both(algebra.most(*low), algebra.most(*high))
            yield logic.implies(alike, algebra.most(plane, value))
        for low, high in (((a, at), (beside, b)), ((at, a), (b, beside))):
            apart = logic.both(algebra.most(*low), algebra.most(*high))
            yield logic.implies(apart, algebra.most(value, plane))

    def _facts(self, product: Product) -> Iterable[Truth]:
        algebra, logic = self.algebra, self.algebra.logic
        left, right, value = product.left, product.right, product.value
        if product.role == COUNTING:
            for a, b in ((left, right), (right, left)):
                some = logic.both(algebra.most(ZERO, a), algebra.most(ONE, b))
                yield logic.implies(some, algebra.most(a, value))
            return
        zero = (algebra.equal(left, ZERO), algebra.equal(right, ZERO))
        yield logic.same(algebra.equal(value, ZERO), logic.any(zero))
        for a, b in ((left, right), (right, left)):
            for small in SMALL:
                same = algebra.equal(value, algebra.scale(b, small))
                yield logic.implies(algebra.equal(a, constant(small)), same)
            least = constant(max(SMALL) + 1)
            above = logic.both(algebra.most(least, a), algebra.most(ONE, b))
            yield logic.implies(above, algebra.most(algebra.scale(b, max(SMALL) + 1), value))
            # Opposite signs.
            against = logic.both(algebra.less(a, ZERO), algebra.less(ZERO, b))
            yield logic.implies(against, algebra.most(value, a))
        # (a - k) * (b - k) >= 0 for a, b >= k
        for k in (1, 2):
            both = logic.both(algebra.most(constant(k), left), algebra.most(constant(k), right))
            sum_ = algebra.scale(algebra.add(left, right), k)
            yield logic.implies(both, algebra.most(algebra.subtract(sum_, constant(k * k)), value))
        negative = logic.both(algebra.less(left, ZERO), algebra.less(right, ZERO))
        yield logic.implies(negative, algebra.less(ZERO, value))

    def _together(self, one: Product, other: Product) -> Iterable[Truth]:
        roles = {one.role, other.role}
        if COUNTING in roles or (WHOLE in roles and roles <= {WHOLE, QUOTIENT}):
            return
        for a, b in ((one.left, one.right), (one.right, one.left)):
            for c, d in ((other.left, other.right), (other.right, other.left)):
                if a == c:
                    yield from self._shared(a, (b, one.value), (d, other.value))
        if isinstance(one.role, int) and one.role == other.role and one.right != other.right:
            yield from self._ordered(one, other)
            yield from self._ordered(other, one)

    def _shared(
        self, factor: Term, one: tuple[Term, Term], other: tuple[Term, Term]
    ) -> Iterable[Truth]:
        """A factor that is not negative keeps the order of what it is multiplied with."""
        algebra, logic = self.algebra, self.algebra.logic
        for (b, p), (d, q) in ((one, other), (other, one)):
            for steps in (1, 2, 3):
                apart = algebra.most(algebra.add(b, constant(steps)), d)
                above = logic.both(algebra.most(ZERO, factor), apart)
                least = algebra.add(p, algebra.scale(factor, steps))
                yield logic.implies(above, algebra.most(least, q))
        equal = algebra.equal(one[0], other[0])
        yield logic.implies(equal, algebra.equal(one[1], other[1]))

    def _ordered(self, low: Product, high: Product) -> Iterable[Truth]:
        """Of factors that are not negative larger ones have a larger product."""
        algebra, logic = self.algebra, self.algebra.logic
        order = logic.all(
            (
                algebra.most(ZERO, low.left),
                algebra.most(ZERO, low.right),
                algebra.most(low.left, high.left),
                algebra.most(low.right, high.right),
            )
        )
        yield logic.implies(order, algebra.most(low.value, high.value))
        for a, b, c in (
            (low.left, high.left, low.right),
            (low.right, high.right, low.left),
        ):
            more = logic.all((order, algebra.less(a, b), algebra.less(ZERO, c)))
            yield logic.implies(more, algebra.less(low.value, high.value))
