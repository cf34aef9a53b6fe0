"""Value patterns: the same bits every time, exact in their type, and what their names promise."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from conformance.dtypes import DTYPES
from conformance.families.pooling.patterns import PATTERNS, fill
from conformance.families.pooling.rules import PATTERN_NAMES

FLOATS = ("f16", "bf16", "f32", "f64")
SHAPE = (2, 3, 17)


def wide(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return data.astype(np.float64)


def test_specifications_know_the_same_names() -> None:
    assert set(PATTERNS) == set(PATTERN_NAMES)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_has_the_same_bits_every_time(name: str, dtype: str) -> None:
    data = fill(name, 5, SHAPE, dtype)
    assert data.dtype == DTYPES[dtype].numpy
    assert data.shape == SHAPE
    assert data.tobytes() == fill(name, 5, SHAPE, dtype).tobytes()


def test_the_bits_are_those_of_the_committed_suite() -> None:
    digest = hashlib.sha256()
    for name in sorted(PATTERNS):
        for dtype in FLOATS:
            data = fill(name, 5, SHAPE, dtype)
            digest.update(np.where(np.isnan(data), 0, data).astype(data.dtype).tobytes())
    assert digest.hexdigest()[:16] == "f22e5ff51eae2fac"


@pytest.mark.parametrize("dtype", FLOATS)
def test_promises(dtype: str) -> None:
    row = DTYPES[dtype]
    tiny = 2.0**row.emin

    def values(name: str) -> np.ndarray[Any, Any]:
        return wide(fill(name, 11, SHAPE, dtype)).ravel()

    assert len(set(values("ramp"))) == values("ramp").size
    assert (values("negative") < 0).all()
    assert np.count_nonzero(values("impulse").reshape(6, 17), axis=1).tolist() == [1] * 6
    assert set(values("ties")) == {1, 2, 3}
    assert 0 < np.isnan(values("nan")).sum() < values("nan").size
    assert {np.inf, -np.inf} <= set(values("infinite"))
    assert np.isneginf(values("lowest")).sum() > values("lowest").size // 2
    zeros = values("zeros")[values("zeros") == 0]
    assert 0 < np.signbit(zeros).sum() < zeros.size
    subnormal = np.abs(values("subnormal"))
    assert (subnormal > 0).all()
    assert (subnormal < 2 * tiny).all()
    assert (subnormal < tiny).any()
    with np.errstate(over="ignore"):
        assert np.isinf(fill("large", 11, SHAPE, dtype).sum(dtype=row.numpy))
    exponents = np.frexp(values("wide"))[1]
    assert exponents.max() - exponents.min() > (row.emax - row.emin) // 2
    assert ((values("steady") >= 1) & (values("steady") <= 6.25)).all()
    assert (np.diff(values("steady")) != 0).all()
    assert (values("steady") * 4 % 1 == 0).all()
    assert len(set(np.abs(values("normal")))) > 60


@pytest.mark.parametrize("dtype", FLOATS)
def test_slopes_rise_and_fall_and_lie_in_no_order_in_turn(dtype: str) -> None:
    planes = wide(fill("slopes", 11, SHAPE, dtype)).reshape(6, 17)
    assert len(set(planes.ravel())) == planes.size
    steps = np.diff(planes)
    assert (steps[[0, 3]] == 1).all()
    assert (steps[[1, 4]] == -1).all()
    assert all({*np.sign(steps[plane])} == {-1, 1} for plane in (2, 5))
    assert (np.diff(planes.min(axis=1)) == 17).all()  # what lies behind a plane is larger


@pytest.mark.parametrize("shape", [(3, 2, 9), (2, 3, 4, 5), (1, 5, 7, 7, 7)])
def test_planes_that_are_next_to_each_other_have_other_means_in_steady(
    shape: tuple[int, ...],
) -> None:
    """So that one channel or image in place of another shows."""
    means = wide(fill("steady", 3, shape, "f32")).mean(axis=tuple(range(2, len(shape)))).ravel()
    assert (np.abs(np.diff(means)) > 0.1).all()


def test_long_stretches_have_other_means_in_steady() -> None:
    """So that a window of thousands that is in another place shows."""
    stretches = wide(fill("steady", 3, (1, 1, 8000), "f32")).reshape(16, 500).mean(axis=1)
    assert (np.abs(np.diff(stretches)) > 0.1).all()
