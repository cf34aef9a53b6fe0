"""Layouts of each tensor: the host converts by name, however the backend is called."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from filters_last import FiltersLast

from conformance import api
from conformance.backends import Capabilities
from conformance.backends.layouts import layout_for
from conformance.cli import main
from conformance.dtypes import DTYPES, name_of
from conformance.errors import BackendError
from conformance.exchange.outputs import DeviceExecutor
from conformance.model import Case, Status
from conformance.run.protocol_checks import checks
from conformance.specification import build, find_spec
from conformance.suite.origin import shipped_origin
from conformance.suite.writer import write_suite

OP = "onnx.Conv-22"
FILE = Path(__file__).with_name("filters_last.py")
PROGRAM = f"exec:{shlex.join([sys.executable, str(FILE)])}"
X, W = (2, 3, 4, 5), (2, 3, 2, 3)
SHAPES = {"X": X, "W": W, "B": (2,)}


def vector(shapes, attributes, reject=None):
    case = Case(OP, {"T": "f32"}, shapes, attributes, {}, "fractions+whole+whole", reject=reject)
    return build(find_spec(OP), case)


VECTORS = (
    vector({"X": X, "W": W}, {}),
    vector(SHAPES, {"pads": [1, 0, 0, 2], "strides": [1, 2], "dilations": [2, 1]}),
    vector(SHAPES, {"kernel_shape": [3, 2]}, "kernel-shape"),
    vector({"X": (2, 3, 5), "W": (2, 3, 2)}, {}),
)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder, pairs = tmp_path_factory.mktemp("made") / "suite", [(v, ("core",)) for v in VECTORS]
    bases = [shipped_origin(find_spec(OP))]
    return write_suite(folder, pairs, name="made", seed=0, versions={}, bases=bases)


def statuses(run):
    by_id = {result.id: result.status for result in run.results}
    return [by_id[made.id] for made in VECTORS]


RIGHT = [Status.PASS, Status.PASS, Status.PASS, Status.UNSUPPORTED]


@pytest.mark.parametrize("backend", [FiltersLast(), f"{FILE}:FiltersLast", PROGRAM])
def test_each_tensor_comes_in_its_layout(backend, suite):
    run = api.check(suite, backend)
    assert statuses(run) == RIGHT
    assert {r.message for r in run.results if r.status is Status.UNSUPPORTED} == {
        "rank 3 of X is not among the declared layouts"
    }
    assert run.log.header["backend"]["capabilities"]["layout"] == {
        "X": ["NHWC"],
        "onnx.Conv-*:W": ["OIHW->OHWI"],
        "Y": ["NHWC"],
    }


@pytest.mark.exhaustive
def test_a_program_gets_its_layouts_in_the_checks_of_the_protocol_too(suite):
    assert [check for check in checks(PROGRAM, suite, 60) if not check.passed] == []


def test_an_output_in_the_specified_layout_is_told_so(suite):
    class AsSpecified(FiltersLast):
        def run(self, op, inputs, attributes):
            return [np.moveaxis(array, 3, 1) for array in super().run(op, inputs, attributes)]

    messages = [result.message for result in api.check(suite, AsSpecified()).results]
    came = "output 0 came as (2, 2, 3, 3), the layout of the specification, and NHWC is declared"
    assert any(came in message for message in messages)


def invoked(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def test_an_export_is_in_the_layouts_and_so_are_the_outputs_that_come_back(tmp_path, suite):
    out, file = tmp_path / "out", tmp_path / "capabilities.json"
    file.write_text(json.dumps(FiltersLast.capabilities.to_json()), "utf-8")
    words = ("--suite", suite.path, "--capabilities", file)
    shown = invoked("export", "--format", "npy", "--out", out, *words)
    assert shown.exit_code == 0, shown.output
    index = json.loads((out / "index.json").read_text())
    for exported in index["cases"]:
        folder = out / f"{exported['number']:06}"
        case = json.loads((folder / "case.json").read_text())
        inputs = [
            None if given is None else np.load(folder / f"in{i}.npy")
            for i, given in enumerate(case["inputs"])
        ]
        try:
            arrays = [*inputs, None][:3]
            (output,) = FiltersLast().run(case["op"], arrays, case["attributes"])
        except ValueError as error:
            (folder / "ending.txt").write_text(f"raised {error}\n")
            continue
        np.save(folder / "out0.npy", DTYPES[name_of(output.dtype)].to_storage(output))
    device = {"name": "board", "version": "1", "nonce": index["nonce"]}
    (out / "device.json").write_text(json.dumps(device))
    assert statuses(api.check(suite, DeviceExecutor(out))) == RIGHT


@pytest.mark.needs("onnx-reference")
def test_a_model_has_no_layouts(tmp_path, suite):
    file = tmp_path / "capabilities.json"
    file.write_text(json.dumps(FiltersLast.capabilities.to_json()), "utf-8")
    words = ("--suite", suite.path, "--capabilities", file)
    shown = invoked("export", "--format", "onnx", "--out", tmp_path / "models", *words)
    assert "X NHWC, onnx.Conv-*:W OIHW->OHWI, Y NHWC is declared" in shown.output


@pytest.mark.parametrize("backend", [f"{FILE}:FiltersLast", PROGRAM])
def test_a_script_converts_each_tensor(tmp_path, suite, backend):
    file = tmp_path / "script.py"
    words = ("repro", VECTORS[1].id, "--suite", suite.path, "--backend", backend, "--out", file)
    shown = invoked(*words)
    assert shown.exit_code == 0, shown.output
    text = file.read_text("utf-8")
    assert "input_orders = {0: [0, 2, 3, 1], 1: [0, 2, 3, 1]}  " in text
    assert "# the axes by number: X NHWC, W OHWI" in text
    file.write_text(text.replace("1: [0, 2, 3, 1]}", "1: [0, 3, 2, 1]}"), "utf-8")
    ended = subprocess.run([sys.executable, file], capture_output=True, text=True)
    assert (ended.returncode, "WRONG" in ended.stdout) == (1, True), ended.stdout + ended.stderr


REFUSED = {
    "no letters": ({"X": "N WC->NWC "}, "'layout' of 'X' has 'N WC->NWC '"),
    "other letters": ({"W": "OIHW->OHWK"}, "'layout' of 'W' has 'OIHW->OHWK'"),
    "a letter twice": ({"W": "OIHH->OHHI"}, "'layout' of 'W' has"),
    "one side": ({"W": "->OHWI"}, "'layout' of 'W' has"),
    "no data": ({"W": "OHWI"}, "'layout' of 'W' has 'OHWI'"),
    "empty": ({"W": ""}, "'layout' of 'W' has ''"),
    "none": ({"W": ()}, r"'layout' has '\(\)' for 'W'"),
    "a number": ({"W": 3}, "'layout' has '3' for 'W'"),
    "numbers": ({"W": (0, 2, 1)}, "'layout' has"),
    "a number as name": ({1: "NHWC"}, "'layout' has 'NHWC' for '1'"),
    "two of a rank": ({"W": ("OIHW->OHWI", "NHWC")}, "two layouts of rank 4"),
    "no name": ({"onnx.*:": "NHWC"}, "'onnx.*:', which names no tensor"),
    "no operator": ({":W": "NHWC"}, "':W', which names no tensor"),
}


@pytest.mark.parametrize("way", REFUSED)
def test_what_is_no_layout_of_a_tensor_is_refused(way):
    layout, message = REFUSED[way]
    with pytest.raises(BackendError, match=message):
        Capabilities(layout=layout)


@pytest.mark.parametrize("layout", [{"W": 3}, {"W": [0]}, {"W": {"W": "NHWC"}}, {"": ["NHWC"]}])
def test_what_a_program_says_is_refused_alike(layout):
    with pytest.raises(BackendError, match="'layout' has"):
        Capabilities.from_json({"layout": layout})


def test_a_declaration_comes_back_from_json():
    declared = Capabilities(layout={"X": "NHWC", "W": ("OIW->OWI", "OIHW->HWIO")})
    assert Capabilities.from_json(json.loads(json.dumps(declared.to_json()))) == declared
    assert declared.ranks is None
    assert declared.narrows(OP)
    assert declared.orders(OP, "W", is_image=False)[4].axes == (2, 3, 1, 0)


def test_the_first_key_that_names_a_tensor_counts():
    declared = Capabilities(layout={"onnx.ConvTranspose-*:W": "IOHW->OHWI", "W": "OIHW->OHWI"})
    axes = {
        op: declared.orders(op, "W", is_image=False)[4].axes for op in (OP, "onnx.ConvTranspose-22")
    }
    assert axes == {OP: (0, 2, 3, 1), "onnx.ConvTranspose-22": (1, 2, 3, 0)}


def test_a_tensor_that_the_operator_lacks_is_refused():
    declared = Capabilities(layout={f"{OP}:filters": "OIHW->OHWI"})
    with pytest.raises(BackendError, match=f"names filters of {OP}, which has X, W, B, Y"):
        layout_for(declared, find_spec(OP), VECTORS[0].case)


def test_a_layout_by_rank_is_not_of_a_definition():
    assert layout_for(Capabilities(layout=("NHWC",)), find_spec(OP), VECTORS[0].case) is None
