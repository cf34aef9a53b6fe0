"""Constant folding of expressions, for the ranks of a specification."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import lru_cache

from conformance.spec.expressions import compile_expression
from conformance.spec.kinds import Kind
from conformance.spec.syntax import parse_expression

TRUE, FALSE = "true", "false"

_OPEN = re.compile(r"\b(rank|axes|axis|true|false)\b")
"""Words without which nothing is settled."""

_BY_RANK = {"rank": Kind("int"), "axes": Kind("int")}


@lru_cache(maxsize=4096)
def folded(text: str, ranks: Sequence[int], axes: Callable[[int], int]) -> str:
    """Drop the conditions of an expression that are constant on the given ranks.

    The ranks have so many ``axes``.

    The text stays as it is where nothing is settled. Raises
    :class:`~conformance.errors.ExpressionError` for what is no expression.
    """
    tree = parse_expression(text)
    if not _OPEN.search(text):
        return text
    after = ast.unparse(
        _Folding([{"rank": rank, "axes": axes(rank)} for rank in ranks]).visit(deepcopy(tree))
    )
    return text if ast.unparse(tree) == after else after


class _Folding(ast.NodeTransformer):
    def __init__(self, ranks: Sequence[dict[str, int]]) -> None:
        self.ranks = ranks

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        names = {node.id for node in ast.walk(node) if isinstance(node, ast.Name)}
        if names and names <= _BY_RANK.keys():
            compiled = compile_expression(ast.unparse(node), _BY_RANK)
            values = {compiled.evaluate(environment) for environment in self.ranks}
            return _truth(bool(values.pop())) if len(values) == 1 else node
        node = ast.Compare(self.visit(node.left), node.ops, [*map(self.visit, node.comparators)])
        match node:
            case ast.Compare(ast.Name("axis"), [ast.Eq() | ast.NotEq() as op], [ast.UnaryOp()]):
                return _truth(isinstance(op, ast.NotEq))  # an axis has no negative number
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        settles = isinstance(node.op, ast.Or)
        values = [self.visit(value) for value in node.values]
        if any(_is(value, settles) for value in values):
            return _truth(settles)
        undecided = [value for value in values if not _is(value, not settles)]
        if len(undecided) < 2:
            return undecided[0] if undecided else _truth(not settles)
        return ast.BoolOp(node.op, undecided)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) and (_is(operand, True) or _is(operand, False)):
            return _truth(_is(operand, False))
        return ast.UnaryOp(node.op, operand)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        args = [self.visit(arg) for arg in node.args]
        match node.func, args:
            case ast.Name("where"), [ast.Name("true" | "false") as settled, first, second]:
                return first if _is(settled, True) else second
        return ast.Call(node.func, args, node.keywords)


def _truth(value: bool) -> ast.Name:
    return ast.Name(TRUE if value else FALSE)


def _is(node: ast.expr, value: bool) -> bool:
    return isinstance(node, ast.Name) and node.id == (TRUE if value else FALSE)
