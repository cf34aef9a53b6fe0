"""The tables of what patterns can hold say what the patterns are filled with."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.core.patterns import IN_TURN
from conformance.dtypes import DTYPES, Array
from conformance.families.pooling import tables
from conformance.families.pooling.patterns import PATTERNS, fill
from conformance.families.pooling.rules import INTEGER_PATTERNS, NAMES, PATTERN_NAMES

FORMATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "u8", "i32", "i64")
FILLS = [
    *((pattern, dtype) for pattern in PATTERN_NAMES for dtype in FORMATS),
    *((pattern, dtype) for pattern in INTEGER_PATTERNS for dtype in INTEGERS),
]
SHAPES = ((1, 1, 1), (1, 1, 2), (2, 3, 5), (1, 2, 3, 4), (3, 1, 300))


def kinds(data: Array) -> dict[str, np.ndarray]:
    """Which elements are what a fact counts, told by numpy alone."""
    wide = data.astype(np.float64)
    if data.dtype.kind in "iu":
        none = np.zeros(data.shape, np.bool_)
        return {
            **dict.fromkeys(("nan_taps", "posinf_taps", "subnormal_taps", "minus_zero_taps"), none),
            "neginf_taps": data == np.iinfo(data.dtype).min,
            "negative_taps": data < 0,
            "zero_taps": data == 0,
        }
    (emin,) = (DTYPES[name].emin for name in FORMATS if DTYPES[name].numpy == data.dtype)
    tiny = float(np.ldexp(1.0, emin))
    return {
        "nan_taps": np.isnan(wide),
        "posinf_taps": wide == np.inf,
        "neginf_taps": wide == -np.inf,
        "subnormal_taps": (wide != 0) & (np.abs(wide) < tiny),
        "negative_taps": wide < 0,
        "zero_taps": wide == 0,
        "minus_zero_taps": (wide == 0) & np.signbit(wide),
    }


@pytest.mark.parametrize(("pattern", "dtype"), FILLS)
def test_fills_hold_only_what_the_tables_say(pattern: str, dtype: str) -> None:
    allowed = set(tables.CAN_HOLD[pattern])
    allowed |= set(tables.TOO.get((pattern, dtype), ()))
    never = set(tables.NEVER.get(DTYPES[dtype].kind, ()))
    for shape in SHAPES:
        for seed in range(25):
            data = fill(pattern, seed, shape, dtype)
            held = kinds(data)
            assert {name for name, found in held.items() if found.any()} <= allowed - never
            for name in tables.ALL_ARE.get(pattern, ()):
                assert held[name].all() or dtype == "u8"
            if pattern in tables.ZERO_OR_NEGATIVE:
                finite = np.isfinite(data.astype(np.float64))
                assert ((held["zero_taps"] | held["negative_taps"]) & finite).all()
            if pattern in tables.ONE_NONZERO:
                planes = held["zero_taps"].reshape(shape[0] * shape[1], -1)
                assert (planes.sum(axis=1) == planes.shape[1] - 1).all()
            if pattern in tables.DISTINCT and data.size <= _distinct(dtype):
                finite = data[np.isfinite(data.astype(np.float64)) & ~held["neginf_taps"]]
                assert len(np.unique(finite)) == len(finite)
            if pattern in tables.NEIGHBOURS_DIFFER:
                assert (data[..., 1:] != data[..., :-1]).all()


def _distinct(dtype: str) -> int:
    return tables.distinct_numbers(DTYPES[dtype])


@pytest.mark.parametrize("dtype", ["bf16", "f16", "i8", "u8"])
def test_distinct_numbers_last_as_long_as_is_said_and_no_longer(dtype: str) -> None:
    run = _distinct(dtype)
    for size, times in ((run, 1), (run + 1, 2), (2 * run, 2), (2 * run + 1, 3)):
        _, counts = np.unique(fill("ramp", 3, (1, 1, size), dtype), return_counts=True)
        assert counts.max() == times


def test_rounded_numbers_are_held_by_some_fill() -> None:
    """The exception for narrow types is not for nothing."""
    many = fill("normal", 1, (1, 1, 1 << 18), "f16")
    assert kinds(many)["subnormal_taps"].any()


@pytest.mark.parametrize("dtype", FORMATS)
def test_one_plane_of_each_kind_holds_all_that_mixed_data_can(dtype: str) -> None:
    planes = len(IN_TURN)
    for rest in ((planes, 1), (1, planes + 1)):
        held = kinds(fill("mixed", 2, (*rest, 40), dtype))
        assert {name for name, found in held.items() if found.any()} == set(tables.COUNTS)
    few = kinds(fill("mixed", 2, (1, planes // 2, 40), dtype))
    assert {name for name, found in few.items() if found.any()} != set(tables.COUNTS)


def test_every_pattern_and_every_count_has_its_row() -> None:
    assert tables.CAN_HOLD.keys() == PATTERNS.keys() == set(PATTERN_NAMES)
    names = NAMES
    assert set(tables.COUNTS) == {name for name in names if name.endswith("_taps")}
