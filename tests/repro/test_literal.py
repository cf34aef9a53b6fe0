"""Arrays as source: what they give back has the same type, shape and bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conformance.dtypes import DTYPES
from conformance.repro.literal import MAX_LISTED, array_source
from conformance.repro.unpacking import unpacked

NAMES = {"np": np, "ml_dtypes": ml_dtypes, "unpacked": unpacked}


def given_back(array: Any) -> str:
    """The source, after a look at what it gives back."""
    text = array_source(array, "    ")
    found = eval(text, dict(NAMES))
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()
    assert max(map(len, text.splitlines())) <= 100
    return text


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(5,), (1, 2, 3), (2, 3, 41), (1, 1, MAX_LISTED + 1), (0, 1, 4)])
def test_any_bits_of_any_type(name: str, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape)) * DTYPES[name].numpy.itemsize
    content = np.frombuffer(np.random.default_rng(size).bytes(size), np.uint8)
    if name == "bool":
        content = content % 2
    given_back(content.view(DTYPES[name].numpy).reshape(shape))


@pytest.mark.parametrize("name", [name for name, row in DTYPES.items() if row.is_float])
def test_special_values_stay_readable(name: str) -> None:
    kind = DTYPES[name].numpy
    quantum = 2.0 ** DTYPES[name].quantum
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, quantum, -1.5], kind)
    words = " ".join(given_back(values).split())
    assert f"[np.nan, np.inf, -np.inf, -0.0, 0.0, {quantum!r}, -1.5]" in words.replace(
        "[ ", "["
    ).replace(" ]", "]")


def test_a_nan_with_a_payload_is_packed() -> None:
    array = np.array([0x7FC00001, 0xFFC00000], np.uint32).view(np.float32)
    assert given_back(array).startswith("unpacked(")


def test_one_value_everywhere_is_said_once() -> None:
    assert given_back(np.ones((2, 500), np.float16)) == "np.full((2, 500), 1.0, np.float16)"
    assert given_back(np.zeros((9,), np.int64)) == "np.full((9,), 0, np.int64)"
    assert given_back(np.full((1, 300), True)) == "np.full((1, 300), True, bool)"
    # Both zeros are equal, and two values.
    assert "-0.0" in given_back(np.array([0.0, -0.0]))


def test_an_array_that_is_not_contiguous() -> None:
    given_back(np.arange(12.0).reshape(3, 4).T)


def test_a_mask() -> None:
    assert given_back(np.array([True, False])) == "np.array([True, False], bool)"
