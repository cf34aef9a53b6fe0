"""What a manifest says of each vector.

Both forms of a suite list their vectors so: a folder in its manifest, a packed suite in the part of
its manifest that each container holds.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from conformance.choices import LEVELS, SuiteName
from conformance.model import Vector
from conformance.suite.recorded_cases import RecordedCase
from conformance.suite.strict_json import SHA256, JsonObject
from conformance.suite.totals import PATH_PART, Table, Totals

SUITE_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,60}")
CONTENT = re.compile(r"[0-9a-f]{32}")

KINDS = ("value", "reject")

_OF_VECTOR = ("id", "op", "level", "dtype", "reject")
_KEYS = (*_OF_VECTOR, "suites", "edges", "kills", "bytes", "sha256", "content")
_OPTIONAL = ("excused",)
"""What an entry leaves out where it has none."""

Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Container:
    """A file of a packed suite: vectors of one operator and kind, with their part of the manifest.

    ``number`` is its place in the manifest, ``file`` its path in the suite's folder, with ``/``.
    """

    number: int
    file: str
    op: str
    kind: str
    count: int
    bytes: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        """Return JSON data; the position in the list is the number."""
        return {key: value for key, value in vars(self).items() if key != "number"}


@dataclass(frozen=True)
class Entry:
    """One vector of a suite; ``dtype`` is the case's first type.

    ``kills`` are the mutants of the catalogue that it kills at level should, ``excused`` those
    among them that an allowed interpretation excuses at level must. Like ``edges`` they are sorted.
    ``content`` is a digest of what it tests and accepts
    (:func:`conformance.suite.vector_file.content_digest`). ``bytes`` and ``sha256`` are those of
    its file, ``inside`` the container that holds it, None where it is a file of its own. One of
    the shipped suite has no file, and is ``recorded``: evaluated when it is first needed.
    """

    id: str
    op: str
    level: str
    dtype: str
    reject: str | None
    suites: tuple[str, ...]
    edges: tuple[str, ...]
    kills: tuple[str, ...]
    bytes: int
    sha256: str
    content: str = ""
    excused: tuple[str, ...] = ()
    inside: Container | None = dataclasses.field(default=None, compare=False, repr=False)
    recorded: RecordedCase | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def path(self) -> str:
        """The file, relative to the suite's folder, with ``/``."""
        return f"{self.op}/{self.id}.npz"

    @property
    def is_large(self) -> bool:
        """True if it is of the large cases, of which no kills are measured."""
        return SuiteName.LARGE in self.suites

    @property
    def elements(self) -> int:
        """The count of elements of its inputs, by its id."""
        shape = self.id.partition("-")[2].partition("-")[0]
        return prod(int(size) for size in shape.split("x") if size.isdecimal())

    @property
    def kind(self) -> str:
        """``value``, or ``reject`` if the only right answer is a refusal."""
        return KINDS[self.reject is not None]


def entry_of(
    vector: Vector,
    content: bytes,
    suites: tuple[str, ...],
    kills: tuple[str, ...] = (),
    digest: str = "",
    excused: tuple[str, ...] = (),
) -> Entry:
    """Return the entry of a vector.

    ``content`` is its file, and ``digest`` that of what the file holds.
    """
    return Entry(
        id=vector.id,
        op=vector.case.op,
        level=vector.level,
        dtype=next(iter(vector.case.types.values())),
        reject=vector.case.reject,
        suites=suites,
        edges=tuple(sorted(vector.edges)),
        kills=tuple(sorted(kills)),
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        content=digest,
        excused=tuple(sorted(excused)),
    )


def entry_of_recorded(op: str, recorded: RecordedCase) -> Entry:
    """Return the entry of a recorded case."""
    return Entry(
        id=recorded.case.id,
        op=op,
        level=recorded.level,
        dtype=next(iter(recorded.case.types.values())),
        reject=recorded.case.reject,
        suites=recorded.suites,
        edges=recorded.edges,
        kills=recorded.kills,
        bytes=0,
        sha256="",
        content=recorded.digest,
        excused=recorded.excused,
        recorded=recorded,
    )


def entries_to_json(entries: Iterable[Entry], totals: Totals) -> list[dict[str, Any]]:
    """Return entries as JSON data.

    Targets and kills are their indices into the tables: names would be most of the file.
    """
    targets, mutants = (
        {op: name_indices(table) for op, table in tables.items()}
        for tables in (totals.edges, totals.faults)
    )
    return [
        {
            key: value
            for key, value in vars(entry).items()
            if key not in ("inside", "recorded") and (key not in _OPTIONAL or value)
        }
        | {"edges": [targets[entry.op][name] for name in entry.edges]}
        | {"kills": [mutants[entry.op][name] for name in entry.kills]}
        | (
            {"excused": [mutants[entry.op][name] for name in entry.excused]}
            if entry.excused
            else {}
        )
        for entry in entries
    ]


def parse_entries(record: JsonObject, unkilled: Table | None = None) -> tuple[Entry, ...]:
    """Parse the entries under ``vectors``, which must add up to the stated totals.

    ``unkilled`` as in :meth:`Totals.with_unkilled`. Raises SuiteError for another form.
    """
    where = record.where
    targets, mutants = parse_name_tables(record, "edges"), parse_name_tables(record, "faults")
    entries = tuple(_entry(entry, targets, mutants, where) for entry in record.items("vectors"))
    ids = Counter(entry.id for entry in entries)
    if len(ids) != len(entries):
        record.refuse(f"the id {ids.most_common(1)[0][0]!r} is listed more than once")
    totals = Totals.of(entries).with_unkilled(unkilled or {})
    stated = record.table("counts")
    for op in _differing(stated, totals.counts_json):
        record.refuse(
            f"counts says {str(stated.get(op))[:80]} of {op[:80]}, "
            f"the list of vectors has {totals.counts_json.get(op)}"
        )
    for key, counted in (("edges", totals.edges), ("faults", totals.faults)):
        for op in _differing(record.table(key), counted):
            record.refuse(f"the {key} stated for {op[:80]} are not those of the list of vectors")
    return entries


def matches_id(text: str, vector_id: str) -> bool:
    """Return whether a vector's id begins with a text, or ends in it."""
    return bool(text) and (vector_id.startswith(text) or vector_id.endswith(f"-{text}"))


def parse_name_tables(record: JsonObject, key: str) -> Names:
    """Return the names in a table of each operator, sorted; entries hold their indices."""
    return {
        op: sorted(JsonObject({op: table}, f"{record.where}: {key}", (op,)).table(op))
        for op, table in record.table(key).items()
    }


def name_indices(table: Iterable[str]) -> dict[str, int]:
    """Return the index of each name in its table."""
    return {name: index for index, name in enumerate(table)}


def parse_pattern(pattern: re.Pattern[str], record: JsonObject, key: str) -> str:
    """Return a text of a record, which must match a pattern."""
    value = record.text(key)
    if not pattern.fullmatch(value):
        record.refuse(f"{key!r} is {value[:80]!r}, which is not allowed")
    return value


def _differing(stated: Mapping[str, Any], counted: Mapping[str, Any]) -> Iterable[str]:
    return (op for op in {**stated, **counted} if stated.get(op) != counted.get(op))


def _entry(entry: object, targets: Names, mutants: Names, where: str) -> Entry:
    record = JsonObject(entry, f"{where}: an entry of vectors", _KEYS, _OPTIONAL)
    vector_id = parse_pattern(PATH_PART, record, "id")
    record.where = f"{where}: vector {vector_id}"
    suites = record.texts("suites")
    if not all(SUITE_NAME.fullmatch(name) for name in suites):
        record.refuse(f"{suites!r} are not names of suites"[:200])
    if record.text("level") not in LEVELS:
        record.refuse(f"level {record.text('level')!r} is not one of {', '.join(LEVELS)}")
    op = parse_pattern(PATH_PART, record, "op")
    kills = record.named("kills", mutants.get(op, ()))
    excused = record.named("excused", mutants.get(op, ())) if record.has("excused") else ()
    if not set(excused) <= set(kills):
        record.refuse("'excused' holds mutants that are not among 'kills'")
    return Entry(
        id=vector_id,
        op=op,
        level=record.text("level"),
        dtype=record.text("dtype"),
        reject=record.optional_text("reject"),
        suites=suites,
        edges=record.named("edges", targets.get(op, ())),
        kills=kills,
        excused=excused,
        bytes=record.whole("bytes"),
        sha256=parse_pattern(SHA256, record, "sha256"),
        content=parse_pattern(CONTENT, record, "content"),
    )
