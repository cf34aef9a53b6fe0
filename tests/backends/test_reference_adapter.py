"""The reference as a backend answers in the operator's own types."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tiers
from worked import FULL_KERNEL, INVALID, OVERRUN, avg, plane

import conformance
from conformance.backends.discovery import load_backend
from conformance.backends.reference import Reference
from conformance.errors import InvalidCase, SpecError, Unsupported

OWN = Path(__file__).parents[1] / "own" / "own.SplitMean-1.yaml"


def test_a_specification_of_ones_own_is_an_option() -> None:
    backend = load_backend(f"reference?specs={OWN}")
    inputs = [np.arange(6, dtype=np.float32).reshape(1, 1, 6), np.array([3])]
    (means,) = backend.run("own.SplitMean-1", inputs, {})
    np.testing.assert_array_equal(means, [[[0.5, 2.5, 4.5]]])
    # The shipped ones are still there, and without the option this one is not.
    assert backend.run("AvgPool-1", [plane(np.ones((4, 4)))], OVERRUN)
    with pytest.raises(Unsupported, match=r"reference\?specs="):
        Reference().run("own.SplitMean-1", inputs, {})
    with pytest.raises(Unsupported, match="the file given has another operator"):
        backend.run("own.Other-1", inputs, {})


def test_a_specification_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no such file"):
        load_backend(f"reference?specs={tmp_path / 'none.yaml'}")


def test_indices_of_one_type_alone_have_it() -> None:
    _, indices = Reference().run("onnx.MaxPool-22", [plane([1, 5, 5])], {"kernel_shape": [3]})
    assert (indices.dtype, indices.item()) == (np.int64, 1)


def test_it_is_right_on_each_operator_of_the_shipped_suite(exhaustive: bool) -> None:
    smoke = tiers.smoke() if exhaustive else tiers.part(tiers.smoke())
    run = conformance.check(smoke, Reference())
    assert run.passed
    counts = run.footer["counts"]
    assert {op for op in counts if counts[op]["graded"]} == set(smoke.manifest.ops)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_results_are_rounded_into_the_type_of_the_data(dtype: type) -> None:
    (result,) = Reference().run(
        "AvgPool-1", [plane(np.arange(1, 17).reshape(4, 4), dtype)], OVERRUN
    )
    assert result.dtype == dtype
    if dtype is not np.float64:
        # None of these is near the middle of two values, so rounding through float64 is right.
        np.testing.assert_array_equal(result[0, 0], np.array(FULL_KERNEL).astype(dtype))
    else:
        np.testing.assert_allclose(result[0, 0], FULL_KERNEL, rtol=2**-52)


def test_rounding_is_once_from_the_exact_value() -> None:
    (result,) = Reference().run("AvgPool-1", [plane([2 + 2**-22, 2, 2**-100, 0])], avg([4]))
    assert result.item() == 1 + 2**-23


def test_indices_have_the_type_asked_for() -> None:
    for name, dtype in (("i32", np.int32), ("i64", np.int64)):
        values, indices = Reference().run(
            "AdaptiveMaxPool-8", [plane([1, 5, 5]), np.array([1])], {"index_element_type": name}
        )
        assert (values.dtype, indices.dtype, indices.item()) == (np.float32, dtype, 1)


@pytest.mark.parametrize("attributes", INVALID)
def test_what_the_specification_does_not_allow_is_refused(attributes: dict[str, object]) -> None:
    with pytest.raises(InvalidCase):
        Reference().run("AvgPool-1", [plane(range(8))], attributes)
