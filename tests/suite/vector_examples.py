"""Vectors for the tests of this folder: hand-made ones, and a strategy for odd ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from conformance.dtypes import DTYPES
from conformance.model import Answer, Case, Vector
from conformance.suite.archive import read_zip, write_zip

FLOATS = ("f16", "bf16", "f32", "f64")
LIMIT = 2**24

Array = np.ndarray[Any, Any]


def value_vector(
    values: tuple[float, ...] = (1.5, 2.5, 3.5),
    *,
    dtype: str = "f32",
    op: str = "AvgPool-1",
    readings: Mapping[str, tuple[Answer, ...]] | None = None,
    **changes: Any,
) -> Vector:
    """One row of data and its means of two neighbours, all exact."""
    row = DTYPES[dtype]
    data = np.array(values, row.numpy).reshape(1, 1, -1)
    wide = data.astype(np.float64)
    with np.errstate(invalid="ignore"):  # opposite infinities
        means = (wide[..., :-1] + wide[..., 1:]) / 2
    rounded = means.astype(row.numpy)
    case = Case(
        op=op,
        types={"T": dtype},
        shapes={"data": data.shape},
        attributes={"kernel": [2], "strides": [1], "exclude-pad": True, "auto_pad": "valid"},
        seed=len(values),
    )
    answer = Answer("result", dtype, means, rounded, rounded, rounded)
    fields: dict[str, Any] = {
        "id": case.id,
        "case": case,
        "level": "must",
        "edges": ("stride-1",),
        "description": "Windows of two elements overlap by one.",
        "source": "OpenVINO operation set, AvgPool-1",
        "inputs": (data,),
        "answers": (answer,),
        "readings": readings or {},
    }
    return Vector(**(fields | changes))


def reject_vector() -> Vector:
    case = Case(
        op="AvgPool-1",
        types={"T": "f32"},
        shapes={"data": (1, 1, 4)},
        attributes={"kernel": [2], "strides": [0]},
        reject="zero-stride",
    )
    data = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    return Vector(case.id, case, "must", (), "A window never moves.", "A document", (data,), ())


def index_vector() -> Vector:
    """Values and indices, an operand, choices, an open mask and a reading."""
    data = np.array([[[3.0, 3.0, 1.0, 2.0]]], np.float32)
    case = Case(
        op="AdaptiveMaxPool-8",
        types={"T": "f32", "T_SHAPE": "i64"},
        shapes={"data": (1, 1, 4)},
        attributes={"index_element_type": "i32"},
        operands={"output_size": (2,)},
        pattern="ties",
    )
    largest = np.array([[[3.0, 2.0]]], np.float32)
    first = np.array([[[0, 3]]], np.int32)
    choices = np.array([[[[0, 1], [3, -1]]]], np.int32)
    value = Answer("result", "f32", largest.astype(np.float64), largest, largest, largest)
    mask = np.array([[[0, 7]]], np.uint8)
    return Vector(
        id=case.id,
        case=case,
        level="should",
        edges=("tie-in-row", "index-i32"),
        description="The largest element occurs twice in a window.",
        source="A document",
        inputs=(data, np.array([2], np.int64)),
        answers=(value, Answer("indices", "i32", first, open=mask)),
        readings={"any-maximum": (value, Answer("indices", "i32", first, choices=choices))},
    )


def members_of(content: bytes) -> dict[str, bytes]:
    return read_zip(content, limit=LIMIT)


def repacked(members: Mapping[str, bytes]) -> bytes:
    return write_zip(list(members.items()))


def same_arrays(one: Any, other: Any) -> bool:
    """Bit for bit, with the type and the shape; None only equals None."""
    if one is None or other is None:
        return one is other
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


ROLES = ("expected", "rounded", "lo", "hi", "lo_native", "hi_native", "open", "choices")


def assert_same(one: Vector, other: Vector) -> None:
    for name in ("id", "case", "level", "edges", "description", "source"):
        assert getattr(one, name) == getattr(other, name)
    assert len(one.inputs) == len(other.inputs)
    assert all(same_arrays(*pair) for pair in zip(one.inputs, other.inputs, strict=True))
    assert list(one.readings) == list(other.readings)
    for left, right in (
        (one.answers, other.answers),
        *((one.readings[name], other.readings[name]) for name in one.readings),
    ):
        assert len(left) == len(right)
        for a, b in zip(left, right, strict=True):
            assert (a.name, a.dtype) == (b.name, b.dtype)
            for role in ROLES:
                assert same_arrays(getattr(a, role), getattr(b, role)), role


def _bits(draw: st.DrawFn, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Any bits at all: NaNs with payloads, both zeros, subnormals."""
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype).reshape(shape)


_SHAPES = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple)
_NAMES = st.from_regex(r"[a-z]{1,6}(-[a-z]{1,6})?(\+[a-z]{1,6})?", fullmatch=True)
_TEXT = st.text(st.characters(categories=("L", "N", "P", "S")), max_size=12)


@st.composite
def answers(draw: st.DrawFn, name: str, dtype: str, shape: tuple[int, ...]) -> Answer:
    row = DTYPES[dtype]
    mask = _bits(draw, np.dtype(np.uint8), shape) & 7 if draw(st.booleans()) else None
    if not row.is_float:
        more = (*shape, draw(st.integers(1, 3)))
        choices = _bits(draw, row.numpy, more) if draw(st.booleans()) else None
        return Answer(name, dtype, _bits(draw, row.numpy, shape), open=mask, choices=choices)
    rounded = _bits(draw, row.numpy, shape)
    with np.errstate(invalid="ignore"):
        widened = rounded.astype(np.float64)
    expected = widened if draw(st.booleans()) else _bits(draw, np.dtype(np.float64), shape)
    exact = draw(st.booleans())
    lo, hi = (rounded, rounded) if exact else (_bits(draw, row.numpy, shape) for _ in range(2))
    natives = (
        [_bits(draw, row.numpy, shape) for _ in range(2)] if draw(st.booleans()) else [None] * 2
    )
    return Answer(name, dtype, expected, rounded, lo, hi, *natives, open=mask)


@st.composite
def vectors(draw: st.DrawFn) -> Vector:
    """Vectors that make no sense as questions, with every field in use."""
    dtypes = draw(st.lists(st.sampled_from(list(DTYPES)), min_size=1, max_size=3))
    shapes = [draw(_SHAPES) for _ in dtypes]
    size = tuple(draw(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3)))
    scalar = st.integers(-(2**63), 2**63 - 1) | st.booleans() | _TEXT
    case = Case(
        op="AvgPool-1",
        types={f"T{i}": dtype for i, dtype in enumerate(dtypes)},
        shapes={f"data{i}": shape for i, shape in enumerate(shapes)},
        attributes=draw(st.dictionaries(_NAMES, scalar | st.lists(scalar, max_size=3), max_size=3)),
        operands={"size": size} if draw(st.booleans()) else {},
        pattern=draw(st.sampled_from(["ramp", "ties"])),
        seed=draw(st.integers(0, 2**64 - 1)),
        reject=draw(st.none() | _NAMES),
    )
    inputs = [_bits(draw, DTYPES[d].numpy, s) for d, s in zip(dtypes, shapes, strict=True)]
    inputs += [np.array(value, np.int32) for value in case.operands.values()]
    outputs = [] if case.reject else [(f"out{i}", d, draw(_SHAPES)) for i, d in enumerate(dtypes)]
    names = draw(st.lists(_NAMES, max_size=2, unique=True)) if outputs else []
    return Vector(
        id=case.id,
        case=case,
        level=draw(st.sampled_from(["must", "should"])),
        edges=tuple(draw(st.lists(_NAMES, max_size=3, unique=True))),
        description=draw(_TEXT),
        source=draw(_TEXT),
        inputs=tuple(inputs),
        answers=tuple(draw(answers(*output)) for output in outputs),
        readings={name: tuple(draw(answers(*output)) for output in outputs) for name in names},
    )
