"""The typed tree of an expression.

Every node has a static kind: its type, the group of axes that it has an entry for each of, and the
indices that its value depends on. Nothing is evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

NUMERIC = ("int", "rational", "real")
"""Types of numbers, the widest last. Reals depend on elements of tensors, the others do not."""

TYPES = {
    "bool": "a truth value",
    "int": "a whole number",
    "rational": "a fraction",
    "real": "a number computed from tensors",
    "word": "a word",
    "list": "a list",
    "tensor": "a tensor",
}
"""The types of values, and what messages call them."""

OF_TENSORS = {"has": "bool", "rank_of": "int", "lowest": "real", "bottom": "real"}
"""Functions of a tensor as such, and the types of their values."""

NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Kind:
    """The static kind of a value.

    ``per`` is the group of axes that it has an entry for each of, ``indices`` the indices that it
    depends on, ``words`` what a word can be. The elements of a ``list`` or a ``tensor`` are of type
    ``holds``.
    """

    type: str
    per: str | None = None
    indices: frozenset[str] = NO_NAMES
    words: frozenset[str] = NO_NAMES
    holds: str = ""

    @property
    def is_number(self) -> bool:
        return self.type in NUMERIC

    def __str__(self) -> str:
        text = TYPES[self.type]
        if self.words:
            text = f"one of {', '.join(sorted(self.words))}"
        if self.per:
            text += f" per {self.per}"
        return text


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An operation ``op`` on ``args``, and the static kind of its value.

    ``op`` is a row of :data:`conformance.core.functions.FUNCTIONS`, or one of these: ``constant``
    and ``name`` have a ``value`` and no arguments; ``read`` is the element at ``args`` of the
    tensor ``value``; those of :data:`OF_TENSORS` speak of the tensor ``value``. ``offset`` is where
    it stands in the text. ``key`` is what trees of one meaning share, ``names`` are all that it
    speaks of.
    """

    op: str
    args: tuple[Node, ...]
    kind: Kind
    offset: int = 0
    value: int | bool | str | Fraction | None = None
    key: tuple[object, ...] = field(init=False)
    names: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        # The type tells true from 1.
        key = (self.op, type(self.value), self.value, *(arg.key for arg in self.args))
        object.__setattr__(self, "key", key)
        names = NO_NAMES.union(*(arg.names for arg in self.args))
        if self.op in ("name", "read", *OF_TENSORS):
            names |= {str(self.value)}
        object.__setattr__(self, "names", names)

    def walk(self) -> Iterator[Node]:
        """Yield the node, and all below it."""
        yield self
        for arg in self.args:
            yield from arg.walk()


def constant(value: int | bool | Fraction, offset: int = 0) -> Node:
    """Make a node of a truth value or a number."""
    type_ = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "rational"
    return Node("constant", (), Kind(type_), offset, value)


def word(text: str, offset: int = 0) -> Node:
    """Make a node of a word."""
    return Node("constant", (), Kind("word", words=frozenset({text})), offset, text)
