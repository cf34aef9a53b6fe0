"""A subject under faults: sharing what does not change gives what a fresh evaluation gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiers

from conformance.dtypes import DTYPES, Array
from conformance.errors import EvaluationError
from conformance.families.pooling import oracle as pooling
from conformance.model import Case, Vector
from conformance.reference import answers, facts
from conformance.reference.build import build
from conformance.reference.readings import same as same_answers
from conformance.reference.subject import Altered, Subject
from conformance.spec.catalogue import mutants_of
from conformance.spec.loader import find_spec
from conformance.spec.model import OpSpec, RuleChange
from conformance.spec.rule_change import make_rule_change

AVG, ADAPTIVE_AVG, ADAPTIVE_MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
OPERATORS = tuple(tiers.core().manifest.ops)
STEP, TURNS = 17, 9
"""Every STEP-th vector is looked at, each with the faults whose turn it is, one in TURNS; of smoke
all, with so many faults that each has two vectors."""


def vectors(op: str, exhaustive: bool) -> list[Vector]:
    """Every STEP-th shipped vector of an operator that has outputs, or those of smoke."""
    suite = tiers.suite(exhaustive)
    entries = [one for one in suite.manifest.vectors if one.op == op and one.reject is None]
    return [suite.read(one) for one in entries[:: STEP if exhaustive else 1]]


def afresh(spec: OpSpec, case: Case, data: Array, one: RuleChange) -> list[Array]:
    """The outputs under a variant, nothing of the right ones being used but what it leaves."""
    env = facts(spec, case, [data])
    right = pooling.outputs(env, spec)
    guard = True if one.where is None else np.asarray(one.where.evaluate(env))
    if not np.any(guard):
        return right
    try:
        changed = facts(spec, case, [data], (replace(one, where=None),))
        found = pooling.outputs(changed, spec)
    except EvaluationError:
        return right
    return [
        np.where(guard, new, old) if new.shape == old.shape and new.dtype == old.dtype else new
        for new, old in zip(found, right, strict=True)
    ]


def same(found: list[Array], expected: list[Array]) -> bool:
    return all(
        a.shape == b.shape and a.dtype == b.dtype and np.array_equal(_codes(a), _codes(b))
        for a, b in zip(found, expected, strict=True)
    )


def _codes(array: Array) -> Array:
    # NaN has many codes, and which one comes out is nobody's business.
    if array.dtype.kind in "iu":
        return array
    nan = np.isnan(array)
    return np.where(nan, 0, np.ascontiguousarray(array).view(f"i{array.itemsize}")) - nan


MOST_AFRESH = 1 << 20
"""Elements of a wrong shape that are worked out to compare them: a padding of thousands that a
mutant takes for all axes makes outputs of gigabytes."""


@pytest.mark.parametrize("op", OPERATORS)
def test_sharing_changes_no_output(op: str, exhaustive: bool) -> None:
    spec = find_spec(op)
    altered = [Altered(spec, fault.change) for fault in mutants_of(spec)]
    changed = 0
    asked = vectors(op, exhaustive)
    turns = TURNS if exhaustive else len(asked)
    for turn, vector in enumerate(asked):
        subject = Subject(spec, vector.case, vector.inputs)
        for one in altered[turn % turns :: turns]:
            found = subject.under(one)
            worked_out = found[0].size == 1 or any(found[0].strides)
            if not worked_out and found[0].size > MOST_AFRESH:
                assert found[0].shape != subject.outputs[0].shape
                continue
            expected = afresh(spec, vector.case, vector.inputs[0], *one.variants)
            if not worked_out:  # of a wrong shape
                assert expected[0].shape != subject.outputs[0].shape
                assert [(a.shape, a.dtype) for a in found] == [(a.shape, a.dtype) for a in expected]
            else:
                assert same(found, expected), (vector.id, one.variants[0].name)
            changed += not same(found, subject.outputs)
        # Nothing that a fault changes is left behind for the next one.
        assert same(pooling.outputs(subject.env, spec), subject.outputs), vector.id
    assert changed > (25 if exhaustive else 10)


@pytest.mark.parametrize("op", OPERATORS)
def test_sharing_changes_no_reading(op: str, exhaustive: bool) -> None:
    """Readings of a built vector are the answers that each interpretation gives by itself."""
    spec = find_spec(op)
    by_name = {one.name: one for one in spec.interpretations}
    sampled = {entry.id for entry in tiers.part(tiers.smoke()).manifest.vectors}
    for vector in vectors(op, exhaustive):
        if not exhaustive and vector.id not in sampled:
            continue
        built = build(spec, vector.case)
        for name, found in built.readings.items():
            variants = [by_name[one] for one in name.split("+")]
            assert same_answers(found, answers(spec, vector.case, vector.inputs, variants)), name
        for name, one in by_name.items():
            if name not in built.readings:
                alone = answers(spec, vector.case, vector.inputs, (one,))
                assert same_answers(built.answers, alone), name


@pytest.mark.parametrize("op", OPERATORS)
def test_windows_are_the_taps_that_count_in_their_order(op: str) -> None:
    spec, several = find_spec(op), 0
    for vector in vectors(op, exhaustive=False):
        env = facts(spec, vector.case, vector.inputs)
        for axis, window in enumerate(env.windows):
            position, counted = env.listed(axis)
            for listed, on, found, counts in zip(
                position, counted, window.indices, window.counted, strict=True
            ):
                assert listed[on].tolist() == found[counts].tolist(), (vector.id, axis)
                several += int(counts.sum() > 1)
    assert several


def test_windows_that_read_the_same_are_the_same() -> None:
    spec, case, data = pool([1, 2, 3, 4], kernel=[2], pads_begin=[1])
    env = facts(spec, case, [data])
    total = env.total
    # One tap less, which lies on padding, begins later: the first window reads what it read.
    rules = {"start": "where(i == 0, 0, i - 1)", "taps": "where(i == 0, 1, 2)"}
    part = Altered(spec, make_rule_change(spec, "later", rules)).part(frozenset({0}))
    other = env.under(part.definitions, part.changed)
    assert other["taps"][0].tolist() == [1, 2, 2, 2]
    assert other.windows[0] is env.windows[0]
    assert other.total is total


# What each rule of a machine does, by hand.


def pool(values: Any, dtype: str = "f32", **attributes: Any) -> tuple[OpSpec, Case, Array]:
    """AvgPool-1 on one channel of values; the kernel spans them if it is not given."""
    data = np.array(values, DTYPES[dtype].numpy).reshape(1, 1, -1)
    given = {
        "kernel": [data.size],
        "strides": [1],
        "pads_begin": [0],
        "pads_end": [0],
        "exclude-pad": False,
        "auto_pad": "explicit",
        "rounding_type": "floor",
    }
    attributes = {name.replace("exclude_pad", "exclude-pad"): v for name, v in attributes.items()}
    case = Case(AVG, {"T": dtype}, {"data": data.shape}, {**given, **attributes})
    return find_spec(AVG), case, data


def largest(values: Any, out: int, dtype: str = "f32", **more: Any) -> tuple[OpSpec, Case, Array]:
    """AdaptiveMaxPool-8 on (N, C, size) values, or on one channel of them."""
    data = np.array(values, DTYPES[dtype].numpy)
    data = data.reshape(1, 1, -1) if data.ndim == 1 else data
    types = {"T": dtype, "T_SHAPE": "i64"}
    attributes = {"index_element_type": "i64", **more}
    case = Case(ADAPTIVE_MAX, types, {"data": data.shape}, attributes, {"output_size": (out,)})
    return find_spec(ADAPTIVE_MAX), case, data


def under(
    asked: tuple[OpSpec, Case, Array], where: str | None = None, **rules: str
) -> list[list[Any]]:
    """The outputs under replaced rules, each as a flat list."""
    spec, case, data = asked
    one = Altered(spec, make_rule_change(spec, "altered", rules, where=where))
    found = Subject(spec, case, [data]).under(one)
    return [output.astype(np.float64).ravel().tolist() for output in found]


def test_an_accumulator_adds_one_by_one_and_divides() -> None:
    # 2048 + 1 is 2048 in f16, twice; 2050 / 3 rounds to 683.5 in its 11 bits.
    asked = pool([2048, 1, 1], "f16")
    assert under(asked, accumulator="exact") == [[683.5]]
    assert under(asked, accumulator="own") == [[682.5]]  # 2048 / 3 = 682.67, units of 0.5
    assert under(pool([1, 1, 2048], "f16"), accumulator="own") == [[683.5]]
    # 2**24 + 1 is 2**24 in f32.
    asked = pool([2**24, 1, 1, 0], "f64")
    assert under(asked, accumulator="f32") == [[2**22]]
    assert under(asked) == under(asked, accumulator="f64") == [[2**22 + 0.5]]
    assert under(pool([60000, 60000], "f16"), accumulator="own") == [[np.inf]]
    assert under(pool([2.0**20] * 2, "bf16"), accumulator="f16") == [[np.inf]]


def test_a_type_is_passed_through() -> None:
    asked = pool([257], "f16")
    assert under(asked, passes_through="bf16") == [[256]]
    assert under(pool([2.0**17], "bf16"), passes_through="f16") == [[np.inf]]
    # 1 + 2**-30 equals 1 in f32, so the first of the two is the largest.
    asked = largest([1, 1 + 2.0**-30], 1, "f64")
    assert under(asked) == [[1 + 2.0**-30], [1]]
    assert under(asked, passes_through="f32") == [[1], [0]]


@pytest.mark.parametrize("sign", [1, -1])
def test_rounding_toward_zero(sign: int) -> None:
    # The mean is 2049.5, and f16 has 2048 and 2050 there. Exactly 3 / 2 stays.
    asked = pool([sign * 2048, sign * 2050, sign * 2052, sign * 2048], "f16")
    assert under(asked) == [[sign * 2050]]
    assert under(asked, rounding="toward_zero") == [[sign * 2048]]
    assert under(pool([sign, 2 * sign], "f16"), rounding="toward_zero") == [[1.5 * sign]]


def test_nan_in_a_mean() -> None:
    asked = pool([np.nan, 2, 4, 6], kernel=[2])
    assert str(under(asked)) == "[[nan, 3.0, 5.0]]"
    assert under(asked, nan="ignored") == [[1, 3, 5]]
    assert under(pool([np.nan, np.inf]), nan="ignored") == [[np.inf]]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("kept", "[[inf, nan, -inf, 2.0]]"),
        ("ignored", "[[0.5, 0.0, 1.0, 2.0]]"),
        ("not_a_number", "[[nan, nan, nan, 2.0]]"),
        ("largest", "[[65504.0, nan, -65504.0, 2.0]]"),
    ],
)
def test_infinities_of_a_mean(rule: str, expected: str) -> None:
    asked = pool([1, np.inf, -np.inf, 2, 2], "f16", kernel=[2])
    assert str(under(asked, infinities=rule)) == expected


def test_ignored_infinities_beside_nan() -> None:
    asked = pool([np.inf, -np.inf, 4, np.nan], kernel=[2], strides=[1])
    assert str(under(asked, infinities="ignored")) == "[[0.0, 2.0, nan]]"


def test_infinities_of_a_maximum() -> None:
    asked = largest([np.inf, 1, -np.inf, -np.inf], 2, "f16")
    assert under(asked, infinities="largest") == [[65504, -65504], [0, 2]]


def test_what_a_search_begins_with() -> None:
    asked = largest([-3, -1, 2, -np.inf, -np.inf, -np.inf], 3, "f16")
    assert under(asked) == [[-1, 2, -np.inf], [1, 2, 4]]
    # What never exceeds the beginning leaves index 0.
    assert under(asked, begins="zero") == [[0, 2, 0], [0, 2, 0]]
    assert under(asked, begins="lowest") == [[-1, 2, -65504], [1, 2, 0]]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_what_largest_means(dtype: str) -> None:
    asked = largest([-3, 2, 1, -1, -2, -0.5], 2, dtype)
    assert under(asked) == [[2, -0.5], [1, 5]]
    assert under(asked, order="magnitude") == [[-3, -2], [0, 4]]
    assert under(largest([-2, 2, 2, -2], 2, dtype), order="magnitude") == [[-2, 2], [0, 2]]
    assert under(asked, order="reversed") == [[-3, -2], [0, 4]]
    # Signed codes: positive numbers in order, and of negative ones the lowest wins.
    assert under(asked, order="code") == [[2, -2], [1, 4]]
    assert under(asked, order="signed_zeros") == under(asked)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_signed_zeros_in_order(dtype: str) -> None:
    tiny = float(DTYPES[dtype].from_ordinals(np.array([-1]))[0])
    asked = largest([tiny, -0.0, 0.0, -0.0, tiny, tiny], 2, dtype)
    assert under(asked) == [[0, 0], [1, 3]]
    assert under(asked, order="signed_zeros") == [[0, 0], [2, 3]]


def test_ties() -> None:
    asked = largest([5, 1, 5, 2, 2, 2], 2)
    assert under(asked, ties="last") == [[5, 2], [2, 5]]


def test_where_results_are_put() -> None:
    data = np.arange(12).reshape(2, 3, 2)
    asked = largest(data, 1)
    assert under(asked) == [[1, 3, 5, 7, 9, 11], [1] * 6]
    assert under(asked, image="0") == [[1, 3, 5, 1, 3, 5], [1] * 6]
    assert under(asked, channel="0") == [[1, 1, 1, 7, 7, 7], [1] * 6]
    assert under(asked, channel="(c + 1) % C")[0] == [3, 5, 1, 9, 11, 7]
    assert under(asked, image="1 - n", channel="2 - c")[0] == [11, 9, 7, 5, 3, 1]
    assert under(asked, "n > 0", channel="0")[0] == [1, 3, 5, 7, 7, 7]
    # A place that is not there is the nearest one that is.
    assert under(asked, channel="c + 1")[0] == [3, 5, 5, 9, 11, 11]


def test_what_is_not_written() -> None:
    asked = largest(np.arange(1, 13).reshape(2, 3, 2), 1)
    assert under(asked, written="c < 2") == [[2, 4, 0, 8, 10, 0], [1, 1, 0, 1, 1, 0]]
    values, indices = under(asked, written="c < 2", unwritten="not_a_number")
    assert np.isnan(values).tolist() == [False, False, True] * 2
    assert indices == [1, 1, 0, 1, 1, 0]
    lowest = [[2, 4, -np.inf, 8, 10, -np.inf], [1, 1, 0, 1, 1, 0]]
    assert under(asked, written="c < 2", unwritten="minus_infinity") == lowest
    assert under(asked, "c >= 2", written="false") == under(asked, written="c < 2")


def test_what_a_tap_reads() -> None:
    asked = pool([1, 2, 4], kernel=[2])
    # Nothing beyond the data is read or counted.
    assert under(asked, reads="at + 1") == [[3, 4]]
    assert under(asked, reads="size - 1 - at") == [[3, 1.5]]
    padded = pool([1, 2, 6], kernel=[3], pads_begin=[2], exclude_pad=True)
    assert under(padded) == [[1, 1.5, 3]]
    assert under(padded, tap="at < size", reads="max(at, 0)") == [[1, float(np.float32(4 / 3)), 3]]
    assert under(padded, tap="at < size", reads="where(at < 0, at + size, at)") == [[3, 3, 3]]


def test_subnormals_flushed() -> None:
    tiny = 2.0**-24  # the smallest f16
    normal = 2.0**-14
    asked = pool([tiny, tiny, normal, normal], "f16", kernel=[2])
    middle = float(np.float16((tiny + normal) / 2))
    assert under(asked) == [[tiny, middle, normal]]
    assert under(asked, subnormals="flushed") == [[0, 0, normal]]
    asked = largest([-tiny, -normal, tiny, normal], 2, "f16")
    assert under(asked, subnormals="flushed") == [[0, normal], [0, 3]]


# What a subject makes of a variant as a whole.


def test_what_changes_nothing_gives_the_right_outputs_themselves() -> None:
    spec, case, data = pool([1, 2, 3])
    subject = Subject(spec, case, [data])
    for rules, where in [
        ({"strides": "strides"}, None),
        ({"divisor": "original + 1"}, "C > 1"),
        ({"divisor": "original + 1"}, "c > 0"),
        ({"pad_begin": "pads_begin"}, None),
    ]:
        one = Altered(spec, make_rule_change(spec, "altered", rules, where=where))
        assert subject.under(one) is subject.outputs


def test_what_cannot_be_computed_shows_nothing() -> None:
    spec, case, data = pool([1, 2, 3])
    subject = Subject(spec, case, [data])
    for rules in ({"out": "0 - 1"}, {"divisor": "1 // (c - c)"}):
        assert subject.under(Altered(spec, make_rule_change(spec, "x", rules))) is subject.outputs


def test_a_guard_picks_elements_unless_the_shape_differs() -> None:
    asked = pool([1, 2, 3, 4], kernel=[1])
    assert under(asked, "any(i == 1)", divisor="2") == [[1, 1, 3, 4]]
    assert under(asked, "any(i == 1)", out="original - 1", divisor="2") == [[0.5, 1, 1.5]]


def test_a_misread_attribute_changes_what_depends_on_it() -> None:
    asked = pool([1, 2, 3, 4], kernel=[2])
    assert under(asked, strides="2") == [[1.5, 3.5]]
    assert under(asked, pads_begin="1") == [[0.5, 1.5, 2.5, 3.5]]
    assert under(asked, kernel="strides", strides="kernel") == [[1, 3]]
    narrow = largest([1, 2], 1)
    (_, index), (_, other) = (
        Subject(*narrow[:2], narrow[2:]).under(
            Altered(narrow[0], make_rule_change(narrow[0], "x", {"index_element_type": t}))
        )
        for t in ("i64", "i32")
    )
    assert (index.dtype, other.dtype) == (np.int64, np.int32)
