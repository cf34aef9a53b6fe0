"""Outputs of more elements than numpy works on at once: what is right for few must be for many."""

from __future__ import annotations

import numpy as np

from conformance.model import Case
from conformance.reference import answers, facts
from conformance.reference.values import data_of
from conformance.spec.loader import find_spec

SPEC = find_spec("AdaptiveMaxPool-8")
CASE = Case(
    op=SPEC.op,
    types={"T": "bf16", "T_SHAPE": "i64"},
    shapes={"data": (1, 1, 4097, 4, 1)},
    attributes={"index_element_type": "i64"},
    operands={"output_size": (4098, 2, 1)},
    pattern="steady",
)


def test_coordinates_and_flat_positions_agree() -> None:
    env = facts(SPEC, CASE, data_of(SPEC, CASE))
    position = env["position"]
    flat = np.ravel_multi_index([axis.ravel() for axis in position], (4097, 4, 1))
    assert (flat.reshape(position[0].shape) == env.first).all()


def test_the_first_of_equals_is_among_those_allowed() -> None:
    ties = next(one for one in SPEC.interpretations if one.name == "any-maximum")
    _, indices = answers(SPEC, CASE, data_of(SPEC, CASE), (ties,))
    assert (indices.choices == indices.expected[..., None]).any(axis=-1).all()
