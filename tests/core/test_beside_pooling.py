"""Values and intervals of an average beside those that were proven by hand for pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_operators import operator

from conformance.core.evaluate import Evaluation
from conformance.core.operator_reader import read_operator
from conformance.core.real import Machine, Real
from conformance.dtypes import DTYPES
from conformance.errors import EvaluationError, InvalidCase
from conformance.reference import answers
from conformance.spec.case_environment import case_from_inputs
from conformance.spec.loader import find_spec

OP, OWN = "AvgPool-16", operator("AveragePool")

TERMS = """
op: own.Terms
types: {T: [f16, bf16, f32, f64]}
attributes:
  kernel: {per: axis}
  strides: {per: axis, default: 1}
  dilations: {per: axis, default: 1}
  begin: {per: axis, default: 0}
  out: {per: axis}
dims: {N: {}, C: {}, size: {per: axis}}
inputs: [{name: X, type: T, shape: [N, C, size]}]
define:
  Y:
    at: {n: N, c: C, i: out}
    over: {k: kernel}
    with: {x: i * strides + k * dilations - begin}
    outside: 0
    term: "where(X[n, c, x] == 0, 1, 0)"
    combine: sum
outputs: [{name: Y, type: T}]
"""


def draw(seed: int) -> tuple[str, dict[str, Any], np.ndarray]:
    """An element type, attributes, and data of many kinds."""
    rng = np.random.default_rng(seed)
    axes = int(rng.integers(1, 4))

    def per_axis(low: int, high: int) -> list[int]:
        return [int(n) for n in rng.integers(low, high + 1, axes)]

    kernel = per_axis(1, [30, 5, 3][axes - 1])
    attributes = {
        "kernel": kernel,
        "strides": per_axis(1, 3),
        "dilations": per_axis(1, 2),
        "pads_begin": [int(rng.integers(0, n)) for n in kernel],
        "pads_end": [int(rng.integers(0, n)) for n in kernel],
        "ceil_mode": False,
        "count_include_pad": bool(rng.integers(2)),
        "p": int(rng.integers(1, 5)),
    }
    dtype = ["f32", "f32", "f16", "bf16", "f64"][rng.integers(5)]
    shape = (int(rng.integers(1, 3)), int(rng.integers(1, 3)), *per_axis(1, [60, 9, 5][axes - 1]))
    data = [
        lambda: rng.normal(size=shape),
        lambda: rng.integers(-8, 9, shape),
        lambda: rng.normal(size=shape) * 2.0 ** rng.integers(-12, 13, shape),
        lambda: np.full(shape, 7),
        lambda: rng.normal(size=shape) * (rng.random(shape) < 0.5),
        lambda: rng.normal(size=shape) * 2.0 ** (DTYPES[dtype].emin + 2),
        lambda: rng.integers(-8, 9, shape) * 2.0 ** rng.integers(-3, 4, shape),
    ][rng.integers(7)]()
    return dtype, attributes, np.asarray(data).astype(DTYPES[dtype].numpy)


def compare(seed: int) -> dict[str, int]:
    """How many intervals are equal, narrower or wider than the proven ones, all values being so."""
    dtype, attributes, data = draw(seed)
    given = {k: v for k, v in attributes.items() if k in OWN.attributes}
    given["exclude-pad"] = not given.pop("count_include_pad")
    del given["ceil_mode"]
    spec = find_spec(OP)
    try:
        (proven,) = answers(spec, case_from_inputs(spec, [data], given), [data])
    except (InvalidCase, EvaluationError):
        return {}
    machine = Machine(DTYPES["f64" if dtype == "f64" else "f32"])
    evaluation = Evaluation(
        OWN, {k: v for k, v in attributes.items() if k in OWN.attributes}, {"X": data}, machine
    )
    (value,), (interval,) = evaluation.outputs(), evaluation.intervals()
    assert value.shape == proven.rounded.shape
    graded = np.ones(value.shape, bool) if proven.open is None else proven.open == 0
    np.testing.assert_array_equal(value[graded], proven.rounded[graded])
    lo, hi = proven.interval("standard")
    with np.errstate(invalid="ignore"):
        narrower = graded & ((interval.lo > lo) | (interval.hi < hi)) & ~interval.unspecified
        wider = graded & ((interval.lo < lo) | (interval.hi > hi) | interval.unspecified)
    # Adding 0, as padding is, rounds nothing, and a window with a single number divides it once,
    # which loses half of what the bound for sums allows.
    reason = _has_zero(attributes, data, value.shape) | _is_exact(evaluation)
    assert not (narrower & ~reason).any(), (seed, attributes)
    return {
        "equal": int((graded & ~narrower & ~wider).sum()),
        "narrower": int(narrower.sum()),
        "wider": int(wider.sum()),
    }


def _has_zero(attributes: dict[str, Any], data: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Where a window has a zero, or padding."""
    given = {k: attributes[k] for k in ("kernel", "strides", "dilations")}
    given |= {"begin": attributes["pads_begin"], "out": list(shape[2:])}
    (zeros,) = Evaluation(read_operator(TERMS), given, {"X": data}).outputs()
    return np.asarray(zeros.astype(float) > 0)


def _is_exact(evaluation: Evaluation) -> np.ndarray:
    value = evaluation.value("Y")
    assert isinstance(value, Real)
    return value.exact


def tally(seeds: range) -> dict[str, int]:
    counts = {"equal": 0, "narrower": 0, "wider": 0}
    for seed in seeds:
        for key, count in compare(seed).items():
            counts[key] += count
    return counts


def test_no_interval_is_narrower_without_a_reason() -> None:
    counts = tally(range(60))
    assert counts["equal"] + counts["wider"] > 500


@pytest.mark.exhaustive
def test_of_5000_cases_none_is_narrower_without_a_reason() -> None:
    counts = tally(range(1000, 6000))
    assert counts["equal"] > 3 * counts["wider"]
