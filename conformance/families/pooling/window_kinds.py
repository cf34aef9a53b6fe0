"""Derives the kind of windows from the rules of a specification."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from conformance.spec.expressions import Expression
from conformance.spec.kinds import Domain
from conformance.spec.syntax import parse_expression

WINDOW = "i"
"""The name of a window's number."""


@dataclass(frozen=True)
class Windows:
    """The kind of a specification's windows, and the texts of what they are made of.

    ``kind`` is ``sliding`` where the start is a number that does not depend on the window plus a
    multiple of its number, and all windows have the same taps; ``global`` where one window has a
    constant start; else ``adaptive``. Of sliding windows ``stride`` is the way from window to
    window, and ``before`` how far before the data the first one starts, each None if it is 0.
    """

    kind: str
    stride: str | None = None
    before: str | None = None


def windows_of(definitions: Mapping[str, Expression]) -> Windows:
    """What the rules ``start``, ``taps``, ``step`` and ``out`` say of windows."""
    alike = all(definitions[name].kind.domain is Domain.CASE for name in ("taps", "step"))
    terms = _Linear(definitions).of(parse_expression(definitions["start"].text)) if alike else None
    if terms is None:
        return Windows("adaptive")
    stride, before = (
        None if one is None else ast.unparse(one) for one in (terms[0], _negative(terms[1]))
    )
    if stride is None:
        return Windows("global" if definitions["out"].text == "1" else "adaptive")
    return Windows("sliding", stride, before)


Terms = tuple[ast.expr | None, ast.expr | None]
"""A multiple of the window's number, and what is added to it; None stands for 0."""


class _Linear:
    """Expressions as a multiple of the window's number, and a rest."""

    def __init__(self, definitions: Mapping[str, Expression]) -> None:
        self.definitions = definitions

    def of(self, node: ast.expr) -> Terms | None:
        """The terms of an expression; None where it is no such sum."""
        if not self._moves(node):
            return None, None if _is_zero(node) else node
        match node:
            case ast.Name(id=name) if name == WINDOW:
                return ast.Constant(1), None
            case ast.Name(id=name) if name in self.definitions:
                return self.of(parse_expression(self.definitions[name].text))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self.of(operand)
                return None if found is None else (_negative(found[0]), _negative(found[1]))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                return _each(self.of(left), self.of(right), op)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                moving, factor = (left, right) if self._moves(left) else (right, left)
                found = None if self._moves(factor) else self.of(moving)
                return (
                    None if found is None else (_times(found[0], factor), _times(found[1], factor))
                )
        return None

    def _moves(self, node: ast.expr) -> bool:
        """Whether a value is not the same for all windows."""
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        known = self.definitions
        return WINDOW in names or any(
            known[name].kind.domain is not Domain.CASE for name in names if name in known
        )


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _negative(term: ast.expr | None) -> ast.expr | None:
    if isinstance(term, ast.UnaryOp):
        return term.operand
    return None if term is None else ast.UnaryOp(ast.USub(), term)


def _times(term: ast.expr | None, factor: ast.expr) -> ast.expr | None:
    if isinstance(term, ast.Constant) and term.value == 1:
        return factor
    return None if term is None else ast.BinOp(term, ast.Mult(), factor)


def _each(left: Terms | None, right: Terms | None, op: ast.operator) -> Terms | None:
    if left is None or right is None:
        return None
    first, second = (_sum(a, b, op) for a, b in zip(left, right, strict=True))
    return first, second


def _sum(left: ast.expr | None, right: ast.expr | None, op: ast.operator) -> ast.expr | None:
    if right is None:
        return left
    if left is None:
        return _negative(right) if isinstance(op, ast.Sub) else right
    return ast.BinOp(left, op, right)
