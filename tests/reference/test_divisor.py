"""A mean under a divisor below 0 is minus the mean under the same divisor above 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.dtypes import Array
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case
from conformance.specification import build, find_spec, mutants_of

SPEC = find_spec("torch.avg_pool-2")
CASE = Case(
    op=SPEC.op,
    types={"T": "f32"},
    shapes={"data": (1, 2, 3, 5)},
    attributes={"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 1)},
    operands={},
    pattern="ramp",
    seed=1,
)


def under(case: Case, divisor: int) -> Case:
    return replace(case, attributes={**case.attributes, "divisor_override": divisor})


def same(one: Array | None, other: Array | None) -> bool:
    """Equal; zeros of both signs are one number."""
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one.astype(np.float64), other.astype(np.float64), equal_nan=True))


@settings(max_examples=60)
@given(
    dtype=st.sampled_from(["f16", "bf16", "f32", "f64"]),
    pattern=st.sampled_from(["ramp", "negative", "mixed", "infinite", "nan", "subnormal", "zeros"]),
    divisor=st.one_of(st.integers(1, 7), st.sampled_from([1024, 10**6])),
    seed=st.integers(0, 9),
)
def test_answers_are_turned_about_zero(dtype: str, pattern: str, divisor: int, seed: int) -> None:
    case = replace(CASE, types={"T": dtype}, pattern=pattern, seed=seed)
    above, below = (build(SPEC, under(case, d)).answers[0] for d in (divisor, -divisor))
    assert same(below.expected, -above.expected)
    assert same(below.rounded, -above.rounded)
    for precision in ("standard", "native"):
        low, high = (end.astype(np.float64) for end in above.interval(precision))
        lower, higher = (end.astype(np.float64) for end in below.interval(precision))
        with np.errstate(invalid="ignore"):
            holds = (lower <= -high) & (-low <= higher)
        assert (holds | (np.isnan(low) & np.isnan(lower))).all()
    if above.open is not None or below.open is not None:
        assert np.array_equal(below.open, above.open)


@pytest.mark.parametrize(
    "name", ["bf16-summed-in-f16", "subnormals-flushed", "first-element-never-read"]
)
def test_so_are_those_of_mutants(name: str) -> None:
    mutant = next(one for one in mutants_of(SPEC) if one.id == name)
    altered = implementation_of(SPEC, mutant.change)
    case = replace(CASE, types={"T": "bf16"})
    for divisor in (3, 4):
        above, below = (
            subject_of(SPEC, asked, build(SPEC, asked).inputs).under(altered)[0]
            for asked in (under(case, divisor), under(case, -divisor))
        )
        assert same(below, -above)


def test_by_hand() -> None:
    vector = build(SPEC, under(CASE, -2))
    data = np.pad(vector.inputs[0].astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    assert vector.answers[0].expected[0, 1, 2, 1] == data[0, 1, 2:4, 2:5].sum() / -2
