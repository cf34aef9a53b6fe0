"""Functions of single elements agree with numpy and math, at the ends of their ranges too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import conformance

Floats = NDArray[np.float64]

ENDS = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 1.7e308]
NEAR = [1.0, -1.0, 0.5, -0.25, 3.0, -3.0, 20.0, -20.0, 88.5, -88.5, 709.0, 710.0, -740.0, -746.0]
DATA = np.array(ENDS + NEAR)


def logistic(x: Floats) -> Floats:
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1) / (1 + small)


def erf(x: Floats) -> Floats:
    return np.array([math.erf(entry) for entry in x])


ONE: dict[str, Callable[[Floats], Any]] = {
    "onnx.Abs-13": np.abs,
    "onnx.Neg-13": np.negative,
    "onnx.Reciprocal-13": lambda x: 1 / np.where(x == 0, 0.0, x),  # zeros have no sign
    "onnx.Sqrt-13": np.sqrt,
    "onnx.Exp-13": np.exp,
    "onnx.Log-13": np.log,
    "onnx.Erf-13": erf,
    "onnx.Tanh-13": np.tanh,
    "onnx.Sigmoid-13": logistic,
    "onnx.Relu-14": lambda x: np.where(x < 0, 0, x),
    "onnx.LeakyRelu-16": lambda x: np.where(x < 0, np.float32(0.01) * x, x),
    "onnx.Elu-6": lambda x: np.where(x < 0, np.expm1(x), x),
    "onnx.Softplus-1": lambda x: np.logaddexp(x, 0),
    "onnx.HardSigmoid-6": lambda x: np.clip(np.float64(np.float32(0.2)) * x + 0.5, 0, 1),
    "onnx.Ceil-13": np.ceil,
    "onnx.Floor-13": np.floor,
    "onnx.Round-22": np.rint,
    "onnx.Shrink-9": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "onnx.Swish-24": lambda x: np.where(
        x < -700, x * np.exp(x / 2) * np.exp(x / 2), x * logistic(x)
    ),
    "onnx.HardSwish-14": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}
TWO: dict[str, Callable[[Floats, Floats], Any]] = {
    "onnx.Add-14": np.add,
    "onnx.Sub-14": np.subtract,
    "onnx.Mul-14": np.multiply,
    "onnx.Div-14": lambda a, b: a / np.where(b == 0, 0.0, b),
    "onnx.PRelu-16": lambda x, slope: np.where(x < 0, slope * x, x),
}


@pytest.mark.parametrize("op", ONE)
def test_one_element(op: str) -> None:
    with np.errstate(all="ignore"):
        expected = ONE[op](DATA)
    (output,) = conformance.reference(op, [DATA], {})
    np.testing.assert_allclose(output, expected, rtol=1e-14, atol=5e-324)


@pytest.mark.parametrize("op", TWO)
def test_two_elements(op: str) -> None:
    a, b = DATA[:, None] + np.zeros(DATA.size), DATA
    with np.errstate(all="ignore"):
        expected = TWO[op](a, b)
    (output,) = conformance.reference(op, [a, b], {})
    np.testing.assert_allclose(output, expected, rtol=1e-14, atol=5e-324)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(axis: int) -> None:
    data = np.array([[0, 1, 2, -1000], [1e300, -1e300, 3, 5], [np.nan, 1, 2, -np.inf]])
    with np.errstate(all="ignore"):
        powers = np.exp(data - data.max(axis, keepdims=True))
        expected = powers / powers.sum(axis, keepdims=True)
    (output,) = conformance.reference("onnx.Softmax-13", [data], {"axis": axis})
    np.testing.assert_allclose(output, expected, rtol=1e-14, atol=5e-324)
