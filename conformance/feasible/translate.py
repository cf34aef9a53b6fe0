"""Visitor that translates an expression into solver propositions about all cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from conformance.feasible import functions
from conformance.feasible.algebra import Algebra
from conformance.feasible.backend import Logic, Truth
from conformance.feasible.division import Division
from conformance.feasible.term import ZERO, Term, constant
from conformance.feasible.trace import EITHER, POSITIVE, Trace
from conformance.feasible.values import (
    Choice,
    Untranslatable,
    Value,
    elementwise,
    member,
    single,
)
from conformance.spec.expressions import Expression
from conformance.spec.tree import Node


class Names(Protocol):
    """The names of a question."""

    def value(self, name: str, window: Any, translator: Translator, want: int) -> Value:
        """What a name stands for. Raises Untranslatable for one that is not known."""

    def window(self) -> Any:
        """A new window of which nothing is known."""


class Translator:
    """Translates the expressions of one question; ``trace`` grows while it does."""

    def __init__(self, logic: Logic, algebra: Algebra, names: Names) -> None:
        self.logic: Logic = logic
        self.algebra: Algebra = algebra
        self.division = Division(algebra)
        self.names = names
        self.trace = Trace()
        self._path: list[Truth] = []
        divide = self.division.divide
        self._numbers: dict[str, Callable[..., Term]] = {
            "+": algebra.add,
            "-": algebra.subtract,
            "*": algebra.multiply,
            "//": lambda x, y: divide(x, y)[0],
            "%": lambda x, y: divide(x, y)[1],
            "ceil_div": lambda x, y: divide(x, y, up=True)[0],
            "min": algebra.least,
            "max": algebra.greatest,
            "abs": lambda x: algebra.greatest(x, algebra.scale(x, -1)),
            "negative": lambda x: algebra.scale(x, -1),
        }
        self._comparisons: dict[str, Callable[[Any, Any], Truth]] = {
            "==": self._same,
            "!=": lambda x, y: logic.negate(self._same(x, y)),
            "<": algebra.less,
            "<=": algebra.most,
        }

    @contextmanager
    def tracing(self) -> Iterator[Trace]:
        """A trace of its own for what is translated meanwhile."""
        trace, path = self.trace, self._path
        self.trace, self._path = Trace(), []
        try:
            yield self.trace
        finally:
            self.trace, self._path = trace, path

    def include(self, trace: Trace) -> None:
        """Notes again what was noted before."""
        self.trace.side += trace.side
        self.trace.windows += trace.windows
        self.trace.foralls += trace.foralls
        for truth in trace.defined:
            self.need(truth)

    def need(self, truth: Truth) -> None:
        """Notes that there is a value only if ``truth``."""
        truth = self.logic.implies(self.logic.all(self._path), truth)
        if truth is not True:
            self.trace.defined.append(truth)

    def value(self, expression: Expression, window: Any = None, want: int = POSITIVE) -> Value:
        """The value of an expression, in a window if it depends on one.

        Raises Untranslatable for what there are no symbols for.
        """
        return self.node(expression.tree, window, want)

    def node(self, node: Node, window: Any, want: int) -> Value:
        if node.op in self._numbers:
            return self._arithmetic(node, window)
        if node.op in self._comparisons:
            pair = (self.node(arg, window, EITHER) for arg in node.args)
            return elementwise(self.logic, self._comparisons[node.op], *pair)
        match node.op:
            case "constant":
                return single(_constant(node.value))
            case "name":
                return self.names.value(str(node.value), window, self, want)
            case "repeat":  # single values meet every axis
                return self.node(node.args[0], window, want)
            case "not":
                value = self.node(node.args[0], window, -want)
                return elementwise(self.logic, self.logic.negate, value)
            case "and" | "or":
                return self._joined(node, window, want)
        return functions.call(self, node, window, want)

    def _arithmetic(self, node: Node, window: Any) -> Value:
        values = [self.node(arg, window, EITHER).of(Term) for arg in node.args]
        if node.op in ("//", "%", "ceil_div"):
            self._divisor(values[1])
        return elementwise(self.logic, self._numbers[node.op], *values)

    def _divisor(self, value: Value) -> None:
        """Notes that there is no value if a divisor is 0 that does not depend on the window."""
        if value.array is False:
            for entry in value.entries:
                self.need(self.logic.negate(self.algebra.equal(entry, ZERO)))

    def _joined(self, node: Node, window: Any, want: int) -> Value:
        """``and``, ``or``: a first condition that is a single one on the case may decide alone."""
        both = node.op == "and"
        join = self.logic.both if both else self.logic.either
        first = self.node(node.args[0], window, want)
        if first.per_axis or not first.case:
            return elementwise(self.logic, join, first, self.node(node.args[1], window, want))
        (test,) = first.truths
        on = test if both else self.logic.negate(test)
        other = self.under(on, lambda: self.node(node.args[1], window, want))
        joined = tuple(join(test, entry) for entry in other.truths)
        return Value(joined, other.per_axis, other.case, self.logic.both(on, other.array))

    def under(self, condition: Truth, part: Callable[[], Value]) -> Value:
        """A value that is evaluated only where a condition holds."""
        self._path.append(condition)
        try:
            return part()
        finally:
            self._path.pop()

    def _same(self, a: Any, b: Any) -> Truth:
        if isinstance(a, Term) and isinstance(b, Term):
            return self.algebra.equal(a, b)
        if isinstance(a, Choice) and isinstance(b, Choice):
            common = sorted(a.when.keys() & b.when.keys())
            return self.logic.any(self.logic.both(a.when[m], b.when[m]) for m in common)
        if isinstance(a, Term | Choice) or isinstance(b, Term | Choice):
            raise Untranslatable("values of different types are compared")
        return self.logic.same(a, b)


def _constant(value: int | bool | str | None) -> Any:
    if isinstance(value, bool):
        return value
    return member(value) if isinstance(value, str) else constant(int(value or 0))
