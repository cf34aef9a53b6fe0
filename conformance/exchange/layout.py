"""The folder of an export: which case lies where. docs/exchange.md describes it to its users."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance.backends.capabilities import Capabilities
from conformance.errors import UsageError
from conformance.model import Vector
from conformance.run import messages

FORMAT = 1
INDEX = "index.json"
LINES = "cases.txt"
DEVICE = "device.json"
ENDING = "ending.txt"
OUTPUTS = "out.txt"

MAX_INDEX = 256 << 20
"""Bytes of an index, some hundred a case."""

FOLDER = re.compile(r"\d{6,9}")
"""What the folder of a case is called: its number, from 1."""


@dataclass(frozen=True)
class Place:
    """One exported case: its folder, its vector, and a digest of what is asked."""

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
class Index:
    """What was exported. ``nonce`` marks the outputs that belong to it."""

    suite: str
    digest: str
    nonce: str
    layout: str
    level: str
    capabilities: dict[str, Any] | None
    cases: tuple[Place, ...] = field(repr=False)
    left_out: tuple[tuple[str, str, int], ...] = ()
    """Operator, reason and number of vectors that are not declared."""

    @property
    def declared(self) -> Capabilities | None:
        """The declaration that the export was made for."""
        return None if self.capabilities is None else Capabilities.from_json(self.capabilities)

    def to_json(self) -> str:
        """The text of the index; a case is a line."""
        head = {**asdict(self), "export": FORMAT, "left_out": [list(o) for o in self.left_out]}
        lines = ",\n".join(json.dumps(one) for one in head.pop("cases"))
        text = json.dumps(head, indent=1)
        return f'{text[:-2]},\n "cases": [\n{lines}\n]}}\n'


def key_of(vector: Vector) -> str:
    """A digest of a question: operator, attributes and inputs, and nothing of its answer."""
    return hashlib.sha256(messages.question(0, vector)).hexdigest()[:32]


def read_index(folder: Path) -> Index:
    """The index of an export. Raises :class:`UsageError` for a folder that holds none."""
    told = _json(folder / INDEX, "conformance export makes one; copy it beside the outputs")
    try:
        if told["export"] != FORMAT:
            raise UsageError(
                f"{folder / INDEX} has format {told['export']!r}, not {FORMAT}",
                hint="export again with this version",
            )
        cases = tuple(
            Place(
                number=_whole(one["number"]),
                op=_text(one["op"]),
                id=_text(one["id"]),
                key=_text(one["key"]),
                outputs=_whole(one["outputs"]),
            )
            for one in told["cases"]
        )
        return Index(
            suite=_text(told["suite"]),
            digest=_text(told["digest"]),
            nonce=_text(told["nonce"]),
            layout=_text(told["layout"]),
            level=_text(told["level"]),
            capabilities=told["capabilities"],
            cases=cases,
            left_out=tuple((_text(a), _text(b), _whole(c)) for a, b, c in told["left_out"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(folder / INDEX, error) from error


@dataclass(frozen=True)
class Device:
    """Who computed outputs, and of which export."""

    name: str
    version: str
    nonce: str
    facts: dict[str, str]


def read_device(folder: Path) -> Device:
    """What is told of a device beside its outputs. Raises :class:`UsageError` without it."""
    example = '{"name": "my board", "version": "1.0", "nonce": "the one of index.json"}'
    told = _json(folder / DEVICE, f"write one beside the outputs: {example}")
    try:
        facts = {_text(k): _text(v) for k, v in told.get("facts", {}).items()}
        name, version, nonce = (_text(told[k]) for k in ("name", "version", "nonce"))
        if not (name and version):
            raise ValueError("an empty name or version")
        return Device(name, version, nonce, facts)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(folder / DEVICE, error, f"it looks like {example}") from error


def _json(path: Path, hint: str) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_INDEX + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", hint=hint) from error
    if len(data) > MAX_INDEX:
        raise UsageError(f"{path} is longer than {MAX_INDEX:,} bytes", hint=hint)
    try:
        told = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error, hint) from error
    if not isinstance(told, dict):
        raise _damaged(path, TypeError("it is no JSON object"), hint)
    return told


def _damaged(path: Path, error: Exception, hint: str = "export again") -> UsageError:
    return UsageError(f"{path} cannot be used: {type(error).__name__}: {error}", hint=hint)


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 1000:
        raise TypeError(f"{str(value)[:80]!r} is not a short text")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 31:
        raise TypeError(f"{str(value)[:80]!r} is not a number")
    return value
