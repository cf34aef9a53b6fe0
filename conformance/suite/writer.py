"""Writes a suite, atomically and reproducibly."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from conformance.errors import SuiteError
from conformance.model import Vector
from conformance.replacement import resolved
from conformance.specification import shipped_specs, spec_digest
from conformance.suite import manifest as manifests
from conformance.suite.archive import write_zip
from conformance.suite.containers import INDEX
from conformance.suite.entries import Entry, entry_of
from conformance.suite.manifest import (
    Manifest,
    encode_manifest,
    parse_manifest,
    read_manifest,
)
from conformance.suite.origin import Origin, OriginFiles
from conformance.suite.store import Suite, aside_folder, open_suite
from conformance.suite.unreachable import Unreachable
from conformance.suite.vector_file import content_digest, decode_vector, vector_members

# What may lie in a folder beside vectors: all that is not a vector file or the manifest. Before
# a folder has a manifest, only files with these names show that it was meant for a suite.
PLAN = ".plan"
"""What a folder that is being filled is to become, byte for byte."""

_COMPANION = re.compile(r"(LICEN[CS]E|NOTICE|README|CHANGELOG|\.git)[^/]*", re.IGNORECASE)


def check_target(out: Path, bases: Iterable[OriginFiles] = ()) -> None:
    """Check that a suite may be written to ``out``: a suite, empty, or absent.

    ``bases`` as in :func:`write_suite`; their files replace none that is not the suite's. Raises
    SuiteError otherwise.
    """
    if Path.cwd().is_relative_to(resolved(out)):
        raise SuiteError(
            f"{out}: the current folder is in it, so it cannot be replaced",
            hint="name another place for the suite, such as a folder in this one",
        )
    beside = next(folder for folder in resolved(out).parents if folder.exists())
    if not os.access(beside, os.W_OK | os.X_OK):
        raise SuiteError(
            f"{out}: nothing can be written in {beside}", hint="name another place for the suite"
        )
    if not out.exists():
        return
    if not out.is_dir():
        raise SuiteError(f"{out}: not a folder", hint="name another place for the suite")
    if (out / manifests.FILE_NAME).is_file():
        _check_foreign(out, bases)
        return
    for path in sorted(out.iterdir()):
        if path.is_dir() or not _COMPANION.fullmatch(path.name):
            raise SuiteError(
                f"{out}: holds {path.name!r} and no {manifests.FILE_NAME}, so it is not a suite "
                "and is not replaced",
                hint="name a new or an empty folder",
            )


def _check_foreign(out: Path, bases: Iterable[OriginFiles]) -> None:
    """Refuse to replace a specification that somebody else put where the suite has its own."""
    listed = _owned(out)
    if listed is None:
        return
    for path in chain.from_iterable(basis.files for basis in bases):
        if path not in listed and os.path.lexists(out / path):
            raise SuiteError(
                f"{out / path}: would be replaced, and is not of the suite there",
                hint="move it out of the suite's folder, or name another place for the suite",
            )


def write_suite(
    out: Path,
    vectors: Iterable[tuple[Vector, tuple[str, ...]]],
    *,
    name: str,
    seed: int,
    versions: Mapping[str, str],
    kills: Mapping[str, tuple[str, ...]] | None = None,
    excused: Mapping[str, tuple[str, ...]] | None = None,
    strength: Mapping[str, Unreachable] | None = None,
    withdrawn: Mapping[str, str] | None = None,
    bases: Iterable[OriginFiles] = (),
    beside: Suite | None = None,
) -> Suite:
    """Write vectors, each with its subsets, as the suite ``out``; open it.

    The suite is made beside ``out`` and put in its place at the end, so whatever interrupts the
    writing leaves the old suite whole; what an earlier interruption left behind is cleared. Files
    in ``out`` that are not vectors (a licence, a read-me) are kept. ``kills`` gives the mutants
    that a vector kills, by id, ``excused`` those that an allowed interpretation excuses at level
    must (:class:`conformance.suite.entries.Entry`), ``strength`` what nothing can reach, by
    operator, ``bases`` what the vectors of each operator were made from (the shipped specification,
    if left out). ``versions`` are recorded, and that of zlib, on which the files' bytes depend. The
    files of the suite ``beside`` are taken over as they are, and come first. Two writers must not
    share one ``out``.

    Raises SuiteError if ``out`` must not be replaced or cannot be written, or if the vectors are
    none, or two with one id; ValueError for a vector that no file can hold.
    """
    bases = tuple(bases)
    with new_suite_folder(out, bases) as new:
        entries = () if beside is None else _copied(beside, new, out, kills or {}, excused or {})
        entries += _write_vectors(new, vectors, out, kills or {}, excused or {}, entries)
        manifest = Manifest(
            name=name,
            seed=seed,
            versions={"zlib": zlib.ZLIB_RUNTIME_VERSION, **versions},
            listed=entries,
            strength=dict(strength or {}),
            withdrawn=dict(withdrawn or {}),
            specifications=_origins(entries, bases),
        )
        content = encode_manifest(manifest)
        parse_manifest(content, manifests.FILE_NAME)
        with disk_errors(out):
            write_file(new / manifests.FILE_NAME, content)
    return open_suite(out)


def _origins(entries: Iterable[Entry], bases: Iterable[OriginFiles]) -> dict[str, Origin]:
    """Return what the vectors of each operator were made from; by default what is shipped."""
    given = {basis.op: basis.origin for basis in bases}
    others = {entry.op for entry in entries if entry.op not in given}
    specs = {op: spec for op, spec in shipped_specs().items() if op in others} if others else {}
    return given | {op: Origin(digest=spec_digest(spec)) for op, spec in specs.items()}


@contextlib.contextmanager
def new_suite_folder(out: Path, bases: Iterable[OriginFiles], plan: bytes = b"") -> Iterator[Path]:
    """Make a new folder, to be filled, that replaces the suite ``out`` at the end.

    Whatever interrupts the writing leaves the old suite whole. What was written until then is
    removed; with a ``plan`` it stays for the next that has the same plan, and is found in the
    folder. Raises SuiteError if ``out`` must not be replaced or the disk fails.
    """
    out = resolved(out)
    new = out.with_name(f".{out.name}.new")
    bases = tuple(bases)
    with disk_errors(out):
        resumed = bool(plan) and (new / PLAN).is_file() and (new / PLAN).read_bytes() == plan
    _recover(out, None if resumed else new)
    check_target(out, bases)
    try:
        with disk_errors(out):
            if not resumed:
                new.mkdir(parents=True)
            if plan and not resumed:
                write_file(new / PLAN, plan)
        yield new
        with disk_errors(out):
            (new / PLAN).unlink(missing_ok=True)
            _write_specifications(new, bases)
            _keep_companions(out, new)
            _put_in_place(new, out)
    except BaseException:
        if not plan:
            shutil.rmtree(new, ignore_errors=True)
        raise


def _write_vectors(
    folder: Path,
    vectors: Iterable[tuple[Vector, tuple[str, ...]]],
    out: Path,
    kills: Mapping[str, tuple[str, ...]],
    excused: Mapping[str, tuple[str, ...]],
    existing: Iterable[Entry] = (),
) -> tuple[Entry, ...]:
    existing_ids = {entry.id for entry in existing}
    entries: dict[str, Entry] = {}
    for vector, suites in vectors:
        if vector.id in entries or vector.id in existing_ids:
            raise SuiteError(f"two vectors have the id {vector.id}", hint="leave one of them out")
        entry, content = encode_entry(
            vector, suites, kills.get(vector.id, ()), excused.get(vector.id, ())
        )
        entries[vector.id] = entry
        with disk_errors(out):
            write_vector(folder, entry, content)
    if not entries and not existing_ids:
        raise SuiteError("a suite without vectors is not written", hint="choose more operators")
    return tuple(entries.values())


def encode_entry(
    vector: Vector,
    suites: tuple[str, ...],
    kills: tuple[str, ...] = (),
    excused: tuple[str, ...] = (),
) -> tuple[Entry, bytes]:
    """Encode a vector; return its entry, and its file.

    It is read back, so that a vector that cannot be read shows where it is made.
    """
    members = vector_members(vector)
    content = write_zip(list(members.items()))
    digest = content_digest(members)
    return entry_of(
        decode_vector(content, vector.id), content, suites, kills, digest, excused
    ), content


def write_vector(folder: Path, entry: Entry, content: bytes) -> None:
    """Write the file of an entry into the folder of its suite."""
    (folder / entry.op).mkdir(exist_ok=True)
    write_file(folder / entry.path, content)


def _copied(
    suite: Suite,
    folder: Path,
    out: Path,
    kills: Mapping[str, tuple[str, ...]],
    excused: Mapping[str, tuple[str, ...]],
) -> tuple[Entry, ...]:
    """Copy the files of a suite; return its entries, with the kills measured now."""
    entries = []
    for entry in suite.manifest.listed:
        filed, content = suite.as_file(entry)
        with disk_errors(out):
            write_vector(folder, filed, content)
        if filed.id in kills:
            killed = tuple(sorted(kills[filed.id]))
            allowed = tuple(sorted(excused.get(filed.id, ())))
            filed = replace(filed, kills=killed, excused=allowed)
        entries.append(filed)
    return tuple(entries)


def _write_specifications(folder: Path, bases: Iterable[OriginFiles]) -> None:
    for path, content in chain.from_iterable(basis.files.items() for basis in bases):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / path, content)


def write_file(file: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with file.open("xb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _keep_companions(out: Path, new: Path) -> None:
    """Copy what the old folder holds beside its manifest and what that lists."""
    if not out.is_dir():
        return
    listed = {manifests.FILE_NAME, *(_owned(out) or ())}

    def not_kept(folder: str, names: list[str]) -> list[str]:
        below = Path(folder).relative_to(out)
        return [
            name
            for name in names
            if name.endswith(".npz")
            or (below / name).as_posix() in listed
            or (new / below / name).is_file()
        ]

    shutil.copytree(out, new, symlinks=True, ignore=not_kept, dirs_exist_ok=True)
    for folder in sorted((p for p in new.rglob("*") if p.is_dir()), reverse=True):
        if not any(folder.iterdir()):  # held only vectors of an operator that is gone
            folder.rmdir()


def _owned(folder: Path) -> set[str] | None:
    """Return the files of a suite by its manifest, apart from those of single vectors.

    None if it has no manifest that can be read: such a suite is replaced for being damaged.
    """
    try:
        manifest = read_manifest(folder / manifests.FILE_NAME)
    except SuiteError:
        return None
    origins = manifest.specifications.items()
    files = {path for op, origin in origins for path in origin.files(op)}
    return files if manifest.packed is None else files | {INDEX, *manifest.files}


def _put_in_place(new: Path, out: Path) -> None:
    """Rename ``new`` to ``out``; an old ``out`` steps aside first and is removed last."""
    old = aside_folder(out)
    if not out.exists():
        new.rename(out)
        return
    out.rename(old)
    try:
        new.rename(out)
    except BaseException:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _recover(out: Path, new: Path | None) -> None:
    """Clear what an interrupted writer left: a half-made suite, an old one that stepped aside."""
    old = aside_folder(out)
    with disk_errors(out):
        if new is not None and new.is_dir():
            shutil.rmtree(new)
        if old.is_dir() and out.exists():
            shutil.rmtree(old)
        elif old.is_dir():
            old.rename(out)


@contextlib.contextmanager
def disk_errors(out: Path) -> Iterator[None]:
    """Turn a failure of the disk into an error that names the suite."""
    try:
        yield
    except (OSError, shutil.Error) as error:
        raise SuiteError(
            f"{out}: the suite cannot be written: {error}",
            hint="check the folder's permissions and the free space; the old suite is unchanged",
        ) from error
