"""The commands beside check, on a suite of operators that are definitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main

OPS = ("--op", "onnx.MatMul-13", "--op", "onnx.Gemm-13")


def conformance(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("drawn") / "suite"
    made = conformance("generate", *OPS, "--drawn", 12, "--seed", 5, "--out", out)
    assert made.exit_code == 0, made.output
    return out


def test_the_audit_scores_the_suite_and_each_part(drawn: Path) -> None:
    result = conformance("suite", "audit", "--suite", drawn, "--op", "onnx.Gemm-13", "--parts")
    assert result.exit_code == 1
    assert "onnx.Gemm-13: " in result.output
    assert "mutants killed at level should" in result.output
    assert "onnx.Gemm-13, each part alone:\n    bf16 2D" in result.output


def test_coverage_is_compared_with_that_of_drawn_cases(drawn: Path) -> None:
    result = conformance("suite", "coverage", "--suite", drawn, "--op", "onnx.Gemm-13")
    assert result.exit_code == 1
    (line,) = (line for line in result.output.splitlines() if line.startswith("onnx.Gemm-13"))
    assert line.split()[1:3] == ["2", "12"]
    assert "    target not covered: " in result.output
    assert "of: targets and pairs that 1000 drawn cases cover" in result.output
