"""Adapters say which versions they know, and what they need."""

from __future__ import annotations

import pytest

from conformance.backends import onnx_model
from conformance.backends.capabilities import Capabilities
from conformance.backends.versions import require_features, require_version
from conformance.errors import BackendError
from conformance.model import Case
from conformance.specification import find_spec


@pytest.mark.parametrize("version", ["1.15", "1.15.1", "1.20rc1", "2.0+cpu", "2024.0.0-1234-ab"])
def test_a_version_that_is_new_enough(version):
    assert require_version("lib", version, oldest="1.15") == version


@pytest.mark.parametrize("version", ["1.9", "1.14.99", "0.5+cpu", "unknown"])
def test_an_older_one_is_named(version):
    with pytest.raises(BackendError, match=r"lib .* is older than 1\.15") as raised:
        require_version("lib", version, oldest="1.15")
    assert "1.15 or newer" in str(raised.value.hint)


def test_what_is_missing_is_named():
    require_features("lib", "1.0", lib__schema=object())
    with pytest.raises(BackendError, match=r"lib 1\.0 has no lib\.schema and no other, which"):
        require_features("lib", "1.0", lib__schema=None, other=None, there=0)


@pytest.mark.parametrize(
    ("op", "opset", "claimed"),
    [
        ("onnx.AveragePool-22", 22, True),
        ("onnx.AveragePool-22", 19, False),
        ("onnx.AveragePool-19", 19, True),
        ("onnx.AveragePool-11", 19, True),
        ("onnx.MaxPool-1", 19, False),
    ],
)
def test_operators_newer_than_the_runtime_are_not_declared(op, opset, claimed):
    declared = onnx_model.operators(("onnx.AveragePool-*", "onnx.Global*"), opset)
    capabilities = Capabilities(operators=declared)
    if op == "onnx.MaxPool-1":
        assert not capabilities.declares(op, "f32", 4)
        return
    spec = find_spec(op)
    case = Case(op, {"T": "f32"}, {"data": (1, 1, 3)}, {"kernel_shape": [1]})
    assert (capabilities.reason_against(spec, case) is None) is claimed
