"""The folder of an export: which case lies where. docs/exchange.md describes it to its users."""

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
from conformance.suite.strict_json import JsonObject, content, is_text, is_whole, loads

FORMAT = 1
INDEX = "index.json"
LINES = "cases.txt"
DEVICE = "device.json"
ENDING = "ending.txt"
OUTPUTS = "out.txt"

FOLDER = re.compile(r"\d{6,9}")
"""What the folder of a case is called: its number, from 1."""


@dataclass(frozen=True)
class ExportedCase:
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
    cases: tuple[ExportedCase, ...] = field(repr=False)
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
    return hashlib.sha256(messages.encode_request(0, vector)).hexdigest()[:32]


def read_index(folder: Path) -> Index:
    """The index of an export. Raises :class:`UsageError` for a folder that holds none."""
    with _explained("conformance export makes one; copy it beside the outputs"):
        path = folder / INDEX
        keys = ("suite", "digest", "nonce", "layout", "level")
        told = _record(path, ("export", "capabilities", "cases", "left_out", *keys))
        if told.whole("export") != FORMAT:
            told.refuse(f"its format is {told.whole('export')}, not {FORMAT}: export again")
        cases = tuple(_place(one, str(path)) for one in told.items("cases"))
        left_out = [one for one in told.items("left_out") if _is_left_out(one)]
        if len(left_out) != len(told.items("left_out")):
            told.refuse("'left_out' holds something else than operator, reason and number")
        capabilities = None if told.raw("capabilities") is None else told.table("capabilities")
        texts = {key: told.text(key) for key in keys}
        return Index(
            **texts,
            capabilities=capabilities,
            cases=cases,
            left_out=tuple((op, reason, count) for op, reason, count in left_out),
        )


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
    with _explained(f"write one beside the outputs: {example}"):
        told = _record(folder / DEVICE, ("name", "version", "nonce"), ("facts",))
        facts = told.texts_by_name("facts") if told.has("facts") else {}
        name, version, nonce = (told.text(key) for key in ("name", "version", "nonce"))
        if not (name and version):
            told.refuse("an empty name or version")
        return Device(name, version, nonce, facts)


def _place(data: object, where: str) -> ExportedCase:
    told = JsonObject(data, where, ("number", "op", "id", "key", "outputs"))
    op, id, key = (told.text(name) for name in ("op", "id", "key"))
    return ExportedCase(told.whole("number"), op, id, key, told.whole("outputs"))


def _is_left_out(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and is_text(value[0])
        and is_text(value[1])
        and is_whole(value[2])
    )


def _record(path: Path, keys: tuple[str, ...], optional: tuple[str, ...] = ()) -> JsonObject:
    return JsonObject(loads(content(path), str(path)), str(path), keys, optional)


@contextmanager
def _explained(hint: str) -> Iterator[None]:
    """A file that cannot be used is an error of who wrote it, told with what to do."""
    try:
        yield
    except SuiteError as error:
        raise UsageError(error.message, hint=hint) from error
