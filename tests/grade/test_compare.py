from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import answer, indices, steps, values

from conformance.choices import PRECISIONS
from conformance.dtypes import DTYPES
from conformance.grade.compare import compare, structure_mismatch, worst_element
from conformance.model import ALL_OPEN, OPEN_BIT

FLOATS = ("f16", "bf16", "f32", "f64")
NAN, INF = float("nan"), float("inf")


def wrong(made, got, precision="standard"):
    return compare(made, got, precision).wrong.tolist()


class TestFloats:
    @given(
        st.sampled_from(FLOATS),
        st.lists(st.floats(width=16), min_size=1, max_size=5),
        st.integers(0, 9),
        st.sampled_from(PRECISIONS),
    )
    def test_rounded_passes_at_every_precision(self, dtype, numbers, within, precision):
        made = answer(numbers, dtype, within=within)
        found = compare(made, made.rounded, precision)
        assert found.count == 0
        assert found.reached == "exact"

    @given(
        st.sampled_from(FLOATS),
        st.floats(min_value=-100, max_value=100, width=16),
        st.integers(0, 9),
        st.sampled_from((-1, 1)),
    )
    def test_the_ends_of_the_interval_pass_and_their_neighbours_fail(
        self, dtype, number, within, side
    ):
        made = answer([number], dtype, within=within, native=within + 3)
        end = steps(dtype, made.rounded, side * within)
        assert wrong(made, end) == [False]
        outside = steps(dtype, made.rounded, side * (within + 1))
        assert wrong(made, outside) == [True]
        assert wrong(made, outside, "native") == [False]
        assert wrong(made, steps(dtype, made.rounded, side * (within + 4)), "native") == [True]

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_exact_accepts_only_the_rounded_value(self, dtype):
        made = answer([1.0, 1.0, 1.0], dtype)
        row = DTYPES[dtype]
        got = row.from_ordinals(row.ordinals(made.rounded) + np.array([-1, 0, 1]))
        assert wrong(made, got, "exact") == [True, False, True]

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_zeros_of_both_signs_are_equal(self, dtype, precision):
        made = answer([0.0, -0.0], dtype, within=0)
        assert wrong(made, values(dtype, [-0.0, 0.0]), precision) == [False, False]

    @pytest.mark.parametrize("dtype", FLOATS)
    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_specials(self, dtype, precision):
        made = answer([NAN, NAN, INF, INF, -INF, 1, 1], dtype)
        got = values(dtype, [-NAN, 1, INF, NAN, INF, NAN, INF])
        assert wrong(made, got, precision) == [False, True, False, True, True, True, True]

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_a_subnormal_is_not_zero(self, dtype):
        row = DTYPES[dtype]
        tiny = row.from_ordinals(np.array([1, -1]))
        assert wrong(answer([0, 0], dtype, within=0), tiny) == [True, True]

    def test_f64_is_compared_in_full(self):
        made = answer([2.0**53], "f64", within=0)
        assert wrong(made, made.rounded + 2) == [True]

    def test_open_elements_are_open_at_their_precision_only(self):
        made = answer([1, 1], open_at={0: OPEN_BIT["standard"] | OPEN_BIT["native"], 1: 0})
        got = values("f32", [NAN, 1])
        assert wrong(made, got) == [False, False]
        assert wrong(made, got, "native") == [False, False]
        assert wrong(made, got, "exact") == [True, False]

    @pytest.mark.parametrize(
        ("off", "reached"), [(0, "exact"), (2, "standard"), (5, "native"), (6, None)]
    )
    @pytest.mark.parametrize("asked", PRECISIONS)
    def test_the_best_precision_reached_does_not_depend_on_the_one_asked(self, off, reached, asked):
        made = answer([1.0], "f16", within=2, native=5)
        got = steps("f16", made.rounded, off)
        found = compare(made, got, asked)
        assert found.reached == reached
        # Without slack, tiled accepts what standard does.
        bar = "standard" if asked == "tiled" else asked
        right = reached is not None and PRECISIONS.index(reached) <= PRECISIONS.index(bar)
        assert (found.count == 0) == right

    def test_an_output_without_elements_is_right(self):
        made = answer([])
        assert compare(made, made.rounded, "exact").reached == "exact"


class TestIntegers:
    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_equal_or_wrong(self, precision):
        assert wrong(indices([0, 2**62, 3]), np.array([0, 2**62 + 1, 3]), precision) == [
            False,
            True,
            False,
        ]

    @pytest.mark.parametrize("precision", PRECISIONS)
    def test_a_choice_is_accepted_its_filler_is_not(self, precision):
        made = indices([0, 1, 1], [[0, 4, 5], [1, -1, -1], [1, 2, -1]])
        assert wrong(made, np.array([5, -1, 2]), precision) == [False, True, False]

    def test_open_indices(self):
        made = indices([3])
        made = type(made)(**{**vars(made), "open": np.array([ALL_OPEN], np.uint8)})
        assert wrong(made, np.array([7])) == [False]


class TestStructure:
    def test_right(self):
        assert structure_mismatch(answer([1, 2]), values("f32", [1, 2])) is None

    @pytest.mark.parametrize(
        ("got", "kind", "says"),
        [
            (None, "outputs", "is None"),
            ([1.0, 2.0], "outputs", "of type list"),
            (np.float32(1), "outputs", "numpy.float32"),
            (np.ma.masked_array(np.zeros(2, np.float32)), "outputs", "MaskedArray"),
            (np.zeros(2, object), "dtype", "object instead of f32"),
            (np.zeros(2, np.float64), "dtype", "f64 instead of f32"),
            (np.zeros(2, ">f4"), "dtype", "foreign byte order"),
            (np.zeros(2, [("a", "f4")]), "dtype", "instead of f32"),
            (np.zeros(2, ml_dtypes.bfloat16), "dtype", "bf16 instead of f32"),
            (np.zeros((2, 1), np.float32), "shape", "(2, 1) instead of (2,)"),
            (np.zeros((), np.float32), "shape", "() instead of (2,)"),
        ],
    )
    def test_wrong(self, got, kind, says):
        found = structure_mismatch(answer([1, 2]), got)
        assert found.kind == kind
        assert says in found.message
        assert found.message.startswith("result: ")


class TestWitness:
    def test_the_farthest_element_is_told(self):
        made = answer([1.0, 2.0, 4.0], "f16")
        got = steps("f16", made.rounded, 3)
        got[1] = steps("f16", made.rounded, 9)[1]
        found = worst_element(made, got, compare(made, got, "standard"), "standard")
        assert (found.index, found.ulp, found.wrong, found.total) == ((1,), 9.0, 3, 3)
        assert (found.exact, found.rounded) == ("2.0", "2.0")
        assert (found.lo, found.hi, found.got) == ("1.998", "2.004", "2.018")

    def test_at_exact_the_interval_is_the_rounded_value(self):
        made = answer([1.0])
        got = steps("f32", made.rounded, 1)
        found = worst_element(made, got, compare(made, got, "exact"), "exact")
        assert (found.lo, found.hi, found.got) == ("1.0", "1.0", "1.0000001")

    def test_nan_is_infinitely_far(self):
        made = answer([1.0, 1.0])
        got = values("f32", [100, NAN])
        found = worst_element(made, got, compare(made, got, "standard"), "standard")
        assert (found.index, found.got, found.ulp) == ((1,), "nan", INF)

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_numbers_are_told_so_that_they_can_be_read_back(self, dtype):
        made = answer([1 / 3], dtype)
        got = steps(dtype, made.rounded, 7)
        found = worst_element(made, got, compare(made, got, "standard"), "standard")
        assert values(dtype, [float(found.got)]) == got

    def test_an_index_names_its_choices(self):
        made = indices([1, 1], [[1, -1], [1, 2]])
        got = np.array([1, 3])
        found = worst_element(made, got, compare(made, got, "standard"), "standard")
        assert (found.index, found.exact, found.lo, found.hi) == ((1,), "1", "1 or 2", "1 or 2")
        assert (found.got, found.ulp) == ("3", None)
