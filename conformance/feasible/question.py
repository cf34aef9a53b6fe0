"""All cases of one operator and rank at once, as symbolic quantities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

from conformance.feasible.algebra import Algebra
from conformance.feasible.backend import Logic, Truth
from conformance.feasible.knowledge import Knowledge
from conformance.feasible.lemmas import COUNTING
from conformance.feasible.term import Term, constant
from conformance.feasible.trace import EITHER, POSITIVE, Trace
from conformance.feasible.translate import Translator
from conformance.feasible.values import Choice, Untranslatable, Value, repeated, single
from conformance.model import Case
from conformance.spec.default_attributes import case_from_values
from conformance.spec.expressions import Expression
from conformance.spec.kinds import Domain
from conformance.spec.model import OpSpec, Quantity
from conformance.spec.scope import scope_of


class Question:
    """The unknown case: names for :class:`~.translate.Translator`, and the conditions on it."""

    def __init__(self, spec: OpSpec, rank: int) -> None:
        self.spec = spec
        self.axes = spec.layout.axes(rank)
        self.logic = Logic()
        self.algebra = Algebra(self.logic)
        self.scope = scope_of(spec)
        self.translator = Translator(self.logic, self.algebra, self)
        self.pattern = self._choice("pattern", spec.patterns)
        self.types = {name: self._choice(name, types) for name, types in spec.types.items()}
        numbers = tuple(constant(axis) for axis in range(self.axes))
        self.given: dict[str, Value] = {
            "rank": single(constant(rank)),
            "axes": single(constant(self.axes)),
            "axis": Value(numbers, True),
            "pattern": single(self.pattern),
            **{name: single(choice) for name, choice in self.types.items()},
        }
        for key, quantity in spec.quantities.items():
            self.given[key] = self._unknown(quantity)
        self._known: dict[tuple[Any, ...], tuple[Value, Trace]] = {}
        self.knowledge: Knowledge = (spec.kin.solver or Knowledge)(self)

    # Unknowns

    def _choice(self, name: str, members: Iterable[str]) -> Choice:
        when = {member: self.logic.truth(f"{name}={member}") for member in members}
        if len(when) == 1:
            when = dict.fromkeys(when, True)
        return Choice(when)

    def _unknown(self, quantity: Quantity) -> Value:
        count = self.axes if quantity.per_axis else 1
        entries: tuple[Any, ...]
        if quantity.type == "enum":
            values = dict.fromkeys((*quantity.values, str(quantity.default or quantity.values[0])))
            entries = (self._choice(quantity.key, values),)
        elif quantity.type == "bool":
            entries = (self.logic.truth(quantity.key),)
        else:
            entries = tuple(self.algebra.fresh(quantity.key) for _ in range(count))
        return Value(entries, quantity.per_axis)

    # Names

    def value(self, name: str, window: Any, translator: Translator, want: int) -> Value:
        """See :class:`~.translate.Names`."""
        if name in self.given:
            return self.given[name]
        if window is not None and (found := window.value(name)) is not None:
            return self._declared(name, found)
        if name not in self.spec.definitions:
            raise Untranslatable(name)
        key = (name, window, want)
        if key not in self._known:
            with translator.tracing() as trace:
                value = translator.value(self.spec.definitions[name], window, want)
            self._known[key] = self._declared(name, value), trace
        value, trace = self._known[key]
        translator.include(trace)
        return value

    def _declared(self, name: str, value: Value) -> Value:
        kind = self.scope[name]
        if kind.per_axis:
            value = repeated(value, self.axes)
        return replace(value, case=kind.domain is Domain.CASE)

    def window(self) -> Any:
        """A new part of an output."""
        return self.knowledge.element()

    def numbers(self, name: str, window: Any = None) -> tuple[Term, ...]:
        """A whole number for each axis, by name; what it takes to have one is left out."""
        with self.translator.tracing():
            value = self.value(name, window, self.translator, EITHER)
        return repeated(value, self.axes).numbers

    def sizes(self, name: str) -> tuple[Term, ...]:
        """A dimension of an array: one number, or one for each axis."""
        if self.scope[name].per_axis:
            return self.numbers(name)
        with self.translator.tracing():
            return self.value(name, None, self.translator, EITHER).numbers

    def elements(self, names: Iterable[str]) -> Term:
        """The number of elements of an array that has these dimensions."""
        terms = [size for name in names for size in self.sizes(name)]
        return reduce(lambda a, b: self.algebra.product(a, b, COUNTING), terms)

    def is_default(self, **rules: str) -> bool:
        """Whether the rules that there are have these texts."""
        found = self.spec.definitions
        return all(found[n].text == text for n, text in rules.items() if n in found)

    def statement(self, expression: Expression) -> tuple[Truth, Trace]:
        """When a condition on the case has the value true, on every axis."""
        with self.translator.tracing() as trace:
            value = self.translator.value(expression, None, POSITIVE)
        return self.logic.all((*value.truths, *trace.defined, *trace.side)), trace

    def case(self, model: Any) -> Case:
        """The case that a model of the solver describes, with seed 0."""
        found = {key: self._read(model, self.given[key]) for key in self.spec.quantities}
        found |= {name: _member(model, choice) for name, choice in self.types.items()}
        return case_from_values(
            self.spec, {**found, "pattern": _member(model, self.pattern)}, seed=0
        )

    def _read(self, model: Any, value: Value) -> Any:
        entries: list[Any] = []
        for entry in value.entries:
            if isinstance(entry, Choice):
                entries.append(_member(model, entry))
            elif isinstance(entry, Term):
                number = model.eval(self.algebra.expression(entry), model_completion=True)
                entries.append(number.as_long())
            else:
                entries.append(_true(model, entry))
        return entries if value.per_axis else entries[0]


def _member(model: Any, choice: Choice) -> str:
    return next(name for name, truth in choice.when.items() if _true(model, truth))


def _true(model: Any, truth: Truth) -> bool:
    if isinstance(truth, bool):
        return truth
    return bool(model.eval(truth, model_completion=True).sexpr() == "true")
