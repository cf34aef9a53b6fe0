"""Crossover: cases made of parts of two others, thousands at once.

A child takes its data (pattern, seed, types), its batch and channels, its single attributes and
what stands on each axis from either parent; ``freely``, each column on its own, and then one of its
numbers becomes another. It may be invalid.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.generate.chance import Chance
from conformance.model import Case
from conformance.spec import default_attributes
from conformance.spec.batch_values import word
from conformance.spec.case_table import Table
from conformance.spec.model import OpSpec

Rows = NDArray[np.int64]


def crossed(table: Table, a: Rows, b: Rows, chance: Chance, *, freely: bool = False) -> Table:
    """The child of each case at ``a`` with the one beside it at ``b``."""
    count, axes, spec = len(a), table.axes, table.spec

    def either() -> Rows:
        return np.where(chance.one_in(2, count), a, b)

    data, planes, single = either(), either(), either()
    by_axis = [either() for _ in range(axes)]
    # What stands on an axis may come from another one.
    source = [
        np.where(chance.one_in(4, count), chance.below(max(1, axes), count), axis)
        for axis in range(axes)
    ]
    columns: dict[str, Any] = {key: table.columns[key][data] for key in ("pattern", *spec.types)}
    for key, quantity in spec.quantities.items():
        column = table.columns[key]
        if not quantity.per_axis:
            whole = planes if key in spec.dims else single
            columns[key] = column[either() if freely else whole]
            continue
        own, together = either(), chance.one_in(2, count)
        parents = [np.where(together, own, one) if freely else one for one in by_axis]
        columns[key] = np.stack([column[s, p] for s, p in zip(source, parents, strict=True)])
    if freely:
        _nudge(spec, columns, chance, count)
    return Table(spec, axes, columns, table.seeds[data], table.odd[a] | table.odd[b])


def _nudge(spec: OpSpec, columns: dict[str, Any], chance: Chance, count: int) -> None:
    """One number of an axis of each case, or of the case where there are no axes: one more or less,
    0, 1, twice as much, or another's."""
    keys = [key for key, one in spec.quantities.items() if one.per_axis]
    if not spec.layout.spread:
        keys = [key for key, one in spec.quantities.items() if one.type == "int"]
    # Views: what is written there is written into the columns.
    places = [row for key in keys for row in np.atleast_2d(columns[key])]
    if not places:
        return
    which, way = chance.below(len(places), count), chance.below(8, count)
    for number, place in enumerate(places):
        at = np.flatnonzero(which == number)
        old = place[at]
        other = places[int(chance.below(len(places), 1)[0])]
        ways = [old - 1, old + 1, 0 * old, 0 * old + 1, 2 * old, other[at]]
        place[at] = np.select([way[at] == k for k in range(len(ways))], ways, old)


def case_of(table: Table, row: int) -> Case:
    """One of the cases, spelled as a drawn one is."""
    spec = table.spec

    def value(key: str) -> Any:
        found = table.value(key, row)
        quantity = spec.quantities.get(key)
        return word(found) if quantity is None or quantity.type == "enum" else found

    return default_attributes.case_from_values(
        spec, {key: value(key) for key in table.columns}, int(table.seeds[row])
    )
