"""A vector goes into a file and comes back bit for bit; the file says what docs promise."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile

import numpy as np
import pytest
import tiers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vector_examples import (
    FLOATS,
    assert_same,
    index_vector,
    members_of,
    reject_vector,
    value_vector,
    vectors,
)

from conformance.core.operator_reader import read_operator
from conformance.json_schema import load_schema
from conformance.model import Answer, Case, Vector
from conformance.specification import build, order_problem
from conformance.suite.vector_file import decode_vector, encode_vector

EXAMPLES = (value_vector(), value_vector(dtype="bf16"), reject_vector(), index_vector())


def case_json(vector: Vector) -> dict[str, object]:
    found: dict[str, object] = json.loads(members_of(encode_vector(vector))["case.json"])
    return found


@settings(
    max_examples=tiers.examples(150, few=50),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(vectors())
def test_any_vector_comes_back_bit_for_bit(vector: Vector) -> None:
    content = encode_vector(vector)
    assert_same(decode_vector(content, "here"), vector)
    assert encode_vector(decode_vector(content, "here")) == content


@pytest.mark.parametrize("vector", EXAMPLES, ids=lambda v: v.id)
def test_case_json_follows_the_published_schema(vector: Vector) -> None:
    assert load_schema("suite/schemas/case.json").problems(case_json(vector)) == ()
    assert_same(decode_vector(encode_vector(vector), "here", strict=True), vector)


BETWEEN = read_operator("""
op: own.Repeated
types: {T: [f32]}
dims: {size: {per: axis}, M: {}}
inputs:
  - {name: X, type: T, shape: [size]}
  - {name: times, type: i64, shape: ["length(size)"], per: axis, min: 1}
  - {name: W, type: T, shape: [M], absent: 1}
  - {name: B, type: T, shape: [M], absent: 0}
define:
  Y: {at: {i: size * times, m: M}, value: "X[i % size] * W[m] + B[m]"}
outputs: [{name: Y, type: T}]
""")


def between(*given: str) -> Vector:
    shapes = dict.fromkeys(given, (3,))
    case = Case(BETWEEN.op, {"T": "f32"}, shapes, {}, {"times": (2,)}, "whole+whole+whole")
    return build(BETWEEN, case)


def test_operands_stand_where_the_operator_has_them() -> None:
    vector = between("X", "B")
    inputs = case_json(vector)["inputs"]
    assert isinstance(inputs, list)
    names = [entry and entry["name"] for entry in inputs]
    assert names == ["X", "times", None, "B"]
    read = decode_vector(encode_vector(vector), "here", strict=True)
    assert_same(read, vector)
    assert read.names == ("X", "times", "B")
    assert [array is None for array in read.arguments] == [False, False, True, False]
    assert order_problem(BETWEEN, read) == ""


@pytest.mark.parametrize(
    "change", [{"order": ("times", "X", "B")}, {"order": ()}, {"absent": (1,)}, {"absent": ()}]
)
def test_another_order_than_the_operators_is_said(change: dict[str, tuple[str, ...]]) -> None:
    vector = dataclasses.replace(between("X", "B"), **change)
    assert order_problem(BETWEEN, vector).startswith("its inputs stand in another order, ")


@pytest.mark.parametrize("vector", EXAMPLES, ids=lambda v: v.id)
def test_numpy_and_a_zip_reader_read_the_file(vector: Vector) -> None:
    content = encode_vector(vector)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist()[0] == "case.json"
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        for i, array in enumerate(vector.inputs):
            assert arrays[f"input_{i}"].tobytes() == array.tobytes()


def test_decoded_arrays_are_read_only() -> None:
    vector = decode_vector(encode_vector(index_vector()), "here")
    arrays = [*vector.inputs]
    for answer in (*vector.answers, *vector.readings["any-maximum"]):
        arrays += [a for a in vars(answer).values() if isinstance(a, np.ndarray)]
    assert len(arrays) == 2 + 4 + 2 + 4 + 2
    for array in arrays:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_bound_equal_to_the_rounded_value_is_named_and_not_stored_again() -> None:
    members = members_of(encode_vector(value_vector()))
    assert list(members) == ["case.json", "input_0.npy", "rounded_0.npy"]
    (output,) = json.loads(members["case.json"])["outputs"]
    assert output["arrays"] == dict.fromkeys(("expected", "rounded", "lo", "hi"), "rounded_0.npy")


def test_an_unchanged_output_of_a_reading_names_the_member_of_the_first() -> None:
    document = case_json(index_vector())
    value, index = document["readings"]["any-maximum"]  # type: ignore[index]
    assert value["arrays"]["rounded"] == "rounded_0.npy"
    assert index["arrays"] == {
        "choices": "reading_any-maximum/choices_1.npy",
        "expected": "expected_1.npy",
    }


@pytest.mark.parametrize("dtype", FLOATS)
def test_expected_is_float64_where_rounding_changed_it(dtype: str) -> None:
    vector = value_vector(dtype=dtype)
    (answer,) = vector.answers
    third = np.full(answer.expected.shape, 1 / 3)
    rounded = third.astype(answer.rounded.dtype)  # type: ignore[union-attr]
    changed = dataclasses.replace(answer, expected=third, rounded=rounded)
    content = encode_vector(dataclasses.replace(vector, answers=(changed,)))
    assert decode_vector(content, "here").answers[0].expected.tobytes() == third.tobytes()
    assert ("expected_0.npy" in members_of(content)) == (dtype != "f64")


def test_equal_arrays_in_any_layout_give_the_same_bytes() -> None:
    vector = value_vector()
    strided = np.stack([vector.inputs[0]] * 2, axis=-1)[..., 0]
    assert not strided.flags.c_contiguous
    again = dataclasses.replace(vector, inputs=(strided,))
    assert encode_vector(again) == encode_vector(vector)


def test_names_of_combined_readings_are_member_names() -> None:
    name = "clip-divisor+flushes-subnormals"
    other = Answer("result", "f32", *(np.ones((1, 1, 2), t) for t in (float, "f4", "f4", "f4")))
    vector = value_vector(readings={name: (other,)})
    assert f"reading_{name}/rounded_0.npy" in members_of(encode_vector(vector))
    assert_same(decode_vector(encode_vector(vector), "here"), vector)


@pytest.mark.parametrize("name", ["", "Upper", "a b", "a/b", "../a", "a.b", "ü", "a" * 101])
def test_other_names_of_readings_are_not_written(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of an interpretation"):
        encode_vector(value_vector(readings={name: value_vector().answers}))


def test_arrays_of_another_type_or_number_are_not_written() -> None:
    vector = value_vector()
    with pytest.raises(ValueError, match="complex64"):
        encode_vector(dataclasses.replace(vector, inputs=(np.zeros((1, 1, 3), np.complex64),)))
    with pytest.raises(ValueError, match="shorter"):
        encode_vector(dataclasses.replace(vector, inputs=()))
    (answer,) = vector.answers
    wrong = dataclasses.replace(answer, lo=np.zeros((1, 1, 2)))
    with pytest.raises(ValueError, match="f32 needs"):
        encode_vector(dataclasses.replace(vector, answers=(wrong,)))


@given(st.integers(1, 40))
@settings(max_examples=10, deadline=None)
def test_case_json_has_a_line_for_each_key(number: int) -> None:
    vector = value_vector(tuple(float(i) for i in range(number + 1)))
    lines = members_of(encode_vector(vector))["case.json"].decode().splitlines()
    assert lines[1] == '"format": 1,'
    assert len(lines) < 45
