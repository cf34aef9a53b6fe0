"""Evaluations that round too often or compute something else lie outside the accepted intervals.

Each is wrong in an element or more of data on which it shows, while float32 sums of the same data
are accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from drawn_cases import Case, data
from honest_sums import Sums, forward, sums

from conformance.dtypes import DTYPES

Array = Any
Wrong = Callable[[Sums], Array]


def _outside(case: Case, results: Array) -> int:
    """Count the results that the core does not accept."""
    (interval,) = case.core().intervals()
    lo, hi = (end.reshape(-1).astype("f8") for end in (interval.lo, interval.hi))
    stored = np.asarray(results).astype(DTYPES[case.dtype].numpy).astype("f8")
    return int((~((lo <= stored) & (stored <= hi)) & ~interval.unspecified.reshape(-1)).sum())


def honest(case: Sums) -> Array:
    """Add from the first term to the last, then apply the factor, then add the bias."""
    return case.alpha * forward(case.products) / case.count + case.scaled_bias


def sums_in(dtype: Any) -> Wrong:
    """Add in a narrow type: each partial sum is rounded to it."""

    def narrow(case: Sums) -> Array:
        return forward(case.products.astype(dtype)).astype("f4")

    return narrow


def _tf32(x: Array) -> Array:
    """Round to 11 digits: half of the last is added, then what is below it is cut off."""
    bits = (x.view("u4") + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)
    return bits.view("f4")


def tf32_inputs(case: Sums) -> Array:
    """Round the factors of products to TF32, as tensor cores do."""
    return honest(case._replace(left=_tf32(case.left), right=_tf32(case.right)))


def drop_a_term(case: Sums) -> Array:
    """Leave out the last term."""
    return honest(case._replace(left=case.left[:, :-1], right=case.right[:, :-1]))


def count_a_term_twice(case: Sums) -> Array:
    """Add the first term once more."""
    left, right = (np.insert(x, 0, x[:, 0], axis=1) for x in (case.left, case.right))
    return honest(case._replace(left=left, right=right))


def drop_the_bias(case: Sums) -> Array:
    """Leave out the bias."""
    return honest(case) - case.scaled_bias


def add_the_bias_twice(case: Sums) -> Array:
    """Add the bias once more."""
    return honest(case) + case.scaled_bias


def divide_by_one_more(case: Sums) -> Array:
    """Divide by n + 1 for n."""
    return honest(case._replace(count=case.count + 1))


def alpha_on_the_bias(case: Sums) -> Array:
    """Multiply the bias by alpha, too."""
    return case.alpha * (forward(case.products) + case.scaled_bias)


def round_to_bf16(case: Sums) -> Array:
    """Round the result to bf16 before it is stored as f32."""
    return honest(case).astype(ml_dtypes.bfloat16).astype("f4")


def _normal(seed: int, dtype: str = "f32", **shapes: tuple[int, ...]) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {name: data(rng, shape, dtype, "normal") for name, shape in shapes.items()}


MATMUL = Case("MatMul", {}, _normal(1, A=(4, 64), B=(64, 4)))
CONV = Case("Conv", {"pads_begin": [1]}, _normal(2, X=(1, 4, 9), W=(3, 4, 5), B=(3,)))
GEMM = Case("Gemm", {"alpha": 0.5}, _normal(3, A=(3, 20), B=(20, 3), C=(3,)))
MEAN = Case("ReduceMean", {"axes": [1]}, _normal(4, X=(5, 50)))
NARROW = {
    name: Case("MatMul", {}, _normal(5, name, A=(4, 64), B=(64, 4)), name)
    for name in ("f16", "bf16")
}

DISHONEST: dict[str, tuple[Case, Wrong]] = {
    "sums in f16": (NARROW["f16"], sums_in(np.float16)),
    "sums in bf16": (NARROW["bf16"], sums_in(ml_dtypes.bfloat16)),
    "inputs in tf32": (MATMUL, tf32_inputs),
    "a term dropped": (MATMUL, drop_a_term),
    "a term counted twice": (MATMUL, count_a_term_twice),
    "bias dropped": (CONV, drop_the_bias),
    "bias added twice": (CONV, add_the_bias_twice),
    "n + 1 for n": (MEAN, divide_by_one_more),
    "alpha on the bias": (GEMM, alpha_on_the_bias),
    "result rounded to bf16": (MATMUL, round_to_bf16),
}


@pytest.mark.parametrize(("case", "wrong"), DISHONEST.values(), ids=DISHONEST)
def test_arithmetic(case: Case, wrong: Wrong) -> None:
    terms = sums(case.elements(), is_mean=case.is_mean)
    assert _outside(case, honest(terms)) == 0
    assert _outside(case, wrong(terms)) > 0


# A right evaluation of another case: attributes or data that an implementation mixes up.
GROUPED = Case("Conv", {"group": 2}, _normal(6, X=(1, 4, 6), W=(4, 2, 3)))
GROUPS_SWAPPED = replace(
    GROUPED, inputs=GROUPED.inputs | {"X": GROUPED.inputs["X"][:, [2, 3, 0, 1]]}
)
POOL = Case("AveragePool", {"kernel": [3], "pads_begin": [1]}, _normal(7, X=(1, 2, 7)))
PADDING_COUNTED = replace(POOL, attributes=POOL.attributes | {"count_include_pad": True})


@pytest.mark.parametrize(
    ("case", "computed"),
    [(GROUPED, GROUPS_SWAPPED), (POOL, PADDING_COUNTED)],
    ids=["groups mixed up", "padding counted"],
)
def test_meaning(case: Case, computed: Case) -> None:
    right, wrong = (
        honest(sums(each.elements(), is_mean=each.is_mean)) for each in (case, computed)
    )
    assert _outside(case, right) == 0
    assert _outside(case, wrong) > 0
