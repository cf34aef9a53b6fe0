"""``manifest.json``: what a suite holds, file by file. The format: docs/vector-format.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from conformance import TOOL, codec, remote
from conformance.choices import SuiteName
from conformance.codec import Record
from conformance.suite import containers, strict_json
from conformance.suite.containers import IndexFile, PackedIndex, verify_containers
from conformance.suite.entries import (
    Container,
    Entry,
    EntryData,
    SuiteText,
    entries_from_data,
    entries_to_data,
    name_indices,
)
from conformance.suite.lazy_mapping import LazyMapping
from conformance.suite.listing import Listing
from conformance.suite.origin import Origin
from conformance.suite.recordings import Recordings
from conformance.suite.strict_json import Sha256, Whole, read_bytes, refusing
from conformance.suite.totals import PATH_PART, Count, Table, TableData, Totals, entries_digest
from conformance.suite.unreachable import Unreachable, UnreachableData, unreachable_from_data

FILE_NAME = "manifest.json"
FORMAT = 1
PACKED_FORMAT = containers.FORMAT


class ManifestFile(Record, frozen=True):
    """What the files of both forms of a suite begin with."""

    format: int
    name: SuiteText
    tool: str
    seed: Whole
    versions: dict[str, str]
    specifications: dict[str, Origin]
    counts: dict[str, Count]
    edges: TableData
    faults: TableData
    strength: dict[str, UnreachableData]
    withdrawn: dict[str, str]


class FolderFile(ManifestFile, frozen=True):
    """The manifest of a folder."""

    vectors: tuple[EntryData, ...]


class PackedFile(ManifestFile, frozen=True):
    """The manifest of a packed suite."""

    suites: tuple[SuiteText, ...]
    digest: Sha256
    index: IndexFile
    containers: tuple[Container, ...]


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
        return {
            op: dict.fromkeys(unreachable.parts.mutants, 0)
            for op, unreachable in self.strength.items()
        }

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
        if isinstance(self.listed, Recordings):
            return dataclasses.replace(self, listed=self.listed.subset(name), name=name)
        return dataclasses.replace(self._only(lambda entry: name in entry.suites), name=name)

    def _only(self, kept: Callable[[Entry], bool]) -> Manifest:
        listed = tuple(filter(kept, self.listed))
        ids = {entry.id for entry in listed}
        withdrawn = {i: reason for i, reason in self.withdrawn.items() if i in ids}
        return dataclasses.replace(self, listed=listed, withdrawn=withdrawn)

    def to_file(self) -> ManifestFile:
        """Return what the file of the manifest holds."""
        totals = self.totals.with_unkilled(self.unkilled)
        head: dict[str, Any] = {
            "format": self.format,
            "name": self.name,
            "tool": self.tool,
            "seed": self.seed,
            "versions": dict(sorted(self.versions.items())),
            "specifications": dict(self.specifications),
            **totals.tables(),
            "strength": {
                op: unreachable.to_data(name_indices(self.faults.get(op, ())))
                for op, unreachable in self.strength.items()
            },
            "withdrawn": dict(self.withdrawn),
        }
        if self.packed is None:
            return FolderFile(**head, vectors=entries_to_data(self.listed, totals))
        return PackedFile(
            **head,
            suites=self.suites,
            digest=self.digest,
            index=self.packed.index,
            containers=self.packed.containers,
        )


def encode_manifest(manifest: Manifest) -> bytes:
    """Encode a manifest as the content of its file."""
    return codec.encode_lines(manifest.to_file())


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
    with refusing(where):
        document = codec.parse(data)
    is_packed = isinstance(document, dict) and "containers" in document
    strict_json.check_format(document, where, PACKED_FORMAT if is_packed else FORMAT, TOOL)
    with refusing(where):
        if is_packed:
            packed_file = codec.convert(document, PackedFile)
            folder = Path(where).parent if root is None else root
            return _manifest(packed_file, Listing(_packed(packed_file, folder)), where)
        file = codec.convert(document, FolderFile)
        stated = Totals(file.counts, file.edges, file.faults, ())
        manifest = _manifest(file, (), where)
        listed = entries_from_data(file.vectors, stated, manifest.unkilled)
        if absent := manifest.withdrawn.keys() - {entry.id for entry in listed}:
            raise ValueError(f"withdraws {min(absent)[:200]!r}, which is not listed")
        return dataclasses.replace(manifest, listed=listed)


def _manifest(file: ManifestFile, listed: Sequence[Entry], where: str) -> Manifest:
    for op in file.specifications:
        if not PATH_PART.fullmatch(op):  # it is a part of paths
            raise ValueError(f"specifications has {op[:80]!r}, which is no name of an operator")
    if missing := file.counts.keys() - file.specifications.keys():
        raise ValueError(
            f"does not say what specification the vectors of {min(missing)} were made from"
        )
    strength = {}
    for op, data in file.strength.items():
        with refusing(f"{where}: strength of {op[:80]}"):
            strength[op] = unreachable_from_data(data, sorted(file.faults.get(op, ())))
    return Manifest(
        name=file.name,
        tool=file.tool,
        seed=file.seed,
        versions=file.versions,
        strength=strength,
        withdrawn=file.withdrawn,
        listed=listed,
        specifications=file.specifications,
    )


def _packed(file: PackedFile, root: Path) -> PackedIndex:
    """Return what the manifest of a packed suite states of its containers."""
    if len({container.file for container in file.containers}) != len(file.containers):
        raise ValueError("two containers are one file")
    if not file.counts.keys() == file.edges.keys() == file.faults.keys():
        raise ValueError("counts, edges and faults are not of the same operators")
    packed = PackedIndex(
        root=root,
        containers=file.containers,
        totals=Totals(file.counts, file.edges, file.faults, file.suites),
        digest=file.digest,
        index=file.index,
    )
    if Listing(packed).kind_counts() != codec.to_json(file.counts):
        raise ValueError("the counts are not those of the containers")
    return packed
