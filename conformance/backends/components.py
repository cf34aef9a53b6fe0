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
from conformance.backends.backend_name import parse_backend_name
from conformance.backends.discovery import resolve_adapter
from conformance.backends.program import command_line, program_file
from conformance.replacement import resolved
from conformance.safe_text import printable

KINDS = ("argument", "distribution", "file", "library", "object", "option", "remote")
MAX_COMPONENTS = 20_000
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
class Component:
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

    pieces: tuple[Component, ...]
    beside: tuple[Component, ...]


@dataclass(frozen=True)
class ProcessSnapshot:
    """What a process had loaded before it loaded the backend."""

    modules: frozenset[str]
    mapped: frozenset[str]

    @classmethod
    def now(cls) -> ProcessSnapshot:
        return cls(frozenset(sys.modules), frozenset(mapped_files(os.getpid())))


def composition_digest(components: Iterable[Component]) -> str:
    """Return the SHA-256, in hexadecimal, of the sorted lines ``<sha256> <kind> <name>``."""
    lines = sorted(
        f"{component.sha256 or '-'} {component.kind} {component.name}\n" for component in components
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def is_fully_hashed(components: Iterable[Component]) -> bool:
    """Return whether every component was hashed, so that the digest stands for what computes."""
    return all(component.sha256 for component in components)


def mapped_files(process: int) -> set[str]:
    """Return the paths of files with code that a process has mapped.

    Returns:
        Empty if the system does not tell of any process.

    Raises:
        OSError: it does not tell of this process.
    """
    if not Path("/proc/self/maps").exists():
        return set()
    text = Path(f"/proc/{process}/maps").read_text("utf-8", "surrogateescape")
    paths = set()
    for line in text.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/"):
            paths.add(fields[5])
    return {path for path in paths if not path.startswith("/memfd:")}  # made at run time


def python_components(spec: str, before: ProcessSnapshot) -> Composition:
    """Hash the files of a backend that this process has loaded."""
    tops = {name.partition(".")[0] for name in before.modules}
    loaded = {name: module for name, module in sys.modules.items() if name not in before.modules}
    components = set(_name_components(spec))
    hashed: set[str] = set()
    for distribution in _distributions({name.partition(".")[0] for name in loaded} - tops):
        component, files = _distribution(distribution)
        components.add(component)
        hashed |= files
    for name, module in loaded.items():
        is_older = name.partition(".")[0] in tops and not name.startswith(_ADAPTERS)
        file = None if is_older else _file_of(module)
        if file is not None and str(file) not in hashed:
            components.add(_file_component("file", _module_path(name, file), file))
    libraries = mapped_files(os.getpid()) - hashed
    loaded_by_backend = {path for path in libraries - before.mapped if not _is_of_machine(path)}
    return _composition(components, loaded_by_backend, libraries - loaded_by_backend)


def program_components(spec: str, process: int) -> Composition:
    """Hash the files of a program, running as ``process``, and of all its children."""
    import psutil

    words, file = command_line(spec), program_file(spec)
    assert file is not None
    components = {_file_component("file", file.name, file)}
    if file.name in REMOTE:
        components.add(remote_component(file.name))
    for word in words[1:]:
        path = Path(word)
        if path.is_file():
            components.add(_file_component("argument", path.name, path))
        else:
            components.add(_text_component("argument", word))
    libraries: set[str] = set()
    try:
        tree = [
            process,
            *(identifier.pid for identifier in psutil.Process(process).children(recursive=True)),
        ]
    except psutil.Error:
        tree = [process]
    for identifier in tree:
        try:
            libraries |= mapped_files(identifier)
        except OSError:  # it has come to an end
            continue
    libraries -= {str(resolved(file))}
    loaded_by_program = {path for path in libraries if not _is_of_machine(path)}
    return _composition(components, loaded_by_program, libraries - loaded_by_program)


def remote_component(name: str) -> Component:
    """Return the component that says that something else computes."""
    return Component("remote", _printable(name), "")


def _composition(
    components: Iterable[Component], libraries_of_backend: Iterable[str], beside: Iterable[str]
) -> Composition:
    libraries = (_library(path) for path in libraries_of_backend)
    return Composition(
        tuple(sorted({*components, *libraries})), tuple(sorted({_library(path) for path in beside}))
    )


def _name_components(spec: str) -> Iterator[Component]:
    """The words of a name that decide what is made of the files."""
    address = parse_backend_name(resolve_adapter(spec))
    for name, text in address.options.items():
        yield _text_component("option", f"{name}={text}")
    _, mark, name = address.name.rpartition(":")
    if mark:
        yield _text_component("object", name)


def _distributions(tops: Iterable[str]) -> list[metadata.Distribution]:
    """The distributions that the packages of these names came with, and that list their files."""
    tops = sorted(tops)
    by_package = metadata.packages_distributions() if tops else {}  # it reads what is installed
    names = {name for top in tops for name in by_package.get(top, ())} - {DISTRIBUTION}
    return [
        distribution
        for name in sorted(names)
        if (distribution := metadata.distribution(name)).files
    ]


def _distribution(distribution: metadata.Distribution) -> tuple[Component, set[str]]:
    """A distribution as a piece, and the paths of its files.

    What installers write or compile differs from one machine to the next.
    """
    lines, files = [], set()
    for entry in distribution.files or ():
        if ".." in entry.parts or "__pycache__" in entry.parts or entry.is_absolute():
            continue
        if entry.parts[0].endswith(".dist-info") and entry.name in _WRITTEN_BY_INSTALLERS:
            continue
        file = Path(str(distribution.locate_file(entry)))
        files.add(str(resolved(file)))
        lines.append(f"{_sha256(file) or '-'}  {entry.as_posix()}\n")
    name = f"{distribution.metadata['Name']} {distribution.version}"
    text = "".join(sorted(lines)).encode("utf-8", "surrogateescape")
    return Component("distribution", _printable(name), hashlib.sha256(text).hexdigest()), files


def _file_of(module: ModuleType) -> Path | None:
    """The file of a module that is not of Python's own library; None where there is none."""
    name = getattr(module, "__file__", None)
    if not isinstance(name, str):
        return None
    file = resolved(name)
    return None if not file.is_file() or _is_of_machine(str(file)) else file


def _is_of_machine(path: str) -> bool:
    """Whether a file belongs to the system or to Python itself, and to no package."""
    if _OF_PACKAGES.search(path):
        return False
    return bool(_OF_SYSTEM.match(path)) or path.startswith(_interpreter_paths())


@cache
def _interpreter_paths() -> tuple[str, ...]:
    """What the paths of Python's own files begin with."""
    library = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    folders = [f"{resolved(folder)}/" for folder in library if folder]
    prefix = Path(sys.base_prefix).resolve()
    return (*folders, f"{prefix}/bin/python", f"{prefix}/lib/libpython")


def _module_path(name: str, file: Path) -> str:
    """Where a module lies in its folder; that of one without a package is only its file's name."""
    above = name.split(".") if file.stem == "__init__" else name.split(".")[:-1]
    return "/".join((*above, file.name))


def _library(path: str) -> Component:
    is_deleted = path.endswith(_DELETED)
    file = Path(path.removesuffix(_DELETED))
    return (
        Component("library", _printable(file.name), "")
        if is_deleted
        else _file_component("library", file.name, file)
    )


def _text_component(kind: str, text: str) -> Component:
    return Component(kind, _printable(text), hashlib.sha256(text.encode()).hexdigest())


def _file_component(kind: str, name: str, file: Path) -> Component:
    return Component(kind, _printable(name), _sha256(file))


def _sha256(file: Path) -> str:
    """The digest of a regular file; empty where it cannot be read."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""


def _printable(name: str) -> str:
    return printable(name)[:MAX_NAME]
