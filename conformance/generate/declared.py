"""What a declaration leaves of an operator's mutants: those that can show in none of its cases."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection

from conformance.audit.inert import find_inert
from conformance.audit.mutant_states import stated_reason
from conformance.core.operator import Operator
from conformance.generate.disprover import Disprover
from conformance.generate.narrow import Claim, narrowed
from conformance.spec.catalogue import mutants_of
from conformance.suite.store import Suite
from conformance.suite.survivors import Partition, SurvivorTable
from conformance.suite.unreachable import Unreachable


def can_not_show(
    suite: Suite, op: str, claim: Claim, parts: Collection[tuple[str, int]], names: Collection[str]
) -> frozenset[str]:
    """Of some mutants by id, those that change nothing in any case of a claim, as far as is proven.

    ``parts`` are the element types and ranks that are claimed. What a suite says of them is
    believed; of the rest z3 is asked, which without its package proves nothing. A mutant that is
    not among them may show, or not: only a search for a case tells. Raises UsageError for a
    predicate that the operator cannot have.
    """
    whole = suite.specs[op]
    known = suite.manifest.strength.get(op, Unreachable()).parts
    if isinstance(whole, Operator):  # of a definition nothing more is proven
        said = (_said(known, Partition(*part)) for part in parts)
        return frozenset(names).intersection(*said)
    spec = narrowed(whole, claim)
    there = {fault.id: fault for fault in suite.specs.faults(op)}
    gone = frozenset[str]()
    if {fault.id for fault in mutants_of(whole)} == there.keys():
        gone = frozenset(there.keys() - {fault.id for fault in mutants_of(spec)})
    left = frozenset(names) - gone
    asked = importlib.util.find_spec("z3") is not None
    provers: dict[int, Disprover] = {}
    for dtype, rank in parts:
        part = Partition(dtype, rank, spec.profiles[0].name if spec.profiles else "")
        some = [there[name] for name in sorted(left)]
        never = {one.id for one in some if stated_reason(one, part, "should")}
        never |= find_inert(spec, Partition(dtype, rank), some) | _said(known, part)
        if asked and left - never:
            if rank not in provers:
                # The others may take expressions that only the whole operator has.
                provers[rank] = Disprover(spec, rank, some)
            never |= provers[rank].proven_either_way(Partition(dtype, rank), left - never)
        left &= never
    return left | gone.intersection(names)


def _said(known: SurvivorTable, part: Partition) -> frozenset[str]:
    """The mutants of which a suite says that nothing shows them in all of an element type and rank:
    nor do they in a part of it."""
    whole = Partition(part.dtype, part.rank)
    return known.survivors[whole].unkillable("should") if whole in known.survivors else frozenset()
