"""Strict JSON reading, of limited size and depth, and reproducible writing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from operator import lt
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from msgspec import Meta

from conformance import codec, remote
from conformance.errors import SuiteError
from conformance.suite.archive import DAMAGED, unreadable_error

SHA256 = re.compile(r"[0-9a-f]{64}")
"""A SHA-256 as text."""

Sha256 = Annotated[str, Meta(pattern=f"^{SHA256.pattern}$")]
Whole = Annotated[int, Meta(ge=0)]
"""An integer from 0."""

Indices = tuple[Whole, ...]
"""Ascending indices into a table of names; :func:`names_at` returns the names."""

T = TypeVar("T")

MAX_DEPTH = 16
MAX_BYTES = 64 * 2**20

_MAX_DIGITS = 20  # a 64-bit integer with its sign


def read_bytes(path: Path) -> bytes:
    """Read a file.

    Raises SuiteError if it cannot be read or is larger than MAX_BYTES.
    """
    try:
        data = remote.read_head(path, MAX_BYTES + 1)
    except OSError as error:
        raise unreadable_error(path, error) from error
    if len(data) > MAX_BYTES:
        raise SuiteError(f"{path}: more than {MAX_BYTES} bytes", hint=DAMAGED)
    return data


def decode(data: bytes, kind: type[T], where: str, supported: int, reader: str) -> T:
    """Decode a document that has to be of format ``supported``.

    Raises SuiteError, which names ``where``.
    """
    with refusing(where):
        document = codec.parse(data)
    check_format(document, where, supported, reader)
    with refusing(where):
        return codec.convert(document, kind)


@contextmanager
def refusing(where: object) -> Iterator[None]:
    """Turn what is wrong with a document, a ValueError, into a SuiteError that names it."""
    try:
        yield
    except ValueError as error:
        raise SuiteError(f"{where}: {error}", hint=DAMAGED) from error


def names_at(indices: Indices, table: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the names at ascending indices of their table.

    Raises ValueError, which names ``what``, for others.
    """
    if not all(map(lt, indices, indices[1:])) or (indices and indices[-1] >= len(table)):
        raise ValueError(
            f"{what} holds {str(list(indices))[:80]}, where ascending places in the table of "
            f"{len(table)} belong"
        )
    return tuple(map(table.__getitem__, indices))


def loads(data: bytes, where: str) -> Any:
    """Parse the JSON document in ``data`` (UTF-8).

    Raises SuiteError, naming ``where``, for what is not strict JSON, and for what readers
    disagree on: a key given twice, NaN, numbers that are too large, and for
    nesting beyond ``MAX_DEPTH``.
    """
    try:
        document = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_no_number,
        )
        if not _shallow(document, MAX_DEPTH):
            raise ValueError(f"nested more than {MAX_DEPTH} deep")
    except (ValueError, RecursionError) as error:
        raise SuiteError(f"{where}: not readable as JSON: {error}", hint=DAMAGED) from error
    return document


def dumps(document: Mapping[str, Any]) -> bytes:
    """Encode a document, compact and readable in a diff. Keys stay in their order.

    Each key has a line, and each entry of a table or of a list of objects.
    """
    lines = ",\n".join(f"{_compact(key)}: {_block(value)}" for key, value in document.items())
    return f"{{\n{lines}\n}}\n".encode()


def check_format(document: Any, where: str, supported: int, reader: str) -> None:
    """Check that the document says that it is of format ``supported``.

    Raises SuiteError otherwise.
    """
    stated = document.get("format") if isinstance(document, dict) else None
    if type(stated) is int and stated > supported:
        raise SuiteError(
            f"{where}: format {stated}; this is {reader}, which reads formats up to {supported}",
            hint="upgrade: pip install --upgrade opconform",
        )
    if type(stated) is not int or stated != supported:
        raise SuiteError(f"{where}: 'format' is not {supported}", hint=DAMAGED)


class JsonObject:
    """A JSON object of fixed keys. Each method returns a value, checked; SuiteError otherwise.

    Text is printable, so that a file cannot write escape sequences to a terminal.
    """

    __slots__ = ("_data", "where")

    def __init__(
        self, data: object, where: str, keys: Collection[str], optional: Collection[str] = ()
    ) -> None:
        self.where = where
        if not isinstance(data, dict):
            self.refuse("is not an object")
        if data.keys() != set(keys) and data.keys() - {*optional} != set(keys):
            missing = ", ".join(key for key in keys if key not in data)
            allowed = {*keys, *optional}
            unknown = ", ".join(repr(key)[:80] for key in data if key not in allowed)
            self.refuse(
                "; ".join(
                    f"{what}: {names}"
                    for what, names in (("missing", missing), ("unknown", unknown))
                    if names
                )
            )
        self._data: dict[str, Any] = data

    def refuse(self, problem: str) -> NoReturn:
        raise SuiteError(f"{self.where}: {problem}", hint=DAMAGED)

    def has(self, key: str) -> bool:
        """Return whether an optional key is there."""
        return key in self._data

    def raw(self, key: str) -> Any:
        return self._data[key]

    def text(self, key: str) -> str:
        value: str = self._checked(key, self._data[key], is_text, "text")
        return value

    def optional_text(self, key: str) -> str | None:
        return None if self._data[key] is None else self.text(key)

    def whole(self, key: str) -> int:
        """Return an integer from 0."""
        value: int = self._checked(key, self._data[key], is_whole, "a whole number from 0")
        return value

    def items(self, key: str) -> list[Any]:
        value: list[Any] = self._checked(key, self._data[key], is_list, "a list")
        return value

    def table(self, key: str) -> dict[str, Any]:
        """Return an object whose keys are not fixed."""
        value: dict[str, Any] = self._checked(key, self._data[key], is_object, "an object")
        self._all_checked(key, value, is_text, "a printable key")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(self._all_checked(key, self.items(key), is_text, "text"))

    def texts_by_name(self, key: str) -> dict[str, str]:
        table = self.table(key)
        self._all_checked(key, table.values(), is_text, "text")
        return table

    def integers(self, key: str) -> tuple[int, ...]:
        """Return a list of integers."""
        return tuple(self._checked(key, self._data[key], is_integers, "a list of integers"))

    def named(self, key: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names at the ascending indices that a list holds of their table."""
        indices = self.integers(key)
        ascending = indices == tuple(sorted({*indices}))
        if not ascending or (indices and not 0 <= indices[0] <= indices[-1] < len(names)):
            self.refuse(
                f"{key[:20]!r} holds {str(list(indices))[:80]}, where ascending places in the table"
                f" of {len(names)} belong"
            )
        return tuple(map(names.__getitem__, indices))

    def _checked(self, key: str, value: Any, accepts: Callable[[Any], bool], kind: str) -> Any:
        if not accepts(value):
            self.refuse(f"{key!r} holds {repr(value)[:80]}, where {kind} belongs")
        return value

    def _all_checked(
        self, key: str, values: Collection[Any], accepts: Callable[[Any], bool], kind: str
    ) -> Collection[Any]:
        if not all(map(accepts, values)):
            for value in values:
                self._checked(key, value, accepts, kind)
        return values


def is_text(value: object) -> bool:
    return isinstance(value, str) and value.isprintable()


def is_list(value: object) -> bool:
    return isinstance(value, list)


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def is_whole(value: object) -> bool:
    return type(value) is int and value >= 0


def is_integers(value: object) -> bool:
    return isinstance(value, list) and set(map(type, value)) <= {int}


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _block(value: Any) -> str:
    if isinstance(value, dict) and value:
        entries = [f"{_compact(key)}: {_compact(entry)}" for key, entry in value.items()]
        return "{\n " + ",\n ".join(entries) + "\n}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n " + ",\n ".join(_compact(entry) for entry in value) + "\n]"
    return _compact(value)


def _shallow(value: Any, depth: int) -> bool:
    """Return whether the value is nested at most that deep; nothing deeper could be shown."""
    level = [value] if type(value) in (dict, list) else []
    for _ in range(depth):
        if not level:
            break
        inner = chain.from_iterable(v.values() if type(v) is dict else v for v in level)
        level = [v for v in inner if type(v) in (dict, list)]
    return not level


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is given twice")
    return members


@lru_cache(maxsize=4096)
def _integer(text: str) -> int:
    if len(text) > _MAX_DIGITS or not -(2**63) <= int(text) < 2**64:
        raise ValueError(f"{text[:30]} does not fit 64 bits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:30]} is too large")
    return number


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:30]} is no number")
