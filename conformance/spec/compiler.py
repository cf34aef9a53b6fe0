"""Compiles syntax into the typed tree of an expression."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import reduce

from conformance.errors import ExpressionError, closest
from conformance.spec.functions import FUNCTIONS, logical, made, negated, numeric, of_type
from conformance.spec.kinds import Kind, elementwise, listed
from conformance.spec.syntax import refuse
from conformance.spec.tree import ARITHMETIC, COMPARISONS, TURNED, Node, constant, member

MAX_LITERAL = 1 << 40
_CONSTANTS = {"true": True, "false": False}


class Compiler:
    """A compiler of one expression's syntax into typed nodes."""

    def __init__(self, text: str, scope: Mapping[str, Kind], enums: frozenset[str]) -> None:
        self._text = text
        self._scope = scope
        self._enums = enums

    def compile(self, syntax: ast.expr) -> Node:
        method = getattr(self, f"_{type(syntax).__name__.lower()}", None)
        if method is None:
            raise refuse(syntax)
        node: Node = method(syntax)
        return node

    def _after(self, syntax: ast.expr) -> int:
        """Where the operator stands that follows ``syntax``."""
        offset = syntax.end_col_offset or 0
        return offset + len(self._text[offset:]) - len(self._text[offset:].lstrip(") \t\n\r"))

    def _constant(self, syntax: ast.Constant) -> Node:
        value = syntax.value
        if type(value) is not bool and type(value) is not int:
            raise refuse(syntax)
        if value > MAX_LITERAL:
            raise ExpressionError(
                "the number is too large", offset=syntax.col_offset, expected="at most 2**40"
            )
        return constant(value, syntax.col_offset)

    def _name(self, syntax: ast.Name) -> Node:
        name, offset = syntax.id, syntax.col_offset
        if name in _CONSTANTS:
            return constant(_CONSTANTS[name], offset)
        if name in self._scope:
            return Node("name", (), self._scope[name], offset, name)
        if name in self._enums:
            return member(name, offset)
        hint = closest(name, {*self._scope, *self._enums})
        if name in FUNCTIONS:
            hint = f"it is a function: {FUNCTIONS[name].signature}"
        raise ExpressionError(f"unknown name '{name}'", offset=offset, hint=hint, lacks=name)

    def _binop(self, syntax: ast.BinOp) -> Node:
        op = ARITHMETIC.get(type(syntax.op).__name__)
        if op is None:
            raise refuse(syntax.op, self._after(syntax.left))
        args = (self.compile(syntax.left), self.compile(syntax.right))
        return numeric(op, args, syntax.col_offset)

    def _unaryop(self, syntax: ast.UnaryOp) -> Node:
        node = self.compile(syntax.operand)
        if isinstance(syntax.op, ast.USub):
            return numeric("negative", (node,), syntax.col_offset)
        if not isinstance(syntax.op, ast.Not):
            raise refuse(syntax.op, syntax.col_offset)
        return negated(node, syntax.col_offset)

    def _boolop(self, syntax: ast.BoolOp) -> Node:
        op = "and" if isinstance(syntax.op, ast.And) else "or"
        nodes = [of_type(self.compile(value), "bool") for value in syntax.values]
        return reduce(lambda a, b: logical(op, a, b), nodes)

    def _compare(self, syntax: ast.Compare) -> Node:
        terms = [syntax.left, *syntax.comparators]
        pairs = zip(terms, syntax.ops, terms[1:], strict=False)
        nodes = [self._comparison(left, op, right) for left, op, right in pairs]
        return reduce(lambda a, b: logical("and", a, b), nodes)

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Node:
        if isinstance(op, ast.In | ast.NotIn):
            membership = self._membership(left, right)
            return negated(membership) if isinstance(op, ast.NotIn) else membership
        sign = COMPARISONS.get(type(op).__name__)
        if sign is None:
            raise refuse(op, self._after(left))
        a, b = self._pair(left, right)
        if sign not in ("==", "!="):
            of_type(a, "int")
        of_type(b, a.kind.type)
        if sign in TURNED:
            sign, a, b = TURNED[sign], b, a
        return made(sign, elementwise("bool", (a.kind, b.kind)), (a, b), left.col_offset)

    def _pair(self, left: ast.expr, right: ast.expr) -> tuple[Node, Node]:
        """Both sides of a comparison; a word beside an enum must be one of its members."""
        if not self._is_word(left):
            a = self.compile(left)
            return a, self._beside(a.kind, right)
        if not self._is_word(right):
            b = self.compile(right)
            return self._beside(b.kind, left), b
        return self.compile(left), self.compile(right)

    def _is_word(self, syntax: ast.expr) -> bool:
        return (
            isinstance(syntax, ast.Name)
            and syntax.id not in self._scope
            and syntax.id not in _CONSTANTS
        )

    def _beside(self, kind: Kind, syntax: ast.expr) -> Node:
        """``syntax`` compared with a value of ``kind``; beside an enum its members come first."""
        if kind.type != "enum":
            return self.compile(syntax)
        members = kind.values or frozenset()
        if isinstance(syntax, ast.Name) and syntax.id in members:
            return member(syntax.id, syntax.col_offset)
        if isinstance(syntax, ast.Name) and self._is_word(syntax):
            raise ExpressionError(
                f"'{syntax.id}' is not a value here",
                offset=syntax.col_offset,
                expected=str(kind),
                hint=closest(syntax.id, members),
                lacks=syntax.id,
            )
        node = of_type(self.compile(syntax), "enum")
        if not (node.kind.values or frozenset()) & members:
            raise ExpressionError(
                "these enums have no value in common", offset=node.offset, expected=str(kind)
            )
        return node

    def _membership(self, left: ast.expr, right: ast.expr) -> Node:
        if not isinstance(right, ast.List | ast.Tuple) or not right.elts:
            raise ExpressionError(
                "'in' needs a list of values", offset=right.col_offset, expected="[a, b, ...]"
            )
        a = self.compile(left)
        kind, tests = elementwise("bool", (a.kind,)), []
        for element in right.elts:
            b = self._beside(a.kind, element)
            if b.names:
                raise ExpressionError(
                    "a list holds numbers or enum values only",
                    offset=element.col_offset,
                    hint="compare with == and or",
                )
            of_type(b, a.kind.type)
            tests.append(Node("==", (a, b), kind, left.col_offset))
        return reduce(lambda x, y: logical("or", x, y), tests)

    def _call(self, syntax: ast.Call) -> Node:
        if not isinstance(syntax.func, ast.Name):
            raise refuse(syntax.func)
        name = syntax.func.id
        function = FUNCTIONS.get(name)
        if function is None:
            raise ExpressionError(
                f"unknown function '{name}'",
                offset=syntax.col_offset,
                expected=listed(FUNCTIONS),
                hint=closest(name, FUNCTIONS),
            )
        least, most = function.least, function.most
        if syntax.keywords or len(syntax.args) < least or (most and len(syntax.args) > most):
            raise ExpressionError(
                f"wrong arguments for '{name}'",
                offset=syntax.col_offset,
                expected=function.signature,
            )
        return function.build([self.compile(arg) for arg in syntax.args], syntax.col_offset)
