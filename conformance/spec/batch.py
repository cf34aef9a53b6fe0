"""Visitor that evaluates an expression for many cases at once.

A value of the case is an array over the cases, one per axis a tuple of such arrays. A value over
windows is flat: the windows of all cases in a row (:class:`Rows`). What the data hold is not known
here: a number that depends on it is *unknown*, and a truth value then says where it certainly holds
and where it may hold.

Numbers are int64. Wherever that, or anything else here, is not certain to give what
:mod:`~conformance.spec.closures` gives for the single case, the case is *unsettled*: a division by
zero in a branch that is taken, a number that may be beyond 2**62, an axis that is not there. So no
error is ever raised, or missed: whoever needs an unsettled case evaluates it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from itertools import combinations
from typing import Any, Protocol, TypeVar

import numpy as np

from conformance.spec import arithmetic
from conformance.spec.arithmetic import LIMIT
from conformance.spec.batch_values import (
    COMPARISONS,
    DIVISIONS,
    LOGIC,
    UNBOUNDED,
    UNKNOWN,
    BatchValue,
    Bools,
    Rows,
    Value,
    chosen,
    constant,
    number,
)
from conformance.spec.tree import Node

Found = TypeVar("Found")


class BatchDefinition(Protocol):
    """An expression, or a stand-in for one."""

    def many(self, batch: Batch) -> Value: ...


class Batch:
    """``count`` cases with the same number of ``axes``, and their values by name.

    Definitions are evaluated when they are first asked for, and then kept with the cases that they
    left unsettled.
    """

    def __init__(
        self,
        count: int,
        axes: int,
        quantities: Mapping[str, Value],
        definitions: Mapping[str, BatchDefinition],
        unsettled: Bools | None = None,
    ) -> None:
        self.count, self.axes = count, axes
        never = np.zeros(count, np.bool_) if unsettled is None else unsettled
        self._kept: dict[str, tuple[Value, Bools]] = {k: (v, never) for k, v in quantities.items()}
        self.definitions = definitions
        self._unsettled = np.zeros(count, np.bool_)
        self._active: Bools | None = None
        self._own: Mapping[str, Value] = {}

    def evaluate(self, expression: BatchDefinition) -> tuple[Value, Bools]:
        """Evaluate an expression; mark the cases for which it is not settled."""
        return self.tracked(lambda: expression.many(self))

    def truth(self, expression: BatchDefinition) -> tuple[Bools, Bools]:
        """Evaluate a condition on the case: where it holds everywhere, and where it may.

        What is unsettled may hold.
        """
        value, unsettled = self.evaluate(expression)
        holds, may = np.ones(self.count, np.bool_), np.ones(self.count, np.bool_)
        for entry in value if isinstance(value, tuple) else (value,):
            holds &= entry.array
            may &= entry.possible
        return holds & ~unsettled, may | unsettled

    def name(self, name: str) -> tuple[Value, Bools]:
        """Return the value of a name; mark the cases for which it is not settled."""
        if name not in self._kept:
            before, self._own = self._own, {}
            self._kept[name] = self.tracked(lambda: self.worked_out(name))
            self._own = before
        return self._kept[name]

    def worked_out(self, name: str) -> Value:
        """Compute the value of a name on first use."""
        if name in self.definitions:
            return self.definitions[name].many(self)
        self.unsettle(np.ones(self.count, np.bool_))
        return UNKNOWN

    @contextmanager
    def meaning(self, names: Mapping[str, Value]) -> Iterator[None]:
        """Give names another meaning for a while, except in the definitions evaluated."""
        before = self._own
        self._own = {**before, **names}
        try:
            yield
        finally:
            self._own = before

    def tracked(self, work: Callable[[], Found]) -> tuple[Found, Bools]:
        """Compute a value; mark the cases that become unsettled on the way."""
        before = self._unsettled, self._active
        self._unsettled, self._active = np.zeros(self.count, np.bool_), None
        try:
            with np.errstate(all="ignore"):
                return work(), self._unsettled
        finally:
            self._unsettled, self._active = before

    def unsettle(self, where: Bools | bool, rows: Rows | None = None) -> None:
        """Mark cases as not settled, as far as they matter to the current evaluation."""
        if rows is not None:
            if not np.any(where):
                return
            marked = np.zeros(self.count, np.bool_)
            marked[rows.case[np.broadcast_to(where, rows.case.shape)]] = True
            where = marked
        self._unsettled |= where if self._active is None else where & self._active

    # Rows

    @property
    def grid(self) -> Rows:
        """Combinations of the rows of all axes."""
        raise NotImplementedError

    def joint(self, entries: Sequence[BatchValue]) -> Rows | None:
        row_sets = list(dict.fromkeys(entry.rows for entry in entries if entry.rows is not None))
        if len(row_sets) < 2:
            return row_sets[0] if row_sets else None
        for rows in row_sets:
            if all(other is rows or other in rows.places for other in row_sets):
                return rows
        return self.grid

    @staticmethod
    def lifted(array: Any, entry_rows: Rows | None, rows: Rows | None) -> Any:
        """Expand an array to rows that are combinations of its own."""
        if entry_rows is rows or rows is None or np.ndim(array) == 0:
            return array
        return array[rows.case if entry_rows is None else rows.places[entry_rows]]

    # Nodes

    def visit(self, node: Node) -> Value:
        if node.op == "constant":
            return constant(node.value)
        if node.op == "name" and node.value in self._own:
            return self._own[str(node.value)]
        if node.op == "name":
            value, unsettled = self.name(str(node.value))
            self.unsettle(unsettled)
            return value
        if node.decides:
            return self._deciding(node)
        values = [self.visit(arg) for arg in node.args]
        if node.op == "repeat":
            return (values[0],) * self.axes  # type: ignore[return-value]
        if node.op in _OVER_AXES:
            return _OVER_AXES[node.op](self, *values)
        return self.applied(node.op, *values)

    def applied(self, op: str, *values: Value) -> Value:
        """Apply an operation of the language axis by axis."""
        return self.each(lambda *entries: self._one(op, entries), *values)

    def each(self, operation: Callable[..., BatchValue], *values: Value) -> Value:
        """Apply ``operation`` to single values, or axis by axis."""
        if not any(isinstance(value, tuple) for value in values):
            return operation(*values)
        columns = (v if isinstance(v, tuple) else (v,) * self.axes for v in values)
        return tuple(map(operation, *columns))

    def _deciding(self, node: Node) -> Value:
        """``and``, ``or``, ``where``: what the first argument rules out unsettles nothing."""
        test = self.visit(node.args[0])
        assert isinstance(test, BatchValue)
        holds = np.broadcast_to(test.array, (self.count,))
        may = np.broadcast_to(test.possible, (self.count,))
        deciding = {"and": (may,), "or": (~holds,), "where": (may, ~holds)}[node.op]
        parts = [self._under(on, arg) for on, arg in zip(deciding, node.args[1:], strict=True)]
        return self.applied(node.op, test, *parts)

    def _under(self, active: Bools, node: Node) -> Value:
        before = self._active
        self._active = active if before is None else active & before
        try:
            return self.visit(node)
        finally:
            self._active = before

    def _one(self, op: str, entries: Sequence[BatchValue]) -> BatchValue:
        """One operation on single values."""
        if op in DIVISIONS and entries[1].array is not None:
            # Before it is spread over windows, of which there may be none.
            self.unsettle(entries[1].array == 0, entries[1].rows)
        rows = entries[0].rows
        if any(entry.rows is not rows for entry in entries):
            rows = self.joint(entries)
            entries = [
                entry if entry.rows is rows else self._spread(entry, rows) for entry in entries
            ]
        if op in LOGIC:
            return LOGIC[op](rows, *entries)
        if op == "somewhere":
            return self._somewhere(entries[0])
        if op == "where":
            return chosen(rows, *entries)
        if any(entry.array is None for entry in entries):
            if op in ("//", "%", "ceil_div", "rounded"):
                self.unsettle(True)
            if op in COMPARISONS:
                return BatchValue(np.False_, maybe=np.True_)
            return UNKNOWN
        if op in COMPARISONS:
            return BatchValue(COMPARISONS[op](*(entry.array for entry in entries)), rows)
        return self._number(op, rows, entries)

    def _spread(self, entry: BatchValue, rows: Rows | None) -> BatchValue:
        """An entry over rows that are combinations of its own."""
        array, maybe = (
            self.lifted(values, entry.rows, rows) for values in (entry.array, entry.maybe)
        )
        return BatchValue(array, rows, entry.bound, maybe)

    def _number(self, op: str, rows: Rows | None, entries: Sequence[BatchValue]) -> BatchValue:
        if op in ("+", "-", "*"):
            return self._arithmetic(op, rows, *entries)
        x, *rest_of_operands = (entry.array for entry in entries)
        bound = max(entry.bound for entry in entries)
        if op in ("//", "%", "ceil_div"):
            return BatchValue(
                DIVISIONS[op](x, np.where(rest_of_operands[0] == 0, 1, rest_of_operands[0])),
                rows,
                bound,
            )
        if op == "rounded":
            wrong = rest_of_operands[0] < 1
            self.unsettle(wrong, rows)
            self.unsettle(bound > LIMIT // 2)
            x, bits = (
                np.asarray(operand, np.int64)
                for operand in (x, np.where(wrong, 1, rest_of_operands[0]))
            )
            half = np.clip(x, -LIMIT // 2, LIMIT // 2)
            return BatchValue(np.asarray(arithmetic.rounded(half, bits)), rows, LIMIT)
        return BatchValue(UNBOUNDED[op](x, *rest_of_operands), rows, bound)

    def _arithmetic(self, op: str, rows: Rows | None, a: BatchValue, b: BatchValue) -> BatchValue:
        def most() -> int:
            return a.bound * b.bound if op == "*" else a.bound + b.bound

        if most() > LIMIT:
            a, b = (
                replace(operand, bound=number(np.asarray(operand.array)).bound)
                for operand in (a, b)
            )
        function = UNBOUNDED[op]
        if most() <= LIMIT:
            return BatchValue(function(a.array, b.array), rows, most())
        near = np.abs(function(np.asarray(a.array, np.float64), np.asarray(b.array, np.float64)))
        beyond = near > LIMIT / 2
        self.unsettle(beyond, rows)
        return BatchValue(np.where(beyond, 0, function(a.array, b.array)), rows, LIMIT)

    def _somewhere(self, entry: BatchValue) -> BatchValue:
        rows = entry.rows
        if rows is None:
            return entry
        # Alone, a value that happens to be the same for all windows holds where there is none, too.
        holds = np.zeros(self.count, np.bool_)
        holds[rows.case] = True
        self.unsettle(~holds)

        def settled(array: Any) -> Bools:
            is_settled = np.zeros(self.count, np.bool_)
            is_settled[rows.case[np.broadcast_to(array, rows.case.shape)]] = True
            return is_settled

        maybe = None if entry.maybe is None else settled(entry.maybe)
        return BatchValue(settled(entry.array), maybe=maybe)

    # Over the axes

    def _folded(self, op: str, value: Value, first: BatchValue | None = None) -> BatchValue:
        entries = value if isinstance(value, tuple) else (value,)
        if first is not None:
            entries = (first, *entries)
        if not entries:
            self.unsettle(True)
            return BatchValue(np.int64(0))
        return reduce(lambda a, b: self._one(op, (a, b)), entries)

    def _distinct(self, value: Value) -> BatchValue:
        assert isinstance(value, tuple)
        unequal = tuple(self._one("!=", pair) for pair in combinations(value, 2))
        return self._folded("and", unequal, BatchValue(np.True_))

    def _entry(self, value: Value, index: Value) -> BatchValue:
        assert isinstance(value, tuple)
        assert isinstance(index, BatchValue)
        if index.array is None:
            self.unsettle(True)
            return UNKNOWN
        self.unsettle((index.array < 0) | (index.array >= self.axes))
        chosen = BatchValue(np.int64(0))
        for axis, entry in enumerate(value):
            here = BatchValue(index.array == axis)
            chosen = self._one("where", (here, entry, chosen))
        return chosen

    def _flat(self, position: Value, size: Value) -> BatchValue:
        assert isinstance(position, tuple)
        assert isinstance(size, tuple)
        index = BatchValue(np.int64(0))
        for at, extent in zip(position, size, strict=True):
            index = self._one("+", (self._one("*", (index, extent)), at))
        return index


_OVER_AXES: Mapping[str, Callable[..., Value]] = {
    "any": lambda batch, p: batch._folded("or", p, BatchValue(np.False_)),
    "all": lambda batch, p: batch._folded("and", p, BatchValue(np.True_)),
    "sum": lambda batch, a: batch._folded("+", a, BatchValue(np.int64(0))),
    "prod": lambda batch, a: batch._folded("*", a, BatchValue(np.int64(1))),
    "least": lambda batch, a: batch._folded("min", a),
    "greatest": lambda batch, a: batch._folded("max", a),
    "distinct": Batch._distinct,
    "reverse": lambda _batch, a: a[::-1],
    "entry": Batch._entry,
    "flat": Batch._flat,
}
