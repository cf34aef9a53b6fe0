"""Formats expressions of a specification as formulas."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from conformance.spec.syntax import parse_expression

MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _ATOM = range(1, 9)
"""How tightly an operation binds; what stands in a tighter one is put in brackets."""

_ARITHMETIC = {
    ast.Add: ("+", _SUM),
    ast.Sub: (MINUS, _SUM),
    ast.Mult: (TIMES, _PRODUCT),
    ast.Mod: ("mod", _PRODUCT),
    ast.FloorDiv: ("/", _PRODUCT),
}
_COMPARISON = {
    ast.Eq: "=",
    ast.NotEq: "≠",
    ast.Lt: "<",
    ast.LtE: "≤",
    ast.Gt: ">",
    ast.GtE: "≥",
    ast.In: "in",
    ast.NotIn: "not in",
}


@dataclass(frozen=True)
class Branch:
    """A value and its condition; the last branch has no condition."""

    value: str
    condition: str = ""


def branches(text: str) -> tuple[Branch, ...]:
    """Split an expression into the values of its outermost ``where``, in order.

    The parts are texts in the language of specifications; ``text`` must be a sound expression.
    """
    parts, node = [], parse_expression(text)
    while isinstance(node, ast.Call) and _function(node) == "where":
        condition, value, node = node.args
        parts.append(Branch(_source(text, value), _source(text, condition)))
    return (*parts, Branch(_source(text, node)))


def readable(text: str) -> str:
    """Return a sound expression as a formula, with rounding brackets, ≤ and ≠."""
    return _formula(parse_expression(text), _OR)


def _source(text: str, node: ast.expr) -> str:
    return text[node.col_offset : node.end_col_offset]


def _function(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _formula(node: ast.expr, outer: int) -> str:
    text, binding = _parts(node)
    return f"({text})" if binding < outer else text


def _parts(node: ast.expr) -> tuple[str, int]:
    """Return the text of a node and how tightly it binds."""
    if isinstance(node, ast.BoolOp):
        word, binding = ("and", _AND) if isinstance(node.op, ast.And) else ("or", _OR)
        return f" {word} ".join(_formula(value, binding + 1) for value in node.values), binding
    if isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            return f"not {_formula(node.operand, _NOT)}", _NOT
        return f"{MINUS}{_formula(node.operand, _ATOM)}", _SIGN
    if isinstance(node, ast.BinOp):
        return _arithmetic(node)
    if isinstance(node, ast.Compare):
        text = _formula(node.left, _SUM)
        for operator, right in zip(node.ops, node.comparators, strict=True):
            text += f" {_COMPARISON[type(operator)]} {_formula(right, _SUM)}"
        return text, _COMPARE
    if isinstance(node, ast.Call):
        return _call_formula(node), _ATOM
    if isinstance(node, ast.List):
        return f"{{{', '.join(_formula(value, _OR) for value in node.elts)}}}", _ATOM
    return ast.unparse(node), _ATOM


def _arithmetic(node: ast.BinOp) -> tuple[str, int]:
    sign, binding = _ARITHMETIC[type(node.op)]
    # Equal operations go from left to right.
    text = f"{_formula(node.left, binding)} {sign} {_formula(node.right, binding + 1)}"
    return (f"⌊{text}⌋", _ATOM) if isinstance(node.op, ast.FloorDiv) else (text, binding)


def _call_formula(node: ast.Call) -> str:
    name = _function(node)
    if name == "ceil_div":
        above, below = node.args
        return f"⌈{_formula(above, _PRODUCT)} / {_formula(below, _PRODUCT + 1)}⌉"
    if name == "abs":
        return f"|{_formula(node.args[0], _OR)}|"
    arguments = [_formula(argument, _OR) for argument in node.args]
    if name == "where":
        condition, value, other = arguments
        return f"({value} if {condition}, else {other})"
    return f"{name}({', '.join(arguments)})"
