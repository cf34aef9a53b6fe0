"""The committed runs on definitions, and the cases worked out by hand beside them."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import conformance
from conformance.dtypes import DTYPES
from conformance.errors import InvalidCase
from conformance.log.reader import RunLog, read
from conformance.model import FAILED
from conformance.report.page import render

SAMPLES = Path(__file__).parents[2] / "reports" / "sample" / "definitions"
TEXT = (SAMPLES / "README.md").read_text("utf-8")

OF_ONNX = {"Conv": 22, "ConvTranspose": 22, "ReduceSum": 11, "HardSigmoid": 6, "Relu": 14}
OF_ONNX |= {"ThresholdedRelu": 10, "LpNormalization": 1, "LayerNormalization": 17}
OF_ONNX |= {"Shrink": 9, "Sin": 22, "Cos": 22, "Tan": 22}
OF_ONNX |= {"TopK": 11, "Equal": 19, "BitwiseAnd": 18, "IsInf": 20}
OF_ONNX |= {"QuantizeLinear": 19, "MatMulInteger": 10}
"""The versions of ONNX's operators that the cases by hand are of, if not 13."""


@cache
def sample(name: str) -> RunLog:
    return read(SAMPLES / name / "run.jsonl.gz")


@pytest.mark.parametrize("name", ["onnxruntime", "openvino"])
def test_every_failure_of_a_log_is_in_a_row_of_the_document(name: str) -> None:
    run = sample(name)
    failed = {result.id for result in run.results if result.status in FAILED}
    stated = re.findall(rf"--out {name} +# (\d+)", TEXT)
    assert stated == [str(len(failed))]
    (section,) = re.findall(rf"\n## {name} [^\n]*not conformant\n(.*?)\n## ", TEXT, re.DOTALL)
    rows = re.findall(r"\| (\d+) \| `([^`]+)`", section)
    assert sum(int(count) for count, _ in rows) == len(failed)
    assert {shown for _, shown in rows} <= failed


HEADINGS = {"onnx-reference": "onnx"}
"""How a backend's section begins, if not with its name."""


def failures_of_core_suites() -> dict[tuple[str, str], int]:
    """By backend and operator, how many vectors a cell of the table has failed."""
    table = TEXT.partition("| operator |")[2].partition("\n\n")[0]
    names, _, *rows = (line.rstrip("|").split("|") for line in table.splitlines())
    failures: dict[tuple[str, str], int] = {}
    for _, op, *cells in rows:
        for backend, cell in zip(names, cells, strict=True):
            passed, _, tested = cell.replace(",", "").partition(" of ")
            if tested:
                key = backend.strip(), op.rpartition("-")[0].strip()
                failures[key] = failures.get(key, 0) + int(tested) - int(passed)
    return failures


def test_rows_of_core_suites_add_up_to_the_table() -> None:
    counted: dict[tuple[str, str], int] = {}
    names = {backend for backend, _ in failures_of_core_suites()}
    for section in TEXT.split("\n## ")[1:]:
        (backend,) = (n for n in names if section.startswith(f"{HEADINGS.get(n, n)} "))
        for row in re.findall(r"^\|.*\|$", section, re.MULTILINE):
            for op, count in re.findall(r"([A-Za-z]+) (\d+)", row.rpartition("| ")[2]):
                key = backend, op
                counted[key] = counted.get(key, 0) + int(count)
    assert counted == failures_of_core_suites()


@pytest.mark.parametrize("name", ["onnxruntime", "openvino"])
def test_a_log_makes_its_page(name: str) -> None:
    run = sample(name)
    page = render(run)
    assert page.rstrip().endswith("</html>")
    assert run.results[-1].id in page


def test_nothing_declared_is_an_error() -> None:
    for name in ("onnxruntime", "openvino"):
        kinds = {result.kind for result in sample(name).results}
        assert kinds.isdisjoint({"undeclared-unsupported", "adapter", "crashed"})


def by_hand() -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("by_hand", SAMPLES / "by_hand.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for runtime, (_, cases) in module.CASES.items():
        for what, (op, dtype, inputs, attributes), expected in cases:
            if runtime in ("torch", "jax", "ncnn", "litert"):  # these name functions or layers
                continue
            name = f"onnx.{op}-{OF_ONNX.get(op, 13)}" if runtime != "openvino" else f"{op}-1"
            yield pytest.param(
                name, dtype, inputs, attributes, expected, id=f"{runtime} {what} {op}"
            )


@pytest.mark.parametrize(("op", "dtype", "inputs", "attributes", "expected"), [*by_hand()])
def test_what_is_right_by_hand_is_right(
    op: str, dtype: str, inputs: list[Any], attributes: dict[str, Any], expected: Any
) -> None:
    arrays = [
        np.asarray(data)
        if isinstance(data, np.ndarray | np.generic)
        else np.array(data, np.int64 if isinstance(data, tuple) else DTYPES[dtype].numpy)
        for data in inputs
    ]
    if isinstance(expected, str):
        with pytest.raises(InvalidCase):
            conformance.reference(op, arrays, attributes)
        return
    output, *_ = conformance.reference(op, arrays, attributes)
    rounded = np.asarray(output).astype(DTYPES[dtype].numpy).astype(np.float64)
    np.testing.assert_array_equal(rounded.ravel(), expected)
