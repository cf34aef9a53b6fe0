"""Many cases of one operator and rank, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.model import Case
from conformance.spec.arithmetic import LIMIT
from conformance.spec.batch_values import BatchValue, Bools, Value, code, number
from conformance.spec.model import OpSpec, Quantity

Column = NDArray[Any]
_BLANK = {"int": 0, "bool": False, "enum": ""}


@dataclass(frozen=True, eq=False)
class Table:
    """Cases in columns; attributes that a case leaves out have their defaults.

    ``columns`` hold the quantities by key, the types by name, and the ``pattern``: whole numbers
    (int64), truth values, or codes of words (:func:`conformance.spec.batch_values.code`), of shape
    (cases,), or (axes, cases) for what there is one of an axis. ``seeds`` are the cases' seeds.
    ``odd`` are cases with what no column can hold: an attribute that is missing or of another type
    or length; the rest of such a case means nothing.
    """

    spec: OpSpec
    axes: int
    columns: Mapping[str, Column]
    seeds: NDArray[np.int64]
    odd: Bools

    def __len__(self) -> int:
        return len(self.seeds)

    def take(self, rows: Any) -> Table:
        """Select cases, by number or by mask."""
        columns = {key: column[..., rows] for key, column in self.columns.items()}
        return Table(self.spec, self.axes, columns, self.seeds[rows], self.odd[rows])

    def questions(self) -> list[bytes]:
        """Return a key for each case, equal for cases that are the same, however spelled."""
        columns = [np.atleast_2d(column) for column in self.columns.values()]
        return [row.tobytes() for row in np.concatenate([*columns, self.seeds[None]]).T.copy()]

    def known(self) -> dict[str, Value]:
        """Return the values that expressions may use before any definition."""
        rank = self.spec.layout.rank(self.axes)
        axes = tuple(BatchValue(np.int64(axis), bound=self.axes + 1) for axis in range(self.axes))
        values: dict[str, Value] = {
            "rank": BatchValue(np.int64(rank), bound=rank),
            "axes": BatchValue(np.int64(self.axes), bound=max(1, self.axes)),
            "axis": axes,
        }
        for key, column in self.columns.items():
            entry = BatchValue if column.dtype == np.bool_ else number
            values[key] = tuple(map(entry, column)) if column.ndim == 2 else entry(column)
        return values

    def elements(self, tensor: int = 0, dtype: type = np.int64) -> NDArray[Any]:
        """Count a tensor's elements in each case, (cases,); large counts are approximate."""
        rows = [np.atleast_2d(self.columns[name]) for name in self.spec.layout.tensors[tensor]]
        return np.concatenate(rows).astype(dtype).prod(axis=0)

    def value(self, key: str, row: int) -> Any:
        """Return a number or truth value of one case, or a list per axis."""
        return self.columns[key][..., row].tolist()


def table_of(spec: OpSpec, cases: Sequence[Case], rank: int) -> Table:
    """Make a table of cases; those whose data have another rank are odd."""
    axes = spec.layout.axes(rank)
    rows = [_row(spec, case, axes) for case in cases]
    blank: dict[str, Any] = dict.fromkeys((*spec.types, "pattern"), "")
    for key, quantity in spec.quantities.items():
        value = _BLANK[quantity.type]
        blank[key] = [value] * axes if quantity.per_axis else value
    columns = {
        key: _column(value, [row[key] if row else value for row in rows])
        for key, value in blank.items()
    }
    seeds = np.array([case.seed for case in cases], np.int64)
    return Table(spec, axes, columns, seeds, np.array([row is None for row in rows], np.bool_))


def joined(tables: Sequence[Table]) -> Table:
    """Concatenate tables of one operator and rank."""
    first = tables[0]
    columns = {
        key: np.concatenate([table.columns[key] for table in tables], axis=-1)
        for key in first.columns
    }
    seeds, odd = (
        np.concatenate([getattr(table, name) for table in tables]) for name in ("seeds", "odd")
    )
    return Table(first.spec, first.axes, columns, seeds, odd)


def _column(blank: Any, values: list[Any]) -> Column:
    if isinstance(blank, str):
        return np.array([code(value) for value in values], np.int64)
    if isinstance(blank, list):
        dtype: Any = np.bool_ if blank[:1] == [False] and blank[0] is False else np.int64
        return np.array(values, dtype).reshape(len(values), len(blank)).T.copy()
    return np.array(values, np.bool_ if blank is False else np.int64)


def _row(spec: OpSpec, case: Case, axes: int) -> dict[str, Any] | None:
    """The values of one case by key; None if it is odd."""
    attribute_names = {quantity.name for quantity in spec.attributes}
    dims = spec.layout.bound(case.shapes[tensor.name] for tensor in spec.tensors)
    fitting = dims is not None and spec.axes_of(case) == axes and _agree(dims)
    if dims is None or not fitting or not case.attributes.keys() <= attribute_names:
        return None
    row: dict[str, Any] = {**case.types, "pattern": case.pattern, **dict(dims)}
    row |= {q.key: q.of(case.attributes, axes) for q in spec.attributes}
    row |= {o.quantity.key: case.operands.get(o.name) for o in spec.operands}
    fits = all(_fits(quantity, row[key], axes) for key, quantity in spec.quantities.items())
    return row if fits and spec.types.keys() <= case.types.keys() else None


def _agree(dims: Sequence[tuple[str, Any]]) -> bool:
    """Whether each dimension is the same in all tensors that have it."""
    first: dict[str, Any] = {}
    return all(first.setdefault(name, value) == value for name, value in dims)


_KINDS: dict[str, type] = {"int": int, "bool": bool, "enum": str}


def _fits(quantity: Quantity, value: Any, axes: int) -> bool:
    """Whether a column can hold a value."""
    if quantity.per_axis and not (isinstance(value, list | tuple) and len(value) == axes):
        return False
    kind = _KINDS[quantity.type]
    entries = value if quantity.per_axis else (value,)
    return all(type(entry) is kind for entry in entries) and (
        kind is not int or all(-LIMIT <= entry <= LIMIT for entry in entries)
    )
