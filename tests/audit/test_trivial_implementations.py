"""Impostors pass exactly where their outputs are the right ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from handmade import ADAPTIVE, MAX, adaptive, pooled, row

from conformance.audit.trivial_implementations import (
    TRIVIAL_IMPLEMENTATIONS,
    TrivialPassReport,
    passes,
)
from conformance.model import Case, Vector
from conformance.specification import build, find_spec

NAN = np.nan
PLAIN = row(1, 2, 4, 8)
SQUARE = np.array([[1, 2], [4, 8]], np.float64)
SYMMETRIC = np.array([[1, 2], [2, 8]], np.float64)


@pytest.mark.parametrize(
    ("vector", "names"),
    [
        (pooled(PLAIN, [2]), ()),
        (pooled(row(3, -3, 3, -3), [2]), ("zeros", "shifted")),
        (pooled(row(1, 1, 1), [2]), ("ones", "shifted")),
        (pooled(row(1, 1, 2), [2]), ()),
        (pooled(row(NAN, 1, NAN), [2]), ("nan", "shifted")),
        (pooled(row(NAN, 1, 1), [2]), ()),
        (pooled(row(-65504, -65504), [2], dtype="f16"), ("lowest",)),
        # The same function as the identity by its geometry, or by its data.
        (pooled(PLAIN, [1]), ("identity",)),
        (pooled(PLAIN, [1], strides=[2]), ()),
        (pooled(row(6, 6), [2], auto_pad="same_upper", exclude_pad=True), ("identity", "shifted")),
        (pooled(SQUARE[None, None], [1, 1]), ("identity",)),
        (pooled(SYMMETRIC[None, None], [1, 1]), ("identity", "transposed")),
        (pooled(SYMMETRIC[None, None], [2, 1]), ()),
        (adaptive(ADAPTIVE, PLAIN, [4]), ("identity",)),
        (adaptive(ADAPTIVE, row(5), [3]), ("shifted",)),
        # A maximum without its index is not enough.
        (adaptive(MAX, PLAIN, [4]), ()),
        (adaptive(MAX, row(0, 0, 0, 0), [1]), ("zeros",)),
        (adaptive(MAX, row(0, 0, 0, 0), [2]), ()),
        (adaptive(MAX, row(5), [3]), ("shifted",)),
        # What is open is not graded, so anything passes.
        (adaptive(MAX, row(NAN), [1]), ("zeros", "ones", "nan", "lowest", "unwritten")),
    ],
)  # fmt: skip
def test_an_impostor_passes_where_it_is_right(vector: Vector, names: tuple[str, ...]) -> None:
    assert passing(vector) == names


def passing(vector: Vector) -> tuple[str, ...]:
    return tuple(name for name in TRIVIAL_IMPLEMENTATIONS if passes(name, vector))


def test_any_input_of_the_outputs_shape_may_be_the_output() -> None:
    spec = find_spec("onnx.MatMul-13")
    case = Case(spec.op, {"T": "f32"}, {"A": (2, 2), "B": (2, 3)}, {}, pattern="whole+whole")
    vector = build(spec, case)
    identity = np.eye(2, dtype=np.float32)
    right = dataclasses.replace(vector.answers[0], expected=vector.inputs[1])
    given = dataclasses.replace(vector, inputs=(identity, vector.inputs[1]), answers=(right,))
    outputs = TRIVIAL_IMPLEMENTATIONS["identity"](given)
    assert outputs is not None
    assert outputs[0] is given.inputs[1]


def test_a_reading_lets_an_impostor_pass() -> None:
    """Flushed subnormals are zeros, and flushing is allowed at level must."""
    tiny = pooled(row(1e-40, 3e-40, 5e-40), [2])
    assert "flushes-subnormals" in tiny.readings
    assert passing(tiny) == ("zeros", "shifted")
    assert passing(dataclasses.replace(tiny, readings={})) == ()


class TestTheReport:
    """All vectors of a suite at once, as ``conformance suite lint`` asks."""

    def looked(self, *vectors: Vector) -> list[str]:
        report = TrivialPassReport()
        for vector in vectors:
            report.check(vector)
        return [*report.problems]

    def test_it_names_what_passes_all_vectors(self) -> None:
        ones, zeros = pooled(row(1, 1, 1), [2]), pooled(row(0, 0, 0), [2])
        one, both = self.looked(ones), self.looked(ones, zeros)
        assert one == ["AvgPool-1: all of its 1 value vector would be passed by ones, shifted"]
        assert both == ["AvgPool-1: all of its 2 value vectors would be passed by shifted"]

    def test_one_vector_that_none_passes_is_enough(self) -> None:
        assert self.looked(pooled(row(1, 1, 1), [2]), pooled(PLAIN, [2])) == []

    def test_each_operator_is_looked_at_alone(self) -> None:
        ones = adaptive(ADAPTIVE, row(1, 1, 1), [2])
        (problem,) = self.looked(pooled(PLAIN, [2]), ones)
        assert problem.startswith("AdaptiveAvgPool-8: ")

    def test_a_refusal_is_left_out(self) -> None:
        zeros = pooled(row(0, 0), [2])
        case = dataclasses.replace(zeros.case, reject="strides.min")
        assert self.looked(dataclasses.replace(zeros, case=case, answers=())) == []
