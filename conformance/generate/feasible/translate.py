"""From the text of an expression to solver propositions about all cases at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
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
from conformance.spec.syntax import parse


class Names(Protocol):
    """The names of a question."""

    def value(self, name: str, window: Any, translator: Translator, want: int) -> Value | None:
        """What a name stands for; None for a word that is no name."""

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

    def text(self, text: str, window: Any = None, want: int = POSITIVE) -> Value:
        """The value of an expression, in a window if it depends on one.

        Raises Untranslatable for what there are no symbols for.
        """
        return self.node(parse(text), window, want)

    def node(self, node: ast.expr, window: Any, want: int) -> Value:
        match node:
            case ast.Constant(value=bool() as truth):
                return single(truth)
            case ast.Constant(value=int() as literal):
                return single(constant(literal))
            case ast.Name(id=name):
                return self._name(name, window, want)
            case ast.UnaryOp(op=ast.USub()):
                number = self._number(node.operand, window)
                return self._each(lambda a: self.algebra.scale(a, -1), number)
            case ast.UnaryOp(op=ast.Not()):
                return self._each(self.logic.negate, self.node(node.operand, window, -want))
            case ast.BinOp():
                return self._arithmetic(node, window)
            case ast.BoolOp():
                values = [partial(self.node, value, window, want) for value in node.values]
                return self._joined(isinstance(node.op, ast.And), values)
            case ast.Compare():
                terms = [node.left, *node.comparators]
                pairs = zip(terms, node.ops, terms[1:], strict=False)
                return self._joined(
                    True, [partial(self._comparison, *pair, window) for pair in pairs]
                )
            case ast.Call(func=ast.Name(id=name)):
                return calls.call(self, name, node.args, window, want)
        raise Untranslatable(ast.unparse(node))

    def _each(self, operation: Callable[..., Any], *values: Value) -> Value:
        return elementwise(self.logic, operation, *values)

    def _number(self, node: ast.expr, window: Any) -> Value:
        return self.node(node, window, EITHER).of(Term)

    def _name(self, name: str, window: Any, want: int) -> Value:
        if name in ("true", "false"):
            return single(name == "true")
        return self.names.value(name, window, self, want) or single(member(name))

    def _arithmetic(self, node: ast.BinOp, window: Any) -> Value:
        a, b = self._number(node.left, window), self._number(node.right, window)
        operations: dict[type[ast.operator], Callable[..., Term]] = {
            ast.Add: self.algebra.add,
            ast.Sub: self.algebra.subtract,
            ast.Mult: self.algebra.multiply,
            ast.FloorDiv: lambda x, y: self.division.divide(x, y)[0],
            ast.Mod: lambda x, y: self.division.divide(x, y)[1],
        }
        if type(node.op) not in operations:
            raise Untranslatable(ast.unparse(node))
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            self.divisor(b)
        return self._each(operations[type(node.op)], a, b)

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

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr, window: Any) -> Value:
        if isinstance(op, ast.In | ast.NotIn):
            return self._membership(left, op, right, window)
        a, b = self._pair(left, right, window)
        algebra, logic = self.algebra, self.logic
        operation: Callable[[Any, Any], Truth]
        match op:
            case ast.Eq():
                operation = self._same
            case ast.NotEq():
                operation = lambda x, y: logic.negate(self._same(x, y))  # noqa: E731
            case ast.Lt():
                operation = algebra.less
            case ast.LtE():
                operation = algebra.most
            case ast.Gt():
                operation = lambda x, y: algebra.less(y, x)  # noqa: E731
            case ast.GtE():
                operation = lambda x, y: algebra.most(y, x)  # noqa: E731
            case _:
                raise Untranslatable("a comparison")
        return self._each(operation, a, b)

    def _same(self, a: Any, b: Any) -> Truth:
        if isinstance(a, Term) and isinstance(b, Term):
            return self.algebra.equal(a, b)
        if isinstance(a, Choice) and isinstance(b, Choice):
            common = sorted(a.when.keys() & b.when.keys())
            return self.logic.any(self.logic.both(a.when[m], b.when[m]) for m in common)
        if isinstance(a, Term | Choice) or isinstance(b, Term | Choice):
            raise Untranslatable("values of different types are compared")
        return self.logic.same(a, b)

    def _pair(self, left: ast.expr, right: ast.expr, window: Any) -> tuple[Value, Value]:
        """Both sides of a comparison; beside an enum a word is first of all its member."""
        a, b = (self.node(side, window, EITHER) for side in (left, right))
        return self._beside(b, left, a), self._beside(a, right, b)

    def _beside(self, enum: Value, node: ast.expr, value: Value) -> Value:
        entry = enum.entries[0] if enum.entries else None
        if isinstance(node, ast.Name) and isinstance(entry, Choice) and node.id in entry.members:
            return single(member(node.id))
        return value

    def _membership(self, left: ast.expr, op: ast.cmpop, right: ast.expr, window: Any) -> Value:
        if not isinstance(right, ast.List | ast.Tuple):
            raise Untranslatable(ast.unparse(right))
        a = self.node(left, window, EITHER)
        tests = []
        for element in right.elts:
            b = self._beside(a, element, self.node(element, window, EITHER))
            tests.append(self._each(self._same, a, b))
        found = reduce(lambda x, y: self._each(self.logic.either, x, y), tests)
        return self._each(self.logic.negate, found) if isinstance(op, ast.NotIn) else found
