"""A challenge about an operator that is a definition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiers
from challenged import invoked

from conformance.challenge.record import read_record
from conformance.challenge.verify_record import StepOutcome, VerifierInputs, verification_steps
from conformance.generate import suite as generation
from conformance.specification import find_spec

BACKEND = """
import numpy as np
from conformance.backends import Capabilities

class Product:
    name, version = "product", "1"
    capabilities = Capabilities(operators=("onnx.MatMul-13",), dtypes=("f32",))

    def run(self, op, inputs, attributes):
        with np.errstate(all="ignore"):
            a, b = (array.astype(np.float64) for array in inputs)
            return [np.matmul(a, b).astype(np.float32)]
"""


@pytest.fixture(autouse=True)
def small_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "SMOKE_POOL", 60)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    (tmp_path / "product.py").write_text(BACKEND)
    assert invoked("new", "--out", tmp_path / "secret.json").exit_code == 0
    words = ("--secret", tmp_path / "secret.json", "--backend", tmp_path / "product.py")
    invoked("run", *words, "--op", "onnx.MatMul-13", "--suite", "smoke", "--out", tmp_path / "out")
    return tmp_path / "out" / "record.json"


def test_it_verifies_from_end_to_end(record: Path) -> None:
    shown = invoked("verify", record, "--backend", record.parents[1] / "product.py")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.count(" ok ") == 8
    assert {case.case.types["T"] for case in read_record(record).cases} == {"f32"}


@pytest.mark.parametrize(
    "change",
    tiers.first(
        [
            {"shapes": {"A": (1 << 20, 1 << 20), "B": (1 << 20, 1)}},
            {"shapes": {"A": (2, 3)}},
            {"attributes": {"strides": [1]}},
            {"pattern": "no-such+whole"},
            {"reject": "no-such-condition"},
        ]
    ),
)
def test_a_case_that_the_operator_does_not_have_is_not_evaluated(
    record: Path, change: dict[str, Any]
) -> None:
    stated = read_record(record)
    values = [entry for entry in stated.cases if entry.case.reject is None]
    first = replace(values[0], case=replace(values[0].case, **change))
    changed = replace(stated, cases=(first, *values[1:]))
    found = verification_steps(changed, VerifierInputs(find=find_spec))
    vectors = next(step for step in found if step.name == "vectors")
    assert vectors.outcome is StepOutcome.FAILED
    assert vectors.text == f"{first.case.id} is no case of onnx.MatMul-13"
