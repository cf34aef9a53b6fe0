"""The catalogue of faults: ways in which implementations go wrong, as variants of the reference.

A file of ``specs/faults/`` holds the faults of one kind. The format is in docs/fault-format.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from pathlib import Path as FilePath
from typing import Any

from conformance.data import directory
from conformance.errors import ExpressionError, UsageError
from conformance.spec import structure
from conformance.spec.expressions import closest
from conformance.spec.families import FAMILIES, INDEX_RULES
from conformance.spec.loader import find, lineage, names, read_text
from conformance.spec.model import OpSpec, Variant
from conformance.spec.reader import KEPT, parse
from conformance.spec.source import Path, Source
from conformance.spec.variation import variant


@dataclass(frozen=True)
class Stated:
    """Why nothing kills a fault in some parts of an operator: in each of these element types, ranks
    and profiles, where they are given.

    At ``level`` should it cannot show there; at must what shows is what an interpretation allows.
    """

    why: str
    level: str = "should"
    types: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    profiles: tuple[str, ...] = ()

    def holds(self, dtype: str, rank: int, profile: str) -> bool:
        """Whether this speaks of the cases of an element type and rank, within a profile or any."""
        given = ((self.types, dtype), (self.ranks, rank), (self.profiles, profile))
        return all(not among or one in among for among, one in given)


@dataclass(frozen=True)
class Fault:
    """One way in which an implementation of one operator goes wrong.

    ``says`` is a sentence for whoever wrote the kernel, ``look`` where in it to look; ``threads``
    are public places where a real one had it. ``reading`` names the interpretation that excuses it
    at level must, ``equivalent`` why nothing can show it (both empty where there is none), and
    ``stated`` why nothing can in some element types, ranks and profiles.
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
    stated: tuple[Stated, ...] = ()


def load_text(text: str, file: str = "<text>") -> tuple[Fault, ...]:
    """The faults that a catalogue file holds, one for each operator that can have it.

    Raises :class:`~conformance.errors.SpecError` with every problem of the file at once.
    """
    source = parse(text, file)
    sound = structure.check(source, structure.FAULTS)
    found = tuple(_faults(source, tuple(map(find, names())))) if sound else ()
    source.check()
    return found


def load(path: FilePath) -> tuple[Fault, ...]:
    """The faults in a file. Raises :class:`~conformance.errors.SpecError`."""
    return load_text(read_text(path), str(path))


@lru_cache(maxsize=KEPT)
def faults(spec: OpSpec) -> tuple[Fault, ...]:
    """The faults of an operator, in the order of their files.

    One of your own has those of the operators that it extends. Raises
    :class:`~conformance.errors.SpecError` if two have the same id.
    """
    found: dict[str, Fault] = {}
    for source in _shipped():
        for fault in _faults(source, (spec,)):
            if found.setdefault(fault.id, fault) is not fault:
                source.problem((), f"the fault '{fault.id}' of {spec.op} is in two files")
        source.check()
    return tuple(found.values())


@cache
def _shipped() -> tuple[Source, ...]:
    """The files of the catalogue; what they say of an operator is made when it is asked for."""
    files = sorted((directory("specs") / "faults").glob("*.yaml"))
    sources = tuple(parse(read_text(path), str(path)) for path in files)
    for source in sources:
        structure.check(source, structure.FAULTS)
        source.check()
    return sources


def _faults(source: Source, specs: Sequence[OpSpec]) -> Iterator[Fault]:
    """What a sound file says of some operators; problems are noted in ``source``."""
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
        _check_operators(source, (*path, "operators"), raw["operators"])
        for named, spec in _having_it(raw["operators"], specs):
            for keys, values in choices:
                fault_id = _filled(name, keys)
                if (spec.op, fault_id) in seen:
                    source.problem(path, f"two faults are called '{fault_id}'", key=True)
                seen.add((spec.op, fault_id))
                made = _variant(source, path, spec, named, fault_id, raw, values)
                if made is None:
                    if source.problems:
                        return
                    continue
                equivalent = raw.get("equivalent", {})
                spelled = (fault_id, spec.op, _base(spec.op), named)
                yield Fault(
                    id=fault_id,
                    kind=kind,
                    op=spec.op,
                    variant=made,
                    says=_filled(raw["says"], keys),
                    look=source.data["look"],
                    threads=tuple(raw.get("threads", ())),
                    reading=_reading(source, path, spec, named, raw),
                    equivalent=next((equivalent[n] for n in spelled if n in equivalent), ""),
                    stated=tuple(_stated(raw.get("stated", ()), spelled)),
                )


def _having_it(listed: Sequence[str], specs: Sequence[OpSpec]) -> Iterator[tuple[str, OpSpec]]:
    """Each operator that can have a fault, and how the file names it.

    A name without a version stands for every shipped version; any name also for the dialects of
    what it names. A dialect that extends several operators of an entry has its fault once.
    """
    dialects = set()
    for named, spec in product(listed, specs):
        if _stands_for(named, spec.op, spec.lineage) and spec.op not in dialects:
            yield named, spec
            if _is_dialect(spec.op, named):
                dialects.add(spec.op)


def _check_operators(source: Source, path: Path, listed: Sequence[str]) -> None:
    for number, named in enumerate(listed):
        if not _having(named):
            hint = closest(named, (*names(), *map(_base, names())))
            source.problem((*path, number), f"there is no operator '{named}'", hint=hint)


@cache
def _having(named: str) -> list[str]:
    return [op for op in names() if _stands_for(named, op, lineage(op))]


def _stands_for(named: str, op: str, builds_on: Sequence[str]) -> bool:
    """Whether a name is that of an operator, or of one that it ``builds_on``."""
    if named not in names():
        return named in map(_base, builds_on)
    return op == named or (named in builds_on and _base(op) != _base(named))


def _base(op: str) -> str:
    return op.rpartition("-")[0]


def _is_dialect(op: str, named: str) -> bool:
    """Whether an operator only extends the named one: it may lack what a fault speaks of."""
    return named not in (op, _base(op)) or op not in names()


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
    """The variant of one fault; None with a problem noted, or for a dialect that cannot have it.

    Such a dialect lacks its names, computes nothing with them, or does the same by its own rules.
    """
    texts = {
        key.replace("-", "_"): _filled(_text(raw), values) for key, raw in raw["replace"].items()
    }
    where = _filled(_text(raw["where"]), values) if "where" in raw else None
    if "{" in "".join((fault_id, where or "", *texts.values())):
        source.problem(path, "'each' does not give every {name} that is used", key=True)
        return None
    try:
        made = variant(spec, fault_id, texts, where=where, why=raw["says"])
    except (ExpressionError, UsageError) as error:
        if _is_dialect(spec.op, named):
            return None
        expected = getattr(error, "expected", "")
        message = f"for {spec.op}, {fault_id}: {error.message}"
        source.problem(path, message, expected=expected or "", hint=error.hint or "", key=True)
        return None
    own = all(spec.definitions.get(name) == text for name, text in made.replace.items())
    idle = made.replace.keys().isdisjoint(_computed_with(spec))
    return None if (own or idle) and _is_dialect(spec.op, named) else made


@lru_cache(maxsize=KEPT)
def _computed_with(spec: OpSpec) -> frozenset[str]:
    """The rules that an output of an operator needs, and all that they depend on."""
    rules = set(FAMILIES[spec.family].rules)
    if all(output.holds != "index" for output in spec.outputs):
        rules -= set(INDEX_RULES)
    return frozenset(spec.reach(spec.definitions[rule] for rule in rules).union(rules))


def _stated(raw: Iterable[Mapping[str, Any]], spelled: Collection[str]) -> Iterator[Stated]:
    """What is stated of one fault of one operator, which may be ``spelled`` so."""
    for one in raw:
        if "of" not in one or not {*one["of"]}.isdisjoint(spelled):
            given = (tuple(one.get(key, ())) for key in ("types", "ranks", "profiles"))
            yield Stated(one["why"], one.get("level", "should"), *given)


def _text(raw: Any) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _reading(source: Source, path: Path, spec: OpSpec, named: str, raw: Mapping[str, Any]) -> str:
    given = raw.get("reading", "")
    by_operator = given if isinstance(given, dict) else {named: given}
    spelled = next((n for n in (spec.op, _base(spec.op), named) if n in by_operator), "")
    name = str(by_operator.get(spelled, ""))
    known = [one.name for one in spec.interpretations]
    if name in known or not name:
        return name
    # A table's line for every version speaks of those that have the interpretation.
    if spelled == spec.op or (isinstance(given, str) and not _is_dialect(spec.op, named)):
        message = f"{spec.op} has no interpretation '{name}'"
        source.problem((*path, "reading"), message, hint=closest(name, known))
    return ""
