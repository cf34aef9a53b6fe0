"""Cases of other projects, asked as ours: what is mapped, and what their comparison accepts."""

from __future__ import annotations

import dataclasses

import numpy as np
import peer_openvino
import pytest
from peer_cases import PeerCase, agreeing, noticed, rounding

from conformance.specification import find_spec, mutants_of

HERE = peer_openvino.FILE.is_file()


def the(*ids: str, op: str = "AvgPool-1") -> list:
    return [fault for fault in mutants_of(find_spec(op)) if fault.id in ids]


def onnx_case(name: str) -> PeerCase:
    import peer_onnx

    return next(peer_onnx.mapped(test) for test in peer_onnx.tests() if test.name == name)


def by_hand() -> PeerCase:
    return PeerCase(
        name="by hand",
        op="AvgPool-1",
        inputs=(np.array([[[1, 2, 4]]], np.float32),),
        attributes={
            "kernel": [2],
            "strides": [1],
            "pads_begin": [1],
            "pads_end": [0],
            "exclude-pad": True,
        },
        expected=(np.array([[[1, 1.5, 3]]], np.float32),),
        rtol=1e-3,
        atol=0,
        bytes=0,
    )


def test_notices_by_shape_and_by_value() -> None:
    tried = the("exclude-pad-taken-for-false", "pads-never-counted-in-1d")
    assert len(tried) == 2
    assert noticed([by_hand()], tried) == {"exclude-pad-taken-for-false"}


def test_tolerance_is_the_case_s_own() -> None:
    case = by_hand()
    near = case.expected[0] * np.float32(1.0005)
    assert case.accepts([near])
    assert not dataclasses.replace(case, rtol=1e-4).accepts([near])
    assert not case.accepts([near.astype(np.float64)])
    assert not case.accepts([near[..., :2]])
    assert not case.accepts([np.where(near > 2, np.float32(np.nan), near)])


def test_a_case_that_expects_something_else_is_left_out() -> None:
    case = by_hand()
    other = dataclasses.replace(case, name="other", expected=(case.expected[0] + 1,))
    assert agreeing([case, other]) == ([case], ["other"])


def test_rounding_is_that_which_gives_the_windows() -> None:
    # Ceil gives two windows of 3 in steps of 3 over 2 and padding 2, floor one.
    assert rounding([2], [2], [3], [3], [2]) == "ceil"
    assert rounding([2], [1], [3], [3], [2]) == "floor"
    assert rounding([4, 4], [2, 1], [3, 3], [2, 2], [0, 0]) == "floor"


@pytest.mark.needs("onnx-reference")
@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        (
            "test_averagepool_2d_precomputed_pads_count_include_pad",
            {"kernel": [5, 5], "pads_begin": [2, 2], "pads_end": [2, 2], "exclude-pad": False},
        ),
        (
            "test_averagepool_2d_ceil_last_window_starts_on_pad",
            {"strides": [3, 3], "rounding_type": "floor"},
        ),
        (
            "test_averagepool_2d_precomputed_same_upper",
            {"auto_pad": "same_upper", "strides": [2, 2], "pads_begin": [0, 0]},
        ),
        ("test_globalaveragepool_precomputed", {"kernel": [3, 3], "auto_pad": "explicit"}),
    ],
)
def test_onnx_cases_are_ours(name: str, attributes: dict) -> None:
    case = onnx_case(name)
    assert attributes.items() <= case.attributes.items()
    assert agreeing([case]) == ([case], [])
    assert (case.rtol, case.atol) == (1e-3, 1e-7)
    assert case.bytes > case.inputs[0].nbytes + case.expected[0].nbytes


@pytest.mark.needs("onnx-reference")
def test_onnx_cannot_ask_for_pads_beside_valid() -> None:
    import peer_onnx
    from peer_shown import shown

    asked = the("valid-uses-given-pads", "divisor-missing")
    assert len(asked) == 2
    assert shown("AvgPool-1", peer_onnx.ASKS, asked, 300) == {"divisor-missing"}


@pytest.mark.skipif(not HERE, reason="OpenVINO's cases do not lie beside the checkout")
@pytest.mark.parametrize(
    ("op", "count"),
    [
        ("AvgPool-1", 36),
        ("AvgPool-14", 39),
        ("MaxPool-8", 24),
        ("MaxPool-14", 24),
        ("AdaptiveAvgPool-8", 9),
        ("AdaptiveMaxPool-8", 9),
    ],
)
def test_openvino_cases_are_ours(op: str, count: int) -> None:
    cases = peer_openvino.cases(op)
    assert agreeing(cases) == (cases, [])
    assert len(cases) == count
    others = {"int32", "int64"} if op.startswith("MaxPool") else {"float16", "bfloat16"}
    types = {"float32", *others}
    assert {case.inputs[0].dtype.name for case in cases} == types


@pytest.mark.skipif(not HERE, reason="OpenVINO's cases do not lie beside the checkout")
def test_openvino_indices_are_compared() -> None:
    case = peer_openvino.cases("AdaptiveMaxPool-8")[0]
    value, index = case.expected
    assert case.accepts([value, index])
    assert not case.accepts([value, index + 1])
