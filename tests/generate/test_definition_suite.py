"""The vectors of a partition of a definition: which are made, and what they kill."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.audit.kills import MutantRunner
from conformance.core.loader import load_operator
from conformance.core.mutants import mutants_of
from conformance.generate import suite as generation
from conformance.generate.suite import PartitionTask
from conformance.model import Case, Vector
from conformance.suite.survivors import Partition

GEMM = load_operator("onnx.Gemm-7")


def test_beside_planned_cases_only_those_that_kill_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[str] = []
    build = generation.build

    def noted(operator: Any, case: Case) -> Vector:
        built.append(case.id)
        return build(operator, case)

    monkeypatch.setattr(generation, "build", noted)
    done = PartitionTask(GEMM, Partition("f32", 2), (), seed=3, beside=20).run()
    assert built == [member.case.id for member in done.members]
    assert 0 < len(built) < 15
    left = {mutant.id for mutant in mutants_of(GEMM)}
    runner = MutantRunner(GEMM, mutants_of(GEMM))
    for member in done.members:
        killed = {kill.mutant for kill in runner.kills(build(GEMM, member.case))}
        assert {kill.mutant for kill in done.kills[member.case.id]} == killed & left
        left -= killed
    assert done.tried == len(done.kills) + 20
