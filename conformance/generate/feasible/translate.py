"""The visitor that makes solver propositions about all cases at once of an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from conformance.generate.feasible import calls
from conformance.generate.feasible.algebra import Algebra
from conformance.generate.feasible.backend import Logic, Truth
from conformance.generate.feasible.division import Division
from conformance.generate.feasible.term import ZERO, Term, constant
from conformance.generate.feasible.trace import EITHER, POSITIVE, Trace
from conformance.generate.feasible.values import (
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

    def value(self, name: str, window: Any, translator: Translator, want: int) -> Value | None:
        """What a name stands for; None for one that is not known."""

    def window(self) -> Any:
        """A new window of which nothing is known."""


class Translator:
    """Translates the expressions of one question; ``trace`` grows while it does."""

    def __init__(self, logic: Logic, algebra: Algebra, names: Names) -> None:
        self.logic = logic
        self.algebra: Algebra = algebra
        self.division = Division(algebra)
        self.names = names
        self.trace = Trace()
        self._path: list[Truth] = []

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
        match node.op:
            case "constant":
                return single(_constant(node.value))
            case "name":
                return self._name(str(node.value), window, want)
            case "repeat":  # single values meet every axis
                return self.node(node.args[0], window, want)
            case "not":
                return self._each(self.logic.negate, self.node(node.args[0], window, -want))
            case "and" | "or":
                parts = [partial(self.node, arg, window, want) for arg in node.args]
                return self._joined(node.op == "and", parts)
            case "negative":
                number = self.number(node.args[0], window)
                return self._each(lambda a: self.algebra.scale(a, -1), number)
            case "+" | "-" | "*" | "//" | "%":
                return self._arithmetic(node, window)
            case "==" | "!=" | "<" | "<=" | ">" | ">=":
                return self._comparison(node, window)
        return calls.call(self, node, window, want)

    def _each(self, operation: Callable[..., Any], *values: Value) -> Value:
        return elementwise(self.logic, operation, *values)

    def number(self, node: Node, window: Any) -> Value:
        return self.node(node, window, EITHER).of(Term)

    def _name(self, name: str, window: Any, want: int) -> Value:
        found = self.names.value(name, window, self, want)
        if found is None:
            raise Untranslatable(name)
        return found

    def _arithmetic(self, node: Node, window: Any) -> Value:
        a, b = (self.number(arg, window) for arg in node.args)
        operations: dict[str, Callable[..., Term]] = {
            "+": self.algebra.add,
            "-": self.algebra.subtract,
            "*": self.algebra.multiply,
            "//": lambda x, y: self.division.divide(x, y)[0],
            "%": lambda x, y: self.division.divide(x, y)[1],
        }
        if node.op in ("//", "%"):
            self.divisor(b)
        return self._each(operations[node.op], a, b)

    def divisor(self, value: Value) -> None:
        """Notes that there is no value if a divisor is 0 that does not depend on the window."""
        if value.array is False:
            for entry in value.entries:
                self.need(self.logic.negate(self.algebra.equal(entry, ZERO)))

    def _joined(self, both: bool, parts: Sequence[Callable[[], Value]]) -> Value:
        """All of some conditions or one of them; a single one on the case may decide alone."""
        join = self.logic.both if both else self.logic.either
        result = parts[0]()
        for part in parts[1:]:
            if result.case and not result.per_axis:
                (first,) = result.truths
                on = first if both else self.logic.negate(first)
                other = self.under(on, part)
                decided = Value(
                    tuple(join(first, entry) for entry in other.truths),
                    other.per_axis,
                    other.case,
                    self.logic.both(on, other.array),
                )
                result = decided
            else:
                other = part()
                result = self._each(join, result, other)
        return result

    def under(self, condition: Truth, part: Callable[[], Value]) -> Value:
        """A value that is evaluated only where a condition holds."""
        self._path.append(condition)
        try:
            return part()
        finally:
            self._path.pop()

    def _comparison(self, node: Node, window: Any) -> Value:
        a, b = (self.node(arg, window, EITHER) for arg in node.args)
        algebra, logic = self.algebra, self.logic
        operations: dict[str, Callable[[Any, Any], Truth]] = {
            "==": self._same,
            "!=": lambda x, y: logic.negate(self._same(x, y)),
            "<": algebra.less,
            "<=": algebra.most,
            ">": lambda x, y: algebra.less(y, x),
            ">=": lambda x, y: algebra.most(y, x),
        }
        return self._each(operations[node.op], a, b)

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
