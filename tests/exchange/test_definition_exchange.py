"""Operators that are definitions through files: optional inputs, fractions, models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

from conformance import api
from conformance.backends.reference import Reference
from conformance.cli import main
from conformance.dtypes import name_of
from conformance.exchange.formats import case_files, case_line
from conformance.exchange.outputs import DeviceExecutor
from conformance.model import Case, Vector
from conformance.specification import build, find_spec

GEMM = find_spec("onnx.Gemm-13")
TYPES = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8"}


def invoked(*words: object) -> str:
    result = CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def gemm(*names: str) -> Vector:
    shapes = {"A": (1, 2), "B": (2, 1), "C": (1,)}
    attributes = {"alpha": 0.5, "transB": 0}
    given = {name: shapes[name] for name in names}
    return build(GEMM, Case(GEMM.op, {"T": "f32"}, given, attributes, pattern="whole+whole+whole"))


def test_a_line_has_fractions_and_says_what_is_absent() -> None:
    tail = "attributes 2 alpha number 0.5 transB int 0"
    head = "000007 onnx.Gemm-13 outputs 1 inputs 3 f32 2 1 2 f32 2 2 1"
    assert case_line(7, 1, gemm("A", "B")) == f"{head} absent {tail}"
    assert case_line(7, 1, gemm("A", "B", "C")) == f"{head} f32 1 1 {tail}"


def test_a_case_as_json_has_null_for_what_is_absent() -> None:
    files = dict(case_files(gemm("A", "B"), "npy"))
    assert sorted(files) == ["case.json", "in0.npy", "in1.npy"]
    assert json.loads(files["case.json"])["inputs"] == ["f32", "f32", None]


@pytest.mark.needs("onnx-reference")
@pytest.mark.parametrize(("names", "count"), [("AB", 2), ("ABC", 3)])
def test_a_model_lacks_an_absent_input(names: str, count: int) -> None:
    import onnx

    files = dict(case_files(gemm(*names), "onnx"))
    assert len(onnx.load_from_string(files["model.onnx"]).graph.input) == count


@pytest.mark.needs("openvino", "onnx-reference")
def test_what_openvino_has_not_is_unsupported() -> None:
    spec = find_spec("torch.conv-2")
    shapes = {"input": (1, 1, 1), "weight": (1, 1, 1)}
    case = Case(spec.op, {"T": "f32"}, shapes, {}, pattern="whole+whole+whole")
    files = dict(case_files(build(spec, case), "openvino-ir"))
    assert files["ending.txt"] == b"unsupported torch.conv-2 is no operator of OpenVINO\n"
    assert "model.xml" in dict(case_files(gemm("A", "B"), "openvino-ir"))


def values(words: Any) -> list[str]:
    return [next(words) for _ in range(int(next(words)))]


def raw_device(folder: Path) -> None:
    """Compute the outputs of an export from its lines, as docs/exchange.md says."""
    read = {"int": int, "number": float, "bool": lambda word: word == "1", "text": str}
    backend = Reference()
    for line in (folder / "cases.txt").read_text().splitlines():
        words = iter(line.split())
        place, op = folder / next(words), next(words)
        assert [next(words) for _ in range(3)] == ["outputs", "1", "inputs"]
        arrays: list[Any] = []
        for i in range(int(next(words))):
            dtype = next(words)
            if dtype == "absent":
                arrays.append(None)
                continue
            shape = list(map(int, values(words)))
            array = np.fromfile(place / f"in{i}.bin", TYPES[dtype]).reshape(shape)
            arrays.append(array.view(ml_dtypes.bfloat16) if dtype == "bf16" else array)
        assert next(words) == "attributes"
        attributes: dict[str, Any] = {}
        for _ in range(int(next(words))):
            name, kind = next(words), next(words)
            attributes[name] = (
                [float(v) if kind == "numbers" else int(v) for v in values(words)]
                if kind in ("ints", "numbers")
                else read[kind](next(words))
            )
        try:
            (output,) = backend.run(op, arrays, attributes)
        except Exception as error:
            (place / "ending.txt").write_text(f"raised {error}\n")
            continue
        (place / "out0.bin").write_bytes(np.ascontiguousarray(output).tobytes())
        sizes = " ".join(map(str, (name_of(output.dtype), output.ndim, *output.shape)))
        (place / "out.txt").write_text(sizes + "\n")
    nonce = json.loads((folder / "index.json").read_text())["nonce"]
    device = {"name": "board", "version": "1", "nonce": nonce}
    (folder / "device.json").write_text(json.dumps(device))


def test_right_outputs_from_files_pass(tmp_path: Path) -> None:
    ops = ("onnx.Gemm-13", "onnx.Conv-22", "torch.conv-2")
    chosen = [word for op in ops for word in ("--op", op)]
    suite, folder = tmp_path / "suite", tmp_path / "out"
    invoked("generate", *chosen, "--drawn", 8, "--seed", 4, "--out", suite)
    invoked("export", "--format", "raw", "--suite", suite, "--out", folder)
    assert " absent" in (folder / "cases.txt").read_text()
    raw_device(folder)
    run = api.check(str(suite), DeviceExecutor(folder))
    assert {result.status.value for result in run.results} <= {"pass", "skipped"}
    assert sum(result.status.value == "pass" for result in run.results) > 24
