"""Simulated machines stay within the intervals or are caught; changes of the text are seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_operators import operator

from conformance.core import evaluate
from conformance.core.changes import Change, changed, replaced, unchanged
from conformance.core.evaluate import Evaluation, Interval
from conformance.core.functions import FUNCTIONS
from conformance.core.loader import load_operator
from conformance.core.machine import Simulation, Style, fitted
from conformance.core.operator_reader import read_operator
from conformance.core.real import Machine
from conformance.dtypes import DTYPES
from conformance.errors import ExpressionError, SpecError

RNG = np.random.default_rng(3)
F32 = Machine(DTYPES["f32"])


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


IMAGE = normal(2, 4, 7, 6)
OFFSET = (normal(2, 4, 7, 6) * 0.1 + 10).astype(np.float32)
CASES: dict[str, tuple[dict[str, Any], dict[str, np.ndarray]]] = {
    "Conv": (
        {"group": 2, "strides": [2, 1], "pads_begin": [1, 0], "pads_end": [0, 2]},
        {"X": IMAGE, "W": normal(6, 2, 3, 2), "B": normal(6)},
    ),
    "ConvTranspose": ({"group": 2, "strides": [2, 1]}, {"X": IMAGE, "W": normal(4, 3, 3, 2)}),
    "MatMul": ({}, {"A": normal(3, 1, 4, 50), "B": normal(2, 50, 6)}),
    "Gemm": (
        {"alpha": 0.5, "beta": 0.7, "transB": True},
        {"A": normal(3, 40), "B": normal(5, 40), "C": normal(5)},
    ),
    "AveragePool": ({"kernel": [3, 2], "pads_begin": [1, 1]}, {"X": IMAGE}),
    "LpPool": ({"kernel": [3, 2], "p": 3}, {"X": IMAGE}),
    "MaxPool": ({"kernel": [3, 2]}, {"X": IMAGE}),
    "ReduceProd": ({"axes": [1]}, {"X": IMAGE}),
    "ReduceL2": ({"axes": [1]}, {"X": IMAGE}),
    "ArgMax": ({"along": 2}, {"X": IMAGE}),
    "Softmax": ({"along": 1}, {"X": IMAGE}),
    "LayerNormalization": ({"from_axis": -1}, {"X": OFFSET, "Scale": normal(6), "B": normal(6)}),
    "BatchNormalization": (
        {},
        {"X": IMAGE, "scale": normal(4), "B": normal(4), "mean": normal(4), "var": normal(4) ** 2},
    ),
    "Gelu": ({}, {"X": IMAGE}),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_of_an_index_space_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attributes, inputs = CASES[name]
    whole = Evaluation(operator(name), attributes, inputs, F32)
    expected = [*whole.outputs(), *whole.intervals()]
    monkeypatch.setattr(evaluate, "BLOCK", 100)
    parts = Evaluation(operator(name), attributes, inputs, F32)
    for a, b in zip([*parts.outputs(), *parts.intervals()], expected, strict=True):
        np.testing.assert_equal(
            vars(a) if isinstance(a, Interval) else a, vars(b) if isinstance(b, Interval) else b
        )


HONEST = [
    Style(), Style(order="backward"), Style(order="pairwise"), Style(reciprocal=True),
    Style(sums="f64"), Style(computes="f64"),
]  # fmt: skip


def refused(name: str, style: Style) -> int:
    """How many elements of a machine's outputs are outside of what is accepted."""
    attributes, inputs = CASES[name]
    intervals = Evaluation(operator(name), attributes, inputs, F32).intervals()
    outputs = Simulation(operator(name), attributes, inputs, style).outputs()
    return sum(
        int((~((i.lo <= output) & (output <= i.hi) | i.unspecified)).sum())
        for i, output in zip(intervals, outputs, strict=True)
    )


@pytest.mark.parametrize("name", CASES)
def test_honest_machines_stay_within(name: str) -> None:
    assert [refused(name, style) for style in HONEST] == [0] * len(HONEST)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("ArgMax", "MaxPool")])
def test_a_machine_that_reads_bf16_is_caught(name: str) -> None:
    assert refused(name, Style(converts="bf16")) > 0


@pytest.mark.parametrize("name", ["Conv", "MatMul", "Gemm", "ReduceL2", "Softmax"])
@pytest.mark.parametrize("sums", ["f16", "bf16"])
def test_a_machine_that_sums_in_few_digits_is_caught(name: str, sums: str) -> None:
    assert refused(name, Style(sums=sums)) > 0


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        (Style(), [np.nan, 3.0]),
        (Style(skips_nan=True), [2.0, 3.0]),
        (Style(from_zero=True), [np.nan, 3.0]),
    ],
)
def test_habits_of_a_search(style: Style, expected: list[float]) -> None:
    data = np.asarray([[[1, np.nan, 2], [3, -1, -2]]], np.float32)
    (output, _) = Simulation(operator("MaxPool"), {"kernel": [3]}, {"X": data}, style).outputs()
    np.testing.assert_array_equal(output.ravel(), expected)


def test_a_search_never_finds_what_is_left_out() -> None:
    data = np.full((1, 1, 2), -np.inf, np.float32)
    attributes = {"kernel": [2], "pads_begin": [1]}
    values, indices = Simulation(
        operator("MaxPool"), attributes, {"X": data}, Style(sums="f16")
    ).outputs()
    assert values.ravel().tolist() == [-np.inf] * 2
    right = Evaluation(operator("MaxPool"), attributes, {"X": data}).outputs()[1]
    np.testing.assert_array_equal(indices, right)


MEAN = """
op: own.Mean
types: {T: [i32]}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define:
  Y: {at: {i: 1}, over: {k: N}, term: "X[k]", combine: sum, finish: total / N, rounding: nearest}
outputs: [{name: Y, type: T}]
"""


@pytest.mark.parametrize(
    ("style", "data", "expected"),
    [
        (Style(), [2**31 - 1], -(2**31)),
        (Style(saturates=True), [2**31 - 1], 2**31 - 128),
        (Style(computes="f64", saturates=True), [2**31 - 1], 2**31 - 1),
        # The sum becomes 2**24 + 4 in f32, and a third of it 5592406.5.
        (Style(sums="i32"), [2**24, 5, 0], 5592406),
        (Style(sums="i32", computes="f64"), [2**24, 5, 0], 5592407),
        (Style(sums="i32"), [2**31 - 1, 1], -(2**30)),
    ],
)
def test_whole_numbers_of_a_machine(style: Style, data: list[int], expected: int) -> None:
    inputs = {"X": np.asarray(data, np.int32)}
    (output,) = Simulation(read_operator(MEAN), {}, inputs, style).outputs()
    assert output.tolist() == [expected]


SUM = """
op: own.Sum
types: {T: [f32]}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define:
  Y: {at: {i: 1}, over: {k: N}, term: "X[k]", combine: sum}
outputs: [{name: Y, type: T}]
"""


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_each_sum_of_a_row_is_rounded(name: str) -> None:
    terms = RNG.normal(size=400) * 10.0 ** RNG.integers(-3, 4, 400)
    data = terms.astype(DTYPES["f32"].numpy)
    (output,) = Simulation(
        read_operator(SUM), {}, {"X": data}, Style(computes="f64", sums=name)
    ).outputs()
    total = np.float64(0)
    for term in fitted(data, DTYPES[name]):
        total = fitted(total + term, DTYPES[name])
    assert output == fitted(total, DTYPES["f32"])


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_rounding_to_a_format_is_that_of_the_type(name: str) -> None:
    format_ = DTYPES[name]
    values = np.concatenate(
        [
            RNG.normal(size=500) * 2.0 ** RNG.integers(-140, 129, 500),
            [0, np.inf, -np.inf, np.nan, 65519.9, 65520, 1e39],
        ]
    )
    with np.errstate(all="ignore"):
        values = values.astype(np.float32)
        expected = values.astype(format_.numpy).astype(np.float64)
    np.testing.assert_array_equal(fitted(values.astype(np.float64), format_), expected)


MUTANTS: dict[tuple[str, str], Change] = {
    ("Conv", "pads-reversed"): {"define.Y.with.x": {"pad_begin": "reverse(pad_begin)"}},
    ("Conv", "strides-on-the-wrong-axis"): {"define.Y.with.x": {"strides": "reverse(strides)"}},
    ("Conv", "kernel-flipped"): {
        "define.Y.term": {"W[filter, c, k]": "W[filter, c, kernel - 1 - k]"}
    },
    ("Conv", "groups-read-the-first"): {"define.Y.term": {"g * (C // group) + c": "c"}},
    ("Conv", "bias-by-group"): {"define.Y.finish": "total + B[g]"},
    ("Conv", "padding-clamps"): {"define.Y.term": {"x": "clamp(x, 0, size - 1)"}},
    ("Conv", "last-channel-left-out"): {"define.Y.over.c": "max(1, original - 1)"},
    ("Gemm", "beta-ignored"): {"define.Y.finish": {"beta": "1"}},
    ("Gemm", "alpha-on-both"): {"define.Y.finish": "alpha * (total + beta * C[i, j])"},
    ("MatMul", "batch-not-stretched"): {"define.Y.term": {"B[b, k, j]": "B[b * 0, k, j]"}},
    ("LayerNormalization", "n-minus-1"): {"define.spread_of.finish": {"terms": "(terms - 1)"}},
    ("ArgMax", "smallest"): {"define.first.combine": "first_min"},
}


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_a_mutant_gives_other_outputs(name: str, mutant: str) -> None:
    attributes, inputs = CASES[name]
    (output, *_) = Evaluation(
        changed(operator(name), MUTANTS[name, mutant]), attributes, inputs
    ).outputs()
    (interval, *_) = Evaluation(operator(name), attributes, inputs, F32).intervals()
    assert not ((interval.lo <= output) & (output <= interval.hi)).all()


def test_the_text_keeps_what_is_not_changed() -> None:
    assert replaced("a + b * c", "b * c", "d - 1") == "a + (d - 1)"
    assert replaced("a + b", "a", "b + a") == "b + a + b"
    with pytest.raises(ExpressionError, match=r"'a \+ b' has no 'c'"):
        replaced("a + b", "c", "d")


def test_changes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ExpressionError, match="Z"):
        changed(operator("Conv"), {"define.Z.term": "0"})
    with pytest.raises(SpecError, match="unknown name 'strids'"):
        changed(operator("Conv"), {"define.Y.with.x": {"strides": "strids"}})


def test_of_a_changed_operator_only_what_is_changed_is_parsed() -> None:
    conv = operator("Conv")
    other = changed(conv, {"define.Y.with.x": {"strides": "1"}})
    assert other.define["Y"].abbreviations["x"] is not conv.define["Y"].abbreviations["x"]
    assert other.define["Y"].term is conv.define["Y"].term
    assert all(tree is conv.let[name] for name, tree in other.let.items())
    assert other.data["let"] is conv.data["let"]


def test_what_a_change_leaves_alone_is_known() -> None:
    attributes, inputs = CASES["LayerNormalization"]
    original = Evaluation(operator("LayerNormalization"), attributes, inputs)
    mutant = Evaluation(
        changed(operator("LayerNormalization"), MUTANTS["LayerNormalization", "n-minus-1"]),
        attributes,
        inputs,
    )
    assert unchanged(original, mutant).definitions == {"mean", "deviation"}
    attributes, inputs = CASES["Conv"]
    original = Evaluation(operator("Conv"), {}, {"X": IMAGE, "W": normal(2, 4, 1, 1)})
    same = Evaluation(
        changed(operator("Conv"), {"let.pad_begin": "where(auto_pad == NOTSET, pads_end, 0)"}),
        {},
        {"X": IMAGE, "W": normal(2, 4, 1, 1)},
    )
    assert unchanged(original, same).definitions == {"Y"}


def test_a_machine_saturates_i64_at_a_number_that_it_has() -> None:
    """The largest i64 rounds up in f32 and in f64, out of the type."""
    operator = load_operator("MaxPool-14")
    attributes = {"kernel": [1], "strides": [1], "pads_begin": [0], "pads_end": [0]}
    data = np.array([[[2**63 - 1, -(2**63)]]], np.int64)
    style = Style(computes="f32", saturates=True)
    values, _ = Simulation(operator, attributes, {"data": data}, style).outputs()
    assert values.tolist() == [[[2**63 - 2**39, -(2**63)]]]


def test_the_first_root_of_a_machine_is_the_number() -> None:
    root = FUNCTIONS["root"].real
    assert root is not None
    assert root.machine(np.array([-3.0, 4.0]), 1).tolist() == [-3, 4]
    assert np.isnan(root.machine(np.array([-3.0]), 3)).all()


def test_a_machine_leaves_out_what_is_no_number() -> None:
    text = "{at: {}, over: {k: K}, keep: 'not is_nan(X[k])', term: 'X[k]', combine: sum}"
    own = read_operator(
        "op: own.Sum\ntypes: {T: [f32]}\ndims: {K: {}}\n"
        "inputs: [{name: X, type: T, shape: [K]}]\n"
        f"define:\n  Y: {text}\noutputs: [{{name: Y, type: T}}]\n"
    )
    data = np.array([1, np.nan, 2], np.float32)
    (total,) = Simulation(own, {}, {"X": data}, Style(computes="f32")).outputs()
    assert total == 3
