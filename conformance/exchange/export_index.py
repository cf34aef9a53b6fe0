"""The index of an exported folder, as docs/exchange.md describes it to users."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance.backends.capabilities import Capabilities
from conformance.errors import SuiteError, UsageError
from conformance.model import Vector
from conformance.run import messages
from conformance.suite.strict_json import JsonObject, is_text, is_whole, loads, read_bytes

FORMAT = 1
INDEX = "index.json"
LINES = "cases.txt"
DEVICE = "device.json"
ENDING = "ending.txt"
OUTPUTS = "out.txt"

FOLDER = re.compile(r"\d{6,9}")
"""The name of a case's folder: its number, from 1."""


@dataclass(frozen=True)
class ExportedCase:
    """An exported case: its folder, its vector, and a digest of its request."""

    number: int
    op: str
    id: str
    key: str
    outputs: int

    @property
    def folder(self) -> str:
        """The folder of the case below that of the export."""
        return f"{self.number:06}"


@dataclass(frozen=True)
class ExportIndex:
    """The index of an export. ``nonce`` marks the outputs that belong to it."""

    suite: str
    digest: str
    nonce: str
    layout: str
    level: str
    capabilities: dict[str, Any] | None
    cases: tuple[ExportedCase, ...] = field(repr=False)
    left_out: tuple[tuple[str, str, int], ...] = ()
    """Operator, reason and number of vectors that are not declared."""

    @property
    def declared(self) -> Capabilities | None:
        """The declaration that the export was made for."""
        return None if self.capabilities is None else Capabilities.from_json(self.capabilities)

    def to_json(self) -> str:
        """Serialise the index; a case is a line."""
        head = {**asdict(self), "export": FORMAT, "left_out": [list(o) for o in self.left_out]}
        lines = ",\n".join(json.dumps(case) for case in head.pop("cases"))
        text = json.dumps(head, indent=1)
        return f'{text[:-2]},\n "cases": [\n{lines}\n]}}\n'


def request_digest(vector: Vector) -> str:
    """Return a digest of operator, attributes and inputs, without expected outputs."""
    return hashlib.sha256(messages.encode_request(0, vector)).hexdigest()[:32]


def read_index(folder: Path) -> ExportIndex:
    """Read the index of an export.

    Raises:
        UsageError: the folder holds none.
    """
    with _as_usage_error("conformance export makes one; copy it beside the outputs"):
        path = folder / INDEX
        keys = ("suite", "digest", "nonce", "layout", "level")
        record = _record(path, ("export", "capabilities", "cases", "left_out", *keys))
        if record.whole("export") != FORMAT:
            record.refuse(f"its format is {record.whole('export')}, not {FORMAT}: export again")
        cases = tuple(_exported_case(item, str(path)) for item in record.items("cases"))
        left_out = [item for item in record.items("left_out") if _is_left_out(item)]
        if len(left_out) != len(record.items("left_out")):
            record.refuse("'left_out' holds something else than operator, reason and number")
        capabilities = None if record.raw("capabilities") is None else record.table("capabilities")
        texts = {key: record.text(key) for key in keys}
        return ExportIndex(
            **texts,
            capabilities=capabilities,
            cases=cases,
            left_out=tuple((op, reason, count) for op, reason, count in left_out),
        )


@dataclass(frozen=True)
class Device:
    """The device that computed outputs, and the nonce of the export."""

    name: str
    version: str
    nonce: str
    facts: dict[str, str]


def read_device(folder: Path) -> Device:
    """Read ``device.json`` of a folder of outputs.

    Raises:
        UsageError: it is missing or incomplete.
    """
    example = '{"name": "my board", "version": "1.0", "nonce": "the one of index.json"}'
    with _as_usage_error(f"write one beside the outputs: {example}"):
        record = _record(folder / DEVICE, ("name", "version", "nonce"), ("facts",))
        facts = record.texts_by_name("facts") if record.has("facts") else {}
        name, version, nonce = (record.text(key) for key in ("name", "version", "nonce"))
        if not (name and version):
            record.refuse("an empty name or version")
        return Device(name, version, nonce, facts)


def _exported_case(data: object, where: str) -> ExportedCase:
    record = JsonObject(data, where, ("number", "op", "id", "key", "outputs"))
    op, id, key = (record.text(name) for name in ("op", "id", "key"))
    return ExportedCase(record.whole("number"), op, id, key, record.whole("outputs"))


def _is_left_out(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and is_text(value[0])
        and is_text(value[1])
        and is_whole(value[2])
    )


def _record(path: Path, keys: tuple[str, ...], optional: tuple[str, ...] = ()) -> JsonObject:
    return JsonObject(loads(read_bytes(path), str(path)), str(path), keys, optional)


@contextmanager
def _as_usage_error(hint: str) -> Iterator[None]:
    """Turn a SuiteError into a UsageError of whoever wrote the file."""
    try:
        yield
    except SuiteError as error:
        raise UsageError(error.message, hint=hint) from error
