"""``manifest.json``: what a suite holds, file by file. The format: docs/vector-format.md."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance import __version__, renamed
from conformance.model import LEVELS, Vector
from conformance.suite import origin, strength, strict_json
from conformance.suite.origin import Origin
from conformance.suite.strength import Strength
from conformance.suite.strict_json import Record

FILE_NAME = "manifest.json"
FORMAT = 1
TOOL = f"opconform {__version__}"

COMPLEMENT = "complement"
"""The vectors of a suite that it lacked, and that were added for some backend."""

# First letters and digits, so that no part of a path can be "..", hidden or absolute.
_PATH_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,150}")
_SUITE_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,60}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEYS = (
    *("format", "name", "tool", "seed", "versions", "counts", "edges", "faults", "strength"),
    *("uncovered", "withdrawn", "vectors"),
)
_LATER = ("specifications",)
"""What older suites do not have."""

_LATER_OF_ENTRY = ("content", "excused")
"""What entries of older suites do not have."""

_ENTRY_KEYS = (
    *("id", "op", "level", "dtype", "reject", "suites", "edges", "kills", "bytes", "sha256"),
)

Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Entry:
    """One vector of a suite and its file; ``dtype`` is the case's first type.

    ``kills`` are the faults of the catalogue that it notices at level should, ``excused`` those
    among them that an allowed reading excuses at level must, told where the operator's strength has
    parts. Like ``edges`` they are sorted. ``content`` is a digest of what the file holds, whatever
    packed it (:func:`conformance.suite.archive.digest`); empty where a suite says none.
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

    @property
    def path(self) -> str:
        """The file, relative to the suite's folder, with ``/``."""
        return f"{self.op}/{self.id}.npz"

    @property
    def kind(self) -> str:
        """``value``, or ``reject`` where the only right answer is a refusal."""
        return "value" if self.reject is None else "reject"


@dataclass(frozen=True)
class Count:
    """How many vectors of an operator have values, and how many must be rejected."""

    value: int
    reject: int


@dataclass(frozen=True)
class Uncovered:
    """An edge, or a pair of edges, that no case was found for though nothing rules it out.

    ``dtype`` is the element type that an edge was not found in; empty for a pair.
    """

    op: str
    rank: int
    dtype: str
    edges: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """What a suite holds. ``listed`` are all its files, ``vectors`` those that are asked.

    ``withdrawn`` gives the reason for each vector that was found wrong after a release: its file
    stays, and nothing asks it any more. ``versions`` are those of what made the files,
    ``specifications`` what the vectors of each operator were made from; older suites have none.
    """

    name: str
    seed: int
    versions: Mapping[str, str]
    listed: tuple[Entry, ...]
    strength: Mapping[str, Strength] = field(default_factory=dict)
    uncovered: tuple[Uncovered, ...] = ()
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    specifications: Mapping[str, Origin] = field(default_factory=dict)
    format: int = FORMAT
    tool: str = TOOL

    @cached_property
    def vectors(self) -> tuple[Entry, ...]:
        """The entries that are not withdrawn."""
        return tuple(entry for entry in self.listed if entry.id not in self.withdrawn)

    @cached_property
    def files(self) -> Mapping[str, Entry]:
        """Every listed file by its path."""
        return {entry.path: entry for entry in self.listed}

    @cached_property
    def counts(self) -> Mapping[str, Count]:
        """Listed vectors of each operator."""
        kinds = Counter((entry.op, entry.kind) for entry in self.listed)
        return {op: Count(kinds[op, "value"], kinds[op, "reject"]) for op in self.ops}

    @cached_property
    def edges(self) -> Mapping[str, Mapping[str, int]]:
        """How many listed vectors cover each target, by operator."""
        return self._counted(lambda entry: entry.edges)

    @cached_property
    def faults(self) -> Mapping[str, Mapping[str, int]]:
        """How many listed vectors notice each fault, by operator; 0 of those that only the parts
        of its strength name.
        """
        unnoticed = {op: dict.fromkeys(of.parts.mutants, 0) for op, of in self.strength.items()}
        return self._counted(lambda entry: entry.kills, unnoticed)

    def _counted(
        self,
        names: Callable[[Entry], Iterable[str]],
        known: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    ) -> Mapping[str, Mapping[str, int]]:
        found = {op: Counter(known.get(op)) for op in self.ops}
        for entry in self.listed:
            found[entry.op].update(names(entry))
        return {op: dict(sorted(counts.items())) for op, counts in found.items()}

    @cached_property
    def ops(self) -> tuple[str, ...]:
        """Operators in the order of their first vector."""
        return tuple(dict.fromkeys(entry.op for entry in self.listed))

    @cached_property
    def suites(self) -> tuple[str, ...]:
        """The names of the subsets that the vectors belong to, sorted."""
        return tuple(sorted({name for entry in self.listed for name in entry.suites}))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the lines ``<sha256>  <path>`` of ``vectors``, sorted by path.

        These are the lines that ``sha256sum`` prints, each with its newline. So the digest says
        exactly what is asked: it changes with a file, and with a withdrawal.
        """
        entries = sorted(self.vectors, key=lambda entry: entry.path)
        lines = "".join(f"{entry.sha256}  {entry.path}\n" for entry in entries)
        return hashlib.sha256(lines.encode()).hexdigest()

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """The digest; of a suite that was completed, that of the suite before and that of what was
        added."""
        if COMPLEMENT not in self.suites:
            return (self.digest,)
        before = self._only(lambda entry: COMPLEMENT not in entry.suites)
        return before.digest, self.subset(COMPLEMENT).digest

    def subset(self, name: str) -> Manifest:
        """The manifest of the vectors that belong to the suite ``name``; it has its own digest."""
        return dataclasses.replace(self._only(lambda entry: name in entry.suites), name=name)

    def _only(self, kept: Callable[[Entry], bool]) -> Manifest:
        listed = tuple(filter(kept, self.listed))
        ids = {entry.id for entry in listed}
        withdrawn = {i: reason for i, reason in self.withdrawn.items() if i in ids}
        return dataclasses.replace(self, listed=listed, withdrawn=withdrawn)

    def to_json(self) -> dict[str, Any]:
        """As JSON data; its order is that of the fields and of ``listed``."""
        origins = {op: one.to_json() for op, one in self.specifications.items()}
        return {
            "format": self.format,
            "name": self.name,
            "tool": self.tool,
            "seed": self.seed,
            "versions": dict(sorted(self.versions.items())),
            **({"specifications": origins} if origins else {}),
            "counts": self.counts_json(),
            "edges": self.edges,
            "faults": self.faults,
            "strength": {
                op: known.to_json(_places(self.faults.get(op, ())))
                for op, known in self.strength.items()
            },
            "uncovered": [dataclasses.asdict(gap) for gap in self.uncovered],
            "withdrawn": dict(self.withdrawn),
            "vectors": self._entries(),
        }

    def counts_json(self) -> dict[str, dict[str, int]]:
        """The counts as they stand in the file."""
        return {op: {"value": of.value, "reject": of.reject} for op, of in self.counts.items()}

    def _entries(self) -> list[dict[str, Any]]:
        """Targets and kills by their indices into the tables: names would be most of the file."""
        edges, faults = (
            {op: _places(of) for op, of in tables.items()} for tables in (self.edges, self.faults)
        )
        return [
            {
                key: value
                for key, value in vars(entry).items()
                if key not in _LATER_OF_ENTRY or value
            }
            | {"edges": [edges[entry.op][name] for name in entry.edges]}
            | {"kills": [faults[entry.op][name] for name in entry.kills]}
            | ({"excused": [faults[entry.op][n] for n in entry.excused]} if entry.excused else {})
            for entry in self.listed
        ]


def entry_of(
    vector: Vector,
    content: bytes,
    suites: tuple[str, ...],
    kills: tuple[str, ...] = (),
    unpacked: str = "",
    excused: tuple[str, ...] = (),
) -> Entry:
    """The entry of a vector whose file is ``content``, and its members' digest ``unpacked``."""
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
        content=unpacked,
        excused=tuple(sorted(excused)),
    )


def dump(manifest: Manifest) -> bytes:
    """The manifest as the content of its file."""
    return strict_json.dumps(manifest.to_json())


def read(path: Path) -> Manifest:
    """The manifest in a file.

    Raises SuiteError if it cannot be read, is too large, is damaged, of a newer format, or not
    consistent with itself.
    """
    return parse(strict_json.content(path), str(path))


def parse(data: bytes, where: str) -> Manifest:
    """The manifest in the content of its file; see :func:`read`."""
    document = strict_json.loads(data, where)
    strict_json.check_format(document, where, FORMAT, TOOL)
    record = Record(document, where, _KEYS, _LATER)
    edges, faults = _names(record, "edges"), _names(record, "faults")
    manifest = Manifest(
        name=_matching(_SUITE_NAME, record, "name"),
        tool=record.text("tool"),
        seed=record.whole("seed"),
        versions=record.texts_by_name("versions"),
        strength={
            op: strength.parse(known, f"{where}: strength of {op[:80]}", faults.get(op, ()))
            for op, known in record.table("strength").items()
        },
        uncovered=tuple(_uncovered(gap, where) for gap in record.items("uncovered")),
        withdrawn=record.texts_by_name("withdrawn"),
        listed=tuple(_entry(entry, edges, faults, where) for entry in record.items("vectors")),
        specifications=_origins(record) if record.has("specifications") else {},
    )
    _check_ids(record, manifest)
    if record.has("specifications"):
        for op in (op for op in manifest.ops if op not in manifest.specifications):
            record.refuse(f"does not say what specification the vectors of {op} were made from")
    stated, counted = record.table("counts"), manifest.counts_json()
    for op in _differing(stated, counted):
        record.refuse(
            f"counts says {str(stated.get(op))[:80]} of {op[:80]}, "
            f"the list of vectors has {counted.get(op)}"
        )
    for key, counts in (("edges", manifest.edges), ("faults", manifest.faults)):
        for op in _differing(record.table(key), counts):
            record.refuse(f"the {key} stated for {op[:80]} are not those of the list of vectors")
    return _current(manifest)


def _current(manifest: Manifest) -> Manifest:
    """The manifest with the current names of coverage targets and mutants."""
    if not renamed.fault_names() and not any(map(renamed.edge_names, manifest.ops)):
        return manifest
    former = renamed.fault_names().keys()

    def current(entry: Entry) -> Entry:
        # Most have no former name, and remain as they are.
        if former.isdisjoint(entry.kills) and renamed.edge_names(entry.op).keys().isdisjoint(
            entry.edges
        ):
            return entry
        return dataclasses.replace(
            entry,
            edges=tuple(sorted(renamed.edges(entry.op, entry.edges))),
            kills=tuple(sorted(renamed.faults(entry.kills))),
            excused=tuple(sorted(renamed.faults(entry.excused))),
        )

    strength = {
        op: dataclasses.replace(one, parts=one.parts.renamed(renamed.fault_names()))
        for op, one in manifest.strength.items()
    }
    return dataclasses.replace(
        manifest, listed=tuple(map(current, manifest.listed)), strength=strength
    )


def _origins(record: Record) -> dict[str, Origin]:
    """What the operators were made from; their names are parts of paths."""
    table = record.table("specifications")
    for op in table:
        if not _PATH_PART.fullmatch(op):
            record.refuse(f"specifications has {op[:80]!r}, which is no name of an operator")
    where = f"{record.where}: specification of"
    return {op: origin.parse(data, f"{where} {op}") for op, data in table.items()}


def _differing(stated: Mapping[str, Any], found: Mapping[str, Any]) -> Iterable[str]:
    return (op for op in {**stated, **found} if stated.get(op) != found.get(op))


def _check_ids(record: Record, manifest: Manifest) -> None:
    ids = Counter(entry.id for entry in manifest.listed)
    if len(ids) != len(manifest.listed):
        record.refuse(f"the id {ids.most_common(1)[0][0]!r} is listed more than once")
    for vector_id in manifest.withdrawn:
        if vector_id not in ids:
            record.refuse(f"withdraws {vector_id[:200]!r}, which is not listed")


def _uncovered(gap: object, where: str) -> Uncovered:
    record = Record(gap, f"{where}: uncovered", ("op", "rank", "dtype", "edges"))
    edges = record.texts("edges")
    if len(edges) not in (1, 2):
        record.refuse(f"names {len(edges)} edges, where one or a pair belongs")
    return Uncovered(record.text("op"), record.whole("rank"), record.text("dtype"), edges)


def _entry(entry: object, edges: Names, faults: Names, where: str) -> Entry:
    record = Record(entry, f"{where}: an entry of vectors", _ENTRY_KEYS, _LATER_OF_ENTRY)
    vector_id = _matching(_PATH_PART, record, "id")
    record.where = f"{where}: vector {vector_id}"
    suites = record.texts("suites")
    if not all(_SUITE_NAME.fullmatch(name) for name in suites):
        record.refuse(f"{suites!r} are not names of suites"[:200])
    if record.text("level") not in LEVELS:
        record.refuse(f"level {record.text('level')!r} is not one of {', '.join(LEVELS)}")
    op = _matching(_PATH_PART, record, "op")
    kills = record.named("kills", faults.get(op, ()))
    excused = record.named("excused", faults.get(op, ())) if record.has("excused") else ()
    if not set(excused) <= set(kills):
        record.refuse("'excused' holds mutants that are not among 'kills'")
    return Entry(
        id=vector_id,
        op=op,
        level=record.text("level"),
        dtype=record.text("dtype"),
        reject=record.optional_text("reject"),
        suites=suites,
        edges=record.named("edges", edges.get(op, ())),
        kills=kills,
        excused=excused,
        bytes=record.whole("bytes"),
        sha256=_matching(_SHA256, record, "sha256"),
        content=_matching(_SHA256, record, "content") if record.has("content") else "",
    )


def _names(record: Record, key: str) -> Names:
    """The names of a table of each operator, sorted: entries tell them by their places."""
    return {
        op: sorted(Record({op: of}, f"{record.where}: {key}", (op,)).table(op))
        for op, of in record.table(key).items()
    }


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _matching(pattern: re.Pattern[str], record: Record, key: str) -> str:
    value = record.text(key)
    if not pattern.fullmatch(value):
        record.refuse(f"{key!r} is {value[:80]!r}, which is not allowed")
    return value
