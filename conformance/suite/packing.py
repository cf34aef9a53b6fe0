"""Writes packed suites: containers, each by itself, and the index that joins them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.errors import SuiteError
from conformance.suite import containers, strict_json
from conformance.suite import entries as listed
from conformance.suite import manifest as manifests
from conformance.suite.archive import pack as archived
from conformance.suite.containers import FORMAT, INDEX, MEMBER, MOST, PART, Packed
from conformance.suite.entries import Container, Entry
from conformance.suite.files import check_sha256
from conformance.suite.listing import Listing
from conformance.suite.manifest import Manifest
from conformance.suite.npy import write_npy
from conformance.suite.store import Suite, open_suite
from conformance.suite.totals import Table, Totals
from conformance.suite.writer import disk, replaced, write, write_vector

FULL = 32 * 2**20
"""Bytes of vectors after which a container takes no more."""


def container(vectors: Sequence[tuple[Entry, bytes]]) -> bytes:
    """A container of vectors of one operator and kind, each its entry and its file.

    It depends on nothing else, so any process can make it; :class:`Packer` joins what is made.
    """
    entries = [entry for entry, _ in vectors]
    totals = Totals.of(entries)
    part = {"format": FORMAT, **totals.to_json(), "vectors": listed.to_json(entries, totals)}
    members = [(f"{entry.id}.npz", content) for entry, content in vectors]
    return archived([(PART, strict_json.dumps(part)), *members], names=MEMBER, stored=True)


class Packer:
    """Collects the containers of a suite that is being written into a folder.

    ``withdrawn`` are the ids of vectors that the digest leaves out.
    """

    def __init__(self, folder: Path, withdrawn: Mapping[str, str]) -> None:
        self._folder = folder
        self._collected = containers.Collected(withdrawn)
        self._containers: list[Container] = []
        self._totals = Totals({}, {}, {}, ())
        self._waiting: list[tuple[Entry, bytes]] = []
        self._size = 0
        self._numbers: dict[str, int] = {}

    def take(self, entry: Entry, content: bytes) -> None:
        """One more vector; its container is written when it is full."""
        if self._waiting:
            before = self._waiting[-1][0]
            other = (before.op, before.kind) != (entry.op, entry.kind)
            if other or len(self._waiting) == MOST or self._size + len(content) > FULL:
                self._flush()
        self._waiting.append((entry, content))
        self._size += len(content)

    def adopt(self, file: str) -> None:
        """One more container, which is in the folder already; it is checked as one from outside."""
        content = (self._folder / file).read_bytes()
        entries, files = containers.parse(content, str(self._folder / file))
        for entry in entries:
            check_sha256(files[f"{entry.id}.npz"], entry.sha256, f"{file}: {entry.id}.npz")
        self._add(file, content, entries)

    def finish(self, known: Table) -> Packed:
        """The index is written; what the manifest says of the containers. ``known`` as in
        :meth:`conformance.suite.totals.Totals.knowing`."""
        if self._waiting:
            self._flush()
        if not self._containers:
            raise SuiteError("a suite without vectors is not written", hint="choose more operators")
        index = write_npy(self._collected.index())
        write(self._folder / INDEX, index)
        return Packed(
            root=self._folder,
            containers=tuple(self._containers),
            totals=self._totals.knowing(known),
            digest=self._collected.digest(),
            index=(len(index), hashlib.sha256(index).hexdigest()),
        )

    def _flush(self) -> None:
        content = container(self._waiting)
        entries = [entry for entry, _ in self._waiting]
        self._waiting, self._size = [], 0
        op = entries[0].op
        self._numbers[op] = self._numbers.get(op, 0) + 1
        file = file_of(op, self._numbers[op])
        (self._folder / op).mkdir(exist_ok=True)
        write(self._folder / file, content)
        self._add(file, content, entries)

    def _add(self, file: str, content: bytes, entries: Sequence[Entry]) -> None:
        one = Container(
            number=len(self._containers),
            file=file,
            op=entries[0].op,
            kind=entries[0].kind,
            count=len(entries),
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for entry in entries:
            self._collected.take(entry, one.number)
        self._totals += Totals.of(entries)
        self._containers.append(one)


def file_of(op: str, number: int) -> str:
    """Where a suite keeps a container."""
    return f"{op}/{number:05}.zip"


def pack(suite: Suite, out: Path) -> Suite:
    """Writes a suite as the packed suite ``out``; the files of its vectors stay as they are.

    Raises SuiteError as :func:`conformance.suite.writer.write_suite` does.
    """
    manifest, bases = suite.manifest, suite.specs.bases()
    with replaced(out, bases) as folder:
        packer = Packer(folder, manifest.withdrawn)
        for one in manifest.listed:
            entry, content = suite.filed(one)
            with disk(out):
                packer.take(entry, content)
        with disk(out):
            conclude(folder, packer, manifest)
    return open_suite(out)


def unpack(suite: Suite, out: Path) -> Suite:
    """Writes a packed suite as the folder ``out``, of the same files."""
    with replaced(out, suite.specs.bases()) as folder:
        entries = []
        for one in suite.manifest.listed:
            entry, content = suite.filed(one)
            with disk(out):
                write_vector(folder, entry, content)
            entries.append(entry)
        head = manifests.dump(dataclasses.replace(suite.manifest, listed=tuple(entries)))
        with disk(out):
            write(folder / manifests.FILE_NAME, head)
    return open_suite(out)


def conclude(folder: Path, packer: Packer, manifest: Manifest) -> None:
    """Writes the manifest of the containers of a packer; what else it says is that of ``manifest``.

    Raises SuiteError if it could not be read again.
    """
    packed = packer.finish(manifest.unnoticed)
    content = manifests.dump(dataclasses.replace(manifest, listed=Listing(packed)))
    manifests.parse(content, str(folder / manifests.FILE_NAME))
    write(folder / manifests.FILE_NAME, content)
