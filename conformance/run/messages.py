"""The messages to a worker, and what a worker of this package sends (docs/protocol.md).

:mod:`conformance.run.responses` reads what comes from workers. Of what a backend returned, arrays
travel if they could be right; of anything else only a description. A worker in another environment
imports this module, so it needs nothing that only this environment has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conformance.dtypes import DTYPES, Array, name_of
from conformance.errors import ConformanceError
from conformance.grade.outcome import (
    Outcome,
    describe_value,
)
from conformance.model import Vector
from conformance.run.executor import Identity
from conformance.run.framing import Header, Malformed, pack
from conformance.safe_text import printable

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

MAX_ERROR = 4000
"""Characters of an error that are handed on."""


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


def encode_request(number: int, vector: Vector) -> bytes:
    """Encode the message with a vector; of expected outputs it holds only the allowed size."""
    case = vector.case
    header = {
        "number": number,
        "op": case.op,
        "attributes": dict(case.attributes),
        "inputs": [
            None if array is None else {"dtype": name_of(array.dtype), "shape": list(array.shape)}
            for array in vector.arguments
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


def decode_request(header: Header, payload: bytes) -> list[Array | None]:
    """Decode the inputs of a request, None for one that is absent."""
    inputs: list[Array | None] = []
    offset = 0
    for facts in header["inputs"]:
        if facts is None:
            inputs.append(None)
            continue
        array, offset = read_array(facts["dtype"], facts["shape"], payload, offset)
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


def read_array(dtype: str, shape: Any, payload: bytes, offset: int) -> tuple[Array, int]:
    """Return the array at an offset of the payload, and the offset after it.

    The array shares the payload's memory. Raises :class:`Malformed` for an impossible array.
    """
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
