"""Finds a backend by name, module or file, and imports only that one."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from conformance import DISTRIBUTION
from conformance.backends.backend_name import BackendName, parse_backend_name
from conformance.backends.options import parse_options
from conformance.backends.program import is_program, program_file
from conformance.backends.protocol import Backend, as_backend
from conformance.errors import BackendError, ConformanceError, closest, install
from conformance.grade.outcome import MAX_NAME, describe_exception
from conformance.replacement import resolved

T = TypeVar("T")

GROUP = "conformance.backends"
OURS = __name__.partition(".")[0]
_FILE = re.compile(r"(?P<path>.+\.py)(?::(?P<object>[\w.]+))?")
_MODULE = re.compile(r"(?P<module>[\w.]+):(?P<object>[\w.]+)")
# Where frames of a traceback are ours or the import system's, not the backend's.
_MACHINERY = {Path(__file__).parent, Path(importlib.__file__).parent}


class Available(NamedTuple):
    """A backend that is known by name."""

    name: str
    installed: bool
    summary: str


class Located(NamedTuple):
    """Where the object lies that ``spec`` names: in ``module``, under the dotted ``name``.

    ``folder`` has to be on the import path for that, or is None where nothing has to be; for a
    module that was read from a file, ``module`` is the file's stem. ``options`` are those given.
    """

    spec: str
    module: str
    name: str
    folder: Path | None
    value: object
    options: Mapping[str, str]


def load_backend(spec: str) -> Backend:
    """Load the backend that ``spec`` names.

    ``spec`` is the name of an entry point in group ``conformance.backends``, or
    ``package.module:object``, or ``path/to/file.py:object``. The object is a backend, a class of
    backends (called with its options) or a plain function; after a file that defines exactly one
    backend it may be left out. Options follow a question mark: ``torch?device=cuda``.

    Raises:
        BackendError: it cannot be imported or created.
        UsageError: its options cannot be read.
    """
    return create(locate(spec))


def locate(spec: str) -> Located:
    """Import the object that ``spec`` names; see :func:`load_backend`.

    Raises:
        BackendError: there is none, or it cannot be imported.
    """
    if not spec.isprintable():  # messages, reports and logs show it on one line
        raise BackendError(
            f"{spec[:MAX_NAME]!a}: the name of a backend has characters that cannot be printed",
            hint="rename the file or its folder",
        )
    if is_program(spec):
        raise BackendError(
            f"{spec} is a program, and no object of Python",
            hint="it can be checked, not imported",
        )
    return _guard(spec, lambda: _locate(spec, parse_backend_name(spec)))


def resolve_adapter(spec: str) -> str:
    """Replace the name of an adapter of this package by ``module:object``.

    So it can be loaded where this package can be imported and is not installed.
    """
    address = parse_backend_name(spec)
    values = (entry.value for entry in entry_points(group=GROUP, name=address.name))
    value = next((value for value in values if value.startswith(f"{OURS}.")), None)
    return spec if value is None else str(BackendName(value, address.options))


def class_arguments(origin: Located) -> dict[str, Any]:
    """Return the arguments with which a located class has to be called.

    Raises:
        BackendError: an option is not declared, or has another value.
    """
    return parse_options(origin.value, origin.options, origin.spec)


def create(origin: Located) -> Backend:
    """Create the backend that a located object is or makes.

    Raises:
        BackendError: it is no backend, or making it fails.
    """
    return _guard(
        origin.spec, lambda: as_backend(origin.value, class_arguments(origin), origin=origin.spec)
    )


def _locate(spec: str, address: BackendName) -> Located:
    name_text, options = address.name, address.options
    if match := _FILE.fullmatch(name_text):
        path = Path(match["path"])
        module = _module_of(path)
        name = match["object"] or _only_backend(name_text, module)
        return Located(
            spec, path.stem, name, path.parent, _member(name_text, module, name), options
        )
    if match := _MODULE.fullmatch(name_text):
        package = match["module"].partition(".")[0]
        folder = None if package == OURS else _look_here(package)
        module = importlib.import_module(match["module"])
        value = _member(name_text, module, match["object"])
        return Located(spec, match["module"], match["object"], folder, value, options)
    entry = _entry_point(name_text)
    return Located(spec, entry.module, entry.attr, None, entry.load(), options)


def file_digest(spec: str) -> str | None:
    """Return the SHA-256 of the file that ``spec`` names; None if it names none."""
    match = _FILE.fullmatch(parse_backend_name(spec).name)
    file = Path(match["path"]) if match else program_file(spec) if is_program(spec) else None
    try:
        return None if file is None else sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def available() -> list[Available]:
    """List every backend with a name, sorted; no framework is imported.

    ``installed`` tells whether the packages of the extra with the backend's name are installed.
    """
    return [
        Available(entry.name, not _missing_requirements(entry), _summary(entry))
        for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    ]


def _entry_point(name: str) -> EntryPoint:
    """The one entry point of that name."""
    entries = {entry.value: entry for entry in entry_points(group=GROUP, name=name)}
    if len(entries) > 1:
        raise BackendError(
            f"backend '{name}' is registered more than once: {', '.join(sorted(entries))}",
            hint="name the one you mean by one of these",
        )
    if not entries:
        names = sorted(entry_points(group=GROUP).names)
        names_text = f"known: {', '.join(names) or 'none'}; " + (
            "or name a file (path/to/file.py:object) or a module (package.module:object)"
        )
        raise BackendError(
            f"no backend is called '{name}'", hint=_suggestion(name, names) + names_text
        )
    return next(iter(entries.values()))


def _suggestion(name: str, names: Iterable[str]) -> str:
    near = closest(name, names)
    return f"{near} " if near else ""


def _missing_requirements(entry: EntryPoint) -> list[str]:
    """Names of the packages of the extra called like the entry point that are not installed."""
    requirements = (entry.dist.requires or []) if entry.dist else []
    extra = re.compile(rf"extra\s*==\s*['\"]{re.escape(entry.name)}['\"]")
    names = [re.split(r"[^\w.-]", text.strip())[0] for text in requirements if extra.search(text)]
    return [name for name in names if not _is_installed(name)]


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def _summary(entry: EntryPoint) -> str:
    """The first line of an own adapter's docstring; what another distribution says of itself."""
    if entry.module.startswith("conformance.backends."):
        return (entry.load().__doc__ or "").strip().partition("\n")[0]
    return entry.dist.metadata["Summary"] if entry.dist else ""


def _look_here(module: str) -> Path | None:
    """Put the current folder on the import path, first, as ``python -m`` does.

    Returned where it has that module or package.
    """
    with suppress(OSError):  # the folder may be gone
        folder = Path.cwd()
        if str(folder) not in sys.path and "" not in sys.path:
            sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        if (folder / module).is_dir() or (folder / f"{module}.py").exists():
            return folder
    return None


def _module_of(path: Path) -> ModuleType:
    """The module in a file, run anew."""
    if not path.is_file():
        raise BackendError(f"no file {path}", hint="paths are relative to the current folder")
    path = resolved(path)
    # As Python does for a script, but last: what is installed is not to be hidden by a neighbour.
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(_name_for(path), path)
    if spec is None or spec.loader is None:
        raise BackendError(f"{path} cannot be imported", hint="a backend's file ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _name_for(path: Path) -> str:
    """The file's own name as a module, by which another process can import it and unpickle what is
    in it; where that is taken by another module, or is none, a name that nothing else has.
    """
    if path.stem.isidentifier():
        importlib.invalidate_caches()  # the file may be newer than the last look at its folder
        loaded = sys.modules.get(path.stem)
        with suppress(ValueError):  # a module that was loaded without a specification
            module_spec = loaded.__spec__ if loaded else importlib.util.find_spec(path.stem)
            if (
                module_spec is not None
                and module_spec.origin
                and resolved(module_spec.origin) == path
            ):
                return path.stem
    unique = sha256(str(path).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}_{unique}"


def _member(spec: str, module: ModuleType, name: str) -> object:
    """The object called ``name``, which may be dotted."""
    value: object = module
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            public = [attribute for attribute in dir(value) if not attribute.startswith("_")]
            raise BackendError(
                f"{spec}: there is no '{part}'",
                hint=_suggestion(part, public)
                + "name a backend, a class of backends or a function",
            ) from None
    return value


def _only_backend(spec: str, module: ModuleType) -> str:
    """The name of the class, instance or function ``run`` that alone in ``module`` is a backend."""
    backends = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
        and (callable(getattr(value, "run", None)) or (name == "run" and callable(value)))
    }
    classes = {type(value) for value in backends.values()}
    candidates = {name: value for name, value in backends.items() if value not in classes}
    if len(candidates) == 1:
        return next(iter(candidates))
    if not candidates:
        raise BackendError(
            f"{spec} defines no backend",
            hint="define a class with 'name', 'version' and run(op, inputs, attributes), "
            "or a function 'run'; anything else is named after a colon (file.py:object)",
        )
    raise BackendError(
        f"{spec} defines {len(candidates)} backends: {', '.join(candidates)}",
        hint=f"name one of them: {spec}:{next(iter(candidates))}",
    )


def _guard(spec: str, find: Callable[[], T]) -> T:
    """What ``find`` returns; whatever goes wrong in foreign code becomes a BackendError."""
    try:
        return find()
    except ConformanceError:
        raise
    except ModuleNotFoundError as error:
        raise BackendError(
            f"{spec}: {_location(error)}no module named '{error.name}'",
            hint=_how_to_install(error.name or ""),
        ) from error
    except (Exception, SystemExit) as error:
        raise BackendError(
            f"{spec}: {_location(error)}{describe_exception(error)}",
            hint="the backend could not be imported or created; this is what it raised",
        ) from error


def _how_to_install(module: str) -> str:
    package = module.partition(".")[0]
    try:
        extras = distribution(DISTRIBUTION).metadata.get_all("Provides-Extra") or []
    except PackageNotFoundError:
        extras = []
    if package in extras:
        return install(package)
    return f"install what provides '{package}', or put its folder on PYTHONPATH"


def _location(error: BaseException) -> str:
    """``file:line: `` in the outermost foreign file that an exception went through."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: "
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<frozen importlib")
        and Path(frame.filename).parent not in _MACHINERY
    ]
    inside = [frame for frame in frames if frame.filename == frames[0].filename]
    return f"{inside[-1].filename}:{inside[-1].lineno}: " if inside else ""
