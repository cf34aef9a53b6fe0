"""Impostors pass exactly where their outputs are the right ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from handmade import ADAPTIVE, AVG, MAX, adaptive, pooled, row

from conformance.audit.trivial_implementations import (
    TrivialPassReport,
    exemptions,
    trivial_implementations,
    trivial_passes,
    trivially_passed,
)
from conformance.model import Case, Vector
from conformance.spec.loader import shipped_specs
from conformance.specification import build, find_spec
from conformance.specification import find_spec as definition

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
        (pooled(np.stack([PLAIN[0], PLAIN[0]]), [2]), ("image-repeated",)),
        (pooled(np.stack([PLAIN[0], 2 * PLAIN[0]]), [2]), ()),
        (pooled(np.concatenate([PLAIN, PLAIN], axis=1), [2]), ("channel-repeated",)),
        (pooled(np.concatenate([PLAIN, 2 * PLAIN], axis=1), [2]), ()),
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
    assert trivial_passes(find_spec(vector.case.op), vector) == names


def test_any_input_of_the_outputs_shape_may_be_the_output() -> None:
    spec = definition("onnx.MatMul-13")
    case = Case(spec.op, {"T": "f32"}, {"A": (2, 2), "B": (2, 3)}, {}, pattern="whole+whole")
    vector = build(spec, case)
    identity = np.eye(2, dtype=np.float32)
    right = dataclasses.replace(vector.answers[0], expected=vector.inputs[1])
    given = dataclasses.replace(vector, inputs=(identity, vector.inputs[1]), answers=(right,))
    outputs = trivial_implementations(spec)["identity"](given)
    assert outputs is not None
    assert outputs[0] is given.inputs[1]


def test_a_reading_lets_an_impostor_pass() -> None:
    """Flushed subnormals are zeros, and flushing is allowed at level must."""
    tiny = pooled(row(1e-40, 3e-40, 5e-40), [2])
    assert "flushes-subnormals" in tiny.readings
    assert trivial_passes(find_spec(AVG), tiny) == ("zeros", "shifted")
    assert trivial_passes(find_spec(AVG), dataclasses.replace(tiny, readings={})) == ()


def test_a_refusal_has_no_impostor() -> None:
    vector = pooled(row(0, 0), [2])
    assert trivial_passes(find_spec(AVG), vector) != ()
    case = dataclasses.replace(vector.case, reject="zero-stride")
    assert trivial_passes(find_spec(AVG), dataclasses.replace(vector, case=case, answers=())) == ()


class TestExemptions:
    IDENTITY = pooled(PLAIN, [1])

    def test_an_edge_exempts_what_it_names_and_says_why(self) -> None:
        assert "identity" in self.IDENTITY.edges
        assert exemptions(find_spec(AVG), self.IDENTITY) == {
            "identity": "A window of one element that moves by one gives its element."
        }
        assert trivially_passed(find_spec(AVG), self.IDENTITY) == ()

    def test_without_the_edge_it_is_vacuous(self) -> None:
        edges = tuple(name for name in self.IDENTITY.edges if name != "identity")
        bare = dataclasses.replace(self.IDENTITY, edges=edges)
        assert trivially_passed(find_spec(AVG), bare) == ("identity",)

    def test_it_exempts_nothing_else(self) -> None:
        ones = pooled(row(1, 1, 1), [1])
        assert trivial_passes(find_spec(AVG), ones) == ("ones", "identity", "shifted")
        assert trivially_passed(find_spec(AVG), ones) == ("ones", "shifted")

    def test_specifications_exempt_impostors_that_there_are(self) -> None:
        named = {
            (spec.op, impostor)
            for spec in shipped_specs().values()
            for edge in spec.edges
            for impostor in edge.vacuous
        }
        assert ("AvgPool-1", "identity") in named
        assert named <= {
            (op, name)
            for op, spec in shipped_specs().items()
            for name in trivial_implementations(spec)
        }


class TestTheGate:
    """All vectors of a suite at once, as ``conformance suite lint`` asks."""

    def looked(self, *vectors: Vector) -> tuple[list[str], int]:
        gate = TrivialPassReport(shipped_specs())
        for vector in vectors:
            gate.check(vector)
        return gate.problems, gate.exempt

    def test_names_what_is_vacuous_and_counts_what_is_exempt(self) -> None:
        exempt, vacant = pooled(PLAIN, [1]), pooled(row(0, 0, 0), [2])
        problems, count = self.looked(pooled(PLAIN, [2]), exempt, vacant)
        assert problems == [f"AvgPool-1/{vacant.id}.npz: passed by zeros, shifted"]
        assert count == 1

    def test_one_that_is_exempt_for_a_part_is_vacuous_for_the_rest(self) -> None:
        ones = pooled(row(1, 1, 1), [1])
        problems, count = self.looked(ones)
        assert problems == [f"AvgPool-1/{ones.id}.npz: passed by ones, shifted"]
        assert count == 0

    def test_a_vector_of_an_operator_that_is_not_shipped_is_left_out(self) -> None:
        case = dataclasses.replace(pooled(row(0, 0, 0), [2]).case, op="OwnPool-1")
        own = dataclasses.replace(pooled(row(0, 0, 0), [2]), case=case, id=case.id)
        assert self.looked(own) == ([], 0)
