"""One solver for all questions: shared axioms stay, the rest is pushed and popped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from conformance.feasible.algebra import Algebra
from conformance.feasible.backend import Logic, Truth
from conformance.feasible.knowledge import Labelled
from conformance.feasible.lemmas import Lemmas
from conformance.feasible.reach import Reach
from conformance.feasible.term import Product, Term


class Solving:
    """A z3 solver that knows sums, and learns about products what it gets wrong.

    A proposition has a label, and counts only where the label is asked for. What it speaks of is
    not known before :meth:`define`. ``resources`` bounds each check, in z3's own unit.
    """

    def __init__(self, logic: Logic, algebra: Algebra, resources: int) -> None:
        self.logic = logic
        self.algebra = algebra
        self.resources = resources
        self.reach = Reach(algebra)
        self.lemmas = Lemmas(algebra)
        self._solver = logic.z3.SimpleSolver(ctx=logic.context)
        self._solver.set("random_seed", 0)
        self._labels: dict[str, Any] = {}
        self._products: list[Product] = []
        self._known: set[int] = set()
        self._said: list[Truth] = []

    def add(self, labelled: Iterable[Labelled]) -> None:
        """Adds propositions, each under its label."""
        for label, truth in labelled:
            self._solver.add(self.logic.implies(self._label(label), self._proposition(truth)))
            self._said.append(truth)

    def define(self) -> None:
        """Adds the definitions of what was added, and what is known of its products."""
        facts, products = self.reach.of(self._said)
        fresh = [product for product in products if product not in self._products]
        facts += self.lemmas.of(fresh, self._products)
        for fact in facts:
            if fact.get_id() not in self._known:
                self._known.add(fact.get_id())
                self._solver.add(fact)
        self._products = [*self._products, *fresh]
        self._said = []

    @contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Forgets afterwards what is added or learnt meanwhile."""
        products, known = self._products, set(self._known)
        self._solver.push()
        try:
            yield
        finally:
            self._solver.pop()
            self._products, self._known, self._said = products, known, []

    def check(self, labels: Iterable[str], part: int = 1) -> bool | None:
        """Whether what has these labels can hold together, or None if z3 cannot tell.

        It may spend one ``part`` of the resources.
        """
        self._solver.set("rlimit", self.resources // part)
        result = str(self._solver.check(*map(self._label, labels)))
        return {"sat": True, "unsat": False}.get(result)

    def core(self) -> tuple[str, ...]:
        """After a check that failed, labels of which not all can hold together."""
        return tuple(sorted(str(label) for label in self._solver.unsat_core()))

    def model(self) -> Any:
        """After a check that succeeded, z3's model."""
        return self._solver.model()

    def correct(self) -> bool:
        """Whether the model has all products right; if not, the solver learns about them."""
        model, wrong = self.model(), 0
        for product in self._products:
            left, right, value = (
                self._read(model, term) for term in (product.left, product.right, product.value)
            )
            if left * right != value:
                wrong += 1
                for fact in self.lemmas.near(product, left, right):
                    self._solver.add(self._proposition(fact))
        return not wrong

    def exactly(self) -> None:
        """Leaves products to z3's own non-linear arithmetic."""
        for product in self._products:
            left, right, value = map(
                self.algebra.expression, (product.left, product.right, product.value)
            )
            self._solver.add(left * right == value)

    def _read(self, model: Any, term: Term) -> int:
        if term.constant is not None:
            return term.constant
        value = model.eval(self.algebra.expression(term), model_completion=True)
        return int(value.as_long())

    def _label(self, label: str) -> Any:
        if label not in self._labels:
            self._labels[label] = self.logic.z3.Bool(label, self.logic.context)
        return self._labels[label]

    def _proposition(self, truth: Truth) -> Any:
        if isinstance(truth, bool):
            return self.logic.z3.BoolVal(truth, self.logic.context)
        return truth


def without(labels: Sequence[str], label: str) -> list[str]:
    """All labels but one."""
    return [one for one in labels if one != label]
