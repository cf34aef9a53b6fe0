"""Precision tiled holds Winograd's algorithms, and nothing sloppy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import winograd

from conformance.core.answers import answers
from conformance.core.loader import load_operator
from conformance.core.operator import Operator
from conformance.core.operator_reader import read_operator
from conformance.core.patterns import fill
from conformance.core.tiled import FACTOR, windowed_sum
from conformance.dtypes import DTYPES
from conformance.grade.compare import compare
from conformance.grade.findings import group_failures
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.grade.precision import parse_precision
from conformance.model import Answer, Case, Result, Status, Vector
from conformance.run.claim_text import RunScope, conclude
from conformance.suite.members import MemberReader, MemberWriter
from conformance.verdict import ResultCounts

Array = Any
F32 = DTYPES["f32"]
CONV = "onnx.Conv-22"
PATTERNS = ("whole", "signs", "fractions", "binades")


def data(x: str, w: str, channels: int, seed: int = 0, dtype: str = "f32") -> list[Array]:
    form = DTYPES[dtype]
    image = fill(x, 2 * seed, (1, channels, 12, 11), form)
    return [image, fill(w, 2 * seed + 1, (2, channels, 3, 3), form), None]


def expected(inputs: list[Array], op: str = CONV, **attributes: Any) -> Answer:
    operator = load_operator(op)
    pairs = zip(operator.inputs, inputs, strict=True)
    shapes = {tensor.name: array.shape for tensor, array in pairs if array is not None}
    return answers(operator, Case(op, {"T": "f32"}, shapes, attributes), inputs)[0]


def wrong(answer: Answer, got: Array, precision: str) -> int:
    return compare(answer, got, precision).count


@pytest.mark.parametrize("x", PATTERNS)
@pytest.mark.parametrize("w", PATTERNS)
def test_winograd_is_inside(x: str, w: str) -> None:
    for channels in (1, 3, 16):
        for seed in range(3):
            inputs = data(x, w, channels, seed)
            answer = expected(inputs)
            for transforms in (winograd.F2, winograd.F4):
                output = winograd.convolved(inputs[0], inputs[1], transforms)
                assert wrong(answer, output, "tiled") == 0
            padded = expected(inputs, pads=[1, 1, 1, 1])
            output = winograd.convolved(inputs[0], inputs[1], winograd.F4, pad=1)
            assert wrong(padded, output, "tiled") == 0


@pytest.mark.parametrize("x", ["fractions", "binades"])
def test_f4_is_outside_of_standard(x: str) -> None:
    inputs = data(x, "binades", 1)
    output = winograd.convolved(inputs[0], inputs[1], winograd.F4)
    comparison = compare(expected(inputs), output, "standard")
    assert comparison.count > 0
    assert comparison.reached == "tiled"


@pytest.mark.parametrize("x", ["fractions", "binades"])
@pytest.mark.parametrize("w", ["fractions", "binades"])
@pytest.mark.parametrize("channels", [1, 16])
def test_what_is_sloppy_is_refused(x: str, w: str, channels: int) -> None:
    inputs = data(x, w, channels)
    answer = expected(inputs)
    assert wrong(answer, winograd.direct(inputs[0], inputs[1]), "standard") == 0
    in_bf16 = winograd.direct(inputs[0], inputs[1], sums="bf16")
    assert wrong(answer, in_bf16, "tiled") > 0
    last = inputs[1][0].size - 1
    lacking = winograd.direct(inputs[0], inputs[1], dropped=last)
    assert wrong(answer, lacking, "tiled") > answer.expected.size / 5


def test_the_constant_is_above_the_largest_error_that_is_seen() -> None:
    unit = 2.0**-24
    worst = 0.0
    for seed in range(4):
        for channels in (1, 4):
            x, w, _ = data("fractions", "binades", channels, seed)
            output = winograd.convolved(x, w, winograd.F4)
            answer = expected([x, w, None])
            assert answer.slack is not None
            error = np.abs(output - answer.expected)
            worst = max(worst, float((error / (answer.slack / (FACTOR * unit))).max() / unit))
    assert 15 < worst < FACTOR / 1.5


def test_how_errors_grow_in_two_dimensions() -> None:
    inputs, taps, results = (abs(matrix) for matrix in winograd.F4)
    at_most = results @ (taps.max(axis=1) * inputs.sum(axis=1))
    squares = results**2 @ ((taps**2).sum(axis=1) * (inputs**2).sum(axis=1))
    assert round(at_most.max() ** 2) == 860
    assert round(squares.max()) == 94


def test_slack_is_that_of_the_largest_terms_of_a_tile() -> None:
    # Seven results, four in a tile; the one large number is read by three, and near to all.
    x = np.ones((1, 1, 20), np.float32)
    x[0, 0, 0] = 1024
    answer = expected([x, np.ones((1, 1, 3), np.float32), None])
    assert answer.slack is not None
    slack = answer.slack.ravel() * 2.0**24 / FACTOR
    assert slack[3:].min() >= 3
    assert slack[0] == pytest.approx(3 * 1024, rel=0.14)
    assert slack[-1] == pytest.approx(3, rel=0.14)
    # A tile's length is 6: from the fifth read behind it, nothing large is near.
    assert (slack > 1024).sum() == 6


def test_infinities_and_nan_leave_their_tile_open_and_no_more() -> None:
    x = np.ones((1, 1, 20), np.float32)
    x[0, 0, 0] = np.inf
    answer = expected([x, np.ones((1, 1, 3), np.float32), None])
    unchecked = answer.unchecked("tiled")
    assert unchecked is not None
    assert unchecked.ravel().tolist() == [True] * 6 + [False] * 12
    output = np.full(answer.expected.shape, np.nan, np.float32)
    assert wrong(answer, output, "tiled") == 12
    assert wrong(answer, output, "standard") == 18


def test_a_bias_that_is_nan_is_graded() -> None:
    x, w = np.ones((1, 1, 5), np.float32), np.ones((1, 1, 3), np.float32)
    answer = expected([x, w, np.array([np.nan], np.float32)])
    assert answer.unchecked("tiled") is None
    assert wrong(answer, np.zeros((1, 1, 3), np.float32), "tiled") == 3
    assert wrong(answer, np.full((1, 1, 3), np.nan, np.float32), "tiled") == 0


@pytest.mark.parametrize(
    "attributes", [{"strides": [3, 3]}, {"dilations": [1, 1], "strides": [4, 5]}]
)
def test_windows_that_do_not_overlap_have_no_slack(attributes: dict[str, Any]) -> None:
    assert expected(data("fractions", "fractions", 2), **attributes).slack is None


def test_a_kernel_of_one_element_has_no_slack() -> None:
    x, w, _ = data("fractions", "fractions", 2)
    assert expected([x, w[..., :1, :1], None]).slack is None


def test_a_transposed_convolution_has_slack() -> None:
    x, w, _ = data("fractions", "fractions", 2)
    assert (
        expected([x, w[:, :1].reshape(2, 1, 3, 3), None], "onnx.ConvTranspose-22").slack is not None
    )


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f64"])
def test_slack_has_the_type_of_the_output(dtype: str) -> None:
    operator = load_operator(CONV)
    inputs = data("fractions", "fractions", 2, dtype=dtype)
    shapes = {"X": inputs[0].shape, "W": inputs[1].shape}
    (answer,) = answers(operator, Case(CONV, {"T": dtype}, shapes, {}), inputs)
    assert answer.slack is not None
    assert answer.slack.dtype == DTYPES[dtype].numpy
    low, high = answer.interval("tiled")
    assert answer.lo is not None
    assert np.all(low <= answer.lo)
    assert low.dtype == answer.lo.dtype
    assert np.all(high >= low)


SUM = """
op: Sum
types: {T: [f32]}
dims: {N: {}, K: {}, P: {}}
inputs:
  - {name: X, type: T, shape: [N]}
  - {name: W, type: T, shape: [K]}
  - {name: V, type: T, shape: [P, K]}
define:
  Y:
    at: {i: P}
    over: {k: K}
    outside: 0
    term: TERM
    combine: sum
    finish: FINISH
outputs:
  - {name: Y, type: T}
"""


def sum_of(term: str, finish: str = "total") -> Operator:
    return read_operator(SUM.replace("TERM", f'"{term}"').replace("FINISH", finish))


@pytest.mark.parametrize(
    ("term", "finish", "applies"),
    [
        ("X[i + k] * W[k]", "total", True),
        ("W[k] * X[2 * i - k]", "total", True),
        ("X[i // 2 + k] * W[k]", "total + X[i]", True),
        ("X[i + k] * W[k]", "2 * total", False),
        ("X[i + k] * W[k]", "total * X[i]", False),
        ("X[i + k] * V[i, k]", "total", False),  # taps of their own for each result
        ("X[i + k] * W[0]", "total", False),  # not a sum over taps
        ("X[k] * V[i, k]", "total", False),
        ("X[i + k] + W[k]", "total", False),
        ("X[i + k] * X[k] * W[k]", "total", False),
    ],
)
def test_where_it_applies_follows_from_the_text(term: str, finish: str, applies: bool) -> None:
    operator = sum_of(term, finish)
    assert (windowed_sum(operator, operator.outputs[0]) is not None) == applies


def test_a_vector_keeps_its_slack() -> None:
    x, w, _ = data("fractions", "binades", 1)
    answer = expected([x, w, None])
    shapes = {"X": x.shape, "W": w.shape}
    case = Case(CONV, {"T": "f32"}, shapes, {}, pattern="fractions+binades+whole")
    vector = Vector(case.id, case, "must", (), "A convolution.", "generated", (x, w), (answer,))
    writer = MemberWriter()
    record = writer.outputs("", vector.answers)
    (read,) = MemberReader(dict(writer.written), "here").answers(record, "here")
    assert read.slack is not None
    assert answer.slack is not None
    assert read.slack.tobytes() == answer.slack.tobytes()


@pytest.mark.parametrize(
    ("precision", "status", "message"),
    [
        ("standard", Status.FAIL, "elements are wrong; all are within precision tiled"),
        ("tiled", Status.PASS, ""),
    ],
)
def test_the_verdict_on_winograd_says_what_it_looks_like(
    precision: str, status: Status, message: str
) -> None:
    x, w, _ = data("fractions", "binades", 1)
    answer = expected([x, w, None])
    case = Case(CONV, {"T": "f32"}, {"X": x.shape, "W": w.shape}, {})
    vector = Vector(case.id, case, "must", (), "A convolution.", "generated", (x, w), (answer,))
    outputs = [winograd.convolved(x, w, winograd.F4)]
    result = judge(
        vector, Outcome(Ending.RETURNED, outputs), level="must", precision={"f32": precision}
    )
    assert result.status is status
    assert result.precision == "tiled"
    assert message in result.message
    if status is Status.FAIL:
        (finding,) = group_failures([result], command=())
        assert finding.message.endswith("with --precision tiled these vectors pass")


def test_nan_beside_an_infinity_does_not_look_like_winograd() -> None:
    # Of the case that onnx's evaluator gets wrong: a gap of dilated taps times infinity.
    x = np.array([[[1, np.inf, 1, 1]]], np.float32)
    w = np.ones((1, 1, 2), np.float32)
    answer = expected([x, w, None], dilations=[2])
    case = Case(CONV, {"T": "f32"}, {"X": x.shape, "W": w.shape}, {"dilations": [2]})
    vector = Vector(case.id, case, "must", (), "A convolution.", "generated", (x, w), (answer,))
    outcome = Outcome(Ending.RETURNED, [np.array([[[np.nan, np.inf]]], np.float32)])
    result = judge(vector, outcome, level="must", precision={"f32": "standard"})
    assert result.precision == "tiled"
    (finding,) = group_failures([result], command=())
    assert "Winograd" not in finding.message


def test_a_claim_at_tiled_says_so() -> None:
    passed = Result("a", CONV, Status.PASS, dtype="f32", precision="tiled")
    counts = ResultCounts.of({CONV: 1}, [passed])
    scope = RunScope(
        "winograd", "core", ("0" * 64,), "must", parse_precision("tiled"), 1, 1, whole=True
    )
    footer = conclude(counts, scope, interrupted=False)
    assert "conformant with onnx.Conv-22 (must, tiled)" in footer["claim"]
    assert "it is no claim at standard" in footer["sentence"]
    assert footer["precision_reached"] == {"f32": "tiled"}


def test_native_and_tiled_together_are_neither() -> None:
    results = [
        Result(name, CONV, Status.PASS, dtype="f16", precision=name) for name in ("native", "tiled")
    ]
    assert ResultCounts.of({CONV: 2}, results).reached == {"f16": None}
