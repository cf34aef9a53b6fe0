"""Propositions that a case is legal and within size limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from conformance.feasible.backend import Truth
from conformance.feasible.knowledge import Labelled
from conformance.feasible.question import Question
from conformance.feasible.term import ONE, ZERO, Term, constant
from conformance.feasible.values import Choice, Untranslatable, Value, repeated
from conformance.spec.model import Quantity


class Conditions:
    """The conditions on the case of a question, each made on demand."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.spec, self.logic, self.algebra = question.spec, question.logic, question.algebra

    def legal(self) -> Iterator[Labelled]:
        """What every valid case is, by name."""
        for name, choice in (("pattern", self.question.pattern), *self.question.types.items()):
            yield f"domain {name}", self._one_of(choice)
        for key, quantity in self.spec.quantities.items():
            for truth in self._bounds(quantity, self.question.given[key]):
                yield f"domain {key}", truth
        for requirement in self.spec.require:
            try:
                truth, trace = self.question.statement(requirement.that)
            except Untranslatable:
                continue
            if not trace.foralls and not trace.windows:
                yield f"require {requirement.name}", truth
        for name in self.question.knowledge.counted:
            with suppress(Untranslatable):
                for n in self.question.numbers(name):
                    yield f"domain {name}", self.algebra.most(ZERO, n)

    def _one_of(self, choice: Choice) -> Truth:
        logic, when = self.logic, list(choice.when.values())
        pairs = (logic.negate(logic.both(p, q)) for k, p in enumerate(when) for q in when[k + 1 :])
        return logic.both(logic.any(when), *pairs)

    def _bounds(self, quantity: Quantity, value: Value) -> Iterator[Truth]:
        logic, algebra = self.logic, self.algebra
        if quantity.type == "enum":
            yield self._one_of(value.single)
        if quantity.type != "int":
            return
        for bound, at_least in ((quantity.min, True), (quantity.max, False)):
            if bound is None:
                continue
            try:
                with self.question.translator.tracing() as trace:
                    found = self.question.translator.value(bound)
                limits = repeated(found, len(value.entries)).numbers
            except Untranslatable:
                continue
            for entry, limit in zip(value.numbers, limits, strict=True):
                legal = algebra.most(limit, entry) if at_least else algebra.most(entry, limit)
                # A bound without a value bounds nothing, and a default is not judged.
                legal = logic.implies(logic.all((*trace.defined, *trace.side)), legal)
                if isinstance(quantity.default, int):
                    default = algebra.equal(entry, constant(quantity.default))
                    legal = logic.either(legal, default)
                yield legal

    def within(self, quantity: int, elements: int) -> Iterator[Labelled]:
        """How large quantities are at most; how many elements there are, at least one."""
        algebra, most = self.algebra, constant(quantity)
        for key in self.spec.quantities:
            for entry in self.question.given[key].entries:
                if isinstance(entry, Term):
                    yield "limit quantities", algebra.most(entry, most)
                    yield "limit quantities", algebra.most(algebra.scale(entry, -1), most)
        arrays = self.question.knowledge.arrays
        for array in arrays:
            try:
                count = self.question.elements(array)
                yield "limit elements", algebra.most(count, constant(elements))
            except Untranslatable:
                continue
        for name in dict.fromkeys(chain.from_iterable(arrays)):
            try:
                # Said for each axis, also of what all axes share; once where there are none.
                for number in self.question.numbers(name) or self.question.sizes(name):
                    yield "limit elements", algebra.most(ONE, number)
            except Untranslatable:
                continue
