"""Runs of backends that have some faults of the catalogue, without the engine around them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache

import tiers
from stored import Kept

from conformance.choices import SuiteName
from conformance.diagnosis.explain_failures import explain_failures
from conformance.diagnosis.explanation import Explanation
from conformance.dtypes import Array
from conformance.grade.judge import judge, make_result
from conformance.grade.outcome import Ending, Outcome
from conformance.implementations import implementation_of, subject_of
from conformance.model import Result, Status, Vector
from conformance.spec.catalogue import Mutant
from conformance.specification import find_spec, mutants_of
from conformance.suite.entries import Entry
from conformance.suite.store import open_suite

SHIPPED = open_suite()


@cache
def bank(op: str) -> dict[str, Mutant]:
    return {fault.id: fault for fault in mutants_of(find_spec(op))}


@cache
def vector(vector_id: str) -> Vector:
    return SHIPPED.get(vector_id)


def asked(op: str) -> list[Entry]:
    """The vectors of an operator that must be right."""
    every = tiers.of(op).manifest.vectors
    return [entry for entry in every if entry.reject is None and entry.level == "must"]


def says_all(entry: Entry) -> bool:
    """Whether a vector says all that it kills: those of smoke do."""
    return SuiteName.SMOKE in entry.suites


def run(op: str, ids: Sequence[str], only: Callable[[Entry], bool] = says_all) -> Iterator[Result]:
    """What a backend with these faults makes of the core suite, or ``only`` of some vectors."""
    spec = find_spec(op)
    altered = implementation_of(spec, *(bank(op)[one].change for one in ids))
    for entry in filter(only, asked(op)):
        one = vector(entry.id)
        if says_all(entry) and set(ids).isdisjoint(entry.kills):
            # Each fault alone passes, so what it changes is beyond what is graded.
            yield make_result(one, Status.PASS)
            continue
        subject = subject_of(spec, one.case, one.inputs, Kept())
        outcome = Outcome(Ending.RETURNED, list(subject.under(altered)))
        yield judge(one, outcome, level="must", precision={})


def explained(op: str, ids: Sequence[str]) -> tuple[list[Result], list[Explanation]]:
    """The results of such a backend, and what its failures are said to come from."""
    results = list(run(op, ids))
    return results, searched(op, results)


def answered(
    op: str,
    made: Callable[[Vector, list[Array]], list[Array]],
    only: Callable[[Entry], bool] = lambda entry: True,
) -> list[Result]:
    """The results of a backend that makes its outputs of a vector and of the right ones; ``only``
    as for :func:`run`."""
    found = []
    for entry in filter(only, asked(op)):
        one = vector(entry.id)
        right = [a.expected if a.rounded is None else a.rounded for a in one.answers]
        outcome = Outcome(Ending.RETURNED, list(made(one, [array.copy() for array in right])))
        found.append(judge(one, outcome, level="must", precision={}))
    return found


def searched(
    op: str, results: Sequence[Result], without: Collection[str] = (), *, chosen: bool = False
) -> list[Explanation]:
    """What the failures among the results are said to come from, by a catalogue without some
    faults.
    """
    noticed = {entry.id: entry.kills for entry in tiers.of(op).manifest.vectors}
    known = [fault for fault in mutants_of(find_spec(op)) if fault.id not in without]
    return explain_failures(
        find_spec(op),
        results,
        known,
        read=vector,
        noticed=noticed,
        precision={},
        level="must",
        chosen=chosen,
    )
