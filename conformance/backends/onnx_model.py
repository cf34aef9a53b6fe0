"""Builds ONNX models of one operator, for onnxruntime, onnx's reference, OpenVINO and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.backends.standalone_call import StandaloneCall
from conformance.backends.versions import require_version
from conformance.core.binding import Binding
from conformance.core.operator import Operator, Output
from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import ConformanceError, Unsupported
from conformance.specification import (
    binding_of,
    case_from_inputs,
    find_spec,
    shipped_operators,
)

PREFIX = "onnx."
NEWEST = 23
"""The newest version of an operator that there is a specification of."""

OLDEST_ONNX = "1.14"
"""The oldest release of the package onnx that models were made with."""


def operators(patterns: Sequence[str], opset: int) -> tuple[str, ...]:
    """Return what a backend declares that has operators up to version ``opset``.

    Args:
        patterns: names that end in a star.

    Returns:
        The patterns themselves, or names of versions if newer ones are to be left out.
    """
    if opset >= NEWEST:
        return tuple(patterns)
    names = [pattern.removesuffix("-*") for pattern in patterns]
    return tuple(f"{name}-{version}" for name in names for version in range(1, opset + 1))


def load_onnx() -> Any:
    """Import the package onnx.

    Raises:
        BackendError: it is too old.
    """
    import onnx

    require_version("onnx", onnx.__version__, oldest=OLDEST_ONNX)
    return onnx


def model_call(
    op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
) -> StandaloneCall:
    """Return the call that serialises the model of ``op``, named as in ``onnx.MaxPool-12``.

    Inputs that decide shapes are constants of the model. The node follows from types, shapes and
    attributes; an input that is not given is None. Nothing is checked here: what is invalid is for
    the backend to refuse.

    Raises:
        Unsupported: ``op`` is no operator of ONNX.
    """
    from onnx import defs

    from conformance.backends import standalone_onnx

    name, _, version = op.removeprefix(PREFIX).rpartition("-")
    if not op.startswith(PREFIX) or not defs.has(name, ""):
        raise Unsupported(f"{op} is no operator of ONNX")
    if int(version) > defs.onnx_opset_version():
        raise Unsupported(f"{op} is newer than the package onnx")
    schema = defs.get_schema(name, int(version), "")
    if schema.since_version != int(version):
        raise Unsupported(f"{op} is no version of {name}; the one before is {schema.since_version}")
    given = list(inputs)
    while given and given[-1] is None:  # a node just has fewer inputs
        given.pop()
    spec = find_spec(op) if op in shipped_operators() else None
    deciding = [] if spec is None else [k for k, t in enumerate(spec.inputs) if t.entries]
    ranks = [None] * len(schema.outputs) if spec is None else _ranks(spec, inputs, attributes)
    tensors = [
        None
        if data is None
        else (
            DTYPES[name_of(data.dtype)].onnx,
            list(data.shape),
            *([data.ravel().tolist()] if k in deciding else []),
        )
        for k, data in enumerate(given)
    ]
    arguments = (name, int(version), dict(attributes), tensors, ranks)
    return StandaloneCall(standalone_onnx.node_model, arguments)


def _ranks(
    spec: Operator, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
) -> list[int | None]:
    """How many dimensions each result has, None of what is invalid."""
    try:
        binding = binding_of(spec, case_from_inputs(spec, inputs, attributes), tolerant=True)
        return [_rank(spec, output, binding) for output in spec.outputs]
    except ConformanceError:
        return [None for _ in spec.outputs]


def _rank(spec: Operator, output: Output, binding: Binding) -> int:
    extents = output.shape or [*spec.define[output.name].at.values()]
    return len(binding.flat(extents)) - sum(map(bool, binding.flat(output.omit)))


def model(op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any]) -> bytes:
    """Serialise the model of ``op``; see :func:`model_call`."""
    return bytes(model_call(op, inputs, attributes).value())


def identity_model(opset: int) -> bytes:
    """Serialise an identity in an operator set, to test whether a runtime reads it.

    Raises an exception of the package onnx for a set that it does not have.
    """
    from onnx import TensorProto, helper

    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "XY"]
    node = helper.make_node("Identity", ["X"], ["Y"])
    graph = helper.make_graph([node], "nothing", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", opset)]
    proto = helper.make_model(
        graph, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets)
    )
    return bytes(proto.SerializeToString())
