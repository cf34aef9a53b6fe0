"""The catalogue of faults: ways in which implementations go wrong, as variants of the reference.

A file of ``specs/faults/`` holds the faults of one kind. The format is in docs/fault-format.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path as FilePath
from typing import Any

from conformance.data import directory
from conformance.errors import ExpressionError, UsageError
from conformance.spec import structure
from conformance.spec.expressions import closest
from conformance.spec.loader import read_text, shipped
from conformance.spec.model import OpSpec, Variant
from conformance.spec.source import Path, Source, parse
from conformance.spec.variation import variant


@dataclass(frozen=True)
class Fault:
    """One way in which an implementation of one operator goes wrong.

    ``says`` is a sentence for whoever wrote the kernel, ``look`` where in it to look; ``threads``
    are public places where a real one had it. ``reading`` names the interpretation that excuses it
    at level must, ``equivalent`` why nothing can show it (both empty where there is none).
    """

    id: str
    kind: str
    op: str
    variant: Variant
    says: str
    look: str = ""
    threads: tuple[str, ...] = ()
    reading: str = ""
    equivalent: str = ""


def load_text(text: str, file: str = "<text>") -> tuple[Fault, ...]:
    """The faults that a catalogue file holds, one for each operator that can have it.

    Raises :class:`~conformance.errors.SpecError` with every problem of the file at once.
    """
    source = parse(text, file)
    found = tuple(_faults(source)) if structure.check(source, structure.FAULTS) else ()
    source.check()
    return found


def load(path: FilePath) -> tuple[Fault, ...]:
    """The faults in a file. Raises :class:`~conformance.errors.SpecError`."""
    return load_text(read_text(path), str(path))


@cache
def faults(op: str) -> tuple[Fault, ...]:
    """The shipped faults of an operator, in the order of their files; none for one of your own.

    Raises :class:`~conformance.errors.SpecError` if two have the same id.
    """
    return tuple(fault for fault in _shipped() if fault.op == op)


@cache
def _shipped() -> tuple[Fault, ...]:
    found: dict[tuple[str, str], Fault] = {}
    for path in sorted((directory("specs") / "faults").glob("*.yaml")):
        for fault in load(path):
            if found.setdefault((fault.op, fault.id), fault) is not fault:
                source = Source(str(path))
                source.problem((), f"the fault '{fault.id}' of {fault.op} is in two files")
                source.check()
    return tuple(found.values())


def _faults(source: Source) -> Iterator[Fault]:
    kind = source.data["kind"]
    seen: set[tuple[str, str]] = set()
    for name, raw in source.data["faults"].items():
        path: Path = ("faults", name)
        choices = list(_choices(raw.get("each", {})))
        known = {*raw["operators"], *(_filled(name, keys) for keys, _ in choices)}
        known |= {n for named in raw["operators"] for op in _having(named) for n in (op, _base(op))}
        for key in raw.get("equivalent", {}):
            if key not in known:
                message = f"'{key}' is neither an operator nor a fault of this entry"
                source.problem(
                    (*path, "equivalent", key), message, hint=closest(key, known), key=True
                )
        for named, op in _operators(source, (*path, "operators"), raw["operators"]):
            for keys, values in choices:
                fault_id = _filled(name, keys)
                if (op, fault_id) in seen:
                    source.problem(path, f"two faults are called '{fault_id}'", key=True)
                seen.add((op, fault_id))
                made = _variant(source, path, shipped()[op], named, fault_id, raw, values)
                if made is None:
                    if source.problems:
                        return
                    continue
                equivalent = raw.get("equivalent", {})
                names = (fault_id, op, _base(op), named)
                yield Fault(
                    id=fault_id,
                    kind=kind,
                    op=op,
                    variant=made,
                    says=_filled(raw["says"], keys),
                    look=source.data["look"],
                    threads=tuple(raw.get("threads", ())),
                    reading=_reading(source, path, shipped()[op], named, raw),
                    equivalent=next((equivalent[n] for n in names if n in equivalent), ""),
                )


def _operators(source: Source, path: Path, listed: list[str]) -> Iterator[tuple[str, str]]:
    """Each operator that can have a fault, and how the file names it.

    A name without a version stands for every shipped version, and for what extends one; a name
    with a version for that one and for its dialects, which are of another name.
    """
    dialects: set[str] = set()
    for number, named in enumerate(listed):
        found = [op for op in _having(named) if op not in dialects]
        dialects.update(op for op in found if _is_dialect(shipped()[op], named))
        yield from ((named, op) for op in found)
        if not found:
            hint = closest(named, (*shipped(), *map(_base, shipped())))
            source.problem((*path, number), f"there is no operator '{named}'", hint=hint)


def _having(named: str) -> list[str]:
    if named in shipped():
        lineages = {op: spec.lineage for op, spec in shipped().items()}
        others = [op for op in lineages if _base(op) != _base(named)]
        return [named, *(op for op in others if named in lineages[op])]
    return [op for op, spec in shipped().items() if named in map(_base, spec.lineage)]


def _base(op: str) -> str:
    return op.rpartition("-")[0]


def _is_dialect(spec: OpSpec, named: str) -> bool:
    """Whether an operator only extends the named one: it may lack what a fault speaks of."""
    return named not in (spec.op, _base(spec.op))


def _choices(
    each: Mapping[str, Mapping[str, Any]],
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Every choice that ``each`` leaves: its keys by name, and its values by name."""
    for entries in product(*(values.items() for values in each.values())):
        keys = {name: key for name, (key, _) in zip(each, entries, strict=True)}
        yield keys, {name: str(value) for name, (_, value) in zip(each, entries, strict=True)}


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def _variant(
    source: Source,
    path: Path,
    spec: OpSpec,
    named: str,
    fault_id: str,
    raw: Mapping[str, Any],
    values: Mapping[str, str],
) -> Variant | None:
    """The variant of one fault; None with a problem noted, or for a dialect without its names."""
    texts = {
        key.replace("-", "_"): _filled(_text(raw), values) for key, raw in raw["replace"].items()
    }
    where = _filled(_text(raw["where"]), values) if "where" in raw else None
    if "{" in "".join((fault_id, where or "", *texts.values())):
        source.problem(path, "'each' does not give every {name} that is used", key=True)
        return None
    try:
        return variant(spec, fault_id, texts, where=where, why=raw["says"])
    except (ExpressionError, UsageError) as error:
        if _is_dialect(spec, named):
            return None
        expected = getattr(error, "expected", "")
        message = f"for {spec.op}, {fault_id}: {error.message}"
        source.problem(path, message, expected=expected or "", hint=error.hint or "", key=True)
        return None


def _text(raw: Any) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _reading(source: Source, path: Path, spec: OpSpec, named: str, raw: Mapping[str, Any]) -> str:
    name = str(raw.get("reading", ""))
    known = [one.name for one in spec.interpretations]
    if name not in known and _is_dialect(spec, named):
        return ""
    if name and name not in known:
        message = f"{spec.op} has no interpretation '{name}'"
        source.problem((*path, "reading"), message, hint=closest(name, known))
    return name
