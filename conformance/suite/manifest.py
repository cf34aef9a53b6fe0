"""``manifest.json``: what a suite holds, file by file. The format: docs/vector-format.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from conformance import TOOL, remote
from conformance.choices import SuiteName
from conformance.suite import containers, entries, strict_json
from conformance.suite.containers import PackedIndex, parse_containers, verify_containers
from conformance.suite.entries import (
    Container,
    Entry,
    entries_to_json,
    name_indices,
    parse_entries,
    parse_name_tables,
    parse_pattern,
)
from conformance.suite.lazy_mapping import LazyMapping
from conformance.suite.listing import Listing
from conformance.suite.origin import Origin, parse_origin
from conformance.suite.recordings import Recordings
from conformance.suite.strict_json import SHA256, JsonObject, read_bytes
from conformance.suite.totals import (
    Count,
    Table,
    Totals,
    check_operator_name,
    entries_digest,
    parse_totals,
)
from conformance.suite.unreachable import Unreachable, parse_unreachable

FILE_NAME = "manifest.json"
FORMAT = 1
PACKED_FORMAT = containers.FORMAT


_KEYS = (
    *("format", "name", "tool", "seed", "versions", "specifications", "counts", "edges", "faults"),
    *("strength", "uncovered", "withdrawn"),
)
_FOLDER = ("vectors",)
_PACKED = ("suites", "digest", "index", "containers")


@dataclass(frozen=True)
class UndecidedTarget:
    """A target, or a pair of targets, that no case covers though no proof rules it out.

    ``dtype`` is the element type in which a target is not covered; empty for a pair.
    """

    op: str
    rank: int
    dtype: str
    edges: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """The content of a suite. ``listed`` are all its vectors, ``vectors`` those in use.

    ``withdrawn`` gives the reason for each vector that turned out wrong after a release: its file
    stays, and no run uses it. ``versions`` are those of what made the files, ``specifications``
    what the vectors of each operator were made from.
    """

    name: str
    seed: int
    versions: Mapping[str, str]
    listed: Sequence[Entry]
    strength: Mapping[str, Unreachable] = field(default_factory=dict)
    uncovered: tuple[UndecidedTarget, ...] = ()
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    specifications: Mapping[str, Origin] = field(default_factory=dict)
    tool: str = TOOL

    @property
    def format(self) -> int:
        """The format of its file: that of a folder, or of a packed suite."""
        return FORMAT if self.packed is None else PACKED_FORMAT

    @cached_property
    def vectors(self) -> Sequence[Entry]:
        """The entries that are not withdrawn."""
        if not self.withdrawn:
            return self.listed
        return tuple(entry for entry in self.listed if entry.id not in self.withdrawn)

    def of(self, ops: Collection[str] | None) -> Sequence[Entry]:
        """Return the entries of operators (None: of all) that are not withdrawn."""
        if ops is None:
            return self.vectors
        if isinstance(self.listed, Recordings):
            entries = self.listed.of(ops)
            return tuple(entry for entry in entries if entry.id not in self.withdrawn)
        if isinstance(self.vectors, Listing):
            return self.vectors.of(ops)
        return tuple(entry for entry in self.vectors if entry.op in ops)

    @property
    def packed(self) -> PackedIndex | None:
        """The containers of a packed suite; None for a folder, or some entries alone."""
        return self.listed.packed if isinstance(self.listed, Listing) else None

    @property
    def chunks(self) -> Sequence[Sequence[Entry]]:
        """The listed entries in pieces, each read at once: containers, or all of a folder."""
        if not isinstance(self.listed, Listing):
            return (self.listed,)
        return [Listing(self.listed.packed, (span,)) for span in self.listed.spans]

    @cached_property
    def files(self) -> Mapping[str, Entry | Container]:
        """Every listed file by its path."""
        if self.packed is not None:
            return {container.file: container for container in self.packed.containers}
        return {entry.path: entry for entry in self.listed}

    @cached_property
    def totals(self) -> Totals:
        """The totals of the listed vectors; a packed suite states them, see :meth:`confirm`."""
        if self.packed is not None:
            return self.packed.totals
        return Totals.of(self.listed)

    @property
    def unkilled(self) -> Table:
        """By operator, the mutants that its partitions list as survivors, each with 0."""
        return _unkilled(self.strength)

    @property
    def counts(self) -> Mapping[str, Count]:
        """Listed vectors of each operator."""
        return self.listed.counts if isinstance(self.listed, Recordings) else self.totals.counts

    @cached_property
    def edges(self) -> Mapping[str, Mapping[str, int]]:
        """Counts of the listed vectors that cover each target, by operator."""
        return LazyMapping(self.counts, self._edges)

    @cached_property
    def faults(self) -> Mapping[str, Mapping[str, int]]:
        """Counts of the listed vectors that kill each mutant, by operator.

        0 for those that occur as survivors only.
        """
        return LazyMapping(self.counts, self._faults)

    def _edges(self, op: str) -> Mapping[str, int]:
        return self._totals_of(op).edges[op]

    def _faults(self, op: str) -> Mapping[str, int]:
        unnoticed = self.strength[op].parts.mutants if op in self.strength else ()
        counted = self._totals_of(op).faults[op]
        return dict(sorted({**dict.fromkeys(unnoticed, 0), **counted}.items()))

    def _totals_of(self, op: str) -> Totals:
        """Return the totals of an operator; for recorded cases no others are read."""
        if isinstance(self.listed, Recordings):
            return Totals.of(self.listed.of((op,)))
        return self.totals

    @property
    def ops(self) -> tuple[str, ...]:
        """Operators in the order of their first vector."""
        return tuple(self.counts)

    @property
    def suites(self) -> tuple[str, ...]:
        """The names of the subsets that the vectors belong to, sorted."""
        return self.listed.suites if isinstance(self.listed, Recordings) else self.totals.suites

    @cached_property
    def digest(self) -> str:
        """The digest of ``vectors``, see :func:`conformance.suite.totals.entries_digest`."""
        if isinstance(self.listed, Recordings):
            return self.listed.digest
        return entries_digest(self.vectors) if self.packed is None else self.packed.digest

    def confirm(self) -> None:
        """Read a packed suite and hold it against its manifest.

        Nothing else reads all containers at once; a folder's manifest lists all. Raises SuiteError
        where they differ.
        """
        if self.packed is not None:
            verify_containers(self.packed, self.withdrawn)

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """The digest, in two parts for a completed suite: the suite before, and what was added."""
        if SuiteName.COMPLEMENT not in self.suites:
            return (self.digest,)
        before = self._only(lambda entry: SuiteName.COMPLEMENT not in entry.suites)
        return before.digest, self.subset(SuiteName.COMPLEMENT).digest

    def subset(self, name: str) -> Manifest:
        """Return the manifest of a subset by name; it has a digest of its own."""
        return dataclasses.replace(self._only(lambda entry: name in entry.suites), name=name)

    def _only(self, kept: Callable[[Entry], bool]) -> Manifest:
        listed = tuple(filter(kept, self.listed))
        ids = {entry.id for entry in listed}
        withdrawn = {i: reason for i, reason in self.withdrawn.items() if i in ids}
        return dataclasses.replace(self, listed=listed, withdrawn=withdrawn)

    def to_json(self) -> dict[str, Any]:
        """Return JSON data, in the order of the fields and of ``listed``."""
        return {
            "format": self.format,
            "name": self.name,
            "tool": self.tool,
            "seed": self.seed,
            "versions": dict(sorted(self.versions.items())),
            "specifications": {op: basis.to_json() for op, basis in self.specifications.items()},
            **self._complete.to_json(),
            "strength": {
                op: unreachable.to_json(name_indices(self.faults.get(op, ())))
                for op, unreachable in self.strength.items()
            },
            "uncovered": [dataclasses.asdict(gap) for gap in self.uncovered],
            "withdrawn": dict(self.withdrawn),
            **self._what_is_listed(),
        }

    @cached_property
    def _complete(self) -> Totals:
        """The totals with the mutants that no vector kills, as they stand in a file."""
        return self.totals.with_unkilled(self.unkilled)

    def _what_is_listed(self) -> dict[str, Any]:
        if self.packed is None:
            return {"vectors": entries_to_json(self.listed, self._complete)}
        size, sha256 = self.packed.index
        return {
            "suites": list(self.suites),
            "digest": self.digest,
            "index": {"bytes": size, "sha256": sha256},
            "containers": [container.to_json() for container in self.packed.containers],
        }


def encode_manifest(manifest: Manifest) -> bytes:
    """Encode a manifest as the content of its file."""
    return strict_json.dumps(manifest.to_json())


def read_manifest(path: Path) -> Manifest:
    """Read the manifest in a file.

    Raises SuiteError if it cannot be read, is too large, is damaged, of a newer format, or not
    consistent with itself.
    """
    if remote.is_remote(path):
        return parse_manifest(read_bytes(path), str(path), path.parent)
    return parse_manifest(read_bytes(path), str(path))


def parse_manifest(data: bytes, where: str, root: Path | None = None) -> Manifest:
    """Parse the content of the file ``where``; see :func:`read_manifest`.

    Containers that it lists are files beside it, in ``root`` where that is no path.
    """
    document = strict_json.loads(data, where)
    is_packed = isinstance(document, dict) and "containers" in document
    strict_json.check_format(document, where, PACKED_FORMAT if is_packed else FORMAT, TOOL)
    record = JsonObject(document, where, (*_KEYS, *(_PACKED if is_packed else _FOLDER)))
    faults = parse_name_tables(record, "faults")
    strengths = {
        op: parse_unreachable(data, f"{where}: strength of {op[:80]}", faults.get(op, ()))
        for op, data in record.table("strength").items()
    }
    manifest = Manifest(
        name=parse_pattern(entries.SUITE_NAME, record, "name"),
        tool=record.text("tool"),
        seed=record.whole("seed"),
        versions=record.texts_by_name("versions"),
        strength=strengths,
        uncovered=tuple(_uncovered(gap, where) for gap in record.items("uncovered")),
        withdrawn=record.texts_by_name("withdrawn"),
        listed=Listing(_packed(record, Path(where).parent if root is None else root))
        if is_packed
        else parse_entries(record, _unkilled(strengths)),
        specifications=_origins(record),
    )
    if not is_packed:
        _check_withdrawn(record, manifest)
    for op in (op for op in manifest.ops if op not in manifest.specifications):
        record.refuse(f"does not say what specification the vectors of {op} were made from")
    return manifest


def _unkilled(unreachable: Mapping[str, Unreachable]) -> Table:
    return {op: dict.fromkeys(survivors.parts.mutants, 0) for op, survivors in unreachable.items()}


def _packed(record: JsonObject, root: Path) -> PackedIndex:
    """Parse what the manifest of a packed suite states of its containers."""
    suites = record.texts("suites")
    if not all(entries.SUITE_NAME.fullmatch(name) for name in suites):
        record.refuse(f"{suites!r} are not names of suites"[:200])
    packed = PackedIndex(
        root=root,
        containers=parse_containers(record),
        totals=parse_totals(record, suites),
        digest=parse_pattern(SHA256, record, "digest"),
        index=containers.parse_index(record),
    )
    if Listing(packed).kind_counts() != packed.totals.counts_json:
        record.refuse("the counts are not those of the containers")
    return packed


def _origins(record: JsonObject) -> dict[str, Origin]:
    """Parse what the operators were made from; their names are parts of paths."""
    table = record.table("specifications")
    for op in table:
        check_operator_name(record, "specifications", op)
    where = f"{record.where}: specification of"
    return {op: parse_origin(data, f"{where} {op}") for op, data in table.items()}


def _check_withdrawn(record: JsonObject, manifest: Manifest) -> None:
    ids = {entry.id for entry in manifest.listed} if manifest.withdrawn else set()
    for vector_id in manifest.withdrawn:
        if vector_id not in ids:
            record.refuse(f"withdraws {vector_id[:200]!r}, which is not listed")


def _uncovered(gap: object, where: str) -> UndecidedTarget:
    record = JsonObject(gap, f"{where}: uncovered", ("op", "rank", "dtype", "edges"))
    edges = record.texts("edges")
    if len(edges) not in (1, 2):
        record.refuse(f"names {len(edges)} edges, where one or a pair belongs")
    return UndecidedTarget(record.text("op"), record.whole("rank"), record.text("dtype"), edges)
