"""The index of an exported folder, as docs/exchange.md describes it to users."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, field

from conformance import codec
from conformance.backends.capabilities import Capabilities
from conformance.codec import Record
from conformance.errors import SuiteError, UsageError
from conformance.model import Vector
from conformance.run import messages
from conformance.suite.strict_json import Whole, read_bytes, refusing

T = TypeVar("T")

FORMAT = 1
INDEX = "index.json"
LINES = "cases.txt"
DEVICE = "device.json"
ENDING = "ending.txt"
OUTPUTS = "out.txt"

FOLDER = re.compile(r"\d{6,9}")
"""The name of a case's folder: its number, from 1."""


class ExportedCase(Record, frozen=True):
    """An exported case: its folder, its vector, and a digest of its request."""

    number: Whole
    op: str
    id: str
    key: str
    outputs: Whole

    @property
    def folder(self) -> str:
        """The folder of the case below that of the export."""
        return f"{self.number:06}"


class ExportIndex(Record, frozen=True):
    """The index of an export. ``nonce`` marks the outputs that belong to it."""

    suite: str
    digest: str
    nonce: str
    layout: str
    level: str
    capabilities: dict[str, Any] | None
    cases: tuple[ExportedCase, ...]
    left_out: tuple[tuple[str, str, Whole], ...]
    """Operator, reason and number of vectors that are not declared."""
    export: int

    def __post_init__(self) -> None:
        """Raise ValueError for another format."""
        if self.export != FORMAT:
            raise ValueError(f"its format is {self.export}, not {FORMAT}: export again")

    @property
    def declared(self) -> Capabilities | None:
        """The declaration that the export was made for."""
        return None if self.capabilities is None else Capabilities.from_json(self.capabilities)

    def to_json(self) -> str:
        """Serialise the index; a case is a line."""
        head = codec.to_json(self)
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
    hint = "conformance export makes one; copy it beside the outputs"
    return _read(folder / INDEX, ExportIndex, hint)


class Device(Record, frozen=True):
    """The device that computed outputs, and the nonce of the export."""

    name: Annotated[str, Meta(min_length=1)]
    version: Annotated[str, Meta(min_length=1)]
    nonce: str
    facts: dict[str, str] = field(default_factory=dict)


def read_device(folder: Path) -> Device:
    """Read ``device.json`` of a folder of outputs.

    Raises:
        UsageError: it is missing or incomplete.
    """
    example = '{"name": "my board", "version": "1.0", "nonce": "the one of index.json"}'
    return _read(folder / DEVICE, Device, f"write one beside the outputs: {example}")


def _read(path: Path, kind: type[T], hint: str) -> T:
    """Read a file. Raises UsageError, with a hint for whoever wrote it."""
    try:
        data = read_bytes(path)
        with refusing(path):
            return codec.decode(data, kind)
    except SuiteError as error:
        raise UsageError(error.message, hint=hint) from error
