"""Definitions that choose a term: types of indices, ties, rows of nothing or of no number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.core.evaluate import Evaluation
from conformance.core.operator import read_operator
from conformance.errors import InvalidCase, SpecError

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


def test_a_variable_of_a_single_type_needs_no_input() -> None:
    text = LARGEST.replace("type: index_type", "type: I").replace("{T:", "{I: [i32], T:")
    assert evaluated(text, [[1, 3, 2]]).outputs()[1].dtype == np.int32
    text = text.replace("I: [i32]", "I: [i32, i64]")
    with pytest.raises(InvalidCase, match="no input says the type of Index"):
        evaluated(text, [[1, 3, 2]]).outputs()


def test_an_attribute_of_other_words_is_no_type() -> None:
    with pytest.raises(SpecError, match="'index_type' is not a type of this file"):
        read_operator(LARGEST.replace("values: [i64, i32]", "values: [i64, long]"))
