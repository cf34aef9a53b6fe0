"""The visitor of plain values: whole numbers, truth values, fractions, words, lists.

A value with an entry for each axis is a tuple. Entries are single values for one case; over the
indices of a definition, or over thousands of cases at once, they are arrays that broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from conformance.core.functions import FUNCTIONS
from conformance.core.tree import Node
from conformance.errors import EvaluationError


class PlainVisitor:
    """A visitor of plain values.

    ``values`` gives the value of a name; a subclass may override :meth:`lookup` instead. ``ranks``
    has the rank of each tensor that is given.
    """

    def __init__(self, values: Callable[[str], Any] | None, ranks: Mapping[str, int]) -> None:
        # A subclass gives no method of its own: that is a cycle, and its arrays would stay.
        self.values = values
        self.ranks = ranks

    def lookup(self, name: str) -> Any:
        """Return the value of a name."""
        assert self.values is not None
        return self.values(name)

    def visit(self, node: Node) -> Any:
        """Compute the value of a tree.

        Raises :class:`~conformance.errors.EvaluationError` for a division by zero.
        """
        if node.op == "constant":
            return node.value
        if node.op == "name":
            return self.lookup(str(node.value))
        if node.op == "has":
            return node.value in self.ranks
        if node.op == "rank_of":
            return self.ranks.get(str(node.value), 0)
        if node.op == "read":
            return self.read(node)
        if node.op in ("where", "and", "or"):
            return self._decided(node)
        return self.apply(node, *map(self.visit, node.args))

    def _decided(self, node: Node) -> Any:
        """What a single condition rules out is not evaluated, so that it may divide by zero."""
        first = self.visit(node.args[0])
        if node.op == "where" and isinstance(first, np.ndarray) and first.size:
            # The same in all cases: the other branch may have no value.
            first = first if first.any() and not first.all() else bool(first.flat[0])
        if isinstance(first, tuple | np.ndarray):
            return self.apply(node, first, *map(self.visit, node.args[1:]))
        if node.op == "where":
            return self.repeated(node, self.visit(node.args[1 if first else 2]))
        if bool(first) == (node.op == "or"):
            return self.repeated(node, bool(first))
        return self.apply(node, first, *map(self.visit, node.args[1:]))

    def repeated(self, node: Node, value: Any) -> Any:
        """Repeat a single value for each axis, where the kind has an entry for each."""
        if node.kind.per and not isinstance(value, tuple):
            return (value,) * len(self.lookup(node.kind.per))
        return value

    def apply(self, node: Node, *args: Any) -> Any:
        """Apply an operation to the values of its arguments, entry by entry."""
        row = FUNCTIONS.get(node.op)
        if row is None:
            raise EvaluationError(f"{node.op} of a tensor has no plain value")
        if row.over_axes:
            try:
                return row.plain(*args)
            except IndexError:
                raise EvaluationError("there is no entry of that number") from None
        counts = {len(arg) for arg in args if isinstance(arg, tuple)}
        if not counts:
            return self.single(node, *args)
        if len(counts) > 1:
            raise EvaluationError("values with different numbers of axes meet")
        return tuple(
            self.single(node, *(arg[k] if isinstance(arg, tuple) else arg for arg in args))
            for k in range(counts.pop())
        )

    def single(self, node: Node, *args: Any) -> Any:
        """Apply an operation to single values, or arrays."""
        plain = FUNCTIONS[node.op].plain
        try:
            if not any(isinstance(arg, np.ndarray) for arg in args):
                return plain(*args)
            with np.errstate(divide="raise"):
                return plain(*args)
        except (ZeroDivisionError, FloatingPointError):
            raise EvaluationError("division by zero") from None

    def places(self, node: Node) -> Iterator[list[Any]]:
        """Yield the indices of each element that a node reads, one or one per axis."""
        indices = [self.visit(arg) for arg in node.args]
        for k in range(len(self.lookup(node.kind.per)) if node.kind.per else 1):
            yield [
                index[k] if arg.kind.per and arg.kind.per == node.kind.per else index
                for arg, index in zip(node.args, indices, strict=True)
            ]

    def read(self, node: Node) -> Any:
        """Read elements of a tensor."""
        raise EvaluationError(f"{node.value} cannot be read here")
