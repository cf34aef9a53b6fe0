"""The expression language of specifications: a small, whitelisted part of Python's syntax.

Text is parsed once: each part of the syntax is checked against a whitelist and becomes a node
with a static :class:`Kind`. Whatever reads an expression visits that tree
(:mod:`conformance.spec.tree`). Nothing is ever passed to ``eval``. The language is described in
``docs/spec-format.md``.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from conformance.errors import EvaluationError, ExpressionError, closest
from conformance.spec import arithmetic
from conformance.spec.closures import Run, closure
from conformance.spec.compiler import Compiler
from conformance.spec.functions import of_type, repeated
from conformance.spec.kinds import Domain, Kind
from conformance.spec.syntax import parse_expression
from conformance.spec.tree import Node

if TYPE_CHECKING:
    from conformance.spec.batch import Batch

__all__ = ["Domain", "Expression", "Kind", "Value", "closest", "compile_expression", "reach"]

Value = int | bool | str | NDArray[Any] | tuple[int | bool | str | NDArray[Any], ...]
"""A value at run time. A tuple is a per-axis value. Where a kind allows an array, a plain int or
bool may stand for one that is the same everywhere."""


class Expression:
    """An expression, parsed and typed. Immutable; equal to another of the same text.

    ``tree`` is what visitors go through, ``kind`` what it gives, ``names`` are the names that it
    may read.
    """

    __slots__ = ("_run", "kind", "names", "text", "tree")

    text: str
    tree: Node
    kind: Kind
    names: frozenset[str]
    _run: Run | None

    def __init__(self, text: str, tree: Node) -> None:
        for name, value in (
            ("text", text),
            ("tree", tree),
            ("kind", tree.kind),
            ("names", tree.names),
            ("_run", None),
        ):
            object.__setattr__(self, name, value)

    def evaluate(self, env: Mapping[str, Value]) -> Value:
        """Evaluate over ``env``, which must have each name that is read.

        A condition on the case alone that decides ``and``, ``or`` or ``where`` keeps the other
        side from being evaluated. Raises :class:`EvaluationError` for a division by zero, for a
        number larger than 2**62, and where there is no axis to choose from.
        """
        if self._run is None:  # most expressions of a specification are never evaluated
            object.__setattr__(self, "_run", closure(self.tree))
        assert self._run is not None
        try:
            value: Value = self._run(env)
            for entry in value if isinstance(value, tuple) else (value,):
                if entry.__class__ is int:
                    arithmetic.bounded(entry)
        except ArithmeticError as error:
            raise EvaluationError(f"'{self.text}' has no value here: {error}") from None
        return value

    def many(self, batch: Batch) -> Any:
        """Evaluate for each case of a batch, see :mod:`conformance.spec.batch`."""
        return batch.visit(self.tree)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an expression cannot be changed ({name})")

    def __reduce__(self) -> tuple[type[Expression], tuple[str, Node]]:
        # What evaluates it is made again: functions cannot be sent to another process.
        return Expression, (self.text, self.tree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


MOST_KEPT = 1 << 13
"""How many expressions are remembered: some times those of all shipped operators and mutants."""

_kept: dict[Hashable, Expression] = {}


def compile_expression(
    text: str,
    scope: Mapping[str, Kind],
    *,
    enums: frozenset[str] | None = None,
    want: Kind | None = None,
    repeat: bool = False,
) -> Expression:
    """Compile the expression ``text`` over the names of ``scope``.

    ``enums`` are the words that may stand for enum members; by default those of the names in
    scope. With ``want`` the value must be of its type, have no other members, depend on no more,
    and be per axis only if it is; with ``repeat`` a single value is repeated on every axis where
    ``want`` is per axis (this reads the name ``axis``).

    Raises :class:`ExpressionError` with the offset of what is wrong.
    """
    if enums is None:
        enums = frozenset().union(*[kind.values for kind in scope.values() if kind.values])
    if want is not None:
        enums |= want.values or frozenset()
    # Mutants of many operators have the same guards and rules, over names of the same kinds.
    spoken = tuple((name, scope.get(name), name in enums) for name in _words(text))
    cached = _kept.get(key := (text, spoken, want, repeat))
    if cached is not None:
        return cached
    try:
        tree = Compiler(text, scope, enums).compile(parse_expression(text))
    except ExpressionError as error:
        if want is None or not want.values or not text.strip().isidentifier():
            raise
        # It is a word that is none of those; that it is a function, say, does not help.
        hint = closest(text.strip(), want.values)
        expected = f"one of {', '.join(sorted(want.values))}"
        raise ExpressionError(
            error.message, offset=error.offset, expected=expected, hint=hint
        ) from None
    if want is not None:
        _check(tree, want)
        if repeat and want.per_axis:
            tree = repeated(tree)
    expression = Expression(" ".join(text.split()), tree)
    if not expression.names:
        _check_constant(expression)
    if len(_kept) >= MOST_KEPT:
        _kept.clear()
    _kept[key] = expression
    return expression


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    """The names in an expression, which are all that it asks its scope about."""
    return tuple(
        {node.id for node in ast.walk(parse_expression(text)) if isinstance(node, ast.Name)}
    )


def reach(names: Iterable[str], speaks_of: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Collect ``names`` and all that their definitions use, directly or not.

    ``speaks_of`` gives for each definition the names in it.
    """
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += speaks_of.get(name, ())
    return frozenset(reached)


def _check_constant(expression: Expression) -> None:
    try:
        expression.evaluate({})
    except EvaluationError as error:
        raise ExpressionError(error.message, expected="a value") from None


def _check(node: Node, want: Kind) -> None:
    """Refuses a value that is not what is wanted where the expression stands."""
    kind = node.kind
    hint, unknown = None, ""
    if kind.type == want.type == "enum" and not (kind.values or set()) <= (want.values or set()):
        unknown = min((kind.values or frozenset()) - (want.values or frozenset()))
        message, hint = f"'{unknown}' is not a value here", closest(unknown, want.values or ())
    elif kind.type != want.type:
        of_type(node, want.type)
        return
    elif kind.per_axis and not want.per_axis:
        message = f"this is {kind}"
        hint = "any(...) or all(...)" if kind.type == "bool" else "min, max, sum or prod"
        hint += " settles it over the axes"
    elif kind.domain > want.domain:
        message = f"this is {kind}"
        if kind.type == "bool" and want.domain is Domain.CASE:
            hint = "somewhere(...) and everywhere(...) ask about all windows"
    elif kind.entangled and want.per_axis and want.domain in (Domain.WINDOW, Domain.TAP):
        message, hint = "this depends on several axes at once", "each axis has its own windows"
    else:
        return
    raise ExpressionError(message, offset=node.offset, expected=str(want), hint=hint, lacks=unknown)
