"""Formats of an exported case: raw files, ``.npy`` files, or a model and its inputs."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import Unsupported, missing_extra
from conformance.exchange.export_index import ENDING
from conformance.grade.outcome import Ending, describe_exception
from conformance.model import Vector
from conformance.suite.npy import write_npy

if TYPE_CHECKING:
    from conformance.backends.openvino import OpenVINO

Files = Iterator[tuple[str, bytes]]


def case_files(vector: Vector, layout: str) -> Files:
    """Yield the files of a case by name, in one of ``FILE_FORMATS``."""
    return FILE_FORMATS[layout](vector)


def case_line(number: int, outputs: int, vector: Vector) -> str:
    """Return the case in one line of words, for a reader that has no JSON.

    ``000007 AvgPool-1 outputs 1 inputs 1 f32 4 1 3 5 5 attributes 2 kernel ints 2 2 2 auto_pad text
    valid``: each shape and each list begins with its length. An optional input that is not given
    is ``absent``.
    """
    fields = [f"{number:06}", vector.case.op, "outputs", outputs]
    fields += ["inputs", len(vector.arguments)]
    for array in vector.arguments:
        fields += [*_array_words(array)]
    attributes = vector.case.attributes
    fields += ["attributes", len(attributes)]
    for name, value in attributes.items():
        fields += [name, *_value_words(value)]
    return " ".join(map(str, fields))


def describe_array(name: str, shape: tuple[int, ...]) -> str:
    """Return an array in words: its type, its rank and its sizes."""
    return " ".join(map(str, (name, len(shape), *shape)))


def _array_words(array: Array | None) -> Iterator[Any]:
    yield "absent" if array is None else describe_array(name_of(array.dtype), array.shape)


def _value_words(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield from ("bool", int(value))
    elif isinstance(value, int):
        yield from ("int", value)
    elif isinstance(value, float):
        yield from ("number", repr(value))
    elif isinstance(value, str):
        yield from ("text", value or "-")
    elif any(isinstance(entry, float) for entry in value):
        yield from ("numbers", len(value), *map(repr, value))
    else:
        yield from ("ints", len(value), *value)


def _stored(array: Array) -> Array:
    return DTYPES[name_of(array.dtype)].to_storage(array)


def _raw(vector: Vector) -> Files:
    for i, array in _given(vector):
        yield f"in{i}.bin", _stored(array).tobytes()


def _given(vector: Vector) -> Iterator[tuple[int, Array]]:
    """Yield the inputs that are given, each with its place in the specification."""
    arguments = enumerate(vector.arguments)
    yield from ((i, array) for i, array in arguments if array is not None)


def _npy(vector: Vector) -> Files:
    case = vector.case
    record = {
        "op": case.op,
        "attributes": dict(case.attributes),
        "inputs": [None if array is None else name_of(array.dtype) for array in vector.arguments],
    }
    yield "case.json", json.dumps(record, indent=1).encode() + b"\n"
    for i, array in _given(vector):
        yield f"in{i}.npy", write_npy(_stored(array))


def _onnx(vector: Vector) -> Files:
    from conformance.backends.onnx_model import load_onnx, model

    load_onnx()
    yield from _npy(vector)
    try:
        yield "model.onnx", model(vector.case.op, vector.arguments, vector.case.attributes)
    except Unsupported as error:
        yield ENDING, f"{Ending.UNSUPPORTED.value} {error}\n".encode()


def _openvino(vector: Vector) -> Files:
    case = vector.case
    yield from _npy(vector)
    backend = _openvino_backend()
    if not backend.capabilities.declares(case.op, case.dtype, case.rank):
        yield ENDING, f"{Ending.UNSUPPORTED.value} {case.op} is no operator of OpenVINO\n".encode()
        return
    try:
        yield from backend.ir(case.op, vector.arguments, case.attributes).items()
    except RuntimeError as error:
        # OpenVINO refuses what is invalid while a model is made: that is its answer.
        yield ENDING, f"{Ending.RAISED.value} {describe_exception(error)}\n".encode()


@cache
def _openvino_backend() -> OpenVINO:
    from conformance.backends.openvino import OpenVINO

    return OpenVINO()


FILE_FORMATS: dict[str, Callable[[Vector], Files]] = {
    "raw": _raw,
    "npy": _npy,
    "onnx": _onnx,
    "openvino-ir": _openvino,
}
MODELS = {"onnx": "onnx", "openvino-ir": "openvino"}
"""Formats that are models, and the packages that make them."""


def require_package(layout: str) -> None:
    """Check that the package is installed that makes a format.

    Raises:
        UsageError: it is not.
    """
    needed = MODELS.get(layout)
    if needed is None:
        return
    if importlib.util.find_spec(needed) is None:
        extra = {"onnx": "onnx-reference"}.get(needed, needed)
        raise missing_extra(f"--format {layout} needs the package {needed}", extra)
