"""The containers of a packed suite: its vectors about a thousand to a file, read when needed.

A container is a zip archive of stored members: ``manifest.json``, the part of the suite's manifest
for its vectors, then ``<id>.npz`` for each of them. Its SHA-256 stands in the suite's manifest and
is checked before anything in it is parsed. At most a few containers are in memory at a time.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance import TOOL
from conformance.codec import Record
from conformance.errors import SuiteError
from conformance.suite import strict_json
from conformance.suite.archive import DAMAGED, Archive
from conformance.suite.entries import Container, Entry, EntryData, entries_from_data
from conformance.suite.files import check_sha256, read_bounded
from conformance.suite.npy import read_npy
from conformance.suite.strict_json import Sha256, Whole, refusing
from conformance.suite.totals import (
    PATH_PART,
    Count,
    TableData,
    Totals,
    digest_line,
    lines_digest,
)

FORMAT = 2
"""The format of the manifest of a packed suite, and of its parts."""


PART = "manifest.json"
"""The first member of a container."""

INDEX = "ids.npy"

MAX_VECTORS = 1_000
"""Vectors of one container."""

MAX_BYTES = 80 * 2**20
"""The largest container that is read; one vector alone may take 64 MiB."""

MAX_INDEX = 2**31
MAX_OPEN = 4
"""Containers that are kept in memory."""

NUMBER_BITS = 20
"""Bits of an entry of the index that give the container's number; those above are the digest."""

MEMBER = re.compile(rf"manifest\.json|{PATH_PART.pattern}\.npz")
_DIGEST = re.compile(r".*-([0-9a-f]{8})")


class IndexFile(Record, frozen=True):
    """The size and digest of the index of a packed suite."""

    bytes: Whole
    sha256: Sha256


class ContainerPart(Record, frozen=True):
    """The part of a suite's manifest that a container holds."""

    format: int
    counts: dict[str, Count]
    edges: TableData
    faults: TableData
    vectors: tuple[EntryData, ...]


@dataclass(frozen=True)
class PackedIndex:
    """The containers of a packed suite, as its manifest states them; none is read for it.

    ``totals`` and ``digest`` are what it states of all vectors; :func:`verify_containers` says
    whether they hold. ``index`` is the size and SHA-256 of the file that finds the container of an
    id.
    """

    root: Path
    containers: tuple[Container, ...]
    totals: Totals
    digest: str
    index: IndexFile

    @cached_property
    def ids(self) -> NDArray[Any]:
        """The index, checked: of each vector, sorted, the digest in its id and its container."""
        content = read_bounded(self.root / INDEX, self.index.bytes, MAX_INDEX)
        where = str(self.root / INDEX)
        check_sha256(content, self.index.sha256, where)
        ids = read_npy(content, where)
        if ids.dtype != np.int64 or ids.ndim != 1:
            raise SuiteError(f"{where}: not a list of 64-bit integers", hint=DAMAGED)
        return ids

    def find(self, vector_id: str) -> Entry | None:
        """Find the entry of an id; few containers are read, mostly one."""
        match = _DIGEST.fullmatch(vector_id)
        if match is None:
            return None
        first = int(match[1], 16) << NUMBER_BITS
        low, high = np.searchsorted(self.ids, [first, first + (1 << NUMBER_BITS)])
        for number in np.unique(self.ids[low:high] & ((1 << NUMBER_BITS) - 1)):
            if number < len(self.containers):
                entry = open_container(self.root, self.containers[number]).by_id.get(vector_id)
                if entry is not None:
                    return entry
        return None


@dataclass(frozen=True)
class OpenContainer:
    """A container that was read: its entries in their order, and the files of its vectors."""

    entries: tuple[Entry, ...]
    files: Mapping[str, bytes]

    @cached_property
    def by_id(self) -> Mapping[str, Entry]:
        return {entry.id: entry for entry in self.entries}


@lru_cache(maxsize=MAX_OPEN)
def open_container(root: Path, container: Container) -> OpenContainer:
    """Read a container of the suite in a folder.

    Raises SuiteError for one that is missing, changed, unsafe, or not what the manifest says of it.
    """
    file = root / container.file
    content = read_bounded(file, container.bytes, MAX_BYTES)
    check_sha256(content, container.sha256, file)
    entries, files = parse_container(content, str(file))
    if (container.op, container.kind, container.count) != _kind_of(entries):
        raise SuiteError(
            f"{file}: the manifest describes the container otherwise than its part", hint=DAMAGED
        )
    inside = tuple(replace(entry, inside=container) for entry in entries)
    return OpenContainer(inside, files)


def parse_container(content: bytes, where: str) -> tuple[tuple[Entry, ...], Mapping[str, bytes]]:
    """Parse a container: its entries, and the files of its vectors by member name.

    Raises SuiteError for what is unsafe, damaged or not consistent with itself.
    """
    files = Archive(content, limit=MAX_BYTES, source=where, names=MEMBER)
    if next(iter(files), None) != PART:
        raise SuiteError(f"{where}: the first member is not {PART}", hint=DAMAGED)
    inside = f"{where}: {PART}"
    part = strict_json.decode(files[PART], ContainerPart, inside, FORMAT, TOOL)
    with refusing(inside):
        stated = Totals(part.counts, part.edges, part.faults, ())
        entries = entries_from_data(part.vectors, stated, {})
        if [f"{entry.id}.npz" for entry in entries] != list(files)[1:]:
            raise ValueError(
                "the vectors listed are not the members of the container, in their order"
            )
        if len({(entry.op, entry.kind) for entry in entries}) != 1:
            raise ValueError("the vectors are not of one operator and kind")
    return entries, files


def _kind_of(entries: Sequence[Entry]) -> tuple[str, str, int]:
    return entries[0].op, entries[0].kind, len(entries)


def index_entry(entry: Entry, number: int) -> int:
    """Return what the index holds of an entry.

    Raises SuiteError for an id that it could not find.
    """
    match = _DIGEST.fullmatch(entry.id)
    if match is None or number >= 1 << NUMBER_BITS:
        raise SuiteError(
            f"the id {entry.id[:80]!r} ends in no digest, so it cannot be packed",
            hint="generate the suite again",
        )
    return int(match[1], 16) << NUMBER_BITS | number


def verify_containers(packed: PackedIndex, withdrawn: Mapping[str, str]) -> None:
    """Read the lists of all containers and hold them against the manifest.

    Raises SuiteError for other totals, another digest or index, an id twice, or one withdrawn and
    absent.

    Of each vector about 150 bytes are in memory meanwhile, and none afterwards.
    """
    where = packed.root / PART
    collected = PackedDigest(withdrawn)
    # Mutants that no vector kills are stated for the sake of the suite's strength.
    unkilled = {
        op: {n: 0 for n, c in counts.items() if not c}
        for op, counts in packed.totals.faults.items()
    }
    entries = (
        collected.take(entry, number)
        for number, container in enumerate(packed.containers)
        for entry in open_container(packed.root, container).entries
    )
    totals = Totals.of(entries).with_unkilled(unkilled)
    for noun, stated, counted in (
        ("totals", packed.totals, totals),
        ("digest", packed.digest, collected.digest()),
        ("index", packed.ids.tobytes(), collected.index().tobytes()),
    ):
        if stated != counted:
            raise SuiteError(f"{where}: its {noun} are not those of the containers", hint=DAMAGED)


class PackedDigest:
    """The digest and the index of a packed suite, entry by entry."""

    def __init__(self, withdrawn: Mapping[str, str]) -> None:
        self._withdrawn = withdrawn
        self._lines: list[bytes] = []
        self._places = array("q")
        self._missing = set(withdrawn)

    def take(self, entry: Entry, number: int) -> Entry:
        """Note an entry with the number of its container, and return it."""
        self._places.append(index_entry(entry, number))
        if entry.id in self._withdrawn:
            self._missing.discard(entry.id)
        else:
            self._lines.append(digest_line(entry))
        return entry

    def digest(self) -> str:
        """Compute the digest of all.

        Raises SuiteError for an id that occurs twice or is missing.
        """
        if self._missing:
            raise SuiteError(f"withdraws {min(self._missing)}, which is not listed", hint=DAMAGED)
        self._lines.sort()
        for line, following in pairwise(self._lines):
            if line.partition(b"\0")[0] == following.partition(b"\0")[0]:
                raise SuiteError(
                    f"{line.partition(b'.npz')[0].decode()} is listed more than once", hint=DAMAGED
                )
        return lines_digest(self._lines)

    def index(self) -> NDArray[np.int64]:
        """Return the index of all, as :attr:`PackedIndex.ids` has it."""
        return np.sort(np.frombuffer(self._places, np.int64))
