"""Writes packed suites: containers, each by itself, and the index that joins them."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance import codec
from conformance.errors import SuiteError
from conformance.suite import manifest as manifests
from conformance.suite.archive import write_zip as archived
from conformance.suite.containers import (
    FORMAT,
    INDEX,
    MAX_VECTORS,
    MEMBER,
    PART,
    ContainerPart,
    IndexFile,
    PackedDigest,
    PackedIndex,
    parse_container,
)
from conformance.suite.entries import Container, Entry, entries_to_data
from conformance.suite.files import check_sha256
from conformance.suite.listing import Listing
from conformance.suite.manifest import Manifest, encode_manifest, parse_manifest
from conformance.suite.npy import write_npy
from conformance.suite.store import Suite, open_suite
from conformance.suite.totals import Table, Totals
from conformance.suite.writer import disk_errors, new_suite_folder, write_file, write_vector

FULL_BYTES = 32 * 2**20
"""Bytes of vectors after which a container takes no more."""


def encode_container(vectors: Sequence[tuple[Entry, bytes]]) -> bytes:
    """Encode a container of vectors of one operator and kind: entries and files.

    It depends on nothing else, so any process can make it; :class:`Packer` joins what is made.
    """
    entries = [entry for entry, _ in vectors]
    totals = Totals.of(entries)
    part = ContainerPart(FORMAT, **totals.tables(), vectors=entries_to_data(entries, totals))
    members = [(f"{entry.id}.npz", content) for entry, content in vectors]
    return archived([(PART, codec.encode_lines(part)), *members], names=MEMBER, stored=True)


class Packer:
    """Collects the containers of a suite that is being written into a folder.

    ``withdrawn`` are the ids of vectors that the digest leaves out.
    """

    def __init__(self, folder: Path, withdrawn: Mapping[str, str]) -> None:
        self._folder = folder
        self._collected = PackedDigest(withdrawn)
        self._containers: list[Container] = []
        self._totals = Totals({}, {}, {}, ())
        self._waiting: list[tuple[Entry, bytes]] = []
        self._size = 0
        self._numbers: dict[str, int] = {}

    def take(self, entry: Entry, content: bytes) -> None:
        """Add a vector; its container is written when it is full."""
        if self._waiting:
            before = self._waiting[-1][0]
            other = (before.op, before.kind) != (entry.op, entry.kind)
            if other or len(self._waiting) == MAX_VECTORS or self._size + len(content) > FULL_BYTES:
                self._flush()
        self._waiting.append((entry, content))
        self._size += len(content)

    def add_file(self, file: str) -> None:
        """Add a container that is in the folder already, and check it."""
        content = (self._folder / file).read_bytes()
        entries, files = parse_container(content, str(self._folder / file))
        for entry in entries:
            check_sha256(files[f"{entry.id}.npz"], entry.sha256, f"{file}: {entry.id}.npz")
        self._add(file, content, entries)

    def finish(self, unkilled: Table) -> PackedIndex:
        """Write the index; return what the manifest states of the containers.

        ``unkilled`` as in :meth:`conformance.suite.totals.Totals.with_unkilled`. Raises SuiteError
        without vectors.
        """
        if self._waiting:
            self._flush()
        if not self._containers:
            raise SuiteError("a suite without vectors is not written", hint="choose more operators")
        index = write_npy(self._collected.index())
        write_file(self._folder / INDEX, index)
        return PackedIndex(
            root=self._folder,
            containers=tuple(self._containers),
            totals=self._totals.with_unkilled(unkilled),
            digest=self._collected.digest(),
            index=IndexFile(len(index), hashlib.sha256(index).hexdigest()),
        )

    def _flush(self) -> None:
        content = encode_container(self._waiting)
        entries = [entry for entry, _ in self._waiting]
        self._waiting, self._size = [], 0
        op = entries[0].op
        self._numbers[op] = self._numbers.get(op, 0) + 1
        file = container_file(op, self._numbers[op])
        (self._folder / op).mkdir(exist_ok=True)
        write_file(self._folder / file, content)
        self._add(file, content, entries)

    def _add(self, file: str, content: bytes, entries: Sequence[Entry]) -> None:
        container = Container(
            file=file,
            op=entries[0].op,
            kind=entries[0].kind,
            count=len(entries),
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for entry in entries:
            self._collected.take(entry, len(self._containers))
        self._totals += Totals.of(entries)
        self._containers.append(container)


def container_file(op: str, number: int) -> str:
    """Return the path of a container in a suite."""
    return f"{op}/{number:05}.zip"


def pack_suite(suite: Suite, out: Path) -> Suite:
    """Write a suite as the packed suite ``out``; the vectors' files stay as they are.

    Raises SuiteError as :func:`conformance.suite.writer.write_suite` does.
    """
    manifest, bases = suite.manifest, suite.specs.bases()
    with new_suite_folder(out, bases) as folder:
        packer = Packer(folder, manifest.withdrawn)
        for entry in manifest.listed:
            filed, content = suite.as_file(entry)
            with disk_errors(out):
                packer.take(filed, content)
        with disk_errors(out):
            write_packed_manifest(folder, packer, manifest)
    return open_suite(out)


def unpack_suite(suite: Suite, out: Path) -> Suite:
    """Write a packed suite as the folder ``out``, of the same files."""
    with new_suite_folder(out, suite.specs.bases()) as folder:
        entries = []
        for entry in suite.manifest.listed:
            filed, content = suite.as_file(entry)
            with disk_errors(out):
                write_vector(folder, filed, content)
            entries.append(filed)
        head = encode_manifest(dataclasses.replace(suite.manifest, listed=tuple(entries)))
        with disk_errors(out):
            write_file(folder / manifests.FILE_NAME, head)
    return open_suite(out)


def write_packed_manifest(folder: Path, packer: Packer, manifest: Manifest) -> None:
    """Write the manifest of a packer's containers, otherwise like ``manifest``.

    Raises SuiteError if it could not be read again.
    """
    packed = packer.finish(manifest.unkilled)
    content = encode_manifest(dataclasses.replace(manifest, listed=Listing(packed)))
    parse_manifest(content, str(folder / manifests.FILE_NAME))
    write_file(folder / manifests.FILE_NAME, content)
