"""Where few vectors were asked, names are no surer than what they show."""

from __future__ import annotations

from typing import Any

import pytest
import tiers

import conformance
from conformance.diagnosis.cause import MAX_NAMES
from conformance.dtypes import Array
from conformance.model import Finding
from conformance.reference import evaluate
from conformance.reference.subject import Altered, Subject
from conformance.spec.catalogue import faults
from conformance.spec.environment import case_of
from conformance.spec.loader import find

OP = "AvgPool-1"


class Backend:
    """The reference with a mutant."""

    name, version = "faulty", "1"

    def __init__(self, mutant: str) -> None:
        self.spec = find(OP)
        (fault,) = (one for one in faults(self.spec) if one.id == mutant)
        self.altered = Altered(self.spec, fault.variant)

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        evaluate(self.spec, inputs, attributes)  # raises where it must be rejected
        case = case_of(self.spec, inputs, attributes)
        return list(Subject(self.spec, case, inputs[0]).under(self.altered))


def of(mutant: str, *only: str) -> dict[str, Any]:
    """The diagnosis of the one finding of a run of a mutant."""
    run = conformance.check(tiers.core(), Backend(mutant), ops=[OP], only=only)
    found: tuple[Finding, ...] = run.findings
    (finding,) = found
    assert finding.diagnosis is not None
    return dict(finding.diagnosis)


def killers(mutant: str) -> list[str]:
    entries = [one for one in tiers.core().manifest.vectors if one.op == OP]
    return [one.id for one in sorted(entries, key=lambda one: one.bytes) if mutant in one.kills]


def kills(vector_id: str) -> set[str]:
    (entry,) = (one for one in tiers.core().manifest.vectors if one.id == vector_id)
    return set(entry.kills)


def ids(told: dict[str, Any]) -> list[str]:
    return [one["id"] for one in told["faults"]] + [
        i for a in told["alternatives"] for i in a["ids"]
    ]


def test_many_candidates_are_counted_and_none_is_named() -> None:
    mutant = "begin-pads-dropped"
    some = (of(mutant, one) for one in killers(mutant)[:20])
    told = next(one for one in some if len(one["alternatives"]) > MAX_NAMES)
    assert told["faults"] == []
    assert mutant in ids(told)
    assert "so none is named" in told["sentence"]
    assert f"Vector {told['decides']} of the suite tells them apart." in told["sentence"]


def test_few_candidates_are_told_as_one_of_them_with_the_vector_that_decides() -> None:
    mutant = "exclude-pad-taken-for-true"
    some = ((one, of(mutant, one)) for one in killers(mutant))
    asked, told = next((v, t) for v, t in some if t["faults"] and t["alternatives"])
    assert told["sentence"].startswith("One of: ")
    assert mutant in ids(told)
    assert 2 <= len(ids(told)) <= MAX_NAMES
    decides = told["decides"]
    assert decides is not None
    assert decides != asked
    again = of(mutant, asked, decides)
    assert mutant in ids(again)
    assert len(ids(again)) < len(ids(told))


def test_a_passing_vector_leaves_one_name() -> None:
    told = of("exclude-pad-taken-for-true")
    assert ids(told) == ["exclude-pad-taken-for-true"]
    assert not told["sentence"].startswith("One of")
    assert told["decides"] is None


def test_where_no_vector_decides_a_command_makes_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.diagnosis.diagnose.decider", lambda *_: None)
    mutant = "exclude-pad-taken-for-true"
    some = (of(mutant, one) for one in killers(mutant))
    told = next(one for one in some if one["alternatives"])
    assert f"conformance generate --op {OP}" in told["sentence"]
