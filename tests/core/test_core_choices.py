"""Definitions that choose a term: types of indices, ties, rows of nothing or of no number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.core.answers import answers, readings
from conformance.core.evaluate import Evaluation
from conformance.core.operator_reader import read_operator
from conformance.dtypes import name_of
from conformance.errors import EvaluationError, InvalidCase, SpecError
from conformance.model import ALL_OPEN, Answer, Case

LARGEST = """
op: own.Largest
types: {T: [f16, f32, i8]}
attributes:
  index_type: {type: word, values: [i64, i32], default: i64}
dims: {N: {}, K: {}}
inputs:
  - {name: X, type: T, shape: [N, K]}
define:
  Y:
    at: {n: N}
    over: {k: K}
    term: "X[n, k]"
    combine: max
  Index:
    at: {n: N}
    over: {k: K}
    term: "X[n, k]"
    combine: first_max
    finish: k
outputs:
  - {name: Y, type: T}
  - {name: Index, type: index_type}
"""


def evaluated(text: str, values: Any, dtype: str = "f4", **attributes: Any) -> Evaluation:
    return Evaluation(read_operator(text), attributes, {"X": np.asarray(values, dtype)})


def test_an_attribute_says_the_type_of_an_output() -> None:
    for stated, dtype in (({}, "int64"), ({"index_type": "i32"}, "int32")):
        (_, index) = evaluated(LARGEST, [[1, 3, 2]], **stated).outputs()
        assert (index.dtype, index.tolist()) == (np.dtype(dtype), [1])
    with pytest.raises(InvalidCase, match="none of i64, i32"):
        evaluated(LARGEST, [[1, 3, 2]], index_type="u8")


def test_a_variable_without_an_input_is_the_first_of_its_types() -> None:
    text = LARGEST.replace("type: index_type", "type: I").replace("{T:", "{I: [i32], T:")
    assert evaluated(text, [[1, 3, 2]]).outputs()[1].dtype == np.int32
    text = text.replace("I: [i32]", "I: [i32, i64]")
    assert evaluated(text, [[1, 3, 2]]).outputs()[1].dtype == np.int32


def test_an_attribute_of_other_words_is_no_type() -> None:
    with pytest.raises(SpecError, match="'index_type' is not a type of this file"):
        read_operator(LARGEST.replace("values: [i64, i32]", "values: [i64, long]"))


KEPT = LARGEST.replace(
    "combine: max",
    "keep: X[n, k] != 0\n    combine: max\n    unspecified: terms == 0 or is_nan(total)",
).replace(
    "combine: first_max",
    "keep: X[n, k] != 0\n    combine: first_max\n    unspecified: terms == 0 or is_nan(total)",
)


def outputs(text: str, values: Any, dtype: str = "f4") -> tuple[Answer, ...]:
    operator = read_operator(text)
    array = np.asarray(values, dtype)
    case = Case(operator.op, {"T": name_of(array.dtype)}, {"X": array.shape}, {})
    return answers(operator, case, [array])


@pytest.mark.parametrize("dtype", ["f4", "i1"])
def test_the_largest_of_nothing_is_unspecified_where_the_text_says_so(dtype: str) -> None:
    for output in outputs(KEPT, [[0, 0, 0], [0, -3, -2]], dtype):
        assert output.open is not None
        assert output.open.tolist() == [ALL_OPEN, 0]
    with pytest.raises(EvaluationError, match="max of nothing"):
        outputs(KEPT.replace("terms == 0 or", ""), [[0, 0, 0]], dtype)


def test_the_largest_of_nothing_is_the_lowest_of_all() -> None:
    (largest, _) = evaluated(KEPT, [[0, 0, 0]]).outputs()
    assert largest.tolist() == [-np.inf]
    (largest, _) = evaluated(KEPT, [[0, 0, 0]], "i1").outputs()
    assert largest.tolist() == [-128]


def test_rows_with_nan_are_unspecified_where_the_text_says_so() -> None:
    values = [[1, np.nan, 2], [1, 4, 2]]
    largest, index = outputs(KEPT, values)
    assert largest.open is not None
    assert index.open is not None
    assert largest.open.tolist() == index.open.tolist() == [ALL_OPEN, 0]
    assert (largest.expected[1], index.expected[1]) == (4, 1)


@pytest.mark.parametrize(
    ("dtype", "lowest"), [("f2", -65504.0), ("f4", -(2.0**128 - 2.0**104)), ("i1", -128)]
)
def test_the_lowest_number_of_a_type_is_exact(dtype: str, lowest: float) -> None:
    text = LARGEST.replace("combine: max", "combine: max\n    finish: max(total, lowest(X))")
    least = lowest if dtype == "i1" else -np.inf
    (largest, _) = outputs(text, [[least, least], [least, 1]], dtype)
    assert largest.open is None
    assert largest.expected.tolist() == [lowest, 1]
    if largest.lo is not None:
        assert largest.lo.tolist() == largest.expected.tolist()


def test_the_bottom_of_a_type_is_minus_infinity_or_the_lowest_whole_number() -> None:
    text = LARGEST.replace("finish: k", "finish: where(total == bottom(X), 7, k)")
    lowest = float(np.finfo(np.float32).min)
    for rows, dtype in (([[-np.inf, -np.inf], [-np.inf, lowest]], "f4"), ([[-128], [-127]], "i1")):
        _, index = outputs(text, rows, dtype)
        assert index.expected.tolist() == [7, len(rows[0]) - 1]


def test_the_lowest_number_is_that_of_a_tensor() -> None:
    with pytest.raises(SpecError, match="'lowest' needs a tensor"):
        read_operator(LARGEST.replace('term: "X[n, k]"', "term: lowest(3)"))


def test_any_of_several_equal_terms_may_be_chosen() -> None:
    text = LARGEST.replace("first_max", "any_max")
    _, index = outputs(text, [[5, 1, 5, 5], [1, 2, 3, 3], [9, 1, 2, 3]])
    assert index.expected.tolist() == [0, 2, 0]
    assert index.choices is not None
    assert index.choices.tolist() == [[0, 2, 3], [2, 3, -1], [0, -1, -1]]
    assert outputs(text, [[9, 1, 2, 3]])[1].choices is None
    assert outputs(text, np.zeros((0, 4)))[1].choices is None


def test_choices_of_one_number_are_listed_once_and_none_where_there_is_no_value() -> None:
    text = KEPT.replace("first_max", "any_max").replace("finish: k", "finish: k // 2")
    _, index = outputs(text, [[5, 5, 5, 1], [0, 0, 0, 0], [np.nan, 1, 1, 1]])
    assert index.choices is not None
    assert index.choices[0].tolist() == [0, 1]
    assert (index.choices[1:, 1:] == -1).all()


def test_choices_of_parts_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    text = LARGEST.replace("first_max", "any_max")
    values = [[5, 1, 2], [1, 2, 2], [4, 4, 4], [1, 2, 3]]
    whole = outputs(text, values)[1].choices
    monkeypatch.setattr("conformance.core.evaluate.BLOCK", 3)
    assert np.array_equal(outputs(text, values)[1].choices, whole)
    assert whole.tolist() == [[0, -1, -1], [1, 2, -1], [0, 1, 2], [2, -1, -1]]


def test_an_interpretation_leaves_open_which_of_several_is_chosen() -> None:
    operator = read_operator(
        LARGEST
        + """
interpretations:
  any-largest:
    question: index among equal elements
    adopted: the first
    answer: any of them
    why: The document does not say.
    change: {define.Index.combine: any_max}
"""
    )
    for values, choices in (([[1, 2, 2]], [[1, 2]]), ([[1, 2, 3]], None)):
        array = np.asarray(values, np.float32)
        case = Case(operator.op, {"T": "f32"}, {"X": array.shape}, {})
        under = readings(operator, case, [array], answers(operator, case, [array]))
        if choices is None:
            assert not under
        else:
            assert under["any-largest"][1].choices.tolist() == choices


FLUSHED = (
    LARGEST
    + """
interpretations:
  flushes-subnormals:
    question: subnormal numbers
    adopted: kept
    answer: replaced by zero
    why: Many processors do so on request.
    change: {define.Y.term: flushed(original), define.Index.term: flushed(original)}
"""
)
TINY = 2.0**-24
"""The smallest subnormal number of f16."""


@pytest.mark.parametrize(
    ("row", "expected", "lo", "hi", "index", "choices"),
    [
        ([-1, -TINY, -3 * TINY], 0, -TINY, 0, 1, [1, 2]),
        ([TINY, 3 * TINY, -1], 0, 0, 3 * TINY, 0, [0, 1]),
        ([0, -TINY, 0], 0, 0, 0, 0, [0, 1, 2]),
        ([1, TINY, 1], 1, 1, 1, 0, None),
        ([-1, TINY, -2], 0, 0, TINY, 1, None),
        ([0, 0, -1], 0, 0, 0, 0, None),
    ],
)
def test_the_largest_of_what_may_be_flushed(
    row: list[float], expected: float, lo: float, hi: float, index: int, choices: list[int] | None
) -> None:
    operator, array = read_operator(FLUSHED), np.asarray([row], np.float16)
    case = Case(operator.op, {"T": "f16"}, {"X": array.shape}, {})
    base = answers(operator, case, [array])
    under = readings(operator, case, [array], base).get("flushes-subnormals", base)
    largest, chosen = under
    assert largest.rounded is not None
    assert largest.lo is not None
    assert largest.hi is not None
    assert largest.rounded.tolist() == largest.expected.tolist() == [expected]
    assert (largest.lo.tolist(), largest.hi.tolist()) == ([lo], [hi])
    assert chosen.expected.tolist() == [index]
    assert (None if chosen.choices is None else chosen.choices[0].tolist()) == choices


def test_an_element_alone_is_flushed() -> None:
    with pytest.raises(SpecError, match="this is no element of a tensor"):
        read_operator(LARGEST.replace('term: "X[n, k]"', 'term: "flushed(X[n, k] + 1)"'))


def test_an_interpretation_of_unspecified_elements_alone_says_nothing() -> None:
    text = KEPT + FLUSHED[len(LARGEST) :].replace("flushed(original)", "original").replace(
        "define.Y.term: original", "define.Y.finish: 'max(total, lowest(X))'"
    )
    operator = read_operator(text)
    for row, names in (([0, 0], []), ([0, -np.inf], ["flushes-subnormals"])):
        array = np.asarray([row], np.float32)
        case = Case(operator.op, {"T": "f32"}, {"X": array.shape}, {})
        under = readings(operator, case, [array], answers(operator, case, [array]))
        assert [*under] == names


def test_the_lowest_integers_are_compared_exactly() -> None:
    text = LARGEST.replace("i8]", "i64]")
    lowest = np.iinfo(np.int64).min
    largest, index = outputs(text, [[lowest, 5, 3], [lowest, lowest, lowest]], "i8")
    assert largest.expected.tolist() == [5, lowest]
    assert index.expected.tolist() == [1, 0]


def test_what_may_be_flushed_is_no_infinity() -> None:
    text = FLUSHED.replace("finish: k", "finish: where(total == bottom(X), 7, k)")
    operator, array = read_operator(text), np.asarray([[TINY, -1]], np.float16)
    case = Case(operator.op, {"T": "f16"}, {"X": array.shape}, {})
    under = readings(operator, case, [array], answers(operator, case, [array]))
    assert under["flushes-subnormals"][1].expected.tolist() == [0]


WINDOWS = """
op: own.Windows
types: {T: [f32]}
attributes: {taps: {per: axis, min: 1}}
dims: {N: {}, size: {per: axis}}
inputs: [{name: X, type: T, shape: [N, size]}]
let: {out: size + 9}
define:
  Sum:
    at: {n: N, i: out}
    over: {k: taps}
    outside: skip
    term: "X[n, i + k]"
    combine: sum
    finish: total / terms
    unspecified: terms == 0
  Index:
    at: {n: N, i: out}
    over: {k: taps}
    keep: prod(i + k) < prod(size)
    outside: skip
    term: "X[n, i + k]"
    combine: any_max
    finish: flat(i + k, size)
    unspecified: terms == 0
  Above:
    at: {n: N, i: out}
    value: "Sum[n, i] + 1"
outputs: [{name: Sum, type: T}, {name: Index, type: i64}, {name: Above, type: T}]
"""


def test_nothing_is_computed_where_nothing_comes_out() -> None:
    """All terms of one row would be 10**17 numbers."""
    operator, shape = read_operator(WINDOWS), (0, 1, 1, 1, 1)
    case = Case(operator.op, {"T": "f32"}, {"X": shape}, {"taps": [10_000] * 4})
    for output in answers(operator, case, [np.zeros(shape, np.float32)]):
        assert output.expected.shape == (0, 10, 10, 10, 10)
        assert output.open is None
