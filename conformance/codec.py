"""Typed records from JSON of unknown origin, and back.

A record is a frozen class of :class:`Record`, which says what a document may hold. Size, nesting,
numbers and the count of values are bounded on the bytes, before any value is made of them. What is
wrong is said as ``path: what``, for people who look for it in the file.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec

from conformance.safe_text import shortened, visible

T = TypeVar("T")

MAX_COUNT = 2**53 - 1
"""The largest integer that every reader of JSON has exactly."""

Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
"""An integer from 0."""

_MAX_SHOWN, _MAX_PROBLEM = 80, 300  # characters of a value, and of a problem, in a message
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_LONG_INTEGER = re.compile(rb"(?<![0-9.])-?[0-9]{19,}")
_MAX_DIGITS = 20
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes({*range(256)} - {*b"{}[]"})
_LEVEL = {ord("["): 1, ord("]"): -1}
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_AT = re.compile(r"(?s)(.*) - at `([^`]*)`")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A JSON object of fixed keys, which are its fields in the order of the file."""


@dataclass(frozen=True)
class Limits:
    """Bounds of a document: bytes, levels of nesting, and values in all."""

    size: int = 64 * 2**20
    depth: int = 16
    values: int = 8_000_000


DEFAULT_LIMITS = Limits()


def decode(
    data: bytes, kind: type[T], limits: Limits = DEFAULT_LIMITS, *, printable: bool = True
) -> T:
    """Decode a document of one kind of record.

    Raises ValueError, as :func:`parse` and :func:`convert` do.
    """
    return convert(parse(data, limits, printable=printable), kind)


def parse(data: bytes, limits: Limits = DEFAULT_LIMITS, *, printable: bool = True) -> Any:
    """Parse JSON (UTF-8) that every reader understands alike.

    Raises ValueError for what is not JSON or beyond the limits, for a key given twice, for NaN and
    numbers that do not fit 64 bits, and if ``printable`` for text that could steer a terminal.
    """
    _check_limits(data, limits)
    try:
        text = data.decode("utf-8")
        document = json.loads(
            text, object_pairs_hook=_object, parse_float=_finite, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not readable as JSON: {error}") from None
    if printable and ("\\" in text or not text.replace("\n", "").isprintable()):
        _check_printable(document)
    return document


def convert(document: Any, kind: type[T]) -> T:
    """Convert JSON data to a record.

    Raises ValueError with the first problem as ``path: what``.
    """
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_problem(document, kind, str(error))) from None


def to_json(record: Any) -> Any:
    """Return a record as JSON data, keys in the order of its fields."""
    return msgspec.to_builtins(record)


def encode(record: Any) -> bytes:
    """Encode a record, or JSON data, without spaces."""
    return msgspec.json.encode(record)


def encode_lines(record: Any) -> bytes:
    """Encode a record, or JSON data, to be read in a diff.

    Each key has a line, and each entry of a table or of a list of objects.
    """
    lines = b",\n".join(
        b"%b: %b" % (encode(key), _block(value)) for key, value in to_json(record).items()
    )
    return b"{\n%b\n}\n" % lines


def _block(value: Any) -> bytes:
    if isinstance(value, dict) and value:
        entries = (b"%b: %b" % (encode(key), encode(entry)) for key, entry in value.items())
        return b"{\n %b\n}" % b",\n ".join(entries)
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        return b"[\n %b\n]" % b",\n ".join(map(encode, value))
    return encode(value)


def _check_limits(data: bytes, limits: Limits) -> None:
    """Raise ValueError for a document that would take too much; nothing is made of it yet."""
    if len(data) > limits.size:
        raise ValueError(f"more than {limits.size:,} bytes")
    bare = _STRING.sub(b"", data)
    if sum(map(bare.count, (b",", b"[", b"{"))) > limits.values:
        raise ValueError(f"more than {limits.values:,} values")
    brackets = bare.translate(_BRACKETS, _NO_BRACKETS)
    if max(accumulate(map(_LEVEL.__getitem__, brackets)), default=0) > limits.depth:
        raise ValueError(f"nested more than {limits.depth} deep")
    for match in _LONG_INTEGER.finditer(bare):
        digits = match[0]
        if len(digits) > _MAX_DIGITS or not -(2**63) <= int(digits) < 2**64:
            raise ValueError(f"{digits[:30].decode()} does not fit 64 bits")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is given twice")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _check_printable(document: Any) -> None:
    for path, text in _texts(document, ""):
        if not text.isprintable():
            raise ValueError(f"{_shown_path(path)}{_shown(text)} is not printable text")


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each text, keys among them, with the path of what holds it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield path, key
            yield from _texts(item, f"{path}.{key}")


def _problem(document: Any, kind: Any, message: str) -> str:
    """Return what msgspec says, with the path spelled out and the value that is wrong."""
    match = _AT.fullmatch(message)
    what, steps = (match[1], _STEP.findall(match[2])) if match else (message, [])
    value, path = document, ""
    for number, (name, index) in enumerate(steps):
        if index == "...":
            name = _wrong_key(document, value, kind, message, number)
        if isinstance(value, dict) and name in value:
            value, path = value[name], f"{path}.{name}"
        elif isinstance(value, list) and index.isdecimal() and int(index) < len(value):
            value, path = value[int(index)], f"{path}[{index}]"
    if what.startswith("Expected") and not isinstance(value, dict | list):
        what = f"{what}: {_shown(value)}"
    return _shown_path(path) + shortened(visible(what), _MAX_PROBLEM)


def _wrong_key(
    document: Any, table: Mapping[str, Any], kind: Any, message: str, number: int
) -> str:
    """Return the key of the first wrong entry of a table, which msgspec leaves out.

    The half that is wrong is halved again; ``number`` counts the steps of the path before it.
    """
    assert isinstance(table, dict)
    entries = list(table.items())
    every = dict(table)
    while len(entries) > 1:
        half = entries[: len(entries) // 2]
        table.clear()
        table.update(half)
        entries = half if _fails_there(document, kind, message, number) else entries[len(half) :]
    table.clear()
    table.update(every)
    return entries[0][0]


def _fails_there(document: Any, kind: Any, message: str, number: int) -> bool:
    """Return whether the first problem is still in the table at that step of the path."""
    try:
        msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        paths = (_AT.fullmatch(text) for text in (message, str(error)))
        steps = [_STEP.findall(match[2])[: number + 1] if match else [] for match in paths]
        return steps[0] == steps[1]
    return False


def _shown_path(path: str) -> str:
    shown = shortened(visible(path.removeprefix(".")), _MAX_SHOWN)
    return f"{shown}: " if shown else ""


def _shown(value: Any) -> str:
    return shortened(ascii(value[:_MAX_SHOWN] if isinstance(value, str) else value), _MAX_SHOWN)
