"""A search for an honest evaluation that is refused, over hostile windows and any divisor."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, get_args

import numpy as np
import tiers
from honest import EVALUATIONS, Flushes, Place
from hypothesis import given, settings, target
from hypothesis import strategies as st
from numpy.typing import NDArray
from one_window import FLOATS, accepted, answer, question, used

from conformance.dtypes import DTYPES, DType

Array = NDArray[Any]

LEAST = {"standard": ("f32", "f64"), "native": (None, "f32")}
PRECISIONS = st.sampled_from(tuple(LEAST))
FLUSHES: list[Flushes] = [
    frozenset(parts) for k in (1, 2, 3) for parts in combinations(get_args(Place), k)
]


@st.composite
def elements(draw: st.DrawFn, row: DType) -> Array:
    """A few values of one type: any, neighbours of one number and of its powers, subnormals."""
    most = row.infinity - 1
    binade = 1 << (row.digits - 1)
    anchor = draw(st.integers(0, most))
    sign = st.sampled_from((1, 1, 1, -1))
    near = st.builds(
        lambda sign, binades, off: sign * min(max(anchor - binades * binade + off, 0), most),
        sign,
        st.sampled_from((0, 0, 0, 1, row.digits - 1, row.digits, row.digits + 1)),
        st.integers(-3, 3),
    )
    power = st.builds(lambda sign, k: sign * k * binade, sign, st.integers(1, row.emax - row.emin))
    element = st.one_of(near, near, power, st.integers(-most, most), st.integers(-4, 4))
    ordinals = draw(st.lists(element, min_size=1, max_size=24))
    return row.from_ordinals(np.array(ordinals, np.int64))


@st.composite
def questions(draw: st.DrawFn) -> tuple[Array, str, int]:
    dtype = draw(st.sampled_from(FLOATS))
    data = draw(elements(DTYPES[dtype]))
    more = draw(st.one_of(st.sampled_from((0, 0, 1, 2)), st.integers(0, 1 << 14)))
    return data, dtype, len(data) + more


@st.composite
def tiny_questions(draw: st.DrawFn) -> tuple[Array, str, int]:
    """Values around the smallest normal number, often one many times."""
    dtype = draw(st.sampled_from(FLOATS))
    row = DTYPES[dtype]
    normal = 1 << (row.digits - 1)
    element = st.one_of(
        st.integers(-3 * normal, 3 * normal),
        st.sampled_from((normal - 1, normal, normal + 1, 2 * normal - 1, -normal)),
        st.integers(-20 * normal, 20 * normal),
    )
    several = st.lists(element, min_size=1, max_size=16)
    same = st.builds(lambda one, n: [one] * n, element, st.integers(1, 16))
    data = row.from_ordinals(np.array(draw(several | same), np.int64))
    return data, dtype, len(data) + draw(st.sampled_from((0, 0, 1, 5, 100)))


@given(questions(), PRECISIONS, st.sampled_from(("even", "away")))
@settings(max_examples=tiers.examples(200, few=25), deadline=None)
def test_no_honest_evaluation_is_refused(
    asked: tuple[Array, str, int], precision: str, rounding: Any
) -> None:
    vector = question(*asked)
    most = 0.0
    for name, evaluation in EVALUATIONS.items():
        for least in LEAST[precision]:
            got = answer(vector, evaluation.keeping(least, rounding))
            assert accepted(vector, got, precision), (name, least, got, vector.answers)
            most = max(most, used(vector, got, precision))
    target(most, label=f"{asked[1]}, {precision}")


@given(tiny_questions(), PRECISIONS, st.sampled_from(FLUSHES))
@settings(max_examples=tiers.examples(200, few=25), deadline=None)
def test_no_flushing_evaluation_is_refused_at_must(
    asked: tuple[Array, str, int], precision: str, flushes: Flushes
) -> None:
    """Subnormals replaced in the inputs, in sums and products, in results, or in several."""
    vector = question(*asked)
    for name, evaluation in EVALUATIONS.items():
        for least in LEAST[precision]:
            got = answer(vector, replace(evaluation.keeping(least), flushes=flushes))
            assert accepted(vector, got, precision, "must"), (name, least, vector.readings)
