"""Finds the cases, among many, on which a mutant may give other outputs.

Guards and replaced rules are expressions: whether one holds anywhere, and whether a rule has
another value, is decided for all cases at once from their geometry. Only where that leaves it open
the outputs have to be worked out (:mod:`conformance.reference.subject`).
"""

from __future__ import annotations

import numpy as np

from conformance.reference.batches import CaseBatch
from conformance.reference.subject import Altered
from conformance.spec.batch_values import BatchValue, Bools, Value
from conformance.spec.kinds import Kind
from conformance.spec.model import RuleChange
from conformance.spec.tree import Node


def may_differ(batch: CaseBatch, altered: Altered) -> Bools:
    """Of which cases of a batch the outputs under some variants may not be the right ones."""
    found = np.zeros(batch.count, np.bool_)
    for place, variant in enumerate(altered.variants):
        guard = _guard(batch, variant)
        if guard.any():
            part = altered.part(frozenset({place}))
            changed = batch.under(part.definitions, part.changed)
            alike = batch.has_same_rows(part.changed)
            for name in part.replaced:
                if guard.any():
                    if name in part.of_taps:
                        found |= guard & batch.taps_differ(changed, part.changed)
                    else:
                        found |= guard & _differs(batch, changed, name, alike)
    return found


def _guard(batch: CaseBatch, variant: RuleChange) -> Bools:
    """Where the guard of a variant may hold for something."""
    if variant.where is None:
        return np.ones(batch.count, np.bool_)
    tree = variant.where.tree
    value, unsettled = batch.tracked(lambda: batch.visit(Node("somewhere", (tree,), Kind("bool"))))
    assert isinstance(value, BatchValue)
    return np.asarray(unsettled | value.possible)


def _differs(right: CaseBatch, batch: CaseBatch, name: str, alike: bool) -> Bools:
    """Of which cases a rule may have another value; ``alike`` says that both have the same rows."""
    (a, first), (b, second) = right.name(name), batch.name(name)
    found = first | second
    for one, other in zip(_entries(a, right), _entries(b, right), strict=True):
        found = found | _unequal(right, one, other, alike)
    return found


def _entries(value: Value, batch: CaseBatch) -> tuple[BatchValue, ...]:
    return value if isinstance(value, tuple) else (value,) * max(1, batch.axes)


def _unequal(batch: CaseBatch, a: BatchValue, b: BatchValue, same_rows: bool) -> Bools:
    unknown = np.ones(batch.count, np.bool_)
    if a.array is None or b.array is None or not (same_rows or a.rows is b.rows is None):
        return unknown
    rows = batch.joint((a, b))
    one, other = (batch.lifted(entry.array, entry.rows, rows) for entry in (a, b))
    unequal = np.asarray(one != other)
    for entry in (a, b):
        if entry.maybe is not None:
            unequal = unequal | batch.lifted(entry.maybe != entry.array, entry.rows, rows)
    if rows is None:
        return np.broadcast_to(unequal, (batch.count,))
    found = np.zeros(batch.count, np.bool_)
    found[rows.case[np.broadcast_to(unequal, rows.case.shape)]] = True
    return found
