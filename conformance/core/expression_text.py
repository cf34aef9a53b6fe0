"""The text of an expression's tree: what it was parsed from, in one spelling."""

from __future__ import annotations

from functools import cache

from conformance.core.functions import FUNCTIONS, PER_AXIS_FORMS
from conformance.core.tree import OF_TENSORS, Node

_PRECEDENCE = {
    "or": 1,
    "and": 2,
    "not": 3,
    **dict.fromkeys(("==", "!=", "<", "<=", "among"), 4),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/", "//", "%"), 6),
    "negative": 7,
    "**": 8,
}
_ATOM = 9
_SIGNS = {"among": "in"}
_PREFIXES = {"not": "not ", "negative": "-"}
_SHORT_NAMES = {long: short for short, long in PER_AXIS_FORMS.items()}


@cache
def text_of(node: Node) -> str:
    """Return an expression's text, with the parentheses that it needs."""
    if node.op in ("constant", "name"):
        value = str(node.value)
        return value.lower() if isinstance(node.value, bool) else value
    if node.op in OF_TENSORS:
        return f"{node.op}({node.value})"
    if node.op == "read":
        return f"{node.value}[{', '.join(map(text_of, node.args))}]"
    strength = _PRECEDENCE.get(node.op, _ATOM)
    if node.op in _PREFIXES:
        return _PREFIXES[node.op] + _operand(node.args[0], strength)
    if FUNCTIONS[node.op].symbol:
        first, *rest = node.args
        operands = [_operand(first, strength), *(_operand(arg, strength + 1) for arg in rest)]
        return f" {_SIGNS.get(node.op, node.op)} ".join(operands)
    return f"{_SHORT_NAMES.get(node.op, node.op)}({', '.join(map(text_of, node.args))})"


def _operand(node: Node, least: int) -> str:
    text = text_of(node)
    return text if _PRECEDENCE.get(node.op, _ATOM) >= least else f"({text})"
