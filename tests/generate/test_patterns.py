"""Value patterns: the same bits every time, exact in their type, and what their names promise."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from conformance.core.patterns import FRACTIONAL, GENERAL, IN_TURN
from conformance.core.patterns import PATTERNS as EVERY
from conformance.core.patterns import fill as fill_of_type
from conformance.dtypes import DTYPES, Array

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "u8", "i32", "i64")
SHAPE = (2, 3, 17)
PATTERNS = [name for name in EVERY if name not in GENERAL]
"""Those of pools; what the general ones are is in test_definition_cases.py."""


def fill(pattern: str, seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    return fill_of_type(pattern, seed, shape, DTYPES[dtype])


def wide(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return data.astype(np.float64)


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
    assert digest.hexdigest()[:16] == "dd5de974cfeb6a08"


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


def kinds(data: Array, dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    """Which elements are numbers of some kind, told by numpy alone."""
    row, values = DTYPES[dtype], wide(data)
    none = np.zeros(data.shape, np.bool_)
    found = {"negative": values < 0, "zero": values == 0}
    if not row.is_float:
        lowest = data == np.iinfo(data.dtype).min
        return {**found, "lowest": lowest, **dict.fromkeys(("nan", "largest", "tiny", "-0"), none)}
    return {
        **found,
        "nan": np.isnan(values),
        "largest": values == np.inf,
        "lowest": values == -np.inf,
        "tiny": (values != 0) & (np.abs(values) < float(np.ldexp(1.0, row.emin))),
        "-0": (values == 0) & np.signbit(values),
    }


CAN_HOLD: dict[str, set[str]] = {
    "ramp": set(),
    "negative": {"negative"},
    "impulse": {"zero"},
    "ties": set(),
    "nan": {"nan"},
    "infinite": {"largest", "lowest", "negative"},
    "lowest": {"lowest", "negative"},
    "zeros": {"negative", "zero", "-0"},
    "subnormal": {"tiny", "negative"},
    "cancel": {"negative"},
    "wide": {"negative"},
    "normal": {"negative", "zero"},
    "large": {"negative"},
    "steady": set(),
    "offset": set(),
    "slopes": set(),
    "halves": {"negative", "zero"},
    "positive": set(),
    "mixed": {"negative", "zero", "nan", "largest", "lowest", "tiny", "-0"},
}
"""What some element may be, whatever the shape and the seed."""

TOO = {
    # The smallest numbers of a bell have no place here.
    ("normal", "f16"): {"tiny", "-0"},
    **{("normal", integer): {"lowest"} for integer in INTEGERS},
    # The lowest number is zero.
    **{("lowest", integer): {"zero"} for integer in ("u8",)},
    ("impulse", "u8"): {"lowest"},
}
"""What a pattern may hold in one type besides."""


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_fills_hold_only_numbers_of_their_kinds(pattern: str, dtype: str) -> None:
    if not DTYPES[dtype].is_float and pattern in FRACTIONAL:
        return
    allowed = CAN_HOLD[pattern] | TOO.get((pattern, dtype), set())
    for shape in ((1, 1, 1), (1, 1, 2), (2, 3, 5), (1, 2, 3, 4), (3, 1, 300)):
        for seed in range(25):
            data = fill(pattern, seed, shape, dtype)
            held = kinds(data, dtype)
            assert {name for name, found in held.items() if found.any()} <= allowed
            if pattern in ("negative", "lowest"):
                assert held["negative"].all() or dtype == "u8"
            if pattern == "impulse":
                planes = held["zero"].reshape(shape[0] * shape[1], -1)
                assert (planes.sum(axis=1) == planes.shape[1] - 1).all()
            if pattern in ("ramp", "negative", "nan", "infinite", "lowest", "slopes"):
                finite = data[np.isfinite(wide(data)) & ~held["lowest"]]
                assert data.size > distinct(dtype) or len(np.unique(finite)) == len(finite)
            if pattern == "steady":
                assert (data[..., 1:] != data[..., :-1]).all()


def distinct(dtype: str) -> int:
    """How many elements a pattern of distinct numbers fills in a type before it repeats."""
    row = DTYPES[dtype]
    return (1 << min(row.digits, 40)) - (not row.is_float)


@pytest.mark.parametrize("dtype", ["bf16", "f16", "i8", "u8"])
def test_distinct_numbers_last_as_long_as_the_type_has_so_many(dtype: str) -> None:
    run = distinct(dtype)
    for size, times in ((run, 1), (run + 1, 2), (2 * run, 2), (2 * run + 1, 3)):
        _, counts = np.unique(fill("ramp", 3, (1, 1, size), dtype), return_counts=True)
        assert counts.max() == times


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_plane_of_each_kind_holds_all_that_mixed_data_can(dtype: str) -> None:
    planes = len(IN_TURN)
    for rest in ((planes, 1), (1, planes + 1)):
        held = kinds(fill("mixed", 2, (*rest, 40), dtype), dtype)
        assert {name for name, found in held.items() if found.any()} == CAN_HOLD["mixed"]
    few = kinds(fill("mixed", 2, (1, planes // 2, 40), dtype), dtype)
    assert {name for name, found in few.items() if found.any()} != CAN_HOLD["mixed"]
