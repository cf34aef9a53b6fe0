"""An open suite: a folder with ``manifest.json`` and ``<op>/<id>.npz``, or containers of these;
or the shipped suite, whose vectors are evaluated when they are first needed.

A folder may also carry the specifications that its vectors were made from, in ``specifications/``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np

from conformance import remote
from conformance.dtypes import DTYPES
from conformance.errors import SuiteError, UsageError, closest
from conformance.model import Vector
from conformance.replacement import resolved
from conformance.suite import evaluation
from conformance.suite import manifest as manifests
from conformance.suite.archive import DAMAGED
from conformance.suite.containers import open_container
from conformance.suite.entries import Entry, entry_of, matches_id
from conformance.suite.evaluation import IN_PROCESS, cached_content, ensure_evaluated
from conformance.suite.files import check_sha256, read_bounded
from conformance.suite.manifest import Manifest, read_manifest
from conformance.suite.recordings import Recordings
from conformance.suite.shipped_suite import has_shipped_suite, shipped_folder, shipped_manifest
from conformance.suite.specifications import Specifications
from conformance.suite.vector_file import content_digest, decode_vector, open_vector_file

MAX_FILE = 64 * 2**20  # bytes

NEAR = 20_000
"""Ids among which one that is not there may have been meant."""

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclass(frozen=True)
class Suite:
    """Vectors, read one at a time; each file is checked against the manifest first.

    ``manifest`` lists what belongs to this suite (for ``smoke``, that subset alone), so that
    ``manifest.vectors`` and :meth:`vectors` are the same vectors in the same order. A withdrawn
    vector is in neither. Of a packed suite both read one container after the other.
    """

    path: Path
    manifest: Manifest

    def __reduce__(self) -> tuple[Callable[..., Suite], tuple[Path | None, Manifest]]:
        """Leave out what was read, and the folder of the shipped suite, which may differ."""
        return _sent, (None if self.is_shipped else self.path, self.manifest)

    @property
    def is_shipped(self) -> bool:
        """True if it is the suite, or a part of it, that comes with this program."""
        return self.path == shipped_folder()

    @property
    def name(self) -> str:
        return self.manifest.name

    @cached_property
    def specs(self) -> Specifications:
        """The specifications that the vectors were made from, by operator, and the mutants."""
        return Specifications(self.path, self.manifest.specifications, self.manifest.ops)

    @property
    def digest(self) -> str:
        """What is tested, as 64 hex digits; see :attr:`Manifest.digest`."""
        return self.manifest.digest

    def __len__(self) -> int:
        return len(self.manifest.vectors)

    def vectors(
        self, ops: Collection[str] | None = None, *, answers: bool = True
    ) -> Iterator[Vector]:
        """Read the vectors of operators (None: of all), in the manifest's order.

        ``answers`` as in :func:`conformance.suite.vector_file.decode_vector`. Raises UsageError at
        once for an operator that the suite does not have, and SuiteError while iterating for a
        file that is missing, changed or damaged.
        """
        for op in ops or ():
            if op not in self.manifest.ops:
                raise _unknown("operator", op, self.manifest.ops)
        chosen = self.manifest.of(ops)
        return (self.read(entry, answers=answers) for entry in chosen)

    def get(self, vector_id: str) -> Vector:
        """Read the vector of this id.

        Raises UsageError if there is none or it is withdrawn.
        """
        if vector_id in self.manifest.withdrawn:
            raise UsageError(
                f"the vector {vector_id} is withdrawn: {self.manifest.withdrawn[vector_id]}",
                hint="choose another vector",
            )
        entry = self._entry(vector_id)
        if entry is None:
            entries = islice(self.manifest.vectors, NEAR)
            raise _unknown("vector", vector_id, [entry.id for entry in entries])
        return self.read(entry)

    def find(self, text: str) -> Vector:
        """Read the only vector whose id begins with ``text`` or ends in it.

        Raises UsageError if there is none, or several.
        """
        if not text or text in self.manifest.withdrawn or self._entry(text) is not None:
            return self.get(text)
        ids = [entry.id for entry in self._naming(text) if matches_id(text, entry.id)]
        if len(ids) > 1:
            raise UsageError(
                f"{len(ids)} vectors of the suite {self.name!r} begin with {text!r}",
                hint=f"give more of the id; they are {_some(ids)}",
            )
        return self.get(ids[0] if ids else text)

    def read(self, entry: Entry, *, strict: bool = False, answers: bool = True) -> Vector:
        """Read the vector of an entry; its digest is checked before anything is parsed.

        ``strict`` and ``answers`` as in :func:`conformance.suite.vector_file.decode_vector`.
        """
        file, content = self._place(entry), self.content(entry)
        vector = decode_vector(content, str(file), strict=strict, answers=answers)
        # Of an evaluation it was compared before.
        if entry.recorded is None and entry.content != content_digest(
            open_vector_file(content, str(file))
        ):
            raise SuiteError(
                f"{file}: what it holds has another digest than the manifest says", hint=DAMAGED
            )
        if entry.recorded is not None:
            entry = replace(entry, bytes=len(content), sha256=sha256(content).hexdigest())
        stated = (entry.suites, entry.kills, entry.content, entry.excused)
        if entry_of(vector, content, *stated) != entry:
            raise SuiteError(
                f"{file}: the manifest describes the vector otherwise than its file", hint=DAMAGED
            )
        if problem := self.specs.problem(vector):
            raise SuiteError(
                f"{file}: does not fit the suite's specification: {problem}", hint=DAMAGED
            )
        # The same texts as in the manifest, not copies of them: results are kept for a whole run.
        texts = {target: target for target in entry.edges}
        return replace(vector, id=entry.id, edges=tuple(texts[target] for target in vector.edges))

    def rank_of(self, entry: Entry) -> int:
        """Return the rank of the data of a listed vector."""
        recorded = entry.recorded
        case = self.read(entry, answers=False).case if recorded is None else recorded.case
        return case.rank

    def outline(self, entry: Entry) -> Vector | None:
        """Outline a recorded case before it is evaluated; None for other entries.

        The vector's inputs have types and shapes and no values, and it has no expected outputs.
        """
        if entry.recorded is None:
            return None
        case, dtype = entry.recorded.case, DTYPES[entry.dtype].numpy
        blank = (np.broadcast_to(np.zeros((), dtype), shape) for shape in case.shapes.values())
        return Vector(case.id, case, entry.level, entry.edges, "", "", tuple(blank), ())

    def content(self, entry: Entry) -> bytes:
        """Return the bytes of a listed file, whose digest is checked.

        Raises EvaluationDefect for a recorded case that is evaluated to something else.
        """
        if entry.recorded is not None:
            return cached_content(self.specs[entry.op], entry.recorded)
        file = self._place(entry)
        if entry.inside is None:
            content = read_bounded(file, entry.bytes, MAX_FILE)
        else:
            content = open_container(self.path, entry.inside).files[file.name]
        check_sha256(content, entry.sha256, file)
        return content

    def _place(self, entry: Entry) -> Path:
        """Return the file of an entry, for messages also if it is a member of another."""
        if entry.inside is None:
            return self.path / entry.path
        return self.path / entry.inside.file / f"{entry.id}.npz"

    def only(self, ops: Collection[str]) -> Suite:
        """Select operators, as a suite of its own digest."""
        manifest = self.manifest
        listed = manifest.of(ops)
        ids = {entry.id for entry in listed}
        return Suite(
            self.path,
            replace(
                manifest,
                listed=listed,
                strength={op: manifest.strength[op] for op in manifest.strength if op in ops},
                withdrawn={i: reason for i, reason in manifest.withdrawn.items() if i in ids},
                specifications={
                    op: origin for op, origin in manifest.specifications.items() if op in ops
                },
            ),
        )

    def ready(self, entries: Iterable[Entry], work: evaluation.Work = IN_PROCESS) -> None:
        """Evaluate what of these entries is not at hand; see :func:`evaluation.ready`."""
        ensure_evaluated(self.specs, entries, work)

    def as_file(self, entry: Entry) -> tuple[Entry, bytes]:
        """Return the bytes of an entry, and the entry as that of a separate file."""
        content = self.content(entry)
        digest = sha256(content).hexdigest()
        return replace(
            entry, bytes=len(content), sha256=digest, inside=None, recorded=None
        ), content

    def verify(self) -> tuple[str, ...]:
        """Read every file, withdrawn ones too; return what is wrong with each."""
        return tuple(problem for _, problem in self.read_all() if isinstance(problem, str))

    def read_all(self, *, strict: bool = False) -> Iterator[tuple[Entry | None, Vector | str]]:
        """Yield each entry with its vector or with what is wrong, withdrawn ones too.

        What is wrong with a whole container, or with what the manifest states of all, has no entry.
        """
        for piece in self.manifest.chunks:
            try:
                entries = list(piece)
            except SuiteError as error:
                yield None, error.message
                continue
            for entry in entries:
                try:
                    yield entry, self.read(entry, strict=strict)
                except SuiteError as error:
                    yield entry, error.message
        try:
            self.manifest.confirm()
        except SuiteError as error:
            yield None, error.message

    def _entry(self, vector_id: str) -> Entry | None:
        if isinstance(self.manifest.listed, Recordings):
            withdrawn = vector_id in self.manifest.withdrawn
            return None if withdrawn else self.manifest.listed.find(vector_id)
        packed = self.manifest.packed
        return self._entries.get(vector_id) if packed is None else packed.find(vector_id)

    def _naming(self, text: str) -> Sequence[Entry]:
        """Return the entries among which those are that a text names."""
        listed = self.manifest.listed
        if isinstance(listed, Recordings):
            return self.manifest.of(listed.containing(text))
        return self.manifest.vectors

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        return {entry.id: entry for entry in self.manifest.vectors}


def _sent(path: Path | None, manifest: Manifest) -> Suite:
    """Rebuild a suite in another process."""
    return Suite(shipped_folder() if path is None else path, manifest)


def open_suite(path: Path | str | None = None) -> Suite:
    """Open the shipped suite (None), a subset by name, or a folder's suite.

    A subset is given as ``"smoke"``; instead of a folder there may be an address
    (``"s3://bucket/suite"``).

    Text that is the name of a shipped suite means that suite, whatever the current folder holds;
    write ``./smoke`` for a folder of that name. Raises SuiteError for a folder that is not a
    whole suite: everything but the content of the files is checked here.
    """
    if path is None:
        return _open_shipped()
    if path == "":
        raise SuiteError(
            "the name of the suite is empty",
            hint="name a folder, or give no suite for the shipped one",
        )
    if isinstance(path, str):
        if _NAME.fullmatch(path):
            return _open_name(path)
        path = remote.remote_path(path) if remote.is_address(path) else Path(path)
    return _open_folder(path)


def suite_argument(folder: Path) -> str:
    """Return text that :func:`open_suite` takes for a folder, for a suggested command.

    It is ``./smoke`` for a folder that is called like a shipped suite.
    """
    text = str(folder)
    return f"./{text}" if is_shipped_name(text) else text


def is_shipped_name(name: str) -> bool:
    """Return whether a name is that of a shipped suite.

    A folder called so needs ``./``.
    """
    if not _NAME.fullmatch(name) or not has_shipped_suite():
        return False
    suite = _open_shipped()
    return name == suite.name or name in suite.manifest.suites


def _open_shipped() -> Suite:
    if not has_shipped_suite():
        raise SuiteError(
            "no recorded cases are shipped", hint="install the package again, or give --suite DIR"
        )
    return Suite(shipped_folder(), shipped_manifest())


def _open_name(name: str) -> Suite:
    names: tuple[str, ...] = ()
    if has_shipped_suite():
        suite = _open_shipped()
        if name == suite.name:
            return suite
        names = suite.manifest.suites
        if name in names:
            return Suite(suite.path, suite.manifest.subset(name))
        names = (*names, suite.name)
    if Path(name).is_dir():
        return _open_folder(Path(name))
    hint = f"the shipped suites are {_some(sorted(set(names)))}" if names else "none is shipped"
    raise SuiteError(
        f"no suite and no folder is called {name!r}",
        hint=closest(name, names) or hint,
    )


def _open_folder(folder: Path) -> Suite:
    try:
        with remote.os_errors(folder):
            return _open_whole(folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        raise SuiteError(
            f"{folder}: cannot be read: {error}", hint="check the folder's permissions and links"
        ) from error


def _open_whole(folder: Path) -> Suite:
    away = remote.is_remote(folder)
    if not away and not folder.is_dir():
        raise SuiteError(f"{folder}: no such folder", hint=_advice(folder))
    root = folder if away else resolved(folder)
    if not _is_there(root / manifests.FILE_NAME):
        raise SuiteError(
            f"{folder}: no {manifests.FILE_NAME}, so not a suite", hint=_advice(folder)
        )
    manifest = read_manifest(root / manifests.FILE_NAME)
    if not manifest.vectors:
        raise SuiteError(f"{folder}: the suite has no vectors", hint=_advice(folder))
    kinds = (".npz",) if manifest.packed is None else (".npz", ".zip")
    if away:
        present = {name for name in remote.list_files(root) if name.endswith(kinds)}
    else:
        present = set(_suite_files(root, kinds))
    missing = sorted(manifest.files.keys() - present)
    if missing:
        raise SuiteError(
            f"{folder}: {len(missing)} of {len(manifest.files)} listed files missing: "
            f"{_some(missing)}",
            hint=DAMAGED,
        )
    unlisted = sorted(present - manifest.files.keys())
    if unlisted:
        raise SuiteError(
            f"{folder}: {len(unlisted)} vector files that the manifest does not list: "
            f"{_some(unlisted)}",
            hint="move them out of the folder, or generate the suite again",
        )
    suite = Suite(root, manifest)
    suite.specs.check()
    return suite


def _is_there(file: Path) -> bool:
    """Return whether a file is there, or a folder, of which reading it says more.

    A remote file system says of all that fails that it is not.
    """
    if not remote.is_remote(file):
        return file.is_file() or file.is_dir()  # no pipe, which would be waited for
    try:
        remote.read_head(file, 1)
    except FileNotFoundError:
        return False
    return True


def _suite_files(root: Path, kinds: tuple[str, ...], below: str = "") -> Iterator[str]:
    """Yield the files of these kinds in the folder ``below`` a root, relative to the root with
    ``/``.

    ``below`` ends with ``/``. Hidden ones are left out: no manifest can list them, and file
    managers scatter them.
    """
    with os.scandir(root / below) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(root):
            raise SuiteError(
                f"{entry.path}: a symbolic link that leaves the suite's folder",
                hint="put the file itself there",
            )
        if entry.is_dir(follow_symlinks=False):
            yield from _suite_files(root, kinds, f"{below}{entry.name}/")
        elif entry.name.endswith(kinds) and entry.is_file():
            yield below + entry.name


def _advice(folder: Path) -> str:
    """Advise on a folder that is no suite, or that an interrupted writer set aside."""
    if remote.is_remote(folder):
        return "name an address that a suite was written to"
    aside = aside_folder(folder)
    if aside.is_dir() and not folder.exists():
        return f"writing it was interrupted; the old suite is whole: mv {aside} {folder}"
    return "name a folder that `conformance generate` made, or give no suite for the shipped one"


def aside_folder(folder: Path) -> Path:
    """Return the path of the old suite while a writer replaces it."""
    absolute = folder.absolute()  # ``.`` has no name
    return absolute.parent / f".{absolute.name}.old"


def _unknown(noun: str, name: str, names: Sequence[str]) -> UsageError:
    besides = " (for another suite give --suite DIR)" if noun == "vector" else ""
    return UsageError(
        f"the suite has no {noun} {name!r}",
        hint=closest(name, names) or f"it has {_some(names)}{besides}",
    )


def _some(names: Sequence[str]) -> str:
    """List the first few names."""
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + rest
