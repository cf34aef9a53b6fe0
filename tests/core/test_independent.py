"""The core against a second implementation: values bit for bit, and the widths of intervals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawn_cases import SHAPES, Case, cases
from independent import FORMATS, evaluate, ordinals, power, rounded

from conformance.dtypes import DTYPES


class TestRounding:
    @pytest.mark.parametrize(
        ("value", "form", "ties", "code"),
        [
            (Fraction(1), "f32", "even", 0x3F800000),
            (Fraction(1, 10), "f32", "even", 0x3DCCCCCD),
            (Fraction(-1, 10), "f64", "even", -0x3FB999999999999A),
            (Fraction(1, 3), "bf16", "even", 0x3EAB),
            (1 + power(-11), "f16", "even", 0x3C00),
            (1 + power(-11), "f16", "up", 0x3C01),
            (-1 - power(-11), "f16", "up", -0x3C00),
            (-1 - power(-11), "f16", "down", -0x3C01),
            (1 + 3 * power(-11), "f16", "even", 0x3C02),
            (1 + 3 * power(-11), "f16", "down", 0x3C01),
            (2 - power(-12), "f16", "even", 0x4000),
            (3 * power(-25), "f16", "even", 2),
            (power(-25), "f16", "even", 0),
            (power(-25), "f16", "up", 1),
            (power(-14) - power(-26), "f16", "even", 0x400),
            (Fraction(65519), "f16", "even", 0x7BFF),
            (Fraction(65520), "f16", "even", 0x7C00),
            (-power(5000), "f64", "even", -0x7FF0000000000000),
        ],
    )
    def test_gives_the_code(self, value: Fraction, form: str, ties: str, code: int) -> None:
        assert rounded(value, FORMATS[form], ties) == code

    @pytest.mark.parametrize("dtype", ["f16", "bf16"])
    def test_is_that_of_numpy(self, dtype: str) -> None:
        rng = np.random.default_rng(1)
        singles = (rng.normal(size=300) * 2.0 ** rng.integers(-140, 120, 300)).astype("f4")
        with np.errstate(over="ignore"):
            expected = singles.astype(DTYPES[dtype].numpy)
        values = [Fraction(x) for x in singles.tolist()]
        assert [rounded(value, FORMATS[dtype]) for value in values] == ordinals(expected)


def _check_values(case: Case) -> None:
    (output,) = case.core().outputs()
    expected = evaluate(case.operator, case.attributes, case.inputs)
    assert output.shape == expected.shape, case
    form = FORMATS[case.dtype]
    for i, (element, code) in enumerate(zip(expected.elements, ordinals(output), strict=True)):
        if element is not None:
            assert code == rounded(element.value, form), (str(case), i, element.value)


@pytest.mark.parametrize("operator", SHAPES)
class TestValues:
    def test_are_equal(self, operator: str) -> None:
        for case in cases(operator, 40):
            _check_values(case)

    @pytest.mark.exhaustive
    def test_are_equal_in_many_cases(self, operator: str) -> None:
        for case in cases(operator, 500, seed=1):
            _check_values(case)


def _pool(values: list[float], **attributes: object) -> Case:
    x = np.array([[values]], "f4")
    return Case("AveragePool", {"kernel": [2], **attributes}, {"X": x})


class TestAveragePool:
    @pytest.mark.xfail(strict=True, reason="the core rounds up, which the document does not")
    def test_valid_padding_rounds_down(self) -> None:
        # With ceil_mode, VALID has ceil((size - span + 1) / stride) windows: ceil(2 / 2).
        case = _pool([1, 2, 3], auto_pad="VALID", ceil_mode=True, strides=[2])
        assert evaluate(case.operator, case.attributes, case.inputs).shape == (1, 1, 1)
        assert case.core().outputs()[0].tolist() == [[[1.5]]]

    @pytest.mark.xfail(strict=True, reason="the core insists on NaN, of which no document speaks")
    def test_mean_of_nothing_is_unspecified(self) -> None:
        case = _pool([1, 2], dilations=[3], pads_begin=[1], pads_end=[1])
        assert evaluate(case.operator, case.attributes, case.inputs).elements == [None]
        assert case.core().intervals()[0].unspecified.tolist() == [[[True]]]

    def test_window_beyond_the_padding_does_not_count_what_lies_there(self) -> None:
        case = _pool([4, 8, 12], strides=[2], pads_end=[0], ceil_mode=True, count_include_pad=True)
        assert case.core().outputs()[0].tolist() == [[[6, 12]]]
        _check_values(case)
