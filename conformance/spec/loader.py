"""Loading specifications: from text, from a file, or the shipped ones by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from conformance.data import directory
from conformance.errors import Problem, SpecError, UsageError
from conformance.spec import structure
from conformance.spec.assemble import assemble
from conformance.spec.expressions import closest
from conformance.spec.inheritance import extended
from conformance.spec.model import OpSpec
from conformance.spec.source import MAX_BYTES, Source, parse

NAME = re.compile("[A-Za-z][A-Za-z0-9_.]*-[0-9]+")


def load_text(text: str, file: str = "<text>", path: Path | None = None) -> OpSpec:
    """The specification that ``text`` holds; ``file`` names it in messages.

    What it extends is looked for beside ``path``, then among the shipped specifications. Raises
    :class:`~conformance.errors.SpecError` with every problem of the file at once.
    """
    source = _source(text, file, () if path is None else (path,))
    spec = assemble(source) if structure.check(source) else None
    source.check()
    assert spec is not None
    return spec


def load(path: Path) -> OpSpec:
    """The specification in a file. Raises :class:`~conformance.errors.SpecError`."""
    return load_text(read_text(path), str(path), path)


def _source(text: str, file: str, read: tuple[Path, ...]) -> Source:
    """The data of a file and of those it extends; ``read`` ends with its path."""

    def find(op: str) -> Source | None:
        if not NAME.fullmatch(op):
            return None
        for folder in (*(path.parent for path in read[-1:]), directory("specs")):
            path = folder / f"{op}.yaml"
            # A file of the same name may extend the shipped one, but none extends itself.
            if path not in read and path.is_file():
                found = _source(read_text(path), str(path), (*read, path))
                found.check()
                return found
        return None

    return extended(parse(text, file), find)


def read_text(path: Path) -> str:
    """The text of a file, or so much of it as shows that it is too large.

    Raises :class:`~conformance.errors.SpecError` for a file that cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise SpecError((Problem(str(path), 1, 1, f"cannot be read: {reason}"),)) from None


@cache
def shipped() -> Mapping[str, OpSpec]:
    """The specifications that come with the package, by operator."""
    return MappingProxyType({op: find(op) for op in names()})


def names() -> tuple[str, ...]:
    """The operators that come with the package; each has a file of its name."""
    return tuple(path.stem for path in sorted(directory("specs").glob("*.yaml")))


@cache
def lineage(op: str) -> tuple[str, ...]:
    """A shipped operator and those that its file builds on, without reading more than that."""
    text = read_text(directory("specs") / f"{op}.yaml")
    extends = re.search("^extends: (.+)$", text, re.MULTILINE)
    return (op, *(lineage(extends[1]) if extends else ()))


@cache
def find(op: str) -> OpSpec:
    """The specification of an operator: a shipped one by name, or a YAML file by path.

    Raises :class:`~conformance.errors.UsageError` for a name that is not known.
    """
    if op.endswith((".yaml", ".yml")):
        return load(Path(op))
    # One file, not all of them: a check asks for one operator at a time.
    known = names()
    if op in known:
        return load(directory("specs") / f"{op}.yaml")
    near = {name.lower(): name for name in known}.get(op.lower())
    hint = f"did you mean '{near}'?" if near else closest(op, known)
    raise UsageError(
        f"there is no operator '{op}'",
        hint=hint or f"known: {', '.join(known)}; or give a .yaml file",
    )
