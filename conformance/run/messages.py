"""The messages between a run and its workers, our own and programs alike (docs/protocol.md).

What comes from a worker is checked member by member. Arrays are handed on where they could be
right; of anything else that a backend returned only a description travels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.backends import components
from conformance.backends.capabilities import Capabilities
from conformance.backends.components import Component
from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import BackendError, ConformanceError
from conformance.grade.outcome import (
    MAX_MESSAGE,
    MAX_NAME,
    DescribedValue,
    Ending,
    Outcome,
    describe_value,
)
from conformance.model import Vector
from conformance.run.environment import of_system
from conformance.run.executor import Identity
from conformance.run.framing import Header, Malformed, pack
from conformance.safe_text import foreign, printable

PROTOCOL = 1
"""The version of the protocol. It changes when existing programs could not run any more."""

BYTE_ORDER = "little"

MAX_OUTPUTS = 64
"""How many returned objects are described one by one; no operator has as many outputs."""

MAX_COUNT = 1 << 20
"""The largest number of returned objects that is reported exactly."""

TIMES_AS_LARGE = 4
SMALL = 1 << 20
"""An output is sent up to so many times the size of the right one, or so many bytes."""

MAX_RANK = 64
MAX_ERROR = 4000
"""Characters of an error that are handed on."""

ANSWERED = {
    ending.value: ending
    for ending in (
        Ending.RETURNED,
        Ending.RAISED,
        Ending.UNSUPPORTED,
        Ending.ADAPTER,
        Ending.ABORTED,
    )
}


def encode_hello(identity: Identity) -> bytes:
    """Encode the message that identifies a backend.

    Raises:
        TypeError: a value of it has no JSON form.
        ValueError: it is too long.
    """
    declared = identity.capabilities
    hello = {
        "protocol": PROTOCOL,
        "byte_order": BYTE_ORDER,
        "name": identity.name,
        "version": identity.version,
        "capabilities": None if declared is None else declared.to_json(),
        "facts": identity.facts,
        "process": identity.process,
    }
    if identity.pieces is not None:
        hello["pieces"], hello["beside"] = (
            [[piece.kind, piece.name, piece.sha256] for piece in pieces]
            for pieces in (identity.pieces, identity.beside)
        )
    return pack({"hello": hello})


def encode_load_failure(error: ConformanceError) -> bytes:
    """Encode the message that tells why a backend could not be loaded."""
    reason = {"message": error.message[:MAX_ERROR], "hint": (error.hint or "")[:MAX_ERROR]}
    return pack({"error": reason})


def decode_hello(header: Header, *, program: bool = False) -> Identity:
    """Decode the message that identifies a backend.

    Of a ``program`` its statements on its process and its files are ignored: we measure these.

    Raises:
        BackendError: it could not be loaded, or speaks another version of the protocol.
        Malformed: the message is not well-formed.
    """
    if "error" in header:
        error = _member(header, "error", _is_object)
        message = _member(error, "message", _text(MAX_ERROR))
        hint = _member(error, "hint", _text(MAX_ERROR), "") or None
        if program:
            said = foreign(message, MAX_MESSAGE)
            raise BackendError(f"the program says: {said}", hint=hint and foreign(hint))
        raise BackendError(message, hint=hint)
    hello = _member(header, "hello", _is_object)
    spoken = _member(hello, "protocol", _whole(1 << 31))
    if spoken != PROTOCOL:
        raise BackendError(
            f"the program speaks version {spoken} of the protocol; this is version {PROTOCOL}",
            hint="use the conformance.h of this version: conformance protocol header",
        )
    order = _member(hello, "byte_order", _is_name)
    if order != BYTE_ORDER:
        raise BackendError(
            f"the program's byte order is {foreign(order)!a}",
            hint="all numbers and arrays are little-endian; swap them in the program",
        )
    declared = hello.get("capabilities")
    return Identity(
        name=foreign(_member(hello, "name", _is_name)) or "?",
        version=foreign(_member(hello, "version", _is_name)) or "?",
        capabilities=None if declared is None else Capabilities.from_json(declared),
        facts=_member(hello, "facts", _is_facts, {}),
        process=_process(hello["process"]) if "process" in hello and not program else of_system(),
        pieces=_pieces(hello, "pieces") if "pieces" in hello and not program else None,
        beside=_pieces(hello, "beside") if "beside" in hello and not program else (),
    )


def _pieces(hello: Header, name: str) -> tuple[Component, ...]:
    """What a worker says that its backend is made of."""
    return tuple(Component(*piece) for piece in _member(hello, name, _are_pieces))


def _process(process: Any) -> dict[str, Any]:
    """What a worker says of its own process: that, and nothing else that it may say."""
    if not _is_object(process):
        raise Malformed("no usable 'process'")
    return {
        "python": _member(process, "python", _text(MAX_NAME)),
        "platform": _member(process, "platform", _text(MAX_NAME)),
        "variables": _member(process, "variables", _is_facts),
        "packages": _member(process, "packages", _are_versions),
    }


def encode_request(number: int, vector: Vector) -> bytes:
    """Encode the message with a vector; of expected outputs it holds only the allowed size."""
    case = vector.case
    header = {
        "number": number,
        "op": case.op,
        "attributes": dict(case.attributes),
        "inputs": [
            {"dtype": name_of(array.dtype), "shape": list(array.shape)} for array in vector.inputs
        ],
        "limit": max_output_bytes(vector),
    }
    return pack(header, vector.inputs)


def max_output_bytes(vector: Vector) -> int:
    """Return the size above which an output is described instead of sent, in bytes.

    Outputs of a wrong shape are often larger than the right one, and are diagnosed too.
    """
    largest = max(
        (
            math.prod(answer.expected.shape) * DTYPES[answer.dtype].numpy.itemsize
            for answers in (vector.answers, *vector.readings.values())
            for answer in answers
        ),
        default=0,
    )
    return max(TIMES_AS_LARGE * largest, SMALL)


def decode_request(header: Header, payload: bytes) -> list[Array]:
    """Decode the inputs of a request."""
    inputs, offset = [], 0
    for facts in header["inputs"]:
        array, offset = _array(facts["dtype"], facts["shape"], payload, offset)
        inputs.append(array)
    return inputs


def encode_response(number: int, outcome: Outcome, limit: int) -> bytes:
    """Encode the response to a request; outputs above ``limit`` bytes are only described."""
    arrays: list[Array] = []

    def describe_output(item: object) -> Header:
        seen = describe_value(item)
        sent = type(item) is np.ndarray and seen.dtype in DTYPES and item.nbytes <= limit
        if sent:
            arrays.append(item)  # type: ignore[arg-type]  # a plain array, as was just found
        return {
            "type": seen.type,
            "dtype": seen.dtype,
            "swapped": seen.swapped,
            "shape": None if seen.shape is None else list(seen.shape),
            "sent": sent,
        }

    plural = isinstance(outcome.returned, list)
    items: list[Any] = outcome.returned if plural else [outcome.returned]  # type: ignore[assignment]
    header = {
        "number": number,
        "ending": outcome.ending.value,
        "message": outcome.message,
        "changed": list(outcome.changed),
        "seconds": outcome.seconds,
        "plural": plural,
        "count": min(len(items), MAX_COUNT),
        "outputs": [describe_output(item) for item in items[:MAX_OUTPUTS]],
    }
    return pack(header, arrays)


def decode_response(header: Header, payload: bytes, number: int, inputs: int) -> Outcome:
    """Decode the outcome in the response to request ``number`` with ``inputs`` inputs.

    Members that a program may leave out have a default; ``seconds`` is then 0.

    Raises:
        Malformed: it is no well-formed response to this very request.
    """
    if type(header.get("number")) is not int or header["number"] != number:
        raise Malformed("a response to another request")
    ending = ANSWERED[_member(header, "ending", _is_ending, Ending.RETURNED.value)]
    outputs = _member(header, "outputs", lambda value: isinstance(value, list), [])
    plural = _member(header, "plural", lambda value: isinstance(value, bool), True)
    count = _member(header, "count", _whole(MAX_COUNT + 1), len(outputs))
    if len(outputs) != min(count, MAX_OUTPUTS) or not (plural or count == 1):
        raise Malformed("the number of outputs differs from the stated one")
    items: list[Any] = []
    offset = 0
    for facts in outputs:
        item, offset = _item(facts, payload, offset)
        items.append(item)
    if offset != len(payload):
        raise Malformed(f"{len(payload)} bytes of arrays; the stated outputs take {offset}")
    items += [None] * (count - len(items))
    message = _member(header, "message", _text(2 * MAX_MESSAGE), "")
    return Outcome(
        ending,
        items if plural else items[0],
        message=printable(" ".join(message.split())),
        changed=tuple(_member(header, "changed", _numbers(inputs, inputs), [])),
        seconds=float(_member(header, "seconds", _is_seconds, 0.0)),
    )


def _item(facts: Any, payload: bytes, offset: int) -> tuple[Array | DescribedValue, int]:
    """A returned object: the array that was sent, or what it is described as."""
    if not _is_object(facts):
        raise Malformed("an output that is not described")
    dtype = _member(facts, "dtype", _text(MAX_NAME))
    shape = facts.get("shape")
    if shape is not None:
        shape = tuple(_member(facts, "shape", _numbers(1 << 63, MAX_RANK)))
        if _member(facts, "sent", lambda value: isinstance(value, bool), True):
            return _array(dtype, shape, payload, offset)
    seen = DescribedValue(
        type=_member(facts, "type", _text(MAX_NAME), "array"),
        dtype=dtype,
        swapped=_member(facts, "swapped", _text(MAX_NAME), ""),
        shape=shape,
    )
    return seen, offset


def _array(dtype: str, shape: Any, payload: bytes, offset: int) -> tuple[Array, int]:
    """The array at some place of the payload, without a copy, and the place after it."""
    row = DTYPES.get(dtype)
    if row is None:
        raise Malformed(f"an array of type {printable(dtype)!r}; known: {', '.join(DTYPES)}")
    end = offset + math.prod(shape) * row.storage.itemsize
    if end > len(payload):
        raise Malformed(f"{len(payload)} bytes of arrays; the stated outputs take more")
    try:
        stored: Array = np.ndarray(shape, row.storage, buffer=payload, offset=offset)
    except (ValueError, OverflowError) as error:  # sizes that no array has, beside one that is 0
        raise Malformed("an array of no possible shape") from error
    return row.from_storage(stored), end


def _member(header: Header, name: str, is_right: Callable[[Any], bool], default: Any = None) -> Any:
    """The member of that name; ``default`` in place of one that is missing."""
    value = header.get(name, default)
    if not is_right(value):
        raise Malformed(f"no usable '{name}'" if name in header else f"no '{name}'")
    return value


def _text(limit: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and len(value) <= limit


def _whole(below: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and 0 <= value < below


def _numbers(below: int, length: int) -> Callable[[Any], bool]:
    is_one = _whole(below)
    return lambda value: (
        isinstance(value, list) and len(value) <= length and all(map(is_one, value))
    )


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_facts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(fact, str) for fact in value.values())


def _are_versions(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str | None) for v in value.values())


def _are_pieces(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= components.MAX_COMPONENTS
        and all(map(_is_piece, value))
    )


def _is_piece(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and value[0] in components.KINDS
        and isinstance(value[1], str)
        and value[1].isprintable()
        and len(value[1]) <= components.MAX_NAME
        and isinstance(value[2], str)
        and components.DIGEST.fullmatch(value[2]) is not None
    )


def _is_ending(value: Any) -> bool:
    return isinstance(value, str) and value in ANSWERED


def _is_seconds(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < 1e9
