"""The typed tree of an expression, and its visitors.

Visitors: :mod:`~conformance.spec.closures` evaluates one case, :mod:`~conformance.spec.batch`
thousands at once, ``conformance.feasible.translate`` makes terms for a solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.spec.kinds import Kind

REPEATER = "axis"
"""The name, with an entry an axis, that tells how often a single value is repeated."""

COMPARISONS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
"""The comparisons, by the name of their node in Python's syntax tree."""

TURNED = {">": "<", ">=": "<="}
"""Comparisons that the tree has the other way round."""

ARITHMETIC = {"Add": "+", "Sub": "-", "Mult": "*", "FloorDiv": "//", "Mod": "%"}
"""The arithmetic operators, by the name of their node in Python's syntax tree."""


_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An operation on ``args``, and the static kind of its value.

    ``op`` is an operator or a function of the language as it is written, with these exceptions:
    ``constant`` and ``name`` have a ``value`` and no arguments, ``negative`` is the unary minus,
    ``least`` and ``greatest`` are ``min`` and ``max`` over the axes, ``repeat`` gives a single
    value to every axis. Chains of comparisons and ``in`` are made of ``and``, ``or``, ``not`` and
    comparisons of two values, ``everywhere`` of ``not`` and ``somewhere``, ``count`` of ``sum``
    and ``where``. ``names`` are all that the tree may read, ``offset`` is where it
    stands in the text.
    """

    op: str
    args: tuple[Node, ...]
    kind: Kind
    offset: int = 0
    value: int | bool | str | None = None
    names: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        if self.op == "name":
            names = frozenset({str(self.value)})
        else:
            names = _NONE.union(*[arg.names for arg in self.args]) if self.args else _NONE
            if self.op == "repeat" or (self.decides and self._repeats):
                names |= {REPEATER}
        object.__setattr__(self, "names", names)

    def walk(self) -> Iterator[Node]:
        """Yield the node, and all below it."""
        yield self
        for arg in self.args:
            yield from arg.walk()

    @property
    def decides(self) -> bool:
        """True if the first argument alone decides which others are evaluated."""
        if self.op not in ("and", "or", "where"):
            return False
        first = self.args[0].kind
        return first.is_case and not first.per_axis

    @property
    def _repeats(self) -> bool:
        """Whether ``and`` or ``or`` gives what the first argument decides to every axis."""
        return self.op != "where" and self.kind.per_axis


_BOOL, _INT = Kind("bool"), Kind("int")


def constant(value: int | bool, offset: int = 0) -> Node:
    """Make a node of a number or a truth value."""
    return Node("constant", (), _BOOL if isinstance(value, bool) else _INT, offset, value)


def member(word: str, offset: int = 0) -> Node:
    """Make a node of an enum's member."""
    return Node("constant", (), Kind("enum", values=frozenset({word})), offset, word)
