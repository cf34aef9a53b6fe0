"""Framing of messages between a run and its workers: a JSON header, then the bytes of arrays.

A message is a prefix (the lengths of both parts), the header, and the elements of each array that
the header lists, in C order; all numbers are little-endian. docs/protocol.md says it to those who
write a program. What a worker sends is as foreign as the backend in it: nothing is unpickled or
evaluated, and every length is checked before memory is taken.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from conformance.safe_text import number_of, printable

Header = dict[str, Any]

PREFIX = struct.Struct("<IQ")
SWAPPED = struct.Struct(">IQ")
MAX_HEADER = 16 << 20
"""The longest header, in bytes: a line of the run log is no longer."""

PRINTED = frozenset(range(32, 127)) | set(b"\t\n\r")
SHOWN = 60
"""Characters that are shown of what was printed in place of a message."""


KNOCK = b" "
"""The first byte of a question that is sent before it is known what is asked."""


class Malformed(ValueError):
    """What came is not a message of this form."""


class Inbox:
    """Bytes as they come, taken out as whole messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes)

    def feed(self, data: bytes) -> None:
        """Append what was read."""
        self._bytes += data

    def take(self, limit: int) -> tuple[Header, bytes] | None:
        """Take the next message, whose arrays may have ``limit`` bytes.

        Returns:
            None until the message is complete.

        Raises:
            Malformed: before the message is complete if its prefix already shows it.
        """
        if len(self._bytes) < PREFIX.size:
            return None
        header, payload = PREFIX.unpack_from(self._bytes)
        if header > MAX_HEADER or payload > limit:
            raise Malformed(self._seen(header, payload, limit))
        begin, end = PREFIX.size + header, PREFIX.size + header + payload
        if len(self._bytes) < end:
            return None
        text, rest = bytes(self._bytes[PREFIX.size : begin]), bytes(self._bytes[begin:end])
        del self._bytes[:end]
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Malformed("a header that is not JSON") from error
        if not isinstance(value, dict):
            raise Malformed("a header that is not an object")
        return value, rest

    def printed(self) -> str:
        """Return the text that came in place of a message; empty if it is none."""
        if not all(byte in PRINTED for byte in self._bytes[: PREFIX.size]):
            return ""
        return printable(bytes(self._bytes[:SHOWN]).decode("ascii", "replace"))

    def unasked(self) -> str:
        """Return the data that came without a request."""
        text = self.printed()
        return (
            f"text that nobody asked for: {text!r}"
            if text
            else f"{number_of(len(self), 'byte')} unasked"
        )

    def echoes(self) -> bool:
        """Return whether the first data sent have come back, and nothing else."""
        return self._bytes == KNOCK

    def _seen(self, header: int, payload: int, limit: int) -> str:
        """What there is in place of a prefix."""
        if text := self.printed():
            return f"text in place of a message: {text!r}"
        swapped = SWAPPED.unpack_from(self._bytes)
        if swapped[0] <= MAX_HEADER and swapped[1] <= limit:
            return "a message with lengths in big-endian order"
        if header > MAX_HEADER:
            return f"a message with a header of {header} bytes; at most {MAX_HEADER} are read"
        return f"a message with {payload} bytes of arrays; at most {limit} are read"


def after_knock(message: bytes) -> bytes:
    """Return the rest of a message whose first byte was sent already.

    Blanks make its header as long as that byte says.
    """
    header, payload = PREFIX.unpack_from(message)
    more = (KNOCK[0] - header) % 256
    end = PREFIX.size + header
    prefix = PREFIX.pack(header + more, payload)
    return b"".join((prefix[1:], message[PREFIX.size : end], b" " * more, message[end:]))


def pack(header: Mapping[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> bytes:
    """Encode a message.

    Raises:
        ValueError: its header is longer than a reader accepts.
    """
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    if len(text) > MAX_HEADER:
        raise ValueError(f"takes {len(text):,} bytes; at most {MAX_HEADER:,} are taken")
    parts = [array.tobytes() for array in arrays]
    return b"".join((PREFIX.pack(len(text), sum(map(len, parts))), text, *parts))
