"""Loads specifications: from text, from a file, or the shipped ones by name."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

from conformance.errors import Problem, SpecError, UsageError, closest
from conformance.resources import directory
from conformance.spec import schema_check
from conformance.spec.assemble import assemble
from conformance.spec.inheritance import extended
from conformance.spec.model import OpSpec
from conformance.spec.yaml_reader import KEPT, MAX_BYTES, parse_yaml

NAME = re.compile("[A-Za-z][A-Za-z0-9_.]*-[0-9]+")


def load_spec_text(text: str, file: str = "<text>", path: Path | None = None) -> OpSpec:
    """Parse a specification; ``file`` names it in messages.

    What it extends is looked for beside ``path``, then among the shipped specifications. Raises
    :class:`~conformance.errors.SpecError` with every problem of the file at once.
    """
    return _assembled(tuple(_lineage(text, file, path)))


def load_spec(path: Path) -> OpSpec:
    """Load the specification in a file.

    Raises :class:`~conformance.errors.SpecError`.
    """
    return load_spec_text(read_text(path), str(path), path)


def load_whole(text: str, file: str) -> OpSpec:
    """Parse a specification that extends no other, so that no file is looked up.

    Raises :class:`~conformance.errors.SpecError` with every problem of the text at once.
    """
    return _assembled(((file, text),))


def _lineage(text: str, file: str, path: Path | None) -> Iterator[tuple[str, str]]:
    """The name and the text of a file, and of those that it extends, nearest first."""
    read: list[Path] = [] if path is None else [path]
    while True:
        yield file, text
        data = parse_yaml(text, file).data
        op = data.get("extends") if isinstance(data, dict) else None
        if not (isinstance(op, str) and NAME.fullmatch(op)):
            return
        folders = (*(path.parent for path in read[-1:]), directory("specs"))
        candidates = [folder / f"{op}.yaml" for folder in folders]
        # A file of the same name may extend the shipped one, but none extends itself.
        file_path = next(
            (
                candidate
                for candidate in candidates
                if candidate not in read and candidate.is_file()
            ),
            None,
        )
        if file_path is None:
            return
        read.append(file_path)
        file, text = str(file_path), read_text(file_path)


@lru_cache(maxsize=KEPT)
def _assembled(files: tuple[tuple[str, str], ...]) -> OpSpec:
    """The specification of the first of some files, each of which extends the next."""
    source = None
    for file, text in reversed(files):
        if source is not None:
            source.check()
        source = extended(parse_yaml(text, file), source)
    assert source is not None
    spec = assemble(source) if schema_check.check(source) else None
    source.check()
    assert spec is not None
    return spec


def read_text(path: Path) -> str:
    """Read a file, or just enough of it to show that it is too large.

    Raises :class:`~conformance.errors.SpecError` for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}"
        if isinstance(error, FileNotFoundError):
            message = "no such file"
        raise SpecError((Problem(str(path), 0, 0, message),)) from None


class _Shipped(Mapping[str, OpSpec]):
    def __getitem__(self, op: str) -> OpSpec:
        if op not in shipped_operators():
            raise KeyError(op)
        return _named(op)

    def __contains__(self, op: object) -> bool:
        return op in shipped_operators()

    def __iter__(self) -> Iterator[str]:
        return iter(shipped_operators())

    def __len__(self) -> int:
        return len(shipped_operators())


def shipped_specs() -> Mapping[str, OpSpec]:
    """Return the specifications of the package, by operator; each is read on first use."""
    return _Shipped()


@cache
def shipped_operators() -> tuple[str, ...]:
    """List the operators of the package; each has a file of its name."""
    return tuple(path.stem for path in sorted(directory("specs").glob("*.yaml")))


@cache
def lineage(op: str) -> tuple[str, ...]:
    """List a shipped operator and those that its file builds on."""
    text = read_text(directory("specs") / f"{op}.yaml")
    extends = re.search("^extends: (.+)$", text, re.MULTILINE)
    return (op, *(lineage(extends[1]) if extends else ()))


def find_spec(op: str) -> OpSpec:
    """Load an operator's specification: a shipped one by name, or a YAML file by path.

    A shipped one is read once. A file is looked at each time, and so is what it extends.
    Raises :class:`~conformance.errors.UsageError` for a name that is not known.
    """
    return load_spec(Path(op)) if op.endswith((".yaml", ".yml")) else _named(op)


def select_specs(ops: Sequence[str], default: Sequence[str] | None = None) -> dict[str, OpSpec]:
    """Load the requested specifications, by operator.

    ``ops`` are names, patterns of names, and files; none means ``default``, or all names. Raises
    :class:`~conformance.errors.UsageError` where two specify one operator.
    """
    specs: dict[str, OpSpec] = {}
    names_by_pattern = (
        fnmatch.filter(shipped_operators(), pattern) or [pattern] for pattern in ops
    )
    for source in chain.from_iterable(names_by_pattern) if ops else default or shipped_operators():
        spec = find_spec(source)
        other = specs.setdefault(spec.op, spec)
        if other.file != spec.file:
            raise UsageError(
                f"{other.file} and {spec.file} both specify {spec.op}", hint="leave one of them out"
            )
    return specs


@cache
def _named(op: str) -> OpSpec:
    # One file, not all of them: a check asks for one operator at a time.
    operators = shipped_operators()
    if op in operators:
        return load_spec(directory("specs") / f"{op}.yaml")
    defined = {path.stem for path in (directory("specs") / "core").glob("*.yaml")}
    if op in defined:
        raise UsageError(
            f"{op} is a definition, and what is wanted here is an operator by rules",
            hint="conformance spec list shows which operators are definitions",
        )
    near = {name.lower(): name for name in operators}.get(op.lower())
    hint = f"did you mean '{near}'?" if near else closest(op, {*operators, *defined})
    raise UsageError(
        f"there is no operator '{op}'",
        hint=hint or f"known: {', '.join(operators)}; or give a .yaml file",
    )
