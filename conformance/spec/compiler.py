"""From syntax trees to code: what each node means, of what kind it is, and how it is worked out."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from functools import reduce

from conformance.errors import ExpressionError
from conformance.spec import arithmetic
from conformance.spec.arithmetic import Operation
from conformance.spec.closures import Code, binary, constant, unary
from conformance.spec.functions import (
    FUNCTIONS,
    OPERATORS,
    conditional,
    joined,
    numeric,
    of_type,
)
from conformance.spec.kinds import Kind, closest, elementwise, listed
from conformance.spec.syntax import refuse

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


class Compiler:
    """Turns the nodes of one expression into code."""

    def __init__(self, text: str, scope: Mapping[str, Kind], enums: frozenset[str]) -> None:
        self._text = text
        self._scope = scope
        self._enums = enums

    def compile(self, node: ast.expr) -> Code:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise refuse(node)
        code: Code = method(node)
        return code

    def _after(self, node: ast.expr) -> int:
        """Where the operator stands that follows ``node``."""
        offset = node.end_col_offset or 0
        return offset + len(self._text[offset:]) - len(self._text[offset:].lstrip(") \t\n\r"))

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
            raise refuse(node.op, self._after(node.left))
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
            raise refuse(op, self._after(left))
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
    kind = elementwise("bool", (a.kind, b.kind))
    both = isinstance(op, ast.And)
    if a.kind.is_case and not a.kind.per_axis:
        decided = Code(Kind("bool"), constant(not both), frozenset(), a.offset)
        return conditional(a, *((b, decided) if both else (decided, b)), kind, a.offset)
    run = binary(operator.and_ if both else operator.or_, a, b)
    return joined(kind, run, (a, b), a.offset)
