"""What a backend is made of: its files by hash, so that a result can say which binary gave it.

A *piece* belongs to what is handed in; what lies *beside* it belongs to the machine (the C library,
the interpreter, numpy). Only pieces enter the digest: who runs a backend chooses what lies beside.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType

from conformance import DISTRIBUTION
from conformance.backends.backend_name import parse
from conformance.backends.discovery import place
from conformance.backends.program import command_line, file_of
from conformance.replacement import resolved
from conformance.safe_text import printable

KINDS = ("argument", "distribution", "file", "library", "object", "option", "remote")
MOST = 20_000
"""Pieces that a backend may have."""

MAX_NAME = 300
DIGEST = re.compile("[0-9a-f]{64}|")
"""The SHA-256 of a piece, or nothing."""

REMOTE = frozenset(
    {"adb", "docker", "kubectl", "nc", "ncat", "netcat", "plink", "podman", "rsh", "socat", "ssh"}
)
"""Programs that hand on what is asked to something whose files cannot be seen from here."""

_OF_SYSTEM = re.compile(r"/(?:usr/)?(?:lib(?:32|64|x32|exec)?|bin|sbin)/")
_OF_PACKAGES = re.compile(r"/(?:site|dist)-packages/")
_DELETED = " (deleted)"
_WRITTEN_BY_INSTALLERS = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json"})
_ADAPTERS = f"{__name__.rpartition('.')[0]}."


@dataclass(frozen=True, order=True)
class Piece:
    """One piece: ``sha256`` is that of its bytes, in hexadecimal; empty where nobody could read it.

    A *distribution* is all files that its RECORD lists, a *library* a shared object that the
    process has loaded, an *argument*, *option* or *object* a word of the backend's name. A piece
    *remote* stands for what computes elsewhere.
    """

    kind: str
    name: str
    sha256: str


@dataclass(frozen=True)
class Composition:
    """What a backend is made of, and what lies beside it; both sorted."""

    pieces: tuple[Piece, ...]
    beside: tuple[Piece, ...]


@dataclass(frozen=True)
class Before:
    """What a process had loaded before it loaded the backend."""

    modules: frozenset[str]
    mapped: frozenset[str]

    @classmethod
    def now(cls) -> Before:
        return cls(frozenset(sys.modules), frozenset(mapped(os.getpid())))


def digest(pieces: Iterable[Piece]) -> str:
    """SHA-256, in hexadecimal, of the sorted lines ``<sha256> <kind> <name>``."""
    lines = sorted(f"{one.sha256 or '-'} {one.kind} {one.name}\n" for one in pieces)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def bound(pieces: Iterable[Piece]) -> bool:
    """Whether every piece was hashed, so that the digest stands for what computes."""
    return all(one.sha256 for one in pieces)


def mapped(process: int) -> set[str]:
    """The files with code that a process has mapped, by path; none where the system does not tell.

    Raises OSError where it tells nothing of this process.
    """
    if not Path("/proc/self/maps").exists():
        return set()
    text = Path(f"/proc/{process}/maps").read_text("utf-8", "surrogateescape")
    found = set()
    for line in text.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
            found.add(fields[5])
    return {path for path in found if not path.startswith("/memfd:")}  # made at run time


def of_python(spec: str, before: Before) -> Composition:
    """What the backend ``spec``, which this process has loaded, is made of."""
    tops = {name.partition(".")[0] for name in before.modules}
    new = {name: one for name, one in sys.modules.items() if name not in before.modules}
    found = set(_named(spec))
    hashed: set[str] = set()
    for distribution in _distributions({name.partition(".")[0] for name in new} - tops):
        piece, files = _distribution(distribution)
        found.add(piece)
        hashed |= files
    for name, module in new.items():
        known = name.partition(".")[0] in tops and not name.startswith(_ADAPTERS)
        file = None if known else _file_of(module)
        if file is not None and str(file) not in hashed:
            found.add(_read("file", _place(name, file), file))
    came = mapped(os.getpid()) - hashed
    own = {path for path in came - before.mapped if not _of_machine(path)}
    return _made(found, own, came - own)


def of_program(spec: str, process: int) -> Composition:
    """What the program ``spec`` is made of, which runs as ``process``, with all that it started."""
    import psutil

    words, file = command_line(spec), file_of(spec)
    assert file is not None
    found = {_read("file", file.name, file)}
    if file.name in REMOTE:
        found.add(remote(file.name))
    for word in words[1:]:
        given = Path(word)
        if given.is_file():
            found.add(_read("argument", given.name, given))
        else:
            found.add(_said("argument", word))
    came: set[str] = set()
    try:
        tree = [process, *(one.pid for one in psutil.Process(process).children(recursive=True))]
    except psutil.Error:
        tree = [process]
    for one in tree:
        try:
            came |= mapped(one)
        except OSError:  # it has come to an end
            continue
    came -= {str(resolved(file))}
    own = {path for path in came if not _of_machine(path)}
    return _made(found, own, came - own)


def remote(name: str) -> Piece:
    """The piece that says that something else computes."""
    return Piece("remote", _clean(name), "")


def _made(found: Iterable[Piece], own: Iterable[str], beside: Iterable[str]) -> Composition:
    libraries = (_library(path) for path in own)
    return Composition(
        tuple(sorted({*found, *libraries})), tuple(sorted({_library(path) for path in beside}))
    )


def _named(spec: str) -> Iterator[Piece]:
    """The words of a name that decide what is made of the files."""
    address = parse(place(spec))
    for name, text in address.options.items():
        yield _said("option", f"{name}={text}")
    _, mark, name = address.name.rpartition(":")
    if mark:
        yield _said("object", name)


def _distributions(tops: Iterable[str]) -> list[metadata.Distribution]:
    """The distributions that the packages of these names came with, and that list their files."""
    tops = sorted(tops)
    by_package = metadata.packages_distributions() if tops else {}  # it reads what is installed
    names = {name for top in tops for name in by_package.get(top, ())} - {DISTRIBUTION}
    return [one for name in sorted(names) if (one := metadata.distribution(name)).files]


def _distribution(distribution: metadata.Distribution) -> tuple[Piece, set[str]]:
    """A distribution as a piece, and the paths of its files.

    What installers write or compile differs from one machine to the next.
    """
    lines, files = [], set()
    for one in distribution.files or ():
        if ".." in one.parts or "__pycache__" in one.parts or one.is_absolute():
            continue
        if one.parts[0].endswith(".dist-info") and one.name in _WRITTEN_BY_INSTALLERS:
            continue
        file = Path(str(distribution.locate_file(one)))
        files.add(str(resolved(file)))
        lines.append(f"{_sha256(file) or '-'}  {one.as_posix()}\n")
    name = f"{distribution.metadata['Name']} {distribution.version}"
    text = "".join(sorted(lines)).encode("utf-8", "surrogateescape")
    return Piece("distribution", _clean(name), hashlib.sha256(text).hexdigest()), files


def _file_of(module: ModuleType) -> Path | None:
    """The file of a module that is not of Python's own library; None where there is none."""
    name = getattr(module, "__file__", None)
    if not isinstance(name, str):
        return None
    file = resolved(name)
    return None if not file.is_file() or _of_machine(str(file)) else file


def _of_machine(path: str) -> bool:
    """Whether a file belongs to the system or to Python itself, and to no package."""
    if _OF_PACKAGES.search(path):
        return False
    return bool(_OF_SYSTEM.match(path)) or path.startswith(_of_interpreter())


@cache
def _of_interpreter() -> tuple[str, ...]:
    """What the paths of Python's own files begin with."""
    library = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    folders = [f"{resolved(one)}/" for one in library if one]
    prefix = Path(sys.base_prefix).resolve()
    return (*folders, f"{prefix}/bin/python", f"{prefix}/lib/libpython")


def _place(name: str, file: Path) -> str:
    """Where a module lies in its folder; that of one without a package is only its file's name."""
    above = name.split(".") if file.stem == "__init__" else name.split(".")[:-1]
    return "/".join((*above, file.name))


def _library(path: str) -> Piece:
    gone = path.endswith(_DELETED)
    file = Path(path.removesuffix(_DELETED))
    return Piece("library", _clean(file.name), "") if gone else _read("library", file.name, file)


def _said(kind: str, text: str) -> Piece:
    return Piece(kind, _clean(text), hashlib.sha256(text.encode()).hexdigest())


def _read(kind: str, name: str, file: Path) -> Piece:
    return Piece(kind, _clean(name), _sha256(file))


def _sha256(file: Path) -> str:
    """The digest of a regular file; empty where it cannot be read."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""


def _clean(name: str) -> str:
    return printable(name)[:MAX_NAME]
