"""The conditions of specifications, evaluated a second time: over Python's own syntax trees.

It shares nothing with ``conformance``. A value is single or per axis, which is a list with an entry
for each axis; what depends on the window is an array that broadcasts to (N, C, *out).
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def axis_by_axis(function: Callable[..., Any], *values: Any) -> Any:
    """A function of single values, of values per axis too."""
    axes = [len(value) for value in values if isinstance(value, list)]
    if not axes:
        return function(*values)
    spread = (value if isinstance(value, list) else [value] * axes[0] for value in values)
    return [function(*entries) for entries in zip(*spread, strict=True)]


def listed(value: Any) -> list[Any]:
    assert isinstance(value, list), "a value per axis belongs here"
    return value


def smallest(*values: Any) -> Any:
    if len(values) == 1:
        return reduce(np.minimum, listed(values[0]))
    return reduce(lambda a, b: axis_by_axis(np.minimum, a, b), values)


def largest(*values: Any) -> Any:
    if len(values) == 1:
        return reduce(np.maximum, listed(values[0]))
    return reduce(lambda a, b: axis_by_axis(np.maximum, a, b), values)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": smallest,
    "max": largest,
    "abs": lambda a: axis_by_axis(abs, a),
    "ceil_div": lambda a, b: axis_by_axis(lambda x, y: -(-x // y), a, b),
    "where": lambda p, a, b: axis_by_axis(np.where, p, a, b),
    "any": lambda p: reduce(np.logical_or, listed(p)),
    "all": lambda p: reduce(np.logical_and, listed(p)),
    "count": lambda p: reduce(operator.add, [np.asarray(one, np.int64) for one in listed(p)]),
    "sum": lambda a: reduce(operator.add, listed(a)),
    "prod": lambda a: reduce(operator.mul, listed(a)),
    "distinct": lambda a: len(set(map(int, listed(a)))) == len(a),
    "somewhere": lambda p: bool(np.any(p)),
    "everywhere": lambda p: bool(np.all(p)),
}

OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(node: ast.expr, names: Callable[[str], Any]) -> Any:
    """The value of an expression, whose names ``names`` looks up."""

    def value(part: ast.expr) -> Any:
        return evaluate(part, names)

    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names(node.id)
        case ast.UnaryOp(op=ast.USub()):
            return axis_by_axis(operator.neg, value(node.operand))
        case ast.UnaryOp(op=ast.Not()):
            return axis_by_axis(np.logical_not, value(node.operand))
        case ast.BinOp():
            return axis_by_axis(OPERATORS[type(node.op)], value(node.left), value(node.right))
        case ast.BoolOp():
            return connected(isinstance(node.op, ast.Or), node.values, value)
        case ast.Compare():
            left, found = node.left, True
            for op, right in zip(node.ops, node.comparators, strict=True):
                found = axis_by_axis(np.logical_and, found, compared(left, op, right, value))
                left = right
            return found
        case ast.Call(func=ast.Name()):
            return FUNCTIONS[node.func.id](*map(value, node.args))
    raise AssertionError(f"not understood: {ast.unparse(node)}")


def connected(either: bool, parts: list[ast.expr], value: Callable[[ast.expr], Any]) -> Any:
    """``or`` or ``and``; what a single truth value rules out is not looked at."""
    found: Any = not either
    for part in parts:
        join = np.logical_or if either else np.logical_and
        found = axis_by_axis(join, found, value(part))
        if isinstance(found, bool | np.bool_) and found == either:
            break
    return found


def compared(
    left: ast.expr, op: ast.cmpop, right: ast.expr, value: Callable[[ast.expr], Any]
) -> Any:
    if not isinstance(op, ast.In | ast.NotIn):
        return axis_by_axis(OPERATORS[type(op)], value(left), value(right))
    assert isinstance(right, ast.List)
    among = [axis_by_axis(operator.eq, value(left), value(item)) for item in right.elts]
    found = reduce(lambda a, b: axis_by_axis(np.logical_or, a, b), among)
    return found if isinstance(op, ast.In) else axis_by_axis(np.logical_not, found)
