"""A search on operators that are definitions: small cases, within what a backend declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from searching import question

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.dtypes import Array
from conformance.errors import SuiteError, UsageError
from conformance.fuzz import database
from conformance.fuzz.session import FuzzSession, SearchResult
from conformance.fuzz.simpler import case_cost, simpler_cases
from conformance.generate.cases import draw_cases
from conformance.generate.claim import Claim, claimed
from conformance.generate.pool import drawn_pool
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case
from conformance.run.inline import Inline
from conformance.specification import (
    case_from_inputs,
    find_spec,
    mutants_of,
    spec_digest,
    violations,
)
from conformance.suite.recorded_cases import RecordedCase, RecordedCases, encode_recorded_cases

CONV = find_spec("onnx.Conv-22")
GEMM = find_spec("onnx.Gemm-13")


class Planted:
    """An operator with one known bug, or with none."""

    version = "1"

    def __init__(self, op: str, *mutants: str) -> None:
        self.name = "+".join(mutants) or "honest"
        self.spec = find_spec(op)
        by_id = {mutant.id: mutant.change for mutant in mutants_of(self.spec)}
        self.implementation = implementation_of(self.spec, *map(by_id.__getitem__, mutants))
        self.cases: list[Case] = []

    def run(
        self, _op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
    ) -> list[Array]:
        case = case_from_inputs(self.spec, inputs, attributes)
        if broken := violations(self.spec, case):
            raise ValueError(broken[0].message)
        self.cases.append(case)
        arrays = [*inputs, *[None] * (len(self.spec.inputs) - len(inputs))]
        return subject_of(self.spec, case, arrays).under(self.implementation)


def searched(backend: Any, op: str, cases: int) -> SearchResult:
    with Inline(backend) as executor:
        return FuzzSession(executor, {op: find_spec(op)}, question(cases=cases), {}).run()


def test_a_planted_bug_is_found_with_its_name_and_a_small_case() -> None:
    backend = Planted("onnx.Gemm-13", "depth-tail-left-out-4")
    (discovery,) = searched(backend, "onnx.Gemm-13", 60).discoveries
    assert "depth-tail-left-out-4" in discovery.cause.mutants
    assert sum(array.size for array in discovery.vector.inputs) <= 12


def test_nothing_is_found_where_nothing_is_wrong_and_only_what_is_declared_is_drawn() -> None:
    backend: Any = Planted("onnx.Gemm-13")
    excluded = Exclusion("left out", "transA == 1", op="onnx.Gemm-13")
    backend.capabilities = Capabilities(dtypes=("f64",), excluding=(excluded,))
    result = searched(backend, "onnx.Gemm-13", 30)
    assert result.discoveries == []
    assert {case.dtype for case in backend.cases} == {"f64"}
    assert {case.attributes.get("transA") for case in backend.cases} <= {None, 0, 2, -1, -2}
    assert result.coverage["onnx.Gemm-13"].pairs > 100


def test_an_exclusion_that_the_operator_cannot_have_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match=r"'any\(kernel > 7\)' does not fit onnx.Gemm-13"):
        claimed(GEMM, Claim(("f32",), (2,), ("any(kernel > 7)",)))


@pytest.mark.parametrize(
    ("op", "shapes", "pattern"),
    [
        ("onnx.Conv-22", {"X": (1, 1, 1), "W": (1, 1, 1)}, "whole"),
        ("onnx.MatMul-13", {"A": (1,), "B": (1,)}, "whole"),
        ("onnx.Gemm-13", {"A": (1, 1), "B": (1, 1)}, "whole"),
        ("torch.conv-2", {"input": (1, 1), "weight": (1, 1, 1)}, "whole"),
        ("ConvolutionBackpropData-1", {"X": (1, 1, 1), "W": (1, 1, 1)}, "whole"),
        ("AvgPool-14", {"data": (1, 1, 1)}, "ramp"),
        ("AdaptiveMaxPool-8", {"data": (1, 1, 1)}, "ramp"),
    ],
)
def test_steps_are_valid_and_lead_down_to_the_smallest_case(
    op: str, shapes: Mapping[str, tuple[int, ...]], pattern: str
) -> None:
    spec = find_spec(op)
    for case in list(drawn_pool(spec, 7, 40))[::10]:
        while steps := simpler_cases(spec, lambda _case: True, case):
            costs = [case_cost(spec, case), *(case_cost(spec, s) for s in steps)]
            assert min(costs[1:]) == costs[1] < costs[0]
            assert all(a < b for a, b in pairwise(costs[1:]))
            assert not any(violations(spec, step) for step in steps)
            case = steps[0]
        assert case.shapes == shapes
        assert set(case.pattern.split("+")) == {pattern}


def test_steps_are_of_the_ranks_that_are_asked_for() -> None:
    spec = find_spec("AvgPool-14")
    (case,) = draw_cases(spec, 1, seed=7, ranks=(4,))
    is_allowed = claimed(spec, Claim(("f32",), (4, 5)))
    assert {step.rank for step in simpler_cases(spec, is_allowed, case)} == {4}


def test_a_group_of_channels_and_what_it_divides_get_smaller_together() -> None:
    case = Case(
        "onnx.Conv-22",
        {"T": "f32"},
        {"X": (1, 8, 4), "W": (4, 2, 3), "B": (4,)},
        {"group": 4, "kernel_shape": [3], "pads": [1, 2]},
        pattern="whole+whole+whole",
    )
    steps = simpler_cases(CONV, lambda _case: True, case)
    halved = [step for step in steps if step.attributes.get("group") == 2]
    assert {"X": (1, 4, 4), "W": (2, 2, 3), "B": (2,)} in [step.shapes for step in halved]
    assert {**case.attributes, "kernel_shape": [2]} in [step.attributes for step in steps]


def kept(spec: Any, case: Case, folder: Path) -> None:
    file = database.failures_file(folder, spec)
    stored = RecordedCases(
        spec.op, spec_digest(spec), 0, {}, (RecordedCase(case, "must", ("fuzz",)),)
    )
    file.write_bytes(encode_recorded_cases(stored))


(VALID,) = draw_cases(CONV, 1, seed=5, dtypes=("f32",), ranks=(4,))


def test_failures_are_kept(tmp_path: Path) -> None:
    test = replace(VALID, reject="kernel-fits", attributes={"dilations": [99, 99]})
    database.keep_failures(tmp_path, CONV, [test, VALID], [])
    assert database.read_failures(tmp_path, CONV) == (test, VALID)


@pytest.mark.parametrize(
    "change",
    [
        {"shapes": {**VALID.shapes, "X": (1, 1, 1 << 20, 1 << 20)}},
        {"shapes": {**VALID.shapes, "X": (1 << 40, 1, 1, 1)}, "reject": "kernel-fits"},
        {"shapes": {**VALID.shapes, "Q": (1,)}},
        {"shapes": {}},
        {"types": {"T": "complex128"}},
        {"types": {"S": "f32"}},
        {"attributes": {"no-such": 1}},
        {"attributes": {"strides": "x"}},
        {"attributes": {"pads": [0, 1 << 40, 0, 0]}},
        {"pattern": "whole"},
        {"pattern": "whole+no-such+whole"},
        {"reject": "no-such-condition"},
    ],
)
def test_a_kept_failure_that_somebody_changed_is_refused(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    kept(CONV, replace(VALID, **change), tmp_path)
    with pytest.raises(SuiteError):
        database.read_failures(tmp_path, CONV)
