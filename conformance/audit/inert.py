"""Inert mutants: those that change no output in a part of an operator, whatever the case.

All cases of a part are looked at as a few: one for each combination of its words and truth values,
with numbers that are not known. Where the guard of a mutant cannot hold on any of them, or it only
replaces rules that its element type never comes to, no case of the part shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from conformance.audit.partitions import profile_of
from conformance.dtypes import DTYPES
from conformance.spec.batch import Batch
from conformance.spec.batch_values import UNKNOWN, BatchValue, Bools, Value, code, constant
from conformance.spec.catalogue import Mutant
from conformance.spec.expressions import Expression
from conformance.spec.kinds import Kind
from conformance.spec.model import OpSpec
from conformance.spec.scope import scope_of
from conformance.spec.tree import Node
from conformance.suite.parts import Part

MAYBE = BatchValue(np.False_, maybe=np.True_)
"""A truth value of which nothing is known."""


class PartitionCases(Batch):
    """All cases of a part: one row for each combination of the words and truth values that some
    conditions depend on."""

    def __init__(self, spec: OpSpec, part: Part, guards: Sequence[Expression]) -> None:
        self.spec, self.scope = spec, scope_of(spec)
        met = profile_of(spec, part).when if part.profile else None
        reached = spec.reach([*guards, *([met] if met is not None else [])])
        columns = {
            key: values for key, values in _columns(spec, part) if key in reached or len(values) < 2
        }
        rows = list(product(*columns.values()))
        by_key = zip(*rows, strict=True)
        known: dict[str, Value] = {
            key: BatchValue(np.array(column)) for key, column in zip(columns, by_key, strict=True)
        }
        axes = spec.layout.axes(part.rank)
        known |= {"rank": constant(part.rank), "axes": constant(axes)}
        known["axis"] = tuple(map(constant, range(axes)))
        known |= _numbers(met, spec, axes)
        super().__init__(len(rows), axes, known, spec.definitions)
        self._there = np.ones(len(rows), np.bool_) if met is None else self.possible(met)

    def reached(self, guard: Expression | None) -> bool:
        """Whether a guard may hold for something."""
        return guard is None or bool((self.possible(guard) & self._there).any())

    def worked_out(self, name: str) -> Value:
        if name in self.definitions:
            return super().worked_out(name)
        kind = self.scope[name]
        one = MAYBE if kind.type == "bool" else UNKNOWN
        return (one,) * self.axes if kind.per_axis else one

    def possible(self, condition: Expression) -> Bools:
        """Of which rows a condition may hold for something, (rows,)."""
        tree = Node("somewhere", (condition.tree,), Kind("bool"))
        # What cannot be computed changes nothing, so whether it is settled does not matter.
        value, _ = self.tracked(lambda: self.visit(tree))
        found = np.zeros(self.count, np.bool_)
        for entry in value if isinstance(value, tuple) else (value,):
            found |= entry.possible
        return found


def _columns(spec: OpSpec, part: Part) -> Iterator[tuple[str, list[int] | list[bool]]]:
    """The values that words and truth values of a case of a part can have."""
    for name, dtypes in spec.types.items():
        own = [part.dtype] if name == spec.data.type else dtypes
        yield name, [code(dtype) for dtype in own]
    yield "pattern", [code(one) for one in spec.patterns if spec.fills(one, part.dtype)]
    for key, quantity in spec.quantities.items():
        if quantity.type == "enum":
            words = dict.fromkeys((*quantity.values, *filter(None, (quantity.default,))))
            yield key, [code(str(word)) for word in words]
        elif quantity.type == "bool":
            yield key, [False, True]


def _numbers(met: Expression | None, spec: OpSpec, axes: int) -> Iterator[tuple[str, Value]]:
    """The numbers that a condition settles by itself: ``all(dilations == 1)``."""
    for node in _conjuncts(met.tree) if met is not None else ():
        while node.op in ("all", "repeat"):
            (node,) = node.args
        if node.op == "==":
            name, other = (n.args[0] if n.op == "repeat" else n for n in node.args)
            if name.op == "name" and other.op == "constant" and str(name.value) in spec.quantities:
                one = constant(other.value)
                per_axis = spec.quantities[str(name.value)].per_axis
                yield str(name.value), (one,) * axes if per_axis else one


def _conjuncts(node: Node) -> Iterator[Node]:
    if node.op == "and":
        for arg in node.args:
            yield from _conjuncts(arg)
    elif node.op == "all":
        yield from _conjuncts(node.args[0])
    else:
        yield node


def find_inert(spec: OpSpec, part: Part, faults: Iterable[Mutant]) -> frozenset[str]:
    """Of some mutants, by id, those that change nothing on any case of a part."""
    faults = tuple(faults)
    guards = [one.variant.where for one in faults if one.variant.where is not None]
    everywhere = PartitionCases(spec, part, guards)
    rules = spec.kin.rules
    floating = {name for name, rule in rules.items() if rule.floating}
    whole = not DTYPES[part.dtype].is_float
    return frozenset(
        fault.id
        for fault in faults
        if (whole and fault.variant.replace.keys() <= floating)
        or not everywhere.reached(fault.variant.where)
    )
