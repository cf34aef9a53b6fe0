"""Mutants of a definition that an interpretation excuses: what suites state, and audits count."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from conformance.audit.kills import Kill
from conformance.audit.mutant_states import survivors_of_tries
from conformance.cli import main
from conformance.core.loader import load_operator
from conformance.core.mutants import mutants_of
from conformance.core.operator_reader import read_operator
from conformance.generate import completion
from conformance.suite.store import Suite, open_suite
from conformance.suite.survivors import Partition, Survivors

MEAN = """
op: own.Mean
types: {T: [f16, f32]}
dims: {N: {}, K: {min: 1}}
inputs: [{name: X, type: T, shape: [N, K], rank: [2, 2]}]
define:
  Y:
    at: {n: N}
    over: {k: K}
    term: "X[n, k]"
    combine: sum
    finish: total / K
outputs: [{name: Y, type: T}]
interpretations:
  no-divisor:
    question: the divisor
    adopted: the number of terms
    answer: none
    why: The document calls it a total, too.
    change: {define.Y.finish: total}
"""
UNDIVIDED = "define.Y.finish: total / K => total"
F16, F32 = Partition("f16", 2), Partition("f32", 2)


def run(*words: object) -> str:
    shown = CliRunner().invoke(main, list(map(str, words)))
    assert shown.exit_code in (0, 1), shown.output
    return shown.stdout


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, Suite]:
    """A suite of few cases, and what completes it."""
    folder = tmp_path_factory.mktemp("suites")
    (folder / "own.Mean.yaml").write_text(MEAN)
    run("generate", "--op", folder / "own.Mean.yaml", "--drawn", 8, "--out", folder / "few")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completion, "POOL", 150)
        run("suite", "complete", folder / "few", "--out", folder / "complete", "-j", 1)
    return open_suite(str(folder / "few")), open_suite(str(folder / "complete"))


def test_an_interpretation_with_the_same_change_excuses_a_mutant() -> None:
    excused = {m.id: m.excused_by for m in mutants_of(read_operator(MEAN)) if m.excused_by}
    assert excused == {UNDIVIDED: "no-divisor"}
    anywhere = mutants_of(read_operator(MEAN + "    where: K > 2\n"))
    assert not any(mutant.excused_by for mutant in anywhere)


@pytest.mark.parametrize("op", ["onnx.GlobalAveragePool-22", "onnx.GlobalMaxPool-22"])
def test_an_interpretation_that_flushes_excuses_the_habit(op: str) -> None:
    excused = {m.id: m.excused_by for m in mutants_of(load_operator(op))}
    assert excused["machine: flushes"] == "flushes-subnormals"
    assert excused["machine: cuts off"] == ""


def test_survivors_are_unseen_excused_or_undetermined() -> None:
    mutants = mutants_of(read_operator(MEAN))
    killed, only_should, *others = (mutant.id for mutant in mutants if not mutant.excused_by)
    kills = [
        (Kill(killed, True, b""), Kill(UNDIVIDED, False, b"")),
        (Kill(killed, False, b""), Kill(only_should, False, b"")),
    ]
    assert survivors_of_tries(F32, mutants, kills, 2) == Survivors(
        stated=dict.fromkeys(others, "not seen to show in 2 cases"),
        excused=frozenset({UNDIVIDED}),
        undetermined=frozenset({only_should}),
    )


def test_a_completed_suite_states_what_is_excused(suites: tuple[Suite, Suite]) -> None:
    parts = suites[1].manifest.strength["own.Mean"].parts
    assert {partition: s.excused for partition, s in parts.survivors.items()} == {
        F16: {UNDIVIDED},
        F32: {UNDIVIDED},
    }
    assert UNDIVIDED in parts.survivors[F32].unkillable("must")
    assert UNDIVIDED not in parts.survivors[F32].unkillable("should")


def test_an_audit_counts_what_is_excused_and_says_what_it_leaves_out(
    suites: tuple[Suite, Suite],
) -> None:
    for suite in suites:
        lines = run("suite", "audit", "--suite", suite.path, "--parts", "--dtypes", "f32")
        assert "at level must; allowed interpretations excuse 1 more" in lines
        assert f"survived at level must: {UNDIVIDED}" not in lines
        told = "own.Mean, each part alone (1 parts of other types and ranks left out):"
        assert told in lines.splitlines()
        assert " 1 excused at must" in lines
