"""Kernels of operators that are definitions: optional inputs, other data, what they change."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conformance.generate import suite as generation
from conformance.kernels import KernelRun, fresh, grade_kernel
from conformance.kernels.fresh import fresh_suite
from conformance.specification import find_spec, outputs

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
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CONV, MATMUL = "onnx.Conv-22", "onnx.MatMul-13"
QUICK = ("first-bytes", "second-tensor", "no-attributes")


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


def test_a_seed_decides_cases_and_data(tmp_path: Path, *, exhaustive: bool) -> None:
    suites = [
        fresh_suite(find_spec(OP), tmp_path / str(number), seed=seed, suite="smoke")
        for number, seed in enumerate((1, 2, 1) if exhaustive else (1, 2))
    ]
    first, other, *again = ([entry.id for entry in s.manifest.vectors] for s in suites)
    assert all(ids == first for ids in again)
    assert not {*first} & {*other}


def test_an_operator_of_your_own_gets_a_selection_with_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "SMOKE_POOL", 60)
    monkeypatch.setattr(fresh, "with_large", lambda _spec, vectors, *_: vectors)
    spec = find_spec(str(EXAMPLES / "own.LocallyConnected.yaml"))
    cases = [v.case for v in fresh_suite(spec, tmp_path / "s", seed=3, suite="smoke").vectors()]
    varied = {number for c in cases for number, p in enumerate(c.pattern.split("+")) if "-" in p}
    assert varied == {0, 1, 2}


Key = Callable[[list[Any], dict[str, Any]], object]
WITH_ATTRIBUTES: dict[str, Key] = {
    "shapes": lambda _arrays, attributes: attributes,
    "sums": lambda arrays, attributes: ([a.sum(dtype=float) for a in arrays], attributes),
    "sorted": lambda arrays, attributes: ([np.sort(a.ravel()) for a in arrays], attributes),
    "first-bytes": lambda arrays, attributes: ([a.tobytes()[:256] for a in arrays], attributes),
    "both-ends": lambda arrays, attributes: (
        [a.tobytes()[:64] + a.tobytes()[-64:] for a in arrays],
        attributes,
    ),
    "bf16": lambda arrays, attributes: (
        [a.astype(ml_dtypes.bfloat16).tobytes() for a in arrays],
        attributes,
    ),
    "first-tensor": lambda arrays, attributes: (arrays[0].tobytes(), attributes),
    "second-tensor": lambda arrays, attributes: (arrays[1].tobytes(), attributes),
}
MEMOS: dict[str, Key] = {
    **WITH_ATTRIBUTES,
    "no-attributes": lambda arrays, _attributes: [a.tobytes() for a in arrays],
}
"""What kernels keep their results by, besides types and shapes; it is too little."""


def memo(op: str, key: Key) -> Callable[..., Any]:
    """A right kernel that gives a result again where the key is the same."""
    spec, kept = find_spec(op), dict[str, Any]()

    def kernel(*arrays: Any, **attributes: Any) -> Any:
        (right,) = outputs(spec, arrays, attributes)  # which refuses what is invalid
        given = [array for array in arrays if array is not None]
        shapes = [(array.shape, array.dtype.str) for array in given]
        with np.errstate(all="ignore"), np.printoptions(threshold=sys.maxsize, precision=17):
            return kept.setdefault(f"{shapes} {key(given, attributes)}", right).copy()

    return kernel


def graded_memo(op: str, key: Key) -> int:
    return grade_kernel(memo(op, key), op=op, suite="smoke", seed=5, dtypes=("f32",)).exit_code


@pytest.mark.parametrize(
    ("op", "name"),
    [
        *((CONV, name) for name in QUICK),
        *(
            pytest.param(op, name, marks=pytest.mark.exhaustive)
            for op, memos in ((CONV, MEMOS), (MATMUL, WITH_ATTRIBUTES))
            for name in memos
            if (op, name) not in {(CONV, quick) for quick in QUICK}
        ),
    ],
)
def test_a_kernel_that_recognises_its_input_by_a_part_is_refused(op: str, name: str) -> None:
    assert graded_memo(op, MEMOS[name]) == 1


@pytest.mark.parametrize("op", [CONV, pytest.param(MATMUL, marks=pytest.mark.exhaustive)])
def test_a_kernel_that_recognises_its_input_by_all_of_it_is_accepted(op: str) -> None:
    content: Key = lambda arrays, attributes: ([a.tobytes() for a in arrays], attributes)  # noqa: E731
    assert graded_memo(op, content) == 0
