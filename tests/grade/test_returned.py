"""Outputs of failures are kept whole or not at all; what a log claims of them is not believed."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from conformance.codec import convert, decode
from conformance.dtypes import DTYPES
from conformance.grade.returned import MAX_ELEMENTS, pack_outputs, unpack_outputs
from conformance.log.encoding import encode
from conformance.log.events import ResultEvent, result_event, to_result
from conformance.model import Result, Returned, Status

SHAPES = arrays.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4)


@given(st.data(), st.sampled_from(sorted(DTYPES)), SHAPES)
def test_what_is_packed_comes_back_bit_for_bit(
    data: st.DataObject, dtype: str, shape: tuple[int, ...]
) -> None:
    row = DTYPES[dtype]
    codes = data.draw(arrays.arrays(row.signed if row.is_float else row.numpy, shape))
    array = codes.view(row.numpy) if codes.size else np.zeros(shape, row.numpy)
    kept = pack_outputs([array])
    assert kept is not None
    result = Result("some-id", "AvgPool-1", Status.FAIL, returned=kept)
    again = to_result(decode(encode(result_event(result)).encode(), ResultEvent))
    assert again.returned == kept
    (back,) = unpack_outputs(again.returned or ()) or ()
    assert (back.shape, back.dtype) == (array.shape, array.dtype)
    assert back.tobytes() == np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize(
    "output",
    [None, [1.0], np.zeros(2, "c8"), np.zeros(2, ">f4"), np.zeros(MAX_ELEMENTS + 1, "f4")],
    ids=["none", "list", "dtype", "byte order", "large"],
)
def test_what_is_no_small_array_of_its_type_is_not_kept(output: Any) -> None:
    assert pack_outputs([output]) is None


def test_outputs_that_hardly_compress_are_not_kept() -> None:
    noise = np.random.default_rng(0).bytes(4 * 50_000)
    assert pack_outputs([np.frombuffer(noise, "f4")]) is None


@pytest.mark.parametrize(
    "one",
    [
        Returned("f128", (1,), zlib.compress(bytes(16))),
        Returned("f32", (2,), zlib.compress(bytes(4))),
        Returned("f32", (1,), zlib.compress(bytes(8))),
        Returned("f32", (1,), b"no zlib"),
        Returned("f32", (1 << 40,), zlib.compress(bytes(1 << 20))),
        Returned("f32", (0, 1 << 52, 1 << 52), zlib.compress(b"")),
        Returned("f32", (1,) * 40, zlib.compress(bytes(4))),
    ],
)
def test_what_a_log_claims_is_checked(one: Returned) -> None:
    assert unpack_outputs([one]) is None


def test_base64_that_is_none_loses_the_outputs_alone() -> None:
    result = Result("some-id", "AvgPool-1", Status.FAIL)
    event = {**result_event(result), "returned": [{"dtype": "f32", "shape": [1], "zlib": ["~"]}]}
    assert to_result(convert(event, ResultEvent)) == result
