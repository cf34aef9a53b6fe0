"""Reads what comes from workers, our own and programs alike (docs/protocol.md).

Each message is converted to a typed record first; members that no record has are ignored, so that
a program may say more.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from conformance import codec
from conformance.backends import components
from conformance.backends.capabilities import Capabilities
from conformance.backends.components import Component
from conformance.dtypes import Array
from conformance.errors import BackendError
from conformance.grade.outcome import MAX_MESSAGE, MAX_NAME, DescribedValue, Ending, Outcome
from conformance.run.environment import of_system
from conformance.run.executor import Identity
from conformance.run.framing import Header, Malformed
from conformance.run.messages import (
    BYTE_ORDER,
    MAX_COUNT,
    MAX_ERROR,
    MAX_OUTPUTS,
    PROTOCOL,
    read_array,
)
from conformance.safe_text import foreign, printable

MAX_RANK = 64
MAX_SECONDS = 1e9

ENDINGS = ("returned", "raised", "unsupported", "adapter", "aborted")
"""Endings of a call that a worker can report itself."""

T = TypeVar("T")
Name = Annotated[str, Meta(min_length=1)]
Text = Annotated[str, Meta(max_length=MAX_NAME)]
ErrorText = Annotated[str, Meta(max_length=MAX_ERROR)]
Size = Annotated[int, Meta(ge=0, le=2**63 - 1)]
PieceData = tuple[
    Annotated[str, Meta(pattern=f"^({'|'.join(components.KINDS)})\\Z")],
    Annotated[str, Meta(max_length=components.MAX_NAME)],
    Annotated[str, Meta(pattern=f"^({components.DIGEST.pattern})\\Z")],
]
Pieces = Annotated[tuple[PieceData, ...], Meta(max_length=components.MAX_COMPONENTS)]


class _Message(msgspec.Struct, frozen=True):
    """Members of a message."""


class LoadFailure(_Message, frozen=True):
    """Why a backend could not be loaded."""

    message: ErrorText
    hint: ErrorText = ""


class Dialect(_Message, frozen=True):
    """What decides whether the rest of a hello can be read."""

    protocol: Annotated[int, Meta(ge=0, lt=1 << 31)]
    byte_order: Name


class Hello(_Message, frozen=True):
    """Who a backend is."""

    name: Name
    version: Name
    capabilities: Any = None
    facts: dict[str, str] = {}


class ProcessFacts(_Message, frozen=True):
    """What a worker says of its process."""

    python: Text
    platform: Text
    variables: dict[str, str]
    packages: dict[str, str | None]


class Measured(_Message, frozen=True):
    """What is taken from our own worker alone: for a program we measure it."""

    process: ProcessFacts | UnsetType = UNSET
    pieces: Pieces | UnsetType = UNSET
    beside: Pieces = ()


class OutputFacts(_Message, frozen=True):
    """A returned object; it travels as an array if it is ``sent`` and has a shape."""

    dtype: Text
    shape: Annotated[tuple[Size, ...], Meta(max_length=MAX_RANK)] | None = None
    sent: bool = True
    type: Text = "array"
    swapped: Text = ""


class Response(_Message, frozen=True):
    """What a call came to. ``changed`` are indices of inputs, ``seconds`` its duration."""

    ending: Annotated[str, Meta(pattern=f"^({'|'.join(ENDINGS)})\\Z")] = "returned"
    outputs: tuple[OutputFacts, ...] = ()
    plural: bool = True
    count: Annotated[int, Meta(ge=0, le=MAX_COUNT)] | UnsetType = UNSET
    message: Annotated[str, Meta(max_length=2 * MAX_MESSAGE)] = ""
    changed: tuple[Size, ...] = ()
    seconds: Annotated[float, Meta(ge=0, lt=MAX_SECONDS)] = 0.0


def decode_hello(header: Header, *, program: bool = False) -> Identity:
    """Return who the backend is.

    What a ``program`` says of its process or its files is not taken: that is what we measure.
    Raises :class:`BackendError` if it could not be loaded or speaks another version of the
    protocol, and :class:`Malformed`.
    """
    if "error" in header:
        raise _load_failure(_convert(header["error"], LoadFailure), program)
    members = header.get("hello")
    dialect = _convert(members, Dialect)
    if dialect.protocol != PROTOCOL:
        raise BackendError(
            f"the program speaks version {dialect.protocol} of the protocol; this is version "
            f"{PROTOCOL}",
            hint="use the conformance.h of this version: conformance protocol header",
        )
    if dialect.byte_order != BYTE_ORDER:
        raise BackendError(
            f"the program's byte order is {foreign(dialect.byte_order)!a}",
            hint="all numbers and arrays are little-endian; swap them in the program",
        )
    hello = _convert(members, Hello)
    measured = Measured() if program else _convert(members, Measured)
    declared = hello.capabilities
    return Identity(
        name=foreign(hello.name) or "?",
        version=foreign(hello.version) or "?",
        capabilities=None if declared is None else Capabilities.from_json(declared),
        facts=hello.facts,
        process=of_system()
        if isinstance(measured.process, UnsetType)
        else msgspec.structs.asdict(measured.process),
        pieces=None if isinstance(measured.pieces, UnsetType) else _pieces(measured.pieces),
        beside=_pieces(measured.beside),
    )


def decode_response(header: Header, payload: bytes, number: int, inputs: int) -> Outcome:
    """Return the outcome in the response to request ``number``, which had so many ``inputs``.

    Raises :class:`Malformed` for anything but a well-formed response to that very request.
    """
    if type(header.get("number")) is not int or header["number"] != number:
        raise Malformed("a response to another request")
    response = _convert(header, Response)
    outputs = response.outputs
    count = len(outputs) if isinstance(response.count, UnsetType) else response.count
    if len(outputs) != min(count, MAX_OUTPUTS) or not (response.plural or count == 1):
        raise Malformed("the number of outputs differs from the stated one")
    changed = response.changed
    if len(changed) > inputs or any(index >= inputs for index in changed):
        raise Malformed("no usable 'changed'")
    items: list[Any] = []
    offset = 0
    for facts in outputs:
        item, offset = _item(facts, payload, offset)
        items.append(item)
    if offset != len(payload):
        raise Malformed(f"{len(payload)} bytes of arrays; the stated outputs take {offset}")
    items += [None] * (count - len(items))
    return Outcome(
        Ending(response.ending),
        items if response.plural else items[0],
        message=printable(" ".join(response.message.split())),
        changed=changed,
        seconds=response.seconds,
    )


def _convert(members: Any, kind: type[T]) -> T:
    try:
        return codec.convert(members, kind)
    except ValueError as error:
        raise Malformed(f"a header that does not fit: {error}") from None


def _load_failure(failure: LoadFailure, program: bool) -> BackendError:
    if not program:
        return BackendError(failure.message, hint=failure.hint or None)
    message = foreign(failure.message, MAX_MESSAGE)
    hint = foreign(failure.hint) if failure.hint else None
    return BackendError(f"the program says: {message}", hint=hint)


def _pieces(data: Pieces) -> tuple[Component, ...]:
    if not all(name.isprintable() for _, name, _ in data):
        raise Malformed("pieces with a name that cannot be shown")
    return tuple(Component(*piece) for piece in data)


def _item(facts: OutputFacts, payload: bytes, offset: int) -> tuple[Array | DescribedValue, int]:
    """Return a returned object, the array that was sent or its description, and the offset."""
    if facts.shape is not None and facts.sent:
        return read_array(facts.dtype, facts.shape, payload, offset)
    return DescribedValue(facts.type, facts.dtype, facts.swapped, facts.shape), offset
