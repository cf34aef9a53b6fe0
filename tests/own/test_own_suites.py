"""A suite of an operator of one's own kills its mutants, and diagnosis names them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from click.testing import CliRunner
from own import AVERAGE, MAXIMUM, OPS, PARTS, file_of, spec_of

from conformance.cli import main
from conformance.core.operator import Operator
from conformance.diagnosis.explain_failures import explain_failures
from conformance.dtypes import Array
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.implementations import implementation_of, subject_of
from conformance.model import Vector
from conformance.specification import mutants_of
from conformance.suite.store import Suite, open_suite

pytestmark = pytest.mark.exhaustive  # what kills what, by hand-made vectors, is in test_own_mutants

MISTAKES = {
    AVERAGE: ["same-upper-like-lower", "strides-axes-reversed", "full-kernel-always"],
    MAXIMUM: ["pads-begin-and-end-swapped", "strides-axes-reversed", "window-tail-dropped-4"],
    PARTS: ["ends-rounded-down", "divisor-one-more", "tail-channels-unwritten-4"],
}


@pytest.fixture(scope="module", params=OPS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The smoke suite of an operator, as the command makes it."""
    folder = tmp_path_factory.mktemp("own") / "suite"
    words = ["generate", "--op", str(file_of(request.param)), "--seed", "3", "--out", str(folder)]
    done = CliRunner().invoke(main, [*words, "--suite", "smoke"])
    assert done.exit_code == 0, done.output
    killed, mutants = map(int, re.findall(r"(\d+) of (\d+) mutants killed", done.stdout)[0])
    assert mutants > 250
    assert killed >= 0.7 * mutants
    return open_suite(folder)


def test_it_names_what_it_kills(made: Suite) -> None:
    (op,) = made.manifest.ops
    counted = {mutant.id for mutant in mutants_of(spec_of(op)) if not mutant.equivalent}
    killed = {name for entry in made.manifest.vectors for name in entry.kills}
    assert {*MISTAKES[op]} <= killed <= counted


def outputs_of(spec: Operator, vector: Vector, altered: Any) -> list[Array]:
    """What an altered operator gives, also where that has another shape."""
    first = subject_of(spec, vector.case, vector.arguments).under(altered)
    shapes = {output.shape for output in first}
    return list(subject_of(spec, vector.case, vector.arguments, shapes).under(altered))


def test_a_backend_that_has_one_is_told_so(made: Suite) -> None:
    (op,) = made.manifest.ops
    spec = spec_of(op)
    bank = {fault.id: fault for fault in mutants_of(spec)}
    entries = [entry for entry in made.manifest.vectors if entry.reject is None]
    vectors = {entry.id: made.read(entry) for entry in entries}
    for mistake in MISTAKES[op]:
        altered = implementation_of(spec, bank[mistake].change)
        results = []
        for vector in vectors.values():
            outcome = Outcome(Ending.RETURNED, outputs_of(spec, vector, altered))
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
