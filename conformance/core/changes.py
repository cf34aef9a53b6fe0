"""Changes of an operator's text: a mutant or an interpretation is another text in one place."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from conformance.core.evaluate import Evaluation
from conformance.core.index_space import IndexSpace
from conformance.core.operator import Operator
from conformance.core.operator_reader import operator_of
from conformance.core.text_difference import (
    TextDifference,
    combine_axes,
    same_outline,
    same_text,
    text_difference,
)
from conformance.core.tree import Node
from conformance.errors import ConformanceError, ExpressionError
from conformance.spec.syntax import parse_expression
from conformance.spec.yaml_source import Source

ORIGINAL = "original"
"""A name that stands for what was there."""

SHAPE = ".shape"
"""At the end of a place: the shape of an output, whose text is a list."""

LEFT_OUT = {"finish": "total", "keep": "true", "unspecified": "false"}
"""What the texts of a definition say that may be left out."""


Change = Mapping[str, "str | Mapping[str, str]"]
"""By place, as ``define.Y.term``: another text, or other texts of parts of it."""


def changed(operator: Operator, *changes: Change) -> Operator:
    """Return an operator with another text in some places; ``changes`` follow each other.

    Raises :class:`~conformance.errors.ExpressionError` where a place, or the part of its text that
    is to be replaced, does not exist, and SpecError where the result makes no sense.
    """
    data: Any = dict(operator.data)
    data.pop("interpretations", None)  # they are changes of the original text
    for location, text in texts_of(operator, *changes).items():
        data = _with(data, location.split("."), _entry(location, text))
    return operator_of(Source(operator.op, data))


def _with(section: Any, way: Sequence[str], entry: Any) -> Any:
    """A part of an operator's data with another entry; all beside the way to it is shared."""
    if not way:
        return entry
    first, *rest = way
    if isinstance(section, list):
        return [_with(item, rest, entry) if item["name"] == first else item for item in section]
    return {**section, first: _with(section.get(first), rest, entry)}


def texts_of(operator: Operator, *changes: Change) -> dict[str, str]:
    """Return the text of each place that is changed, by place.

    Raises :class:`~conformance.errors.ExpressionError` as :func:`changed` does.
    """
    texts: dict[str, str] = {}
    for change in changes:
        for location, new in change.items():
            section, last = _section(operator, operator.data, location)
            stated = section.get(last, LEFT_OUT.get(last, ORIGINAL))
            old = texts.get(location, _text(stated))
            if isinstance(new, Mapping):
                texts[location] = with_parts(old, {p: _text(other) for p, other in new.items()})
            else:
                texts[location] = replaced(_text(new), ORIGINAL, old, needed=False)
    return texts


def _section(operator: Operator, data: Mapping[str, Any], location: str) -> tuple[Any, str]:
    """The part of an operator's data that a place is in, and its name there."""
    *way, last = location.split(".")
    section: Any = data
    for key in way:
        if isinstance(section, list):
            section = next((entry for entry in section if entry["name"] == key), None)
        else:
            section = section.get(key) if isinstance(section, dict) else None
    if not isinstance(section, dict):
        raise ExpressionError(f"{operator.op} has no '{location}'", lacks=location)
    return section, last


def _text(raw: Any) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _entry(location: str, text: str) -> Any:
    """What stands in a place: the texts of a shape, and of attributes a number or a truth value."""
    if location.endswith(SHAPE):
        tree = parse_expression(text)
        return [ast.unparse(item) for item in tree.elts] if isinstance(tree, ast.List) else text
    if not location.startswith("attributes."):
        return text
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.removeprefix("-").isdigit() else text


def is_around(text: str) -> bool:
    """Return whether a text is around what was there."""
    names = (node for node in ast.walk(parse_expression(text)) if isinstance(node, ast.Name))
    return any(name.id == ORIGINAL for name in names)


@lru_cache(maxsize=1024)
def condition(operator: Operator, text: str) -> Node:
    """Return the tree of a condition over names and element types of a case.

    Raises :class:`~conformance.errors.ExpressionError` or SpecError where it makes no sense.
    """
    return operator.condition_with_types(text)


def replaced(text: str, part: str, other: str, *, needed: bool = True) -> str:
    """Return an expression with each sub-expression that is ``part`` replaced.

    Raises :class:`~conformance.errors.ExpressionError` where it is ``needed`` and has none.
    """
    return with_parts(text, {part: other}, needed=needed)


def with_parts(text: str, parts: Mapping[str, str], *, needed: bool = True) -> str:
    """Return an expression with each sub-expression that is one of ``parts`` replaced, all at once.

    Raises :class:`~conformance.errors.ExpressionError` where they are ``needed`` and it lacks one.
    """
    return _with_parts(text, tuple(parts.items()), needed)


@lru_cache(maxsize=4096)
def _with_parts(text: str, parts: tuple[tuple[str, str], ...], needed: bool) -> str:
    swap = _Replacement(parts)
    tree = swap.visit(parse_expression(text))
    for part, _ in parts:
        if needed and part not in swap.seen:
            raise ExpressionError(f"'{text}' has no '{part}'", lacks=part)
    return ast.unparse(tree)


class _Replacement:
    """Makes trees with other parts; what has none of them is shared with the tree that it is of."""

    def __init__(self, parts: Iterable[tuple[str, str]]) -> None:
        trees = [(parse_expression(part), part, parse_expression(other)) for part, other in parts]
        self.types = {type(tree) for tree, _, _ in trees}
        self.parts = {ast.dump(tree): (part, other) for tree, part, other in trees}
        self.seen: set[str] = set()

    def visit(self, node: ast.AST) -> Any:
        # The text of a tree is made only where it may be that of a part.
        known = self.parts.get(ast.dump(node)) if type(node) in self.types else None
        if known is not None:
            part, other = known
            self.seen.add(part)
            return other
        new = {name: self._field(value) for name, value in ast.iter_fields(node)}
        if all(new[name] is value for name, value in ast.iter_fields(node)):
            return node
        return type(node)(**new)

    def _field(self, value: Any) -> Any:
        if isinstance(value, ast.AST):
            return self.visit(value)
        if isinstance(value, list):
            new = [self.visit(item) for item in value]
            return value if all(a is b for a, b in zip(new, value, strict=True)) else new
        return value


class Kept(NamedTuple):
    """The definitions of a changed operator that have the original's values in a case.

    Those ``combined`` may have other ends: what their terms combine to is the same.
    """

    definitions: frozenset[str]
    combined: frozenset[str]


def unchanged(original: Evaluation, other: Evaluation) -> Kept:
    """Return the definitions of a changed operator that mean what the original's do.

    In a case their indices, what they read and what they leave out have the same values, though the
    text may differ.
    """
    difference = text_difference(original.operator, other.operator)
    touched = _touched(original, other, difference)
    same: set[str] = set()
    combined: set[str] = set()
    for name, definition in other.operator.define.items():
        before = original.operator.define.get(name)
        if before is not None:
            if name not in difference.define and touched.isdisjoint(definition.names):
                same.add(name)
            elif same_outline(before, definition):
                with suppress(ConformanceError):
                    comparison = _Comparison(original, other, name, touched)
                    if comparison.combines_alike():
                        combined.add(name)
                        if comparison.ends_alike():
                            same.add(name)
        if name not in same:
            touched.add(name)
    return Kept(frozenset(same), frozenset(combined))


def _touched(original: Evaluation, other: Evaluation, difference: TextDifference) -> set[str]:
    """The names whose values differ in a case."""
    touched: set[str] = set()
    if difference.interface:
        given = other.operator.names.scope.keys() - other.operator.let.keys()
        given -= other.operator.define.keys() | other.operator.tensors.keys()
        touched |= {name for name in given if not _is_same_value(name, original, other)}
    for name, tree in other.operator.let.items():
        reached = name in difference.let or not touched.isdisjoint(tree.names)
        if reached and not _is_same_value(name, original, other):
            touched.add(name)
    return touched


def _is_same_value(name: str, original: Evaluation, other: Evaluation) -> bool:
    values = []
    for evaluation in (original, other):
        try:
            values.append(evaluation.binding.value(name))
        except ConformanceError as error:
            values.append(str(error))  # it has no value in this case
    return bool(values[0] == values[1])


class _Comparison:
    """Compares two texts of one definition in one case, by values of all that is plain."""

    def __init__(
        self, original: Evaluation, other: Evaluation, name: str, touched: Collection[str]
    ) -> None:
        self.evaluations = original, other
        self.definitions = original.operator.define[name], other.operator.define[name]
        self.touched = {*touched}
        before, after = (definition.abbreviations for definition in self.definitions)
        for abbreviation, tree in after.items():
            if not self._is_same(before.get(abbreviation), tree):
                self.touched.add(abbreviation)
        self.spaces = self._new_spaces()

    def _new_spaces(self) -> tuple[IndexSpace, ...]:
        pairs = zip(self.evaluations, self.definitions, strict=True)
        return tuple(IndexSpace(evaluation, definition) for evaluation, definition in pairs)

    def combines_alike(self) -> bool:
        """Return whether each element is made of the same terms, which are the same functions.

        Raises :class:`~conformance.errors.ConformanceError` for what has no value.
        """
        before, after = self.definitions
        shapes = [(space.of_result, space.shape) for space in self.spaces]
        if shapes[0] != shapes[1]:
            return False
        keys = ("keep", "term", "outside")
        return all(self._equal(getattr(before, key), getattr(after, key)) for key in keys)

    def ends_alike(self) -> bool:
        """Return whether what terms combine to is made an element by the same function.

        Only of definitions that combine alike. Raises
        :class:`~conformance.errors.ConformanceError` for what has no value.
        """
        before, after = self.definitions
        combined = self.evaluations[0].combined(before.name)
        if combined is not None:
            self.spaces = self._new_spaces()
            for space in self.spaces:
                space.take(combined)
        keys = ("finish", "unspecified")
        return all(self._equal(getattr(before, key), getattr(after, key)) for key in keys)

    def _equal(self, a: Node | str | None, b: Node | str | None) -> bool:
        """Return whether two nodes certainly have the same values."""
        if not isinstance(a, Node) or not isinstance(b, Node):
            return True  # their outlines are the same
        if self._is_same(a, b):
            return True
        a, b = (self._settled(node, space) for node, space in zip((a, b), self.spaces, strict=True))
        if combine_axes(a, b):
            return all(map(self._equal, a.args, b.args))
        if "real" not in (a.kind.type, b.kind.type):
            return _have_same_values(self.spaces[0].visit(a), self.spaces[1].visit(b))
        if (a.op, a.value, len(a.args)) != (b.op, b.value, len(b.args)):
            return False
        if a.op == "name" and a.value in self.definitions[0].abbreviations:
            return self._equal(*(d.abbreviations[str(a.value)] for d in self.definitions))
        if a.op in ("name", "read") and a.value in self.touched:
            return False
        return all(map(self._equal, a.args, b.args))

    def _is_same(self, a: Node | None, b: Node) -> bool:
        """Whether nodes have one text, and speak of nothing that has other values."""
        return same_text(a, b) and self.touched.isdisjoint(b.names)

    def _settled(self, node: Node, space: IndexSpace) -> Node:
        """A node, or the branch of it that a condition of the case takes."""
        while node.op == "where" and not node.args[0].kind.indices:
            if node.args[0].kind.per or node.args[0].kind.type != "bool":
                break
            node = node.args[1 if space.visit(node.args[0]) else 2]
        return node


def _have_same_values(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return (
            isinstance(a, tuple)
            and isinstance(b, tuple)
            and len(a) == len(b)
            and all(map(_have_same_values, a, b))
        )
    return bool(np.all(np.asarray(a) == np.asarray(b)))
