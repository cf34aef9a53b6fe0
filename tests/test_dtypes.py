"""Codes, ordinals, neighbours and distances."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, DType, converted, name_of, narrowed
from conformance.kernels import runner
from conformance.repro import program

FLOATS = tuple(row for row in DTYPES.values() if row.is_float)
SMALL = (DTYPES["f16"], DTYPES["bf16"])

every_dtype = pytest.mark.parametrize("dtype", DTYPES.values(), ids=lambda row: row.name)
every_float = pytest.mark.parametrize("dtype", FLOATS, ids=lambda row: row.name)
every_small = pytest.mark.parametrize("dtype", SMALL, ids=lambda row: row.name)


def all_codes(dtype: DType) -> NDArray[Any]:
    return np.arange(1 << 16, dtype=np.uint16).view(dtype.numpy)


@every_float
def test_rows_agree_with_the_types(dtype: DType) -> None:
    info = ml_dtypes.finfo(dtype.numpy)
    assert dtype.digits == info.nmant + 1
    assert float(info.max) == (2 - 2.0 ** (1 - dtype.digits)) * 2.0**dtype.emax
    assert float(info.smallest_normal) == 2.0**dtype.emin
    assert float(info.smallest_subnormal) == 2.0**dtype.quantum
    infinity = np.array([np.inf]).astype(dtype.numpy)
    assert dtype.infinity == dtype.ordinals(infinity)[0] == infinity.view(dtype.code)[0]


@every_dtype
def test_names_are_found_again(dtype: DType) -> None:
    assert name_of(dtype.numpy) == dtype.name
    assert dtype.code.itemsize == dtype.signed.itemsize == dtype.numpy.itemsize


def test_name_of_a_foreign_type_is_numpys() -> None:
    assert name_of(np.dtype(np.complex64)) == "complex64"


@every_dtype
def test_storage_keeps_the_bits(dtype: DType) -> None:
    array = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype.numpy)
    stored = dtype.to_storage(array)
    assert stored.dtype == dtype.storage
    assert stored.tobytes() == array.tobytes()
    assert dtype.from_storage(stored).dtype == dtype.numpy
    assert dtype.from_storage(stored).tolist() == array.tolist()


def test_bfloat16_is_stored_as_codes() -> None:
    bf16 = DTYPES["bf16"]
    assert bf16.to_storage(np.array([1, -2], bf16.numpy)).tolist() == [0x3F80, 0xC000]


@every_dtype
def test_storage_refuses_another_type(dtype: DType) -> None:
    foreign = np.zeros(2, np.complex64)
    with pytest.raises(ValueError, match=f"{dtype.name} is stored as"):
        dtype.from_storage(foreign)
    with pytest.raises(ValueError, match=f"{dtype.name} needs an array"):
        dtype.to_storage(foreign)


@every_small
def test_ordinals_of_every_code(dtype: DType) -> None:
    """In the order of the values, without gaps, and inverted by from_ordinals up to -0."""
    array = all_codes(dtype)
    ordinals = dtype.ordinals(array)
    number = np.abs(ordinals) <= dtype.infinity
    with np.errstate(invalid="ignore"):  # signalling NaN
        np.testing.assert_array_equal(np.isnan(array), ~number)
    array, ordinals = array[number], ordinals[number]
    assert sorted(set(ordinals.tolist())) == list(range(-dtype.infinity, dtype.infinity + 1))
    by_ordinal = array[np.argsort(ordinals, kind="stable")].astype(np.float64)
    steps = np.diff(by_ordinal[np.isfinite(by_ordinal)])
    assert np.count_nonzero(steps == 0) == 1  # the two zeros
    assert (steps >= 0).all()
    again = dtype.from_ordinals(ordinals)
    np.testing.assert_array_equal(again.astype(np.float64), array.astype(np.float64))
    assert not np.signbit(again[ordinals == 0].astype(np.float64)).any()


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_neighbours_are_numpys(name: str) -> None:
    dtype = DTYPES[name]
    rng = np.random.default_rng(5)
    ordinals = rng.integers(-dtype.infinity, dtype.infinity, 20_000)
    ordinals = np.append(ordinals, [-dtype.infinity, -1, 0, dtype.infinity - 1])
    with np.errstate(over="ignore"):
        above = np.nextafter(dtype.from_ordinals(ordinals), dtype.numpy.type(np.inf))
    np.testing.assert_array_equal(dtype.from_ordinals(ordinals + 1), above)


@every_float
def test_ordinals_read_any_layout(dtype: DType) -> None:
    array = np.array([[-1, 0, 2], [3, -4, 5]]).astype(dtype.numpy)
    assert dtype.ordinals(array.T).tolist() == dtype.ordinals(array).T.tolist()
    assert dtype.ordinals(array[0, 0:1].reshape(())).shape == ()


@every_float
def test_ulp_distance(dtype: DType) -> None:
    one, two, tiny = 1.0, 2.0, 2.0**dtype.quantum
    nan, inf = np.nan, np.inf
    pairs = [
        (one, one, 0),
        (one, 1 + 2.0 ** (1 - dtype.digits), 1),
        (one, two, 2 ** (dtype.digits - 1)),
        (0.0, -0.0, 0),
        (-tiny, tiny, 2),
        (tiny, -0.0, 1),
        (-inf, inf, 2 * dtype.infinity),
        (nan, one, inf),
        (nan, nan, inf),
        (inf, nan, inf),
    ]
    a, b, want = (np.array(part) for part in zip(*pairs, strict=True))
    a, b = a.astype(dtype.numpy), b.astype(dtype.numpy)
    assert dtype.ulp_distance(a, b).tolist() == want.astype(np.float64).tolist()
    assert dtype.ulp_distance(b, a).tolist() == want.astype(np.float64).tolist()
    assert dtype.ulp_distance(a[6], b[6]) == 2 * dtype.infinity


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_ordinals_order_f64(a: float, b: float) -> None:
    x, y = DTYPES["f64"].ordinals(np.array([a, b])).tolist()
    assert (x < y) == (a < b)
    assert (x == y) == (a == b)


def test_whole_numbers_wrap_around_or_saturate() -> None:
    wide = np.array([2**40 + 3, -(2**40), 5], np.int64)
    assert converted(wide, DTYPES["i32"]).tolist() == [3, 0, 5]
    assert converted(wide, DTYPES["i32"], saturates=True).tolist() == [2**31 - 1, -(2**31), 5]
    narrow = np.array([-(2**31), 7], np.int32)
    assert converted(narrow, DTYPES["i64"], saturates=True).tolist() == [-(2**31), 7]
    assert converted(narrow, DTYPES["u8"], saturates=True).tolist() == [0, 7]


@pytest.mark.parametrize("rounding", ["nearest", "toward_zero", "up_from_odd"])
def test_numbers_of_f32_become_bf16_by_their_codes(rounding: str) -> None:
    """bf16 is the upper half of f32: what is added to the lower one before it is cut off says how
    it is rounded."""
    rng = np.random.default_rng(3)
    upper = rng.integers(0, 0x7F80, 4000).astype(np.uint32) << 16
    lower = rng.choice([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], 4000).astype(np.uint32)
    codes = (upper | lower) | rng.choice([0, 1 << 31], 4000).astype(np.uint32)
    odd = codes >> 16 & 1
    added = {"nearest": 0x7FFF + odd, "toward_zero": 0, "up_from_odd": odd << 15}[rounding]
    expected = (codes + np.uint32(added) >> 16).astype(np.uint16)
    found = narrowed(codes.view(np.float32), DTYPES["bf16"], rounding)
    np.testing.assert_array_equal(found.view(np.uint16), expected)


def test_what_is_no_number_stays_where_digits_are_cut_off() -> None:
    found = narrowed(np.array([np.nan, np.inf, -np.inf, 1e39]), DTYPES["bf16"], "toward_zero")
    np.testing.assert_array_equal(found.astype("f8")[:3], [np.nan, np.inf, -np.inf])
    assert found[3] == ml_dtypes.finfo(ml_dtypes.bfloat16).max


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("f16", 0.1, "0.1"),
        ("f16", 60352.0, "60352.0"),  # numpy has 60350.0
        ("bf16", 0.1, "0.1"),
        ("bf16", 1 / 3, "0.334"),
        ("bf16", -0.0, "-0.0"),
        ("bf16", 3e38, "3e+38"),
        ("bf16", 2.0**-119, "1.51e-36"),  # rounded to three digits it would be the number below
        ("bf16", np.nan, "nan"),
        ("f32", 0.1, "0.1"),
        ("f32", -np.inf, "-inf"),
        ("f64", 0.1, "0.1"),
        ("i64", 2**63 - 1, "9223372036854775807"),
    ],
)
def test_shortest(name: str, value: float, text: str) -> None:
    assert DTYPES[name].shortest(DTYPES[name].numpy.type(value)) == text


@pytest.mark.parametrize("dtype", SMALL, ids=lambda d: d.name)
def test_shortest_reads_back_as_every_number(dtype: DType) -> None:
    numbers = dtype.from_ordinals(np.arange(dtype.infinity))
    texts = map(dtype.shortest, numbers)
    assert np.array_equal(np.array([*map(float, texts)]).astype(dtype.numpy), numbers)


class TestOtherLists:
    """Files that must stand alone have the element types of the one table."""

    @every_dtype
    def test_the_runner_of_kernels(self, dtype: DType) -> None:
        codes = runner.CODES | {"bf16": "<u2"}  # which it makes of ml_dtypes when it needs it
        assert codes[dtype.name] == dtype.storage.str.replace("|", "<")

    @every_dtype
    def test_the_script_that_asks_a_program(self, dtype: DType) -> None:
        assert program.STORED[dtype.name] == dtype.storage.str.replace("|", "<")

    @every_dtype
    def test_the_header_in_c(self, dtype: DType) -> None:
        text = (Path(__file__).parents[1] / "clients/c/conformance.h").read_text("utf-8")
        lists = dict(re.findall(r"(sizes|names)\[CF_TYPES\] = \{(.*?)\};", text, re.DOTALL))
        names = re.findall(r"\w+", lists["names"])
        members = re.findall(r"CF_(\w+),", text.partition("CF_TYPES")[0].partition("enum {")[2])
        # CF_BOOL is a kind of attribute.
        assert [name.upper().replace("BOOL", "B8") for name in names] == members
        sizes = dict(zip(names, re.findall(r"\d", lists["sizes"]), strict=True))
        assert int(sizes[dtype.name]) == dtype.storage.itemsize
