"""What of a changed operator has another text than the original, compared once for all cases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from conformance.core.functions import FUNCTIONS
from conformance.core.operator import Definition, Operator
from conformance.core.tree import Node


@dataclass(frozen=True)
class TextDifference:
    """The names of what differs; ``let`` and ``define`` are those of texts that are other ones.

    ``reached`` are the names of ``let`` that differ, or speak of what does. ``interface`` says
    whether attributes differ, ``outputs`` whether outputs do.
    """

    interface: bool
    let: frozenset[str]
    define: frozenset[str]
    outputs: bool
    reached: frozenset[str]

    @property
    def is_empty(self) -> bool:
        """Whether both say the same."""
        return not (self.interface or self.let or self.define or self.outputs)


@lru_cache(maxsize=4096)
def text_difference(original: Operator, other: Operator) -> TextDifference:
    """Return what of another operator does not have the text of the original."""
    let = frozenset(
        name
        for name, tree in other.let.items()
        if name not in original.let or not same_text(original.let[name], tree)
    )
    reached: set[str] = set()
    for name, tree in other.let.items():
        if name in let or not reached.isdisjoint(tree.names):
            reached.add(name)
    define = frozenset(
        name
        for name, definition in other.define.items()
        if name not in original.define or not _same_definition(original.define[name], definition)
    )
    return TextDifference(
        original.attributes != other.attributes,
        let,
        define,
        _outputs(original) != _outputs(other),
        frozenset(reached),
    )


def same_text(a: Node | str | None, b: Node | str | None) -> bool:
    """Return whether two trees are of one text, or both are none."""
    if isinstance(a, Node) and isinstance(b, Node):
        return a is b or a.key == b.key
    return not isinstance(a, Node) and not isinstance(b, Node) and a == b


def combine_axes(a: Node, b: Node) -> bool:
    """Return whether both combine fractions of all axes, by the same function.

    Those of all axes together are as many as terms, those of each axis few: these are compared.
    """
    row = FUNCTIONS.get(a.op)
    return row is not None and row.over_axes and a.op == b.op and a.kind.type == "rational"


def same_outline(a: Definition, b: Definition) -> bool:
    """Return whether two definitions combine alike, over indices of the same names."""
    return _outline(a) == _outline(b)


def _outline(definition: Definition) -> object:
    trees = (definition.keep, definition.term, definition.unspecified, definition.outside)
    return (
        definition.combine,
        definition.rounding,
        [*definition.at],
        [*definition.over],
        [tree if isinstance(tree, str) else tree is None for tree in trees],
    )


def _same_definition(a: Definition, b: Definition) -> bool:
    if not same_outline(a, b) or [*a.abbreviations] != [*b.abbreviations]:
        return False
    return all(map(same_text, a.trees(), b.trees()))


def _outputs(operator: Operator) -> object:
    return [(o.name, o.type, *map(_keys, (o.shape, o.omit))) for o in operator.outputs]


def _keys(nodes: Iterable[Node]) -> object:
    return [node.key for node in nodes]
