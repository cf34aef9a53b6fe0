"""Many cases at once with what a family tells of them: how much they are, and where they differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.spec.batch import Batch, BatchDefinition
from conformance.spec.batch_values import BatchValue, Bools
from conformance.spec.case_table import Table


class CaseBatch(Batch):
    """The cases of a table. A family that knows more of their outputs has one of its own."""

    def __init__(
        self, table: Table, definitions: Mapping[str, BatchDefinition] | None = None
    ) -> None:
        self.table = table
        given = table.spec.definitions if definitions is None else definitions
        self.given = table.known()
        super().__init__(len(table), table.axes, self.given, given, table.odd)

    def under(
        self, definitions: Mapping[str, BatchDefinition], changed: Collection[str]
    ) -> CaseBatch:
        """The same cases under other definitions, which differ for the names ``changed``."""
        new = copy(self)
        new.definitions = definitions
        new._kept = {name: kept for name, kept in self._kept.items() if name not in changed}
        return new

    def per_axis(self, name: str) -> tuple[BatchValue, ...]:
        """A value with one entry an axis; whether it is settled is noted."""
        value, unsettled = self.name(name)
        self.unsettle(unsettled)
        return value if isinstance(value, tuple) else (value,) * self.axes

    def has_same_rows(self, _changed: Collection[str]) -> bool:
        """Whether values over parts of outputs are over the same ones where names are changed."""
        return True

    def taps_differ(self, _other: CaseBatch, _changed: Collection[str]) -> Bools:
        """Of which cases what is read of the data may differ under other rules of taps."""
        return np.ones(self.count, np.bool_)

    @property
    def parts(self) -> NDArray[Any]:
        """How many rows values over parts of outputs have in each case, (cases,)."""
        return np.ones(self.count, np.int64)

    @property
    def data(self) -> NDArray[np.float64]:
        """How many elements all tensors have, (cases,); of large ones about."""
        return sum(self._tensors, np.zeros(self.count))

    @property
    def smallest(self) -> NDArray[np.float64]:
        """How many elements the smallest tensor or output has."""
        return np.min([*self._tensors, self.results], axis=0)

    @property
    def largest(self) -> NDArray[np.float64]:
        """How many elements the largest tensor or output has."""
        return np.max([*self._tensors, self.results], axis=0)

    @property
    def _tensors(self) -> list[NDArray[np.float64]]:
        count = len(self.table.spec.tensors)
        return [self.table.elements(number, np.float64) for number in range(count)]

    @property
    def results(self) -> NDArray[np.float64]:
        """How many elements an output has."""
        columns = self.table.columns
        rows = [np.atleast_2d(columns[name]) for name in self.table.spec.outputs[0].shape]
        return np.concatenate(rows).astype(np.float64).prod(axis=0)

    @property
    def steps(self) -> NDArray[np.float64]:
        """At least how many steps it takes to compute the outputs."""
        return np.maximum(self.data, self.results)

    @property
    def listed(self) -> NDArray[np.float64]:
        """How many entries a list of all that is read would have."""
        return self.steps


def batch_of(table: Table) -> CaseBatch:
    """The cases of a table, as their family looks at them."""
    found: CaseBatch = table.spec.kin.oracle.batch(table)
    return found
