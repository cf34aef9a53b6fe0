"""Encodes one event as a line of JSON and decodes it, within limits.

Lines are pure ASCII: control characters, bidirectional marks and lone surrogates from a backend
travel as JSON escapes, so they can neither break a line nor reach a terminal that prints the log.
JSON has no NaN and no infinities; they are written as the strings ``nan``, ``inf`` and ``-inf``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from conformance.codec import Limits, parse
from conformance.errors import LogError

Event = Mapping[str, Any]

MAX_TEXT = 4096
"""The longest string of an event, in characters; a longer one is cut and says so."""

MAX_DETAIL = 64 * 1024
"""The longest ``detail`` of a finding, in bytes of JSON; a longer one is replaced by a note."""

MAX_LINE = 16 * 1024 * 1024
"""The longest line, in bytes, with its newline."""

MAX_DEPTH = 32
"""The deepest nesting of an event."""

LIMITS = Limits(MAX_LINE, MAX_DEPTH, 4_000_000)
"""Bounds of a line."""


def encode(event: Event) -> str:
    """Encode an event as one ASCII line with its newline, ``event`` first.

    Raises :class:`LogError` where the line would be longer or nested deeper than a reader
    accepts, and TypeError for a value that is not JSON data.
    """
    if not _shallow(event, MAX_DEPTH):
        raise LogError(f"the {event['event']} of this run is nested more than {MAX_DEPTH} deep")
    ordered = {"event": event["event"], **event}
    if "detail" in ordered:
        ordered["detail"] = _bounded_detail(ordered["detail"])
    line = _dump(ordered) + "\n"
    if len(line) > MAX_LINE:
        raise LogError(
            f"the {ordered['event']} of this run takes {len(line):,} bytes; "
            f"a run log allows {MAX_LINE:,} a line",
            hint="a backend that declares very long capabilities or versions may be the cause",
        )
    return line


def decode(line: bytes) -> dict[str, Any]:
    """Parse the JSON object on a line; its record says what it has to hold.

    Raises ValueError for anything else, and beyond the limits.
    """
    event = parse(line, LIMITS, printable=False)
    if not isinstance(event, dict):
        raise ValueError("not a JSON object")
    return event


def _dump(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """Return the value as bounded JSON data."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _bounded_text(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if isinstance(value, Mapping):
        return {_bounded_text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise TypeError(f"a run log cannot hold a {type(value).__name__}")


def _shallow(value: Any, depth: int) -> bool:
    """Return whether the value is nested at most that deep."""
    if isinstance(value, Mapping):
        return depth > 0 and all(_shallow(item, depth - 1) for item in value.values())
    if isinstance(value, list | tuple):
        return depth > 0 and all(_shallow(item, depth - 1) for item in value)
    return True


def _bounded_text(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    note = f" ... [cut: {len(text):,} characters in all]"
    return text[: MAX_TEXT - len(note)] + note


def _bounded_detail(detail: Any) -> Any:
    size = len(_dump(detail))
    if size <= MAX_DETAIL:
        return detail
    return {"cut": f"{size:,} bytes of detail left out; a run log keeps at most {MAX_DETAIL:,}"}
