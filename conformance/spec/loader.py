"""Loading specifications: from text, from a file, or the shipped ones by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from conformance.data import directory
from conformance.errors import Problem, SpecError, UsageError
from conformance.spec import structure
from conformance.spec.assemble import assemble
from conformance.spec.expressions import closest
from conformance.spec.model import OpSpec
from conformance.spec.reader import MAX_BYTES, parse


def load_text(text: str, file: str = "<text>") -> OpSpec:
    """The specification that ``text`` holds; ``file`` names it in messages.

    Raises :class:`~conformance.errors.SpecError` with every problem of the file at once.
    """
    source = parse(text, file)
    spec = assemble(source) if structure.check(source) else None
    source.check()
    assert spec is not None
    return spec


def load(path: Path) -> OpSpec:
    """The specification in a file. Raises :class:`~conformance.errors.SpecError`."""
    return load_text(read_text(path), str(path))


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
    specs = [load(path) for path in sorted(directory("specs").glob("*.yaml"))]
    return MappingProxyType({spec.op: spec for spec in specs})


@cache
def find(op: str) -> OpSpec:
    """The specification of an operator: a shipped one by name, or a YAML file by path.

    Raises :class:`~conformance.errors.UsageError` for a name that is not known.
    """
    if op.endswith((".yaml", ".yml")):
        return load(Path(op))
    # One file, not all of them: a check asks for one operator at a time.
    names = [path.stem for path in sorted(directory("specs").glob("*.yaml"))]
    if op in names:
        return load(directory("specs") / f"{op}.yaml")
    near = {name.lower(): name for name in names}.get(op.lower())
    hint = f"did you mean '{near}'?" if near else closest(op, names)
    raise UsageError(
        f"there is no operator '{op}'",
        hint=hint or f"known: {', '.join(names)}; or give a .yaml file",
    )
