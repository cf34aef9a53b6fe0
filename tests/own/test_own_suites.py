"""A suite of an operator of one's own kills its mutants, and diagnosis names them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from own import AVERAGE, MAXIMUM, OPS, PARTS, file_of, spec_of

from conformance.cli import main
from conformance.diagnosis.explain_failures import explain_failures
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.implementations import implementation_of, subject_of
from conformance.specification import mutants_of
from conformance.suite.store import Suite, open_suite

pytestmark = pytest.mark.exhaustive  # what kills what, by hand-made vectors, is in test_own_mutants

MISTAKES = {
    AVERAGE: ["same-upper-like-lower", "strides-axes-reversed", "full-kernel-always"],
    MAXIMUM: ["pads-begin-and-end-swapped", "strides-axes-reversed", "window-tail-dropped-4"],
    PARTS: ["ends-rounded-down", "divisor-of-the-largest-window", "tail-channels-unwritten-4"],
}


@pytest.fixture(scope="module", params=OPS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The suite of an operator, as the command makes it: of one core, which takes ten times as long
    as smoke.
    """
    folder = tmp_path_factory.mktemp("own") / "suite"
    words = ["generate", "--op", str(file_of(request.param)), "--seed", "3", "--out", str(folder)]
    words += ["--suite", "core" if request.param == AVERAGE else "smoke"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    # What smoke looks at is bounded: it killed 85 and 90 % of these two. Of mutants that begin at
    # some number of planes or images a draw may miss one.
    (killed,) = re.findall(r"(\d+) % of mutants killed", done.stdout)
    assert int(killed) >= (99 if request.param == AVERAGE else 80)
    if request.param == AVERAGE:
        assert "survive" not in done.stderr
    return open_suite(folder)


def test_core_kills_every_mutant_and_smoke_most(made: Suite) -> None:
    (op,) = made.manifest.ops
    counted = {fault.id for fault in mutants_of(spec_of(op)) if not fault.equivalent}
    assert len(counted) > 100
    assert made.manifest.faults[op].keys() <= counted
    if made.name == "core":
        assert made.manifest.faults[op].keys() == counted


def test_a_backend_that_has_one_is_told_so(made: Suite, tmp_path: Path) -> None:
    (op,) = made.manifest.ops
    spec = spec_of(op)
    bank = {fault.id: fault for fault in mutants_of(spec)}
    entries = [entry for entry in made.manifest.vectors if entry.reject is None]
    vectors = {entry.id: made.read(entry) for entry in entries}
    for mistake in MISTAKES[op]:
        altered = implementation_of(spec, bank[mistake].change)
        results = []
        for vector in vectors.values():
            outputs = subject_of(spec, vector.case, vector.inputs).under(altered)
            outcome = Outcome(Ending.RETURNED, list(outputs))
            results.append(judge(vector, outcome, level="must", precision={}))
        kills = {entry.id: entry.kills for entry in entries}
        found = explain_failures(
            spec,
            results,
            tuple(bank.values()),
            read=vectors.__getitem__,
            noticed=kills,
            precision={},
            level="must",
        )
        named = {fault.id for one in found for fault in one.mutants}
        alike = {fault.id for one in found for other in one.alternatives for fault in other}
        assert mistake in named | alike
