"""Parses the text of an expression into a typed tree: a whitelisted part of Python's syntax."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from conformance.core.functions import FUNCTIONS, PER_AXIS_FORMS, fail, of_type, together
from conformance.core.tree import NO_NAMES, OF_TENSORS, Kind, Node, constant, word
from conformance.errors import ExpressionError, closest
from conformance.spec.syntax import parse_expression, refuse

MAX_NUMBER = 1 << 40
MAX_DECIMALS = 60
"""Characters of a fraction that is written as a decimal number."""

_BINARY = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "Pow": "**",
}
_COMPARISONS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": "<", "GtE": "<="}
_TURNED = ("Gt", "GtE")
_TRUTHS = {"true": True, "false": False}


def parse(
    text: str,
    scope: Mapping[str, Kind],
    words: frozenset[str] = NO_NAMES,
    shapes: Mapping[str, Sequence[str | None]] | None = None,
) -> Node:
    """Parse the expression ``text`` over the names of ``scope``.

    ``words`` are the members of enums. ``shapes`` gives for each tensor that can be read the group
    of axes of each of its indices, None for a single one.
    Raises :class:`~conformance.errors.ExpressionError` with the offset of what is wrong.
    """
    shapes = shapes or {}
    names = names_in(text)
    kinds = tuple([(name, scope[name]) for name in names if name in scope])
    read = tuple([(name, tuple(shapes[name])) for name in names if name in shapes])
    try:
        return _tree(text, kinds, words & names, read)
    except ExpressionError:
        # Hints name what else there is.
        return _Parser(text, scope, words, shapes).node(parse_expression(text))


@lru_cache(maxsize=1 << 14)
def _tree(
    text: str,
    kinds: tuple[tuple[str, Kind], ...],
    words: frozenset[str],
    shapes: tuple[tuple[str, tuple[str | None, ...]], ...],
) -> Node:
    """The tree of a text, the same one wherever its names mean the same."""
    return _Parser(text, dict(kinds), words, dict(shapes)).node(parse_expression(text))


@lru_cache(maxsize=1 << 13)
def names_in(text: str) -> frozenset[str]:
    """Return the words of a text, of which some are names."""
    return frozenset(re.findall(r"\w+", text))


class _Parser:
    def __init__(
        self,
        text: str,
        scope: Mapping[str, Kind],
        words: frozenset[str],
        shapes: Mapping[str, Sequence[str | None]],
    ) -> None:
        self._text = text
        self._scope = scope
        self._words = words
        self._shapes = shapes

    def node(self, syntax: ast.expr) -> Node:
        method = getattr(self, f"_{type(syntax).__name__.lower()}", None)
        if method is None:
            raise refuse(syntax)
        node: Node = method(syntax)
        return node

    def _call_of(self, name: str, args: Sequence[Node], offset: int) -> Node:
        row = FUNCTIONS[name]
        if not row.least <= len(args) <= (row.most or len(args)):
            raise fail(f"wrong arguments for '{name}'", offset, row.signature)
        return Node(name, tuple(args), row.kind(args, offset), offset)

    def _constant(self, syntax: ast.Constant) -> Node:
        value, offset = syntax.value, syntax.col_offset
        if isinstance(value, float):
            digits = self._text[offset : syntax.end_col_offset]
            if len(digits) > MAX_DECIMALS or abs(Decimal(digits).adjusted()) > MAX_DECIMALS:
                raise fail("the number is too long", offset, f"at most {MAX_DECIMALS} digits")
            return constant(Fraction(Decimal(digits)), offset)
        if type(value) is not int:
            raise refuse(syntax)
        if value > MAX_NUMBER:
            raise fail("the number is too large", offset, "at most 2**40")
        return constant(value, offset)

    def _name(self, syntax: ast.Name) -> Node:
        name, offset = syntax.id, syntax.col_offset
        if name in self._scope:
            kind = self._scope[name]
            if kind.type == "tensor":
                raise fail(f"'{name}' is a tensor", offset, f"{name}[...], one of its elements")
            return Node("name", (), kind, offset, name)
        if name in _TRUTHS:
            return constant(_TRUTHS[name], offset)
        if name in self._words:
            return word(name, offset)
        hint = closest(name, {*self._scope, *self._words, *FUNCTIONS})
        if name in FUNCTIONS:
            hint = f"it is a function: {FUNCTIONS[name].signature}"
        raise ExpressionError(f"unknown name '{name}'", offset=offset, hint=hint, lacks=name)

    def _binop(self, syntax: ast.BinOp) -> Node:
        sign = _BINARY.get(type(syntax.op).__name__)
        if sign is None:
            raise refuse(syntax.op, syntax.left.end_col_offset)
        args = self.node(syntax.left), self.node(syntax.right)
        return self._call_of(sign, args, syntax.col_offset)

    def _unaryop(self, syntax: ast.UnaryOp) -> Node:
        op = {"Not": "not", "USub": "negative"}.get(type(syntax.op).__name__)
        if op is None:
            raise refuse(syntax.op, syntax.col_offset)
        return self._call_of(op, (self.node(syntax.operand),), syntax.col_offset)

    def _boolop(self, syntax: ast.BoolOp) -> Node:
        op = "and" if isinstance(syntax.op, ast.And) else "or"
        return self._call_of(op, [self.node(value) for value in syntax.values], syntax.col_offset)

    def _compare(self, syntax: ast.Compare) -> Node:
        terms = [syntax.left, *syntax.comparators]
        pairs = zip(terms, syntax.ops, terms[1:], strict=False)
        nodes = [self._comparison(left, op, right) for left, op, right in pairs]
        return nodes[0] if len(nodes) == 1 else self._call_of("and", nodes, syntax.col_offset)

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Node:
        offset = left.col_offset
        if isinstance(op, ast.In | ast.NotIn):
            node = self._membership(self.node(left), right, offset)
            return self._call_of("not", (node,), offset) if isinstance(op, ast.NotIn) else node
        name = type(op).__name__
        if name not in _COMPARISONS:
            raise refuse(op, left.end_col_offset)
        args = (self.node(left), self.node(right))
        return self._call_of(_COMPARISONS[name], args[::-1] if name in _TURNED else args, offset)

    def _membership(self, value: Node, values: ast.expr, offset: int) -> Node:
        if not isinstance(values, ast.List):
            return self._call_of("among", (value, self.node(values)), offset)
        tests = [self._call_of("==", (value, self.node(entry)), offset) for entry in values.elts]
        if not tests:
            raise fail("the list is empty", values.col_offset, "[a, b, ...]")
        return tests[0] if len(tests) == 1 else self._call_of("or", tests, offset)

    def _subscript(self, syntax: ast.Subscript) -> Node:
        name = syntax.value.id if isinstance(syntax.value, ast.Name) else ""
        if name not in self._shapes or self._scope[name].type != "tensor":
            raise fail(
                "only a tensor can be read at an index",
                syntax.col_offset,
                hint=closest(name, self._shapes) or "entry(values, k) gives the entry of an axis",
            )
        parts = syntax.slice.elts if isinstance(syntax.slice, ast.Tuple) else [syntax.slice]
        args = [of_type(self.node(part), "int") for part in parts]
        shape = self._shapes[name]
        if len(args) != len(shape):
            message = f"{name} has {len(shape)} indices, not {len(args)}"
            raise fail(message, syntax.col_offset)
        # Where one that is single has an entry per axis, so has what is read.
        spread = []
        for arg, group in zip(args, shape, strict=True):
            if group is None and arg.kind.per not in shape and self._scope[name].holds == "int":
                spread.append(arg)
            elif arg.kind.per != group:
                expected = f"an index per {group}" if group else "a single index"
                raise fail(f"this is {arg.kind}", arg.offset, expected)
        per = together("int", spread).per
        indices = NO_NAMES.union(*(arg.kind.indices for arg in args))
        kind = Kind(self._scope[name].holds, per, indices)
        return Node("read", tuple(args), kind, syntax.col_offset, name)

    def _call(self, syntax: ast.Call) -> Node:
        if not isinstance(syntax.func, ast.Name) or syntax.keywords:
            raise refuse(syntax.func)
        name, offset = syntax.func.id, syntax.col_offset
        if name in OF_TENSORS:
            return self._of_tensor(name, syntax)
        if name not in FUNCTIONS or FUNCTIONS[name].symbol:
            names = {key for key, row in FUNCTIONS.items() if not row.symbol} | OF_TENSORS.keys()
            raise fail(
                f"unknown function '{name}'", offset, ", ".join(sorted(names)), closest(name, names)
            )
        if len(syntax.args) == 1:
            name = PER_AXIS_FORMS.get(name, name)
        return self._call_of(name, [self.node(arg) for arg in syntax.args], offset)

    def _of_tensor(self, name: str, syntax: ast.Call) -> Node:
        tensor = getattr(syntax.args[0], "id", "") if len(syntax.args) == 1 else ""
        if tensor not in self._shapes:
            raise fail(f"'{name}' needs a tensor", syntax.col_offset, f"{name}(tensor)")
        return Node(name, (), Kind(OF_TENSORS[name]), syntax.col_offset, tensor)
