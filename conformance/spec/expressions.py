"""The expression language of specifications: a small, whitelisted part of Python's syntax.

Text is parsed to a syntax tree, each node is checked against a whitelist and given a static
:class:`Kind`, and the tree becomes nested closures. Nothing is ever passed to ``eval``. The
language is described in ``docs/spec-format.md``.
"""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from numpy.typing import NDArray

from conformance.errors import EvaluationError, ExpressionError
from conformance.spec import arithmetic
from conformance.spec.arithmetic import Operation
from conformance.spec.closures import Code, Run, binary, constant, repeated, unary
from conformance.spec.functions import (
    FUNCTIONS,
    OPERATORS,
    conditional,
    joined,
    numeric,
    of_type,
)
from conformance.spec.kinds import Domain, Kind, elementwise, listed
from conformance.spec.syntax import parse, refuse

__all__ = ["Domain", "Expression", "Kind", "Value", "closest", "compile_expression"]

Value = int | bool | str | NDArray[Any] | tuple[int | bool | str | NDArray[Any], ...]
"""A value at run time. A tuple is a per-axis value. Where a kind allows an array, a plain int or
bool may stand for one that is the same everywhere."""

MAX_LITERAL = 1 << 40
_COMPARISONS = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
_CONSTANTS = {"true": True, "false": False}


class Expression:
    """A compiled expression. Immutable; equal to another of the same text.

    ``kind`` is what it gives, ``names`` are the names that it may read.
    """

    __slots__ = ("_run", "kind", "names", "text")

    text: str
    kind: Kind
    names: frozenset[str]
    _run: Run

    def __init__(self, text: str, code: Code) -> None:
        for name, value in (
            ("text", text),
            ("kind", code.kind),
            ("names", code.names),
            ("_run", code.run),
        ):
            object.__setattr__(self, name, value)

    def evaluate(self, env: Mapping[str, Value]) -> Value:
        """The value over ``env``, which must have each name that is read.

        A condition on the case alone that decides ``and``, ``or`` or ``where`` keeps the other
        side from being evaluated. Raises :class:`EvaluationError` for a division by zero, for a
        number larger than 2**62, and where there is no axis to choose from.
        """
        try:
            value: Value = self._run(env)
            for entry in value if isinstance(value, tuple) else (value,):
                if entry.__class__ is int:
                    arithmetic.bounded(entry)
        except ArithmeticError as error:
            raise EvaluationError(f"'{self.text}' has no value here: {error}") from None
        return value

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an expression cannot be changed ({name})")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


def compile_expression(
    text: str,
    scope: Mapping[str, Kind],
    *,
    enums: frozenset[str] | None = None,
    want: Kind | None = None,
    repeat: bool = False,
) -> Expression:
    """The expression ``text`` over the names of ``scope``.

    ``enums`` are the words that may stand for enum members; by default those of the names in
    scope. With ``want`` the value must be of its type, have no other members, depend on no more,
    and be per axis only if it is; with ``repeat`` a single value is repeated on every axis where
    ``want`` is per axis (this reads the name ``axis``).

    Raises :class:`ExpressionError` with the offset of what is wrong.
    """
    if enums is None:
        enums = frozenset().union(*(kind.values or () for kind in scope.values()))
    if want is not None:
        enums |= want.values or frozenset()
    body = parse(text)
    code = _Compiler(scope, enums).compile(body)
    if want is not None:
        _check(code, want)
        if repeat and want.per_axis:
            code = repeated(code)
    return Expression(" ".join(text.split()), code)


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """``did you mean 'x'?`` for the candidate most like ``name``, if one is like it."""
    found = difflib.get_close_matches(name, sorted(candidates), n=1)
    return f"did you mean '{found[0]}'?" if found else None


class _Compiler:
    """Turns the nodes of one expression into code."""

    def __init__(self, scope: Mapping[str, Kind], enums: frozenset[str]) -> None:
        self._scope = scope
        self._enums = enums

    def compile(self, node: ast.expr) -> Code:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise refuse(node)
        code: Code = method(node)
        return code

    def _constant(self, node: ast.Constant) -> Code:
        value = node.value
        if type(value) is bool:
            return Code(Kind("bool"), constant(value), frozenset(), node.col_offset)
        if type(value) is not int:
            raise refuse(node)
        if value > MAX_LITERAL:
            raise ExpressionError(
                "the number is too large", offset=node.col_offset, expected="at most 2**40"
            )
        return Code(Kind("int"), constant(value), frozenset(), node.col_offset)

    def _name(self, node: ast.Name) -> Code:
        name, offset = node.id, node.col_offset
        if name in _CONSTANTS:
            return Code(Kind("bool"), constant(_CONSTANTS[name]), frozenset(), offset)
        if name in self._scope:
            run = operator.itemgetter(name)
            return Code(self._scope[name], run, frozenset({name}), offset)
        if name in self._enums:
            return self._member(node)
        hint = closest(name, {*self._scope, *self._enums})
        if name in FUNCTIONS:
            hint = f"it is a function: {FUNCTIONS[name].signature}"
        raise ExpressionError(f"unknown name '{name}'", offset=offset, hint=hint)

    def _member(self, node: ast.Name) -> Code:
        kind = Kind("enum", values=frozenset({node.id}))
        return Code(kind, constant(node.id), frozenset(), node.col_offset)

    def _binop(self, node: ast.BinOp) -> Code:
        operations = OPERATORS.get(type(node.op).__name__)
        if operations is None:
            raise refuse(node.op, node.left.end_col_offset or 0)
        codes = (self.compile(node.left), self.compile(node.right))
        return numeric(*operations, codes, node.col_offset)

    def _unaryop(self, node: ast.UnaryOp) -> Code:
        code = self.compile(node.operand)
        if isinstance(node.op, ast.Not):
            of_type(code, "bool")
            operation: Operation = operator.not_ if code.kind.is_case else arithmetic.invert
            kind = elementwise("bool", (code.kind,))
        elif isinstance(node.op, ast.USub):
            of_type(code, "int")
            operation, kind = operator.neg, elementwise("int", (code.kind,))
        else:
            raise refuse(node.op, node.col_offset)
        return joined(kind, unary(operation, code), (code,), node.col_offset)

    def _boolop(self, node: ast.BoolOp) -> Code:
        codes = [of_type(self.compile(value), "bool") for value in node.values]
        return reduce(lambda a, b: _both_or_either(node.op, a, b), codes)

    def _compare(self, node: ast.Compare) -> Code:
        terms = [node.left, *node.comparators]
        pairs = zip(terms, node.ops, terms[1:], strict=False)
        codes = [self._comparison(left, op, right) for left, op, right in pairs]
        return reduce(lambda a, b: _both_or_either(ast.And(), a, b), codes)

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Code:
        if isinstance(op, ast.In | ast.NotIn):
            return self._membership(left, right, negated=isinstance(op, ast.NotIn))
        operation = _COMPARISONS.get(type(op).__name__)
        if operation is None:
            raise refuse(op, left.end_col_offset or 0)
        a, b = self._pair(left, right)
        if operation not in (operator.eq, operator.ne):
            of_type(a, "int")
        of_type(b, a.kind.type)
        kind = elementwise("bool", (a.kind, b.kind))
        return joined(kind, binary(operation, a, b), (a, b), left.col_offset)

    def _pair(self, left: ast.expr, right: ast.expr) -> tuple[Code, Code]:
        """Both sides of a comparison; a word beside an enum must be one of its members."""
        if not self._is_word(left):
            a = self.compile(left)
            return a, self._beside(a.kind, right)
        if not self._is_word(right):
            b = self.compile(right)
            return self._beside(b.kind, left), b
        return self.compile(left), self.compile(right)

    def _is_word(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Name) and node.id not in self._scope and node.id not in _CONSTANTS
        )

    def _beside(self, kind: Kind, node: ast.expr) -> Code:
        """``node`` compared with a value of ``kind``; beside an enum its members come first."""
        if kind.type != "enum":
            return self.compile(node)
        members = kind.values or frozenset()
        if isinstance(node, ast.Name) and node.id in members:
            return self._member(node)
        if isinstance(node, ast.Name) and self._is_word(node):
            raise ExpressionError(
                f"'{node.id}' is not a value here",
                offset=node.col_offset,
                expected=str(kind),
                hint=closest(node.id, members),
            )
        code = of_type(self.compile(node), "enum")
        if not (code.kind.values or frozenset()) & members:
            raise ExpressionError(
                "these enums have no value in common", offset=code.offset, expected=str(kind)
            )
        return code

    def _membership(self, left: ast.expr, right: ast.expr, *, negated: bool) -> Code:
        if not isinstance(right, ast.List | ast.Tuple) or not right.elts:
            raise ExpressionError(
                "'in' needs a list of values", offset=right.col_offset, expected="[a, b, ...]"
            )
        a = self.compile(left)
        tests = []
        for element in right.elts:
            b = self._beside(a.kind, element)
            if b.names:
                raise ExpressionError(
                    "a list holds numbers or enum values only",
                    offset=element.col_offset,
                    hint="compare with == and or",
                )
            of_type(b, a.kind.type)
            kind = elementwise("bool", (a.kind,))
            tests.append(Code(kind, binary(operator.eq, a, b), a.names, left.col_offset))
        found = reduce(lambda x, y: _both_or_either(ast.Or(), x, y), tests)
        if not negated:
            return found
        invert: Operation = operator.not_ if found.kind.is_case else arithmetic.invert
        return found._replace(run=unary(invert, found))

    def _call(self, node: ast.Call) -> Code:
        if not isinstance(node.func, ast.Name):
            raise refuse(node.func)
        name = node.func.id
        function = FUNCTIONS.get(name)
        if function is None:
            raise ExpressionError(
                f"unknown function '{name}'",
                offset=node.col_offset,
                expected=listed(FUNCTIONS),
                hint=closest(name, FUNCTIONS),
            )
        least, most = function.least, function.most
        if node.keywords or len(node.args) < least or (most and len(node.args) > most):
            raise ExpressionError(
                f"wrong arguments for '{name}'", offset=node.col_offset, expected=function.signature
            )
        return function.build([self.compile(arg) for arg in node.args], node.col_offset)


def _both_or_either(op: ast.boolop, a: Code, b: Code) -> Code:
    """``a and b`` or ``a or b``; a single condition on the case may decide alone."""
    codes: Sequence[Code] = (a, b)
    kind = elementwise("bool", (a.kind, b.kind))
    both = isinstance(op, ast.And)
    if a.kind.is_case and not a.kind.per_axis:
        decided = Code(Kind("bool"), constant(not both), frozenset(), a.offset)
        return conditional(a, *((b, decided) if both else (decided, b)), kind, a.offset)
    run = binary(operator.and_ if both else operator.or_, a, b)
    return joined(kind, run, codes, a.offset)


def _check(code: Code, want: Kind) -> None:
    """Refuses a value that is not what is wanted where the expression stands."""
    kind = code.kind
    hint = None
    if kind.type == want.type == "enum" and not (kind.values or set()) <= (want.values or set()):
        unknown = min((kind.values or frozenset()) - (want.values or frozenset()))
        message, hint = f"'{unknown}' is not a value here", closest(unknown, want.values or ())
    elif kind.type != want.type:
        of_type(code, want.type)
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
    raise ExpressionError(message, offset=code.offset, expected=str(want), hint=hint)
