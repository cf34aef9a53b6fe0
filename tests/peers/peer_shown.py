"""Which faults an operator that asks only some of our cases can show at all."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.audit.kills import MutantRunner
from conformance.generate.cases import draw_cases
from conformance.spec.catalogue import Mutant
from conformance.specification import build, condition_of, find_spec

DRAWN = 4000


def shown(op: str, asks: str, faults: Iterable[Mutant], drawn: int = DRAWN) -> set[str]:
    """The faults, by id, that some drawn case notices at level must, among those ``asks`` allows.

    ``asks`` is a condition on a case in the language of the specifications. Only faults that are
    found are sure: one that no drawn case shows may still be shown by another.
    """
    spec, asked = find_spec(op), tuple(faults)
    condition = condition_of(spec, " ".join(asks.split()))
    bank = MutantRunner(spec, asked)
    left = {fault.id for fault in asked}
    for case in draw_cases(spec, drawn, seed=0):
        if left and condition.holds(case):
            left -= {kill.mutant for kill in bank.kills(build(spec, case)) if kill.at_must}
            bank = bank.restricted_to(left)
    return {fault.id for fault in asked} - left
