"""Which faults an operator that asks only some of our cases can show at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance.audit.kills import MutantRunner
from conformance.generate.pairs import Effort, Pool
from conformance.model import Case
from conformance.reference import facts
from conformance.reference.values import data_of
from conformance.spec.catalogue import Mutant
from conformance.spec.expressions import compile_expression
from conformance.spec.kinds import Kind
from conformance.spec.model import OpSpec
from conformance.spec.scope import scope_of
from conformance.specification import build, find_spec

EFFORT = Effort(base=1200, aimed=24)


def shown(op: str, asks: str, faults: Iterable[Mutant], effort: Effort = EFFORT) -> set[str]:
    """The faults, by id, that some drawn case notices at level must, among those ``asks`` allows.

    ``asks`` is a condition on a case in the language of the specifications. Only faults that are
    found are sure: one that no drawn case shows may still be shown by another.
    """
    spec = find_spec(op)
    left = {fault.id: fault for fault in faults}
    found: set[str] = set()
    bank = MutantRunner(spec, tuple(left.values()))
    for case in _asked(spec, asks, effort):
        differing = bank.fingerprints(case, data_of(spec, case))
        if not differing:
            continue
        kills = MutantRunner(spec, [left[name] for name in differing]).kills(build(spec, case))
        new = {kill.mutant for kill in kills if kill.at_must}
        if new:
            found |= new
            left = {name: fault for name, fault in left.items() if name not in new}
            bank = MutantRunner(spec, tuple(left.values()))
    return found


def _asked(spec: OpSpec, asks: str, effort: Effort) -> Iterator[Case]:
    condition = compile_expression(" ".join(asks.split()), scope_of(spec), want=Kind("bool"))
    for rank in spec.ranks:
        pool = Pool(spec, rank, 0, effort)
        pool.fill()
        for case in pool.cases():
            if condition.evaluate(facts(spec, case, data_of(spec, case))):
                yield case
