"""Where few vectors were asked, names are no surer than what they show."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiers
import yaml

import conformance
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.check_options import CheckOptions
from conformance.diagnosis.code_path import CodePath
from conformance.diagnosis.distinguishing_vector import distinguishing_vector
from conformance.diagnosis.wording import MAX_NAMES
from conformance.dtypes import Array
from conformance.grade.baseline import baseline
from conformance.implementations import implementation_of, subject_of
from conformance.model import Finding, Result
from conformance.run.engine import RunContext, run
from conformance.specification import case_from_inputs, find_spec, mutants_of, outputs

OP = "AvgPool-1"


class Backend:
    """The reference with a mutant."""

    name, version = "faulty", "1"

    def __init__(self, mutant: str) -> None:
        self.spec = find_spec(OP)
        (fault,) = (one for one in mutants_of(self.spec) if one.id == mutant)
        self.altered = implementation_of(self.spec, fault.change)

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        outputs(self.spec, inputs, attributes)  # raises where it must be rejected
        case = case_from_inputs(self.spec, inputs, attributes)
        return list(subject_of(self.spec, case, inputs).under(self.altered))


def of(mutant: str, *only: str) -> dict[str, Any]:
    """The diagnosis of the one finding of a run of a mutant."""
    run = conformance.check(tiers.core(), Backend(mutant), ops=[OP], only=only)
    found: tuple[Finding, ...] = run.findings
    (finding,) = found
    assert finding.diagnosis is not None
    return dict(finding.diagnosis)


def killers(mutant: str) -> list[str]:
    entries = [one for one in tiers.core().manifest.vectors if one.op == OP]
    return [one.id for one in sorted(entries, key=lambda one: one.elements) if mutant in one.kills]


def kills(vector_id: str) -> set[str]:
    (entry,) = (one for one in tiers.core().manifest.vectors if one.id == vector_id)
    return set(entry.kills)


def ids(told: dict[str, Any]) -> list[str]:
    return [one["id"] for one in told["faults"]] + [
        i for a in told["alternatives"] for i in a["ids"]
    ]


def test_many_candidates_are_counted_and_none_is_named() -> None:
    mutant = "excluded-on-last-axis-only"
    some = (of(mutant, one) for one in killers(mutant)[:20])
    told = next(one for one in some if len(one["alternatives"]) > MAX_NAMES and one["decides"])
    assert told["faults"] == []
    assert mutant in ids(told)
    assert "so none is named" in told["sentence"]
    assert told["advice"] == f"Vector {told['decides']} of the suite can distinguish them."


def test_one_vector_names_nothing_and_a_second_one_decides() -> None:
    mutant = "excluded-on-last-axis-only"
    some = ((one, of(mutant, one)) for one in killers(mutant))
    asked, told = next((v, t) for v, t in some if 2 <= len(ids(t)) <= MAX_NAMES)
    assert told["faults"] == []
    assert mutant in ids(told)
    assert "No other vector was tested that could show that it is another bug" in told["sentence"]
    decides = told["decides"]
    assert decides is not None
    assert decides != asked
    again = of(mutant, asked, decides)
    assert mutant in ids(again)
    assert len(ids(again)) < len(ids(told))


def test_two_vectors_name_a_mutant() -> None:
    mutant = "excluded-on-last-axis-only"
    told = of(mutant, *killers(mutant)[:20])
    assert [one["id"] for one in told["faults"]] == [mutant]


def test_a_search_names_nothing_of_one_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images after the last 8 and planes after the last 4 look alike in 9x1x1x1."""
    mutant = "excluded-on-last-axis-only"
    those = killers(mutant)
    search = SimpleNamespace(FUZZ=tiers.core().manifest.name)
    monkeypatch.setattr("conformance.diagnosis.diagnose.SuiteName", search)
    monkeypatch.setattr("conformance.diagnosis.diagnose.RunDiagnosis._unasked", lambda *_: [])
    told = next(one for one in (of(mutant, one) for one in those) if len(ids(one)) <= MAX_NAMES)
    assert mutant in ids(told)
    assert told["faults"] == []
    assert [one["id"] for one in of(mutant, *those[:20])["faults"]] == [mutant]


def test_a_passing_vector_leaves_one_name() -> None:
    told = of("excluded-on-last-axis-only")
    assert ids(told) == ["excluded-on-last-axis-only"]
    assert not told["sentence"].startswith("One of")
    assert told["decides"] is None


def test_where_no_vector_decides_a_command_makes_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.diagnosis.diagnose.distinguishing_vector", lambda *_: None)
    mutant = "excluded-on-last-axis-only"
    some = (of(mutant, one) for one in killers(mutant))
    told = next(one for one in some if one["alternatives"])
    assert f"conformance generate --op {OP}" in told["advice"]


class OfDoubles(Backend):
    """The mutant is in the kernel of f64 alone."""

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        if inputs[0].dtype == np.float64:
            return super().run(op, inputs, attributes)
        return outputs(self.spec, inputs, attributes)


def test_the_vector_that_decides_is_where_the_mutant_is() -> None:
    mutant = "window-cut-to-input-size"
    entries = {one.id: one for one in tiers.core().manifest.vectors}
    of_type = {dtype: [one for one in killers(mutant) if entries[one].dtype == dtype]
               for dtype in ("f32", "f64")}  # fmt: skip
    only = [*of_type["f64"][1:3], *of_type["f32"][:6]]
    run = conformance.check(tiers.core(), OfDoubles(mutant), ops=[OP], only=only)
    (finding,) = run.findings
    told = finding.diagnosis
    assert told is not None
    assert (told["scope"]["dtype"], len(ids(dict(told)))) == (["f64"], 2)
    assert entries[told["decides"]].dtype == "f64"


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_a_vector_that_decides_is_of_the_rank_that_is_asked_for(rank: int) -> None:
    suite, spec = tiers.core(), find_spec(OP)
    known = {one.id: one for one in mutants_of(spec)}
    some = [(known["begin-pads-dropped"],), (known["end-pads-dropped"],)]
    entries = [one for one in suite.manifest.vectors if one.op == OP and one.reject is None]
    found = distinguishing_vector(spec, some, entries, suite.get, {CodePath("f32", rank)})
    assert found is not None
    assert suite.get(found).inputs[0].ndim == rank
    assert suite.get(found).inputs[0].dtype == np.float32


class Spoiling(Backend):
    """The mutant, and in f32 outputs of a shape that no mutant gives."""

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        right = super().run(op, inputs, attributes)
        return [np.repeat(one, 3, -1) if one.dtype == np.float32 else one for one in right]


def test_candidates_of_some_failures_are_not_told_of_others() -> None:
    mutant = "begin-pads-dropped"
    two = [one for one in killers(mutant) if "-1x1x2-" in one and one[:3] != "f32"][:2]
    told = of(mutant, *two)
    assert "so none is named" in told["sentence"]
    entries = [one for one in tiers.core().manifest.vectors if one.op == OP]
    plain = [one for one in entries if one.dtype == "f32" and "-normal-" in one.id]
    spoiled = [one.id for one in plain if not {*ids(told)} & {*one.kills}][1:2]
    run = conformance.check(tiers.core(), Spoiling(mutant), ops=[OP], only=[*two, *spoiled])
    (finding,) = run.findings
    assert len(finding.ids) == 3
    assert "so none is named" not in str(finding.diagnosis)


class Declaring(Backend):
    """One that declares images of f32 with explicit pads alone."""

    capabilities = Capabilities(
        operators=(OP,),
        dtypes=("f32",),
        ranks=(4,),
        excluding=(Exclusion("explicit pads", "auto_pad != explicit"),),
    )


@pytest.mark.parametrize("declares", [True, False])
def test_more_vectors_are_advised_within_what_the_backend_declares(
    declares: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the suite has none that decides, into a folder that is not there; and that advice is no
    reason for a known failure."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fresh").mkdir()
    monkeypatch.setattr("conformance.diagnosis.diagnose.distinguishing_vector", lambda *_: None)
    mutant, suite = "begin-pads-dropped", tiers.core()
    only = killers_in_images(mutant)[:1]
    options = CheckOptions(ops=[OP], only=only)
    context = RunContext(backend_name="npu dir/npu.py:Npu")
    backend = (Declaring if declares else Backend)(mutant)
    events = list(run(suite, backend, options, context))
    (finding,) = (one for one in events if isinstance(one, Finding))
    assert finding.diagnosis is not None
    where = "--for 'npu dir/npu.py:Npu' " if declares else ""
    advice = f"`conformance generate {where}--op {OP} --seed 1 --out fresh-2`."
    assert finding.diagnosis["advice"].endswith(advice)
    assert "conformance" not in finding.diagnosis["sentence"]
    listed = [one for one in events if isinstance(one, Result)]
    text = baseline(
        listed, [finding], reason=None, otherwise="nobody knows", earlier={}, is_complete=False
    )
    (entry, *_) = yaml.safe_load(text)["known"]
    assert entry["reason"]
    assert entry["reason"] != "nobody knows"
    assert "can distinguish them" not in entry["reason"]
    assert "conformance" not in entry["reason"]


def killers_in_images(mutant: str) -> list[str]:
    """The vectors of f32 images with explicit pads that kill it, the smallest first."""
    suite = tiers.core()
    declared, spec = Declaring.capabilities, find_spec(OP)
    return [
        one for one in killers(mutant) if not declared.reason_against(spec, suite.get(one).case)
    ]
