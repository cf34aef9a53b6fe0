"""The second bank is sound: the honest operators are right and every mistake shows somewhere."""

from __future__ import annotations

import bank_adaptive_avg_pool
import bank_adaptive_max_pool
import bank_avg_pool
import ml_dtypes
import numpy as np
import pytest
import tiers
from allowed_at_must import ALLOWED
from bank_windows import BF16, Case, adaptive_case, line, narrow, plane, ramp

from conformance.api import check
from conformance.model import FAILED

BANKS = {
    "AvgPool-1": bank_avg_pool,
    "AdaptiveAvgPool-8": bank_adaptive_avg_pool,
    "AdaptiveMaxPool-8": bank_adaptive_max_pool,
}
EVERY = [
    pytest.param(op, mistake, id=f"{op}-{mistake.id}")
    for op, bank in BANKS.items()
    for mistake in bank.MISTAKES
]
avg = bank_avg_pool.case
INF, NAN = np.inf, np.nan


def honest(op: str, case: Case) -> list[np.ndarray]:
    return BANKS[op].HONEST(op, case.inputs, case.attributes)


def differs(got: list[np.ndarray], want: list[np.ndarray]) -> bool:
    """Whether two results differ by more than rounding, in any shape, dtype or element."""
    for a, b in zip(got, want, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return True
        if a.dtype.kind == "i":
            if (a != b).any():
                return True
            continue
        info = ml_dtypes.finfo(a.dtype)
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        least = float(info.smallest_subnormal)
        bound = 4 * float(info.eps)
        if not np.allclose(wide_a, wide_b, rtol=bound, atol=2 * least, equal_nan=True):
            return True
    return False


# --------------------------------------------------------------- the honest operators

AVG_EXAMPLES = [
    (avg(line(1, 2, 3, 4), [2], [2]), [1.5, 3.5]),
    (avg(line(1, 2, 3, 4), [2], [2], [1], [1]), [0.5, 2.5, 2]),
    (avg(line(1, 2, 3, 4), [2], [2], [1], [1], exclude=True), [1, 2.5, 4]),
    (avg(line(1, 2, 3, 4), [3], [2], [0], [1]), [2, 7 / 3]),
    (avg(line(1, 2, 3, 4, 5), [2], [2], rounding_type="ceil"), [1.5, 3.5, 5]),
    (avg(line(1, 2, 3, 4, 5), [2], [2]), [1.5, 3.5]),
    # The third window starts in the padding at the end; it stays and holds nothing but zeros.
    (avg(line(1, 2, 3, 4, 5), [3], [3], [1], [1], rounding_type="ceil"), [1, 4, 0]),
    (avg(line(1, 2, 3), [2], [3], [1], [2], rounding_type="ceil"), [0.5, 1.5, 0]),
    (avg(line(1, 2, 3, 4), [2], [1], auto_pad="same_upper"), [1.5, 2.5, 3.5, 2]),
    (avg(line(1, 2, 3, 4), [2], [1], auto_pad="same_lower"), [0.5, 1.5, 2.5, 3.5]),
    (avg(line(1, 2, 3, 4), [2], [1], auto_pad="same_lower", exclude=True), [1, 1.5, 2.5, 3.5]),
    (avg(line(1, 2, 3, 4), [2], [2], [1], [1], auto_pad="valid"), [1.5, 3.5]),
    (avg(line(1, 2, 3, 4, 5, 6), [1], [5], auto_pad="same_upper"), [1, 6]),
    (avg(line(1, 2, 3, 4), [1], [3], auto_pad="same_upper", rounding_type="ceil"), [1, 4]),
    (avg(line(1, 2, 3), [1], [3], auto_pad="same_upper", rounding_type="ceil"), [1, 0]),
    (avg(plane([1, 2, 3], [4, 5, 6], [7, 8, 9]), [2, 2], [1, 1]), [[3, 4], [6, 7]]),
    (avg(line(1, INF, -INF, 3, NAN, 4), [2], [2]), [INF, -INF, NAN]),
    (avg(line(INF, -INF), [2], [1]), [NAN]),
    (avg(line(INF, -INF, dtype=np.float64), [2], [1]), [NAN]),
    (avg(line(1e308, 1.5e308, dtype=np.float64), [2], [1]), [1.25e308]),
    (avg(line(1e16, 1, -1e16, 1, dtype=np.float64), [4], [1]), [0.5]),
]


@pytest.mark.parametrize(("case", "want"), AVG_EXAMPLES)
def test_avg_pool_by_hand(case: Case, want: list[float]) -> None:
    (got,) = honest("AvgPool-1", case)
    assert got.dtype == case.inputs[0].dtype
    np.testing.assert_array_equal(got[0, 0], np.array(want).astype(got.dtype))


@pytest.mark.parametrize(
    ("kernel", "stride", "rounding", "side"),
    [(5, 3, "floor", 10), (5, 2, "ceil", 15), (5, 2, "floor", 14)],
)
def test_avg_pool_documented_sizes(kernel: int, stride: int, rounding: str, side: int) -> None:
    case = avg(ramp(1, 3, 32, 32), [kernel] * 2, [stride] * 2, rounding_type=rounding)
    assert honest("AvgPool-1", case)[0].shape == (1, 3, side, side)


ADAPTIVE_AVG_EXAMPLES = [
    (adaptive_case(line(1, 2, 4, 8, 16), 3), [1.5, 14 / 3, 12]),
    (adaptive_case(line(1, 2, 3), 5), [1, 1.5, 2, 2.5, 3]),
    (adaptive_case(plane([1, 2, 3], [4, 5, 6]), 1, 2), [[3, 4]]),
    (adaptive_case(line(1, 2), 0), []),
    (adaptive_case(np.zeros((1, 1, 0), np.float32), 2), [0, 0]),
    (adaptive_case(line(INF, 1, -INF, INF), 2), [INF, NAN]),
]


@pytest.mark.parametrize(("case", "want"), ADAPTIVE_AVG_EXAMPLES)
def test_adaptive_avg_pool_by_hand(case: Case, want: list[float]) -> None:
    (got,) = honest("AdaptiveAvgPool-8", case)
    assert got.dtype == case.inputs[0].dtype
    np.testing.assert_array_equal(got[0, 0], np.array(want).astype(got.dtype))


ADAPTIVE_MAX_EXAMPLES = [
    (adaptive_case(line(1, 5, 4, 5, 2), 3), [5, 5, 5], [1, 1, 3]),
    (adaptive_case(line(-3, -1, -2, -4), 2), [-1, -2], [1, 2]),
    (adaptive_case(plane([1, 7], [7, 2]), 1, 1), [[7]], [[1]]),
    (adaptive_case(plane([1, 2, 3], [4, 5, 6]), 2, 1), [[3], [6]], [[2], [5]]),
    (adaptive_case(line(0, 1, -INF, -INF), 2), [1, -INF], [1, 2]),
    (adaptive_case(line(-0.0, 0.0), 1), [0], [0]),
    (adaptive_case(np.zeros((1, 1, 0), np.float32), 1), [0], [0]),
]


@pytest.mark.parametrize(("case", "values", "indices"), ADAPTIVE_MAX_EXAMPLES)
def test_adaptive_max_pool_by_hand(case: Case, values: list[float], indices: list[int]) -> None:
    got = honest("AdaptiveMaxPool-8", case)
    assert [g.dtype for g in got] == [case.inputs[0].dtype, np.int64]
    np.testing.assert_array_equal(got[0][0, 0], np.array(values, np.float32))
    np.testing.assert_array_equal(got[1][0, 0], indices)


def test_index_is_flat_over_a_volume() -> None:
    x = np.zeros((2, 2, 2, 3, 4), np.float32)
    x[1, 0, 1, 2, 3] = 1
    attributes = {"index_element_type": "i32"}
    case = Case([x, np.array([1, 1, 1], np.int32)], attributes)
    _, indices = honest("AdaptiveMaxPool-8", case)
    assert indices.dtype == np.int32
    assert indices.ravel().tolist() == [0, 0, 23, 0]


@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32, np.float64])
def test_every_dtype_and_rank_agrees_with_a_plain_mean(dtype: type) -> None:
    for sizes in [(6,), (4, 6), (2, 4, 6)]:
        x = ramp(2, 3, *sizes, dtype=dtype)
        # Blocks of 2 along every axis, whose means are exact in float64.
        split = x.astype(np.float64).reshape(2, 3, *[n for size in sizes for n in (size // 2, 2)])
        want = narrow(split.mean(axis=tuple(range(3, split.ndim, 2))), x.dtype)
        twos = [2] * len(sizes)
        (got,) = honest("AvgPool-1", avg(x, twos, twos))
        np.testing.assert_array_equal(got, want)
        out = [size // 2 for size in sizes]
        (got,) = honest("AdaptiveAvgPool-8", adaptive_case(x, *out))
        np.testing.assert_array_equal(got, want)
        values, indices = honest("AdaptiveMaxPool-8", adaptive_case(x, *out))
        np.testing.assert_array_equal(values, split.max(axis=tuple(range(3, split.ndim, 2))))
        flat = x.reshape(2, 3, -1)
        picked = np.take_along_axis(flat, indices.reshape(2, 3, -1), axis=-1)
        np.testing.assert_array_equal(picked.reshape(values.shape), values)


def test_bfloat16_is_rounded_once() -> None:
    above = 1 + 2.0**-8 + 2.0**-40
    values = np.array([above, -above, 1 + 2.0**-8, 1 - 2.0**-9 - 2.0**-40, INF, 0, 1e39])
    got = narrow(values, BF16).astype(np.float64)
    assert got.tolist() == [1 + 2.0**-7, -1 - 2.0**-7, 1, 1 - 2.0**-8, INF, 0, INF]


# --------------------------------------------------------------- the mistakes


@pytest.mark.parametrize("op", BANKS)
def test_a_bank_holds_twenty_mistakes(op: str) -> None:
    mistakes = BANKS[op].MISTAKES
    assert len(mistakes) == 20
    assert len({mistake.id for mistake in mistakes}) == 20
    assert len({mistake.says for mistake in mistakes}) == 20


# Sizes that divide, no padding, one channel, few elements and all of them positive.
PLAIN = {
    "AvgPool-1": avg(ramp(1, 1, 4, 6) + 10, [2, 2], [2, 2], exclude=True),
    "AdaptiveAvgPool-8": adaptive_case(ramp(1, 1, 4, 10) + 10, 2, 5),
    "AdaptiveMaxPool-8": adaptive_case(ramp(1, 1, 4, 10) + 10, 2, 5, index_element_type="i64"),
}


@pytest.mark.parametrize(("op", "mistake"), EVERY)
def test_witness_shows_the_mistake_and_a_plain_call_hides_it(op: str, mistake) -> None:
    mistake.forget()
    cases = mistake.witness()
    assert cases
    assert all(case.inputs[0].size <= 20_000 for case in cases)
    got = [mistake.run(op, case.inputs, case.attributes) for case in cases]
    want = [honest(op, case) for case in cases]
    assert differs(got[-1], want[-1])
    assert not any(differs(*pair) for pair in zip(got[:-1], want[:-1], strict=True))
    mistake.forget()
    plain = PLAIN[op]
    assert not differs(mistake.run(op, plain.inputs, plain.attributes), honest(op, plain))


# --------------------------------------------------------------- invalid calls


def changed(case: Case, **attributes) -> Case:
    names = {name.replace("exclude_pad", "exclude-pad"): v for name, v in attributes.items()}
    return Case(case.inputs, {**case.attributes, **names})


OUT = np.array([1, 1])
GOOD = avg(ramp(1, 1, 4, 6), [2, 2], [1, 1], [1, 1], [1, 1])
INVALID_AVG = [
    (changed(GOOD, kernel=[2]), "kernel has one entry"),
    (changed(GOOD, strides=[1, 1, 1]), "strides has one entry"),
    (changed(GOOD, pads_begin=[]), "pads_begin has one entry"),
    (changed(GOOD, pads_end=[1]), "pads_end has one entry"),
    (changed(GOOD, kernel=3), "kernel is a list"),
    (changed(GOOD, kernel=[0, 2]), "kernel is positive"),
    (changed(GOOD, kernel=[2, -1]), "kernel is positive"),
    (changed(GOOD, strides=[0, 1]), "strides are positive"),
    (changed(GOOD, kernel=[7, 2]), "kernel fits"),
    (changed(GOOD, kernel=[2, 9]), "kernel fits"),
    (changed(GOOD, kernel=[2, 7], auto_pad="valid"), "kernel fits"),
    (changed(GOOD, pads_begin=[-1, 0]), "pads are not negative"),
    (changed(GOOD, pads_end=[0, -1]), "pads are not negative"),
    (changed(GOOD, exclude_pad=True, pads_begin=[2, 0]), "has data"),
    (changed(GOOD, exclude_pad=True, pads_end=[0, 2]), "has data"),
    (changed(GOOD, exclude_pad=None), "exclude-pad is required"),
    (changed(GOOD, auto_pad="same"), "unknown auto_pad"),
    (changed(GOOD, rounding_type="round"), "unknown rounding_type"),
    (Case([ramp(4, 6)], GOOD.attributes), "3-D, 4-D or 5-D"),
    (Case([ramp(1, 1, 1, 1, 4, 6)], GOOD.attributes), "3-D, 4-D or 5-D"),
    (Case([ramp(1, 1, 4, 6, dtype=np.int32)], GOOD.attributes), "floating point"),
    (Case([ramp(0, 1, 4, 6)], GOOD.attributes), "no axis of the input is empty"),
    (Case([ramp(1, 0, 4, 6)], GOOD.attributes), "no axis of the input is empty"),
    (Case([], GOOD.attributes), "one input"),
]
X = ramp(1, 1, 4, 6)
INVALID_ADAPTIVE = [
    (Case([X, np.array([-1, 2])], {}), "not negative"),
    (Case([X, np.array([2])], {}), "one entry per spatial axis"),
    (Case([X, np.array([2, 2, 2])], {}), "one entry per spatial axis"),
    (Case([X, np.array([[2, 2]])], {}), "one entry per spatial axis"),
    (Case([X, np.array([2.0, 2.0])], {}), "int32 or int64"),
    (Case([X], {}), "two inputs"),
    (Case([ramp(4, 6), OUT], {}), "3-D, 4-D or 5-D"),
    (Case([ramp(1, 1, 1, 1, 4, 6), OUT], {}), "3-D, 4-D or 5-D"),
    (Case([X.astype(np.int32), OUT], {}), "floating point"),
]
UNKNOWN_TYPE = (Case([X, OUT], {"index_element_type": "u8"}), "unknown index_element_type")
INVALID = {
    "AvgPool-1": INVALID_AVG,
    "AdaptiveAvgPool-8": INVALID_ADAPTIVE,
    "AdaptiveMaxPool-8": [*INVALID_ADAPTIVE, UNKNOWN_TYPE],
}


@pytest.mark.parametrize("op", BANKS)
def test_invalid_calls_are_refused_by_all(op: str) -> None:
    runs = [BANKS[op].HONEST, *(mistake.run for mistake in BANKS[op].MISTAKES)]
    for case, why in INVALID[op]:
        for run in runs:
            with pytest.raises(ValueError, match=why):
                run(op, case.inputs, case.attributes)


@pytest.mark.parametrize("op", ["AdaptiveAvgPool-8", "AdaptiveMaxPool-8"])
def test_empty_batches_and_sizes_stay_empty(op: str) -> None:
    for x, out in [(ramp(0, 2, 4), 2), (ramp(2, 0, 4), 2), (ramp(2, 2, 4), 0)]:
        case = adaptive_case(x, out)
        for run in [BANKS[op].HONEST, *(mistake.run for mistake in BANKS[op].MISTAKES)]:
            assert run(op, case.inputs, case.attributes)[0].shape == (*x.shape[:2], out)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("op", "mistake"), [one for one in EVERY if one.values[1].id in ALLOWED])
def test_level_must_accepts_what_the_search_is_not_asked_for(op: str, mistake) -> None:
    mistake.forget()
    run = check(tiers.of(op), mistake.run, level="must")
    assert not any(one.status in FAILED for one in run.results)
