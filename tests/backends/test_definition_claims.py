"""What adapters declare of definitions: what they refuse, no more and no less."""

from __future__ import annotations

import numpy as np
import pytest

import conformance
from conformance.backends import Capabilities, Exclusion
from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend, capabilities_of
from conformance.backends.standalone_call import StandaloneAdapter
from conformance.core.data import inputs_of
from conformance.core.loader import load_operator, shipped_names
from conformance.core.operator import Operator
from conformance.errors import BackendError, Unsupported
from conformance.generate.cases import draw_cases
from conformance.model import Case

CONVERTING = ("torch", "jax", "ncnn", "litert")
"""Backends whose adapters turn attributes into arguments of other functions."""

DRAWN = 40
"""Cases of each operator."""


def declared_by(name: str) -> Capabilities:
    declared = capabilities_of(load_backend(name))
    assert declared is not None
    return declared


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs(name)) for name in CONVERTING]
)
def test_an_adapter_refuses_what_it_declares_and_nothing_else(name: str) -> None:
    backend, declared = load_backend(name), declared_by(name)
    assert isinstance(backend, StandaloneAdapter)
    wrong, refused, calls = [], 0, 0
    for op in filter(declared.names, shipped_names()):
        spec = load_operator(op)
        for case in draw_cases(
            spec, DRAWN, seed=45, dtypes=declared.dtypes or (), ranks=declared.ranks or ()
        ):
            reason = declared.reason_against(spec, case)
            try:
                backend.call(op, inputs_of(spec, case), case.attributes)  # type: ignore[arg-type]
                calls += 1
                if reason is not None and _runs(backend, spec, case):
                    wrong.append((op, case.id, reason))
            except Unsupported as error:
                refused += 1
                if reason is None:
                    wrong.append((op, case.id, str(error)))
    assert wrong == []
    assert refused > 20
    assert calls > 20


def _runs(backend: Backend, spec: Operator, case: Case) -> bool:
    """Whether a call that can be made has a kernel, and gives outputs of the right shapes."""
    inputs = inputs_of(spec, case)
    try:
        outputs = backend.run(spec.op, inputs, case.attributes)  # type: ignore[arg-type]
    except RuntimeError:
        return False
    right = conformance.reference(spec.op, inputs, case.attributes)
    return [output.shape for output in outputs] == [output.shape for output in right]


@pytest.mark.needs("ncnn")
@pytest.mark.parametrize(
    ("op", "image", "filters"),
    [("onnx.Conv-22", "X", "W"), ("torch.conv-2", "input", "weight")],
)
def test_ncnn_declares_batches_that_would_take_it_minutes(
    op: str, image: str, filters: str
) -> None:
    spec, backend, declared = load_operator(op), load_backend("ncnn"), declared_by("ncnn")
    reason = "ncnn takes one image at a time, and no more than 4096 are tried"
    for images, expected in ((4096, None), (4097, reason)):
        shapes = {image: (images, 1, 1, 1), filters: (1, 1, 1, 1)}
        case = Case(op, {"T": "f32"}, shapes, {}, pattern="signs+signs+signs")
        assert declared.reason_against(spec, case) == expected
    with pytest.raises(Unsupported, match=reason):
        backend.run(op, inputs_of(spec, case), case.attributes)  # type: ignore[arg-type]


@pytest.mark.needs("ncnn")
@pytest.mark.parametrize(
    ("op", "attributes", "reason"),
    [
        ("onnx.Conv-22", {"auto_pad": "SAME"}, "auto_pad same is no padding of ncnn's"),
        ("onnx.Conv-22", {"strides": [1]}, "a number for each axis"),
        ("onnx.Conv-22", {"dilations": [1, 1, 1]}, "a number for each axis"),
        ("torch.conv-2", {"padding": [1]}, "a number for each axis"),
        ("onnx.Conv-22", {"group": 0}, "none of 0 groups"),
    ],
)
def test_what_a_net_of_ncnn_cannot_say_does_not_count_as_accepted(
    op: str, attributes: dict[str, object], reason: str
) -> None:
    ones = np.ones((1, 1, 1, 1), np.float32)
    with pytest.raises(Unsupported, match=reason):
        load_backend("ncnn").run(op, [ones, ones, None], attributes)


CONV = Case(
    "onnx.Conv-22", {"T": "f64"}, {"X": (1, 1, 4, 4), "W": (1, 1, 3, 3)}, {"strides": [1, 2]}
)


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ("T == f64", True),
        ("T in [f16, bf16]", False),
        ("T == f64 and any(strides > 1)", True),
        ("T == f64 and auto_pad != NOTSET", False),
        ("rank_of(X) == 4 and not has(B)", True),
        ("length(size) == 3", False),
    ],
)
def test_conditions_speak_of_types_attributes_and_shapes(when: str, holds: bool) -> None:
    declared = Capabilities(excluding=(Exclusion("not claimed", when),))
    reason = declared.reason_against(load_operator(CONV.op), CONV)
    assert reason == ("not claimed" if holds else None)


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ("T == i8", "unknown name 'i8'"),
        ("T == NOTSET", "these words have no value in common"),
        ("T > f16", "expected a whole number"),
        ("f64", "a truth value"),
        ("X[0, 0, 0] > 0", ""),
    ],
)
def test_what_makes_no_sense_of_types_is_refused(when: str, problem: str) -> None:
    declared = Capabilities(excluding=(Exclusion("not claimed", when),))
    with pytest.raises(BackendError, match=r"does not fit onnx\.Conv-22") as caught:
        declared.reason_against(load_operator(CONV.op), CONV)
    assert problem in caught.value.message


@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize(("extra", "is_claimed"), [([0], True), ([1], True), ([2], False)])
def test_onnx_runtime_limits_output_padding_by_the_stride(
    extra: list[int], is_claimed: bool
) -> None:
    op = "onnx.ConvTranspose-22"
    attributes = {"strides": [2], "dilations": [3], "output_padding": extra}
    case = Case(op, {"T": "f32"}, {"X": (1, 1, 3), "W": (1, 1, 2)}, attributes)
    declared = declared_by("onnxruntime")
    assert (declared.reason_against(load_operator(op), case) is None) == is_claimed


@pytest.mark.needs("onnxruntime")
@pytest.mark.parametrize(
    ("op", "dtype", "is_claimed"),
    [
        ("onnx.Conv-22", "f64", False),
        ("onnx.ConvTranspose-11", "f64", False),
        ("onnx.Conv-1", "f16", True),
        ("onnx.MatMul-13", "f64", True),
        ("onnx.MatMul-9", "i64", True),
        ("onnx.MatMul-13", "bf16", False),
        ("onnx.Gemm-13", "f64", True),
        ("onnx.Gemm-9", "i32", False),
        ("onnx.Gemm-7", "f16", True),
    ],
)
def test_onnx_runtime_declares_the_types_of_its_kernels(
    op: str, dtype: str, is_claimed: bool
) -> None:
    spec = load_operator(op)
    (case, *_) = draw_cases(spec, 1, seed=0, dtypes=[dtype])
    assert (declared_by("onnxruntime").reason_against(spec, case) is None) == is_claimed
