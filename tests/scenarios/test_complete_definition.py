"""A suite of a definition with what it lacks: ``suite complete``, and recording the result."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.choices import SuiteName
from conformance.cli import main
from conformance.core.kills import kills
from conformance.generate import completion
from conformance.generate.recorded import record
from conformance.specification import find_spec, mutants_of
from conformance.suite.store import Suite, open_suite
from conformance.suite.survivors import Partition

OP = "onnx.MatMul-13"
POOL = 80


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of few drawn cases, of which no kills are measured."""
    folder = tmp_path_factory.mktemp("definition")
    result = invoke("generate", "--op", OP, "--drawn", "30", "--out", folder / "suite")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def completed(base: Path) -> Suite:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion, "POOL", POOL)
        words = ("--dtypes", "f32", "--ranks", "3", "--out", base / "better")
        result = invoke("suite", "complete", base / "suite", *words)
    assert result.exit_code == 0, result.output
    return open_suite(base / "better")


def test_added_vectors_are_of_what_was_asked_for_and_kill_what_no_other_does(
    completed: Suite,
) -> None:
    added = [e for e in completed.manifest.listed if SuiteName.COMPLEMENT in e.suites]
    assert added
    killed: set[str] = set()
    for entry in added:
        assert (entry.dtype, completed.rank_of(entry)) == ("f32", 3)
        assert entry.kills
        assert killed.isdisjoint(entry.kills)
        killed.update(entry.kills)


def test_every_mutant_is_killed_or_stated_with_the_cases_that_were_tried(completed: Suite) -> None:
    manifest = completed.manifest
    survivors = manifest.strength[OP].parts.survivors
    assert list(survivors) == [Partition("f32", 3)]
    cases = [completed.read(e).case for e in manifest.listed if e.dtype == "f32" and not e.reject]
    killed = {
        mutant
        for entry in manifest.listed
        if entry.dtype == "f32" and completed.rank_of(entry) == 3
        for mutant in entry.kills
    }
    stated = survivors[Partition("f32", 3)].stated
    assert killed ^ stated.keys() == {mutant.id for mutant in mutants_of(find_spec(OP))}
    (reason,) = {*stated.values()}
    tried = int(reason.removeprefix("not seen to show in ").removesuffix(" cases"))
    assert POOL / 2 < tried <= POOL + len(cases)


def test_a_kill_that_is_stated_is_one(completed: Suite) -> None:
    operator = find_spec(OP)
    entry = next(e for e in completed.manifest.listed if SuiteName.COMPLEMENT in e.suites)
    vector = completed.read(entry)
    mutants = [mutant for mutant in mutants_of(operator) if mutant.id in entry.kills]
    assert kills(operator, vector.case, vector.arguments, mutants) == {*entry.kills}


def test_recorded_cases_have_what_was_added_in_the_core_and_negative_tests_last(
    completed: Suite,
) -> None:
    recorded = record(completed, OP).recorded
    assert {name for case in recorded for name in case.suites} <= {"core", "drawn"}
    ranks = [0 if case.case.reject else case.case.rank for case in recorded]
    values = ranks[: ranks.index(0)] if 0 in ranks else ranks
    assert values == sorted(values)
