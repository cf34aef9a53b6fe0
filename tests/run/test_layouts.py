"""Backends with a layout of their own: the host converts, and verdicts are those of any other."""

from __future__ import annotations

import itertools
import json
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from math import prod
from pathlib import Path

import numpy as np
import pytest
import tiers
from channels_last import ChannelsLast
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import api
from conformance.backends import Capabilities
from conformance.backends.axis_order import recount_indices, transposed, untransposed
from conformance.backends.layouts import SPECIFIED, image_tensors, layout_for
from conformance.backends.numpy import NumPy
from conformance.cli import main
from conformance.core.operator_reader import read_operator
from conformance.dtypes import DTYPES, name_of
from conformance.errors import BackendError
from conformance.exchange.outputs import DeviceExecutor
from conformance.model import Case, Status
from conformance.run.protocol_checks import checks
from conformance.specification import find_spec
from conformance.suite.store import open_suite

OPS = ("AdaptiveAvgPool-8", "AdaptiveMaxPool-8")
FILE = Path(__file__).with_name("channels_last.py")
PROGRAM = f"exec:{shlex.join([sys.executable, str(FILE)])}"


class AsSpecified(NumPy):
    capabilities = replace(ChannelsLast.capabilities, layout=None, index_layout=None)


def seen(run):
    return [
        (one.op, one.id, one.status, one.kind, one.reading, one.precision) for one in run.results
    ]


def test_a_layout_by_rank_is_of_the_only_data_of_a_definition():
    assert image_tensors(find_spec("onnx.GlobalAveragePool-22")) == {"data", "result"}
    assert image_tensors(find_spec("onnx.Conv-22")) == frozenset()


@pytest.fixture(scope="module")
def expected():
    return seen(api.check("smoke", AsSpecified(), ops=OPS))


@pytest.mark.parametrize("backend", [ChannelsLast(), f"{FILE}:ChannelsLast", PROGRAM])
def test_however_a_kernel_is_called_each_verdict_is_that_of_one_in_the_specified_layout(
    backend, expected
):
    run = api.check("smoke", backend, ops=OPS)
    assert seen(run) == expected
    assert Counter(one.status for one in run.results)[Status.PASS] > 50
    declared = run.log.header["backend"]["capabilities"]
    assert declared["layout"] == ["NWC", "NHWC", "NDHWC"]
    assert declared["index_layout"] == ["WC", "HWC", "DHWC"]


@pytest.mark.exhaustive
def test_a_program_gets_its_own_layout_in_the_checks_of_the_protocol_too():
    failed = [one for one in checks(PROGRAM, open_suite("smoke"), 60) if not one.passed]
    assert failed == []


def invoked(*words):
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def declaration(folder):
    file = folder / "capabilities.json"
    file.write_text(json.dumps(ChannelsLast.capabilities.to_json()), "utf-8")
    return file


def test_an_export_is_in_the_layout_and_so_are_the_outputs_that_come_back(tmp_path, expected):
    out, ops = tmp_path / "out", [word for op in OPS for word in ("--op", op)]
    words = ("--suite", "smoke", "--capabilities", declaration(tmp_path), *ops)
    shown = invoked("export", "--format", "npy", "--out", out, *words)
    assert shown.exit_code == 0, shown.output
    index = json.loads((out / "index.json").read_text())
    for one in index["cases"]:
        place = out / f"{one['number']:06}"
        case = json.loads((place / "case.json").read_text())
        inputs = [
            DTYPES[dtype].from_storage(np.load(place / f"in{i}.npy"))
            for i, dtype in enumerate(case["inputs"])
        ]
        try:
            outputs = ChannelsLast().run(case["op"], inputs, case["attributes"])
        except ValueError as error:
            (place / "ending.txt").write_text(f"raised {error}\n")
            continue
        for i, output in enumerate(outputs):
            np.save(place / f"out{i}.npy", DTYPES[name_of(output.dtype)].to_storage(output))
    device = {"name": "board", "version": "1", "nonce": index["nonce"]}
    (out / "device.json").write_text(json.dumps(device))
    assert seen(api.check("smoke", DeviceExecutor(out), ops=OPS)) == expected


@pytest.mark.needs("onnxruntime")
def test_models_are_not_exported_in_another_layout(tmp_path):
    words = ("--out", tmp_path / "out", "--capabilities", declaration(tmp_path))
    shown = invoked("export", "--format", "onnx", "--suite", "smoke", *words)
    assert shown.exit_code == 2
    assert "--format onnx writes models, whose layout is that of the specification" in shown.output


def of_rank_4(op):
    """A small vector of core in f32 with several images and channels, each axis of another size."""
    suite = tiers.core()
    entries = sorted(suite.manifest.vectors, key=lambda one: one.elements)
    vectors = (
        suite.read(one)
        for one in entries
        if (one.op, one.dtype, one.kind, tiers.rank(one)) == (op, "f32", "value", 4)
        and one.id.split("-")[2] in ("ramp", "slopes")
    )
    return next(
        one for one in vectors if min(one.inputs[0].shape) > 1 and len(set(one.inputs[0].shape)) > 2
    )


@pytest.mark.parametrize(("op", "backend"), [(OPS[0], f"{FILE}:ChannelsLast"), (OPS[1], PROGRAM)])
def test_a_script_converts_without_this_package(tmp_path, op, backend):
    file = tmp_path / "script.py"
    words = ("repro", of_rank_4(op).id, "--backend", backend, "--out", file)
    shown = invoked(*words)
    assert shown.exit_code == 0, shown.output
    assert "run once, it exits with 0" in shown.output
    text = file.read_text("utf-8")
    assert "input_orders = {0: [0, 2, 3, 1]}  # the axes by number: data NHWC" in text
    assert ("count in HWC" in text) is (op == "AdaptiveMaxPool-8")
    # What is wrong in the backend's layout is wrong in the script.
    for right, wrong in (
        ("input_orders = {0: [0, 2, 3, 1]}", "input_orders = {0: [0, 3, 2, 1]}"),
        ("output_orders = {0: [0, 2, 3, 1]", "output_orders = {0: [0, 3, 2, 1]"),
        ("'step': [", "'step': [1 + "),
    ):
        if right in text:
            file.write_text(text.replace(right, wrong), "utf-8")
            ended = subprocess.run([sys.executable, file], capture_output=True, text=True)
            assert ended.returncode == 1, ended.stdout + ended.stderr
            assert "WRONG" in ended.stdout


def test_one_vector_is_shown_as_specified():
    vector = of_rank_4("AdaptiveMaxPool-8")
    shown = invoked("show", vector.id, "--backend", f"{FILE}:ChannelsLast")
    assert "channels-last 1 passes" in shown.output


def test_the_plugin_converts_too(tmp_path):
    vector = of_rank_4("AdaptiveMaxPool-8")
    command = [sys.executable, "-m", "pytest", "--conformance-backend", f"{FILE}:ChannelsLast"]
    command += ["--conformance-op", vector.case.op, "-k", vector.id, "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 passed" in ended.stdout, ended.stdout + ended.stderr


class Wrong(ChannelsLast):
    """Right outputs, spoiled by a function."""

    def __init__(self, spoil):
        self.spoil = spoil

    def run(self, op, inputs, attributes):
        return self.spoil(super().run(op, inputs, attributes))


def to_specified(array):
    return np.ascontiguousarray(np.moveaxis(array, -1, 1))


NEXT_CHANNEL = "outside of the data, or in another image or channel, counted in"
SPOILED = {
    "in the specified layout": (
        lambda outputs: [to_specified(one) for one in outputs],
        "shape",
        "the layout of the specification, and N",
    ),
    "without a batch": (lambda outputs: [one[0] for one in outputs], "shape", "is declared"),
    "a list": (lambda outputs: [one.tolist() for one in outputs], "outputs", "of type list"),
    "nothing": (lambda outputs: None, "outputs", "NoneType"),
    "one output": (lambda outputs: outputs[:1], "outputs", "1 outputs instead of 2"),
    "not numbers": (
        lambda outputs: [outputs[0], np.full(outputs[1].shape, np.nan)], "dtype", "f64"
    ),
    "counted over the plane": (
        lambda outputs: [outputs[0], outputs[1] // outputs[0].shape[-1] - 1], "index", NEXT_CHANNEL,
    ),
    "far outside": (
        lambda outputs: [outputs[0], outputs[1] + np.iinfo(outputs[1].dtype).max // 2],
        "index", NEXT_CHANNEL,
    ),
    "below": (
        lambda outputs: [outputs[0], -1 - outputs[1]], "index", NEXT_CHANNEL,
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", SPOILED)
def test_what_cannot_be_converted_is_judged_and_told_as_it_came(way):
    spoil, kind, message = SPOILED[way]
    run = api.check("smoke", Wrong(spoil), ops=["AdaptiveMaxPool-8"], findings=False)
    failed = [one for one in run.results if one.kind == kind]
    assert len(failed) > 10
    assert any(message in one.message for one in failed)
    assert not run.log.problems


def test_a_wrong_shape_is_told_as_specified_and_as_it_came():
    spoilt = Wrong(lambda outputs: [one[:, :0] for one in outputs])
    run = api.check("smoke", spoilt, ops=["AdaptiveAvgPool-8"], findings=False)
    told = next(one.message for one in run.results if "x3x" in one.id and one.kind == "shape")
    assert "instead of" in told
    assert "output 0 came as (" in told
    assert " is declared" in told


def test_an_index_of_another_channel_is_never_right():
    """As the index of a plane it could be; as that of an image it names another channel."""
    run = api.check(
        "smoke",
        Wrong(lambda outputs: [outputs[0], outputs[1] // outputs[0].shape[-1]]),
        ops=["AdaptiveMaxPool-8"],
        findings=False,
    )
    right = [one for one in run.results if one.status is Status.PASS and not one.reject]
    # Of one channel, or of the only element, both count alike.
    assert all(one.asked["shapes"]["data"][1] == 1 or one.size < 20 for one in right)


DECLARED = {
    "one text": (dict(layout="NHWC"), "'layout' is a str"),
    "no such axis": (dict(layout=("NHWK",)), "'layout' has 'NHWK'"),
    "no batch": (dict(layout=("HWC",)), "'layout' has 'HWC'"),
    "twice": (dict(layout=("NHHWC",)), "'layout' has 'NHHWC'"),
    "no width": (dict(index_layout=("NHC",)), "'index_layout' has 'NHC'"),
    "two of a rank": (dict(layout=("NHWC", "NCHW")), "two names for rank 4"),
    "a rank without": (dict(layout=("NHWC",), ranks=(3, 4)), "no name for rank 3"),
    "different ranks": (dict(layout=("NHWC",), index_layout=("W",)), "no name for rank 4"),
    "empty": (dict(layout=("",)), "'layout' has ''"),
}


@pytest.mark.parametrize("way", DECLARED)
def test_a_layout_that_is_none_is_refused(way):
    words, message = DECLARED[way]
    with pytest.raises(BackendError, match=message):
        Capabilities(**words)


def test_ranks_that_are_left_out_are_those_of_the_layout():
    declared = Capabilities(layout=("NHWC", "NWC"))
    assert declared.ranks == (3, 4)
    assert Capabilities.from_json(declared.to_json()) == declared
    assert "index_layout" not in declared.to_json()


LAYOUTS = [
    "".join(letters)
    for axes in SPECIFIED.values()
    for letters in itertools.permutations(axes)
]  # fmt: skip


@settings(max_examples=tiers.examples(2000, 200))
@given(data=st.data())
def test_there_and_back_is_the_identity(data):
    name = data.draw(st.sampled_from(LAYOUTS))
    rank = len(name)
    shape = tuple(data.draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    order = Capabilities(layout=(name,)).orders("", "", is_image=True)[rank].axes
    array = np.arange(prod(shape), dtype=np.int32).reshape(shape)
    sent = transposed(array, order)
    assert sent.flags.c_contiguous
    assert sent.shape == tuple(shape[SPECIFIED[rank].index(letter)] for letter in name)
    back = untransposed(sent, order)
    assert back.flags.c_contiguous
    np.testing.assert_array_equal(back, array)


def test_another_rank_stays_as_it_is():
    array = np.zeros((2, 3))
    assert transposed(array, (0, 2, 3, 1)) is array
    assert untransposed(array, (0, 2, 3, 1)) is array


COUNTED = [
    "".join(letters)
    for axes in SPECIFIED.values()
    for left_out in ("", "N", "C", "NC")
    for letters in itertools.permutations([one for one in axes if one not in left_out])
]


def specified(shape, attributes, op):
    """The index of each element of the data, from the documents of the operators."""
    n, c, *places = np.indices(shape)
    sizes = shape[2:]
    flat = np.zeros(shape, np.int64)
    for place, size in zip(places, sizes, strict=True):
        flat = flat * size + place
    if op in ("AdaptiveMaxPool-8", "torch.max_pool-2"):
        return flat  # within the plane
    if attributes.get("storage_order"):
        flat = np.zeros(shape, np.int64)
        for place, size in reversed(list(zip(places, sizes, strict=True))):
            flat = flat * size + place
    whole = (n * shape[1] + c) * prod(sizes) + flat
    if op == "MaxPool-8":
        axis = attributes["axis"] % len(shape)
        return whole % prod(shape[axis:]) if axis else whole
    return whole


@settings(max_examples=tiers.examples(4000, 300))
@given(data=st.data())
def test_indices_of_any_layout_become_those_of_each_operator(data):
    name = data.draw(st.sampled_from(COUNTED))
    rank = 2 + len(set(name) - set("NC"))
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank)))
    op = data.draw(
        st.sampled_from(["AdaptiveMaxPool-8", "torch.max_pool-2", "MaxPool-8", "onnx.MaxPool-22"])
    )
    ones, zeros = [1] * (rank - 2), [0] * (rank - 2)
    attributes = {
        "AdaptiveMaxPool-8": {},
        "torch.max_pool-2": {"kernel_size": ones},
        "MaxPool-8": {"kernel": ones, "strides": ones, "pads_begin": zeros, "pads_end": zeros},
        "onnx.MaxPool-22": {"kernel_shape": ones},
    }[op]
    if op == "MaxPool-8":
        attributes["axis"] = data.draw(st.integers(-rank, rank - 1))
    if op == "onnx.MaxPool-22":
        attributes["storage_order"] = data.draw(st.integers(0, 1))
    spec = find_spec(op)
    operands = {"output_size": (1,) * (rank - 2)} if op == "AdaptiveMaxPool-8" else {}
    case = Case(op, {"T": "f32"}, {"data": shape}, attributes, operands)
    how = layout_for(Capabilities(index_layout=(name,)), spec, case)
    assert how.counted(1) == name
    axes = [SPECIFIED[rank].index(letter) for letter in name]
    places = np.indices(shape)
    own = np.ravel_multi_index([places[axis] for axis in axes], [shape[axis] for axis in axes])
    told, lost = recount_indices(own.astype(np.int32), how.countings[1])
    assert lost == 0
    assert told.dtype == np.int32
    np.testing.assert_array_equal(told, specified(shape, attributes, op))
    # From another image or channel nothing has a counterpart.
    if "N" in name and shape[0] > 1:
        other, lost = recount_indices(np.roll(own, 1, axis=0), how.countings[1])
        assert lost == own.size
        right = specified(shape, attributes, op)
        assert ((other == -1) | (other > right.max())).all()


@given(
    st.sampled_from(["i1", "u1", "i4", "u4", "i8", "u8", "f4", "?", "O"]),
    st.lists(st.integers(-(2**63), 2**64 - 1), min_size=24, max_size=24),
    st.sampled_from([(2, 3, 4), (2, 3, 1, 4), (24,), (3, 2, 4), (2, 3, 4, 1)]),
)
def test_whatever_is_returned_as_indices_is_converted_or_left(dtype, numbers, shape):
    wrapped = [number % 2**64 for number in numbers]
    got = np.array(wrapped, np.uint64).astype(dtype).reshape(shape)
    case = Case("AdaptiveMaxPool-8", {"T": "f32"}, {"data": (2, 3, 5)}, {}, {"output_size": (4,)})
    how = layout_for(Capabilities(index_layout=("WC",)), find_spec("AdaptiveMaxPool-8"), case)
    told, lost = recount_indices(got, how.countings[1])
    assert (told.shape, told.dtype) == (got.shape, got.dtype)
    if shape != (2, 3, 4) or dtype in ("f4", "?", "O"):
        assert told is got
        assert lost == 0
        return
    for (_, channel, _), before in np.ndenumerate(got):
        inside = 0 <= before < 15 and before % 3 == channel
        lost -= not inside
    assert lost == 0
    for place, before in np.ndenumerate(got):
        if 0 <= before < 15 and before % 3 == place[1]:
            assert told[place] == before // 3
        elif dtype in ("i4", "i8"):  # the types of indices
            assert not 0 <= told[place] < 5


@pytest.mark.parametrize("letter", ["W", "HW", "DHW"])
def test_no_indices_are_counted_where_there_are_none(letter):
    shape = (0, 3, *[2] * len(letter))
    case = Case("AdaptiveMaxPool-8", {"T": "f32"}, {"data": shape}, {}, {"output_size": shape[2:]})
    how = layout_for(
        Capabilities(index_layout=(letter + "C",)), find_spec("AdaptiveMaxPool-8"), case
    )
    told, lost = recount_indices(np.zeros(shape, np.int64), how.countings[1])
    assert (told.shape, lost) == (shape, 0)


ODD = """
op: own.Odd
types: {T: [f32]}
dims: {N: {}, C: {}, size: {per: axis}}
inputs: [{name: data, type: T, shape: [N, C, size]}]
define:
  indices:
    at: {n: N, c: C}
    over: {x: size}
    term: "data[n, c, x]"
    combine: first_max
    finish: flat(x, size) * flat(x, size)
outputs: [{name: indices, type: i64}]
"""


def test_an_operator_whose_indices_are_no_sum_over_the_axes_is_refused():
    case = Case("own.Odd", {"T": "f32"}, {"data": (2, 3, 4)}, {})
    with pytest.raises(BackendError, match="cannot be counted in another layout"):
        layout_for(Capabilities(index_layout=("WC",)), read_operator(ODD), case)
