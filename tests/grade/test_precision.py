from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.choices import PRECISIONS
from conformance.dtypes import FLOATS
from conformance.errors import UsageError
from conformance.grade.precision import format_precision, parse_precision


@pytest.mark.parametrize("precision", PRECISIONS)
def test_one_for_all(precision):
    assert parse_precision(precision) == dict.fromkeys(FLOATS, precision)


def test_one_for_each_and_standard_for_the_rest():
    asked = parse_precision("f16=native, f32 = exact")
    assert asked == {"f16": "native", "bf16": "standard", "f32": "exact", "f64": "standard"}
    assert parse_precision({"f16": "native", "f32": "exact"}) == asked


@given(st.fixed_dictionaries({dtype: st.sampled_from(PRECISIONS) for dtype in FLOATS}))
def test_spelled_out_it_reads_back_the_same(asked):
    assert parse_precision(format_precision(asked)) == asked


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("standart", "did you mean 'standard'?"),
        ("bf61=native", "did you mean 'bf16'?"),
        ("f16=nativ", "did you mean 'native'?"),
        ("f16=", "choose one of"),
        ("double=native", "choose one of"),
        ("", "choose one of"),
        ("f16=native,f16=exact", "at most once"),
        ({"f32": None}, "choose one of"),
    ],
)
def test_anything_else_is_refused_with_a_hint(asked, says):
    with pytest.raises(UsageError) as caught:
        parse_precision(asked)
    assert says in caught.value.hint
