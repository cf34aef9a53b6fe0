"""Scripts of operators that are definitions: absent inputs, fractions, what is not certified."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.model import Case
from conformance.specification import build, find_spec
from conformance.suite.origin import shipped_origin
from conformance.suite.writer import write_suite

GEMM = find_spec("onnx.Gemm-13")
CASE = Case(
    GEMM.op,
    {"T": "f32"},
    {"A": (1, 2), "B": (2, 1)},
    {"alpha": 0.5},
    pattern="signs+signs+whole",
)
BACKEND = """
import numpy as np

def gemm(op, inputs, attributes):
    A, B, C = inputs
    assert C is None
    return [{result}]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    vector = build(GEMM, CASE)
    write_suite(
        tmp_path / "suite",
        [(vector, ("core",))],
        name="own",
        seed=0,
        versions={},
        bases=[shipped_origin(GEMM)],
    )
    return tmp_path / "suite"


def written(suite: Path, result: str) -> tuple[str, Path, int]:
    file, script = suite.parent / "own.py", suite.parent / "script.py"
    file.write_text(BACKEND.format(result=result))
    words = ["repro", CASE.id, "--suite", suite, "--backend", f"{file}:gemm", "--out", script]
    done = CliRunner().invoke(main, list(map(str, words)))
    return done.output, script, done.exit_code


def test_the_script_has_what_is_absent_and_fractions_and_fails_alike(suite: Path) -> None:
    output, script, code = written(suite, "np.float32(9) + A @ B")
    assert (code, "run once, it exits with 1" in output) == (0, True), output
    text = script.read_text()
    assert "    None,  # an optional input that is absent\n" in text
    assert "    'alpha': 0.5,\n" in text
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "WRONG (compared as specified):" in done.stdout


def test_a_right_backend_passes_in_a_script_too(suite: Path) -> None:
    output, _, _ = written(suite, "np.float32(attributes['alpha']) * (A @ B)")
    assert "run once, it exits with 0" in output


def test_a_failure_that_a_check_does_not_have_is_not_certified(suite: Path) -> None:
    extra = "np.float32(0 if 'conformance' in __import__('sys').modules else 9)"
    result = f"np.float32(0.5) * (A @ B) + {extra}"
    output, _, code = written(suite, result)
    assert code == 1
    assert "it does not reproduce what the backend does: in a check the backend passes" in output
