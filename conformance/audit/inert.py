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
from conformance.suite.survivors import Partition

MAYBE = BatchValue(np.False_, maybe=np.True_)
"""A truth value of which nothing is known."""


class PartitionCases(Batch):
    """All cases of a partition, in few rows.

    One row stands for each combination of the words and truth values that some conditions depend
    on.
    """

    def __init__(self, spec: OpSpec, partition: Partition, guards: Sequence[Expression]) -> None:
        self.spec, self.scope = spec, scope_of(spec)
        met = profile_of(spec, partition).when if partition.profile else None
        reached = spec.reach([*guards, *([met] if met is not None else [])])
        columns = {
            key: values
            for key, values in _columns(spec, partition)
            if key in reached or len(values) < 2
        }
        rows = list(product(*columns.values()))
        by_key = zip(*rows, strict=True)
        quantities: dict[str, Value] = {
            key: BatchValue(np.array(column)) for key, column in zip(columns, by_key, strict=True)
        }
        axes = spec.layout.axes(partition.rank)
        quantities |= {"rank": constant(partition.rank), "axes": constant(axes)}
        quantities["axis"] = tuple(map(constant, range(axes)))
        quantities |= _numbers(met, spec, axes)
        super().__init__(len(rows), axes, quantities, spec.definitions)
        self._there = np.ones(len(rows), np.bool_) if met is None else self.possible(met)

    def reached(self, guard: Expression | None) -> bool:
        """Return whether a guard may hold anywhere in the partition."""
        return guard is None or bool((self.possible(guard) & self._there).any())

    def worked_out(self, name: str) -> Value:
        if name in self.definitions:
            return super().worked_out(name)
        kind = self.scope[name]
        value = MAYBE if kind.type == "bool" else UNKNOWN
        return (value,) * self.axes if kind.per_axis else value

    def possible(self, condition: Expression) -> Bools:
        """Mark the rows in which a condition may hold somewhere, (rows,)."""
        tree = Node("somewhere", (condition.tree,), Kind("bool"))
        # What cannot be computed changes nothing, so whether it is settled does not matter.
        value, _ = self.tracked(lambda: self.visit(tree))
        is_possible = np.zeros(self.count, np.bool_)
        for entry in value if isinstance(value, tuple) else (value,):
            is_possible |= entry.possible
        return is_possible


def _columns(spec: OpSpec, partition: Partition) -> Iterator[tuple[str, list[int] | list[bool]]]:
    """The values that words and truth values of a case of a part can have."""
    for name, dtypes in spec.types.items():
        partition_types = [partition.dtype] if name == spec.data.type else dtypes
        yield name, [code(dtype) for dtype in partition_types]
    yield (
        "pattern",
        [code(pattern) for pattern in spec.patterns if spec.fills(pattern, partition.dtype)],
    )
    for key, quantity in spec.quantities.items():
        if quantity.type == "enum":
            values = dict.fromkeys((*quantity.values, *filter(None, (quantity.default,))))
            yield key, [code(str(word)) for word in values]
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
                value = constant(other.value)
                per_axis = spec.quantities[str(name.value)].per_axis
                yield str(name.value), (value,) * axes if per_axis else value


def _conjuncts(node: Node) -> Iterator[Node]:
    if node.op == "and":
        for arg in node.args:
            yield from _conjuncts(arg)
    elif node.op == "all":
        yield from _conjuncts(node.args[0])
    else:
        yield node


def find_inert(spec: OpSpec, partition: Partition, mutants: Iterable[Mutant]) -> frozenset[str]:
    """Find the mutants, by id, that change nothing in any case of a partition."""
    mutants = tuple(mutants)
    guards = [
        mutant.rule_change.where for mutant in mutants if mutant.rule_change.where is not None
    ]
    everywhere = PartitionCases(spec, partition, guards)
    rules = spec.kin.rules
    floating = {name for name, rule in rules.items() if rule.floating}
    is_integer = not DTYPES[partition.dtype].is_float
    return frozenset(
        mutant.id
        for mutant in mutants
        if (is_integer and mutant.rule_change.replace.keys() <= floating)
        or not everywhere.reached(mutant.rule_change.where)
    )
