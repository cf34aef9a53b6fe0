"""Array members: numpy's own files are read without a copy, anything odd is refused."""

from __future__ import annotations

import io
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.dtypes import DTYPES
from conformance.errors import SuiteError
from conformance.suite.npy import MAX_HEADER, read_npy, write_npy

STORED = sorted({row.storage.str for row in DTYPES.values()})


def saved(array: Any, *, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def refusal(data: bytes) -> str:
    with pytest.raises(SuiteError) as caught:
        read_npy(data, "some.npz: member 'a.npy'")
    assert caught.value.hint
    assert caught.value.message.startswith("some.npz: member 'a.npy' ")
    return caught.value.message


def with_header(text: str, body: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    header = text.encode() + b"\n"
    length = len(header).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + header + body


def plain(descr: str = "'<f4'", order: str = "False", shape: str = "(2,)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


@given(
    st.sampled_from(STORED),
    st.lists(st.integers(0, 3), max_size=4).map(tuple),
    st.randoms(use_true_random=False),
)
def test_what_numpy_saves_is_read_and_written(
    descr: str, shape: tuple[int, ...], random: Any
) -> None:
    dtype = np.dtype(descr)
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    array = np.frombuffer(random.randbytes(size), dtype).reshape(shape)
    found = read_npy(saved(array), "")
    assert (found.dtype, found.shape, found.tobytes()) == (dtype, shape, array.tobytes())
    assert not found.flags.writeable
    assert write_npy(array) == saved(array)


def test_arrays_are_views_of_the_file() -> None:
    data = saved(np.zeros(1_000_000))
    tracemalloc.start()
    try:
        assert read_npy(data, "").shape == (1_000_000,)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_version_2_is_read() -> None:
    found = read_npy(with_header(plain(), bytes(8), version=(2, 0)), "")
    assert found.tolist() == [0, 0]


def test_a_pickled_array_is_refused_unread() -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return pytest.fail, ("unpickled",)

    data = saved(np.array([Trap()], dtype=object), allow_pickle=True)
    assert "holds elements of type '|O', not <f2, <f4" in refusal(data)


@pytest.mark.parametrize(
    "dtype", [">f4", "<c8", "<M8[s]", "|S3", "<U2", "|V4", "<u8", "<i2", [("a", "<f4")]]
)
def test_types_that_are_not_stored_are_refused(dtype: Any) -> None:
    assert "holds elements of type" in refusal(saved(np.zeros(2, dtype)))
    if not isinstance(dtype, list):
        with pytest.raises(ValueError, match="not a storage type"):
            write_npy(np.zeros(2, dtype))


def test_fortran_order_is_refused() -> None:
    assert "is in Fortran order" in refusal(saved(np.zeros((2, 3), order="F")))


@pytest.mark.parametrize(
    ("shape", "declared"),
    [
        ("(3,)", 12),
        ("(1,)", 4),
        ("(999999999999,)", 3999999999996),
        ("(999999999999, 999999999999, 999999999999)", 4 * 999999999999**3),
        ("(4294967296, 4294967296)", 4 * 2**64),  # wraps to 0 in 64 bits
        ("(0,)", 0),
    ],
)
def test_a_shape_that_is_not_there_is_refused(shape: str, declared: int) -> None:
    message = refusal(with_header(plain(shape=shape), bytes(8)))
    assert f"declares {declared} bytes of elements and holds 8" in message


@pytest.mark.parametrize(
    "header",
    [
        "",
        "{}",
        "__import__('os').abort()",
        "(" * 500,
        plain(shape="(-2,)"),
        plain(shape="(2)"),
        plain(shape="(2L,)"),
        plain(shape="[2]"),
        plain(shape="(1e9,)"),
        plain(shape="(" + "1, " * 40 + "2)"),
        plain(shape="(" + "9" * 400 + ",)"),
        plain(order="0"),
        plain()[:-1],
        plain().replace("descr", "desc"),
        plain() + plain(),
    ],
)
def test_headers_that_numpy_does_not_write_are_refused(header: str) -> None:
    assert "has a header that is not plain" in refusal(with_header(header, bytes(8)))


@pytest.mark.parametrize(
    "data", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00", bytes(100), b"PK\x03\x04"]
)
def test_what_is_no_npy_file_is_refused(data: bytes) -> None:
    assert "does not begin like a .npy file" in refusal(data)


def test_other_versions_are_refused() -> None:
    assert "has .npy version 3.0" in refusal(with_header(plain(), bytes(8), version=(3, 0)))
    assert "has .npy version 9.1" in refusal(with_header(plain(), bytes(8), version=(9, 1)))


def test_a_long_header_is_refused() -> None:
    data = with_header(plain() + " " * MAX_HEADER, bytes(8))
    assert f"at most {MAX_HEADER} are read" in refusal(data)
    assert "at most" in refusal(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(100))


@given(st.integers(0, 135))
def test_a_file_cut_short_is_refused(length: int) -> None:
    data = saved(np.zeros(2, np.float32))
    assert len(data) == 136
    refusal(data[:length])
