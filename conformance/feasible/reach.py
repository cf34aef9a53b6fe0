"""Which definitions are relevant to some propositions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.feasible.algebra import Algebra
from conformance.feasible.backend import Truth
from conformance.feasible.term import Product


class Reach:
    """Follows variables to what defines them, and what that speaks of."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self._variables: dict[int, tuple[Any, frozenset[int]]] = {}

    def of(self, truths: Iterable[Truth]) -> tuple[list[Truth], list[Product]]:
        """The definitions, and the products, of all variables that are reached."""
        definitions: dict[int, Truth] = {}
        products: dict[Product, None] = {}
        seen: set[int] = set()
        waiting = [truth for truth in truths if not isinstance(truth, bool)]
        while waiting:
            for variable in sorted(self._of(waiting.pop()) - seen):
                seen.add(variable)
                for fact in self.algebra.definitions.get(variable, ()):
                    if fact.get_id() not in definitions:
                        definitions[fact.get_id()] = fact
                        waiting.append(fact)
                for product in self.algebra.products.get(variable, ()):
                    if product not in products:
                        products[product] = None
                        terms = (product.left, product.right, product.value)
                        waiting += map(self.algebra.expression, terms)
        return list(definitions.values()), list(products)

    def _of(self, expression: Any) -> frozenset[int]:
        """The ids of the variables of an expression."""
        known = self._variables.get(expression.get_id())
        if known is None:
            arguments = expression.children()
            if arguments:
                found = frozenset[int]().union(*map(self._of, arguments))
            else:
                found = frozenset({int(expression.get_id())})
            # The expression is kept, since z3 gives the ids of lost ones again.
            known = self._variables[expression.get_id()] = expression, found
        return known[1]
