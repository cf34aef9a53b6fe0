"""Kernels of operators that are definitions: optional inputs, other data, what they change."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.generate import definition_suite
from conformance.kernels import KernelRun, grade_kernel
from conformance.kernels.fresh import fresh_suite
from conformance.specification import find_spec

GEMM = """
import numpy as np

def kernel(A, B, C=None, alpha=1.0, beta=1.0, transA=0, transB=0):
    with np.errstate(all="ignore"):
        a, b = (A.T if transA else A).astype(float), (B.T if transB else B).astype(float)
        if a.ndim != 2 or b.ndim != 2:
            raise ValueError("matrices are wanted")
        total = alpha * (a @ b)
        if C is not None:
            total = total + beta * np.broadcast_to(C.astype(float), total.shape)
        return total.astype(A.dtype)
"""
OP = "onnx.Gemm-13"


@pytest.fixture(autouse=True)
def small_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definition_suite, "SMOKE_POOL", 60)


def graded(source: str, seed: int = 5) -> KernelRun:
    return grade_kernel(source, op=OP, suite="smoke", seed=seed, isolation=0, dtypes=("f32",))


def test_a_right_kernel_passes_with_and_without_its_optional_input() -> None:
    statuses = [result.status.value for result in graded(GEMM).run.results]
    assert set(statuses) <= {"pass", "unsupported"}
    assert statuses.count("pass") > 20


@pytest.mark.parametrize(
    ("line", "change", "kind"),
    [
        ("total = alpha * (a @ b)", "total = a @ b", ""),
        (
            "total = alpha * (a @ b)",
            "key = A.shape, B.shape, alpha, transA, transB\n"
            "        total = seen.setdefault(key, alpha * (a @ b))",
            "",
        ),
        ("return total.astype", "A[...] = 0\n        return total.astype", "input-changed"),
    ],
)
def test_a_wrong_kernel_fails(line: str, change: str, kind: str) -> None:
    source = f"seen = {{}}\n{GEMM.replace(line, change)}"
    result = graded(source)
    assert result.exit_code == 1
    assert not kind or kind in {finding.kind for finding in result.run.findings}


def test_a_seed_decides_cases_and_data(tmp_path: Path) -> None:
    suites = [
        fresh_suite(find_spec(OP), tmp_path / str(number), seed=seed, suite="smoke")
        for number, seed in enumerate((1, 1, 2))
    ]
    first, again, other = ([entry.id for entry in s.manifest.vectors] for s in suites)
    assert first == again
    assert not {*first} & {*other}
