"""The catalogue of known bugs, as mutants: specifications with replaced rules.

A file of ``specs/faults/<family>/`` holds the faults of one kind. The format:
docs/fault-format.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, lru_cache
from itertools import product
from pathlib import Path as FilePath
from typing import Any, Protocol

from conformance.errors import (
    ConformanceError,
    ExpressionError,
    Problem,
    SpecError,
    UsageError,
    closest,
)
from conformance.spec import schema_check
from conformance.spec.each_entries import each_choices, fill_template
from conformance.spec.family_index import family_of
from conformance.spec.folding import FALSE, TRUE
from conformance.spec.loader import find_spec, lineage, read_text, shipped_operators
from conformance.spec.model import OpSpec, RuleChange
from conformance.spec.rule_change import make_rule_change
from conformance.spec.vocabulary import vocabulary
from conformance.spec.yaml_reader import KEPT, parse_yaml
from conformance.spec.yaml_source import Path, Source


@dataclass(frozen=True)
class StatedEquivalence:
    """A statement that nothing kills a mutant in some partitions, with the reason.

    It holds in each of these element types, ranks and profiles, where they are given.

    At ``level`` should it cannot show there; at must what shows is what an interpretation allows.
    """

    why: str
    level: str = "should"
    types: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    profiles: tuple[str, ...] = ()

    def holds(self, dtype: str, rank: int, profile: str) -> bool:
        """Return whether it covers an element type and rank, within a profile or any."""
        limits = ((self.types, dtype), (self.ranks, rank), (self.profiles, profile))
        return all(not among or value in among for among, value in limits)


class Change(Protocol):
    """What a mutant changes: rules of a family, or the text or the computation of a definition."""

    @property
    def name(self) -> str:
        """The name of the change."""


@dataclass(frozen=True)
class Mutant:
    """A way in which an implementation of one operator goes wrong.

    ``change`` is a :class:`~conformance.spec.model.RuleChange`, or one of
    :mod:`conformance.core.mutant_changes` where the operator is a definition.
    ``says`` is a sentence for whoever wrote the kernel, ``look`` where in it to look; ``threads``
    are public places where a real one had it, ``fixed`` runtimes that had it, each with the version
    in which it was fixed. ``cause`` are words that mutants of one origin share, or empty.
    ``reading`` names the interpretation that excuses it at level must, ``equivalent`` why nothing
    can show it (both empty where there is none), and ``stated`` why nothing can in some element
    types, ranks and profiles.
    """

    id: str
    kind: str
    op: str
    change: Change
    description: str
    where_to_look: str = ""
    threads: tuple[str, ...] = ()
    excused_by: str = ""
    equivalent: str = ""
    stated_equivalences: tuple[StatedEquivalence, ...] = ()
    cause: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def rule_change(self) -> RuleChange:
        """The change of a mutant of rules."""
        assert isinstance(self.change, RuleChange)
        return self.change


class Why(Enum):
    """A reason why an operator does not have a mutant."""

    NAMED = "the entry names other operators"
    KIND = "the entry is for other kinds of operators"
    LACKS = "the operator lacks what the entry speaks of"
    IDLE = "the operator computes the same with it"


@dataclass(frozen=True)
class LeftOut:
    """A mutant that an operator does not have, by ``id`` and name of its ``entry``.

    ``of`` is the kind that the entry is for, or the name that the operator lacks, if it is a name;
    ``error`` says what it lacks.
    """

    op: str
    entry: str
    id: str
    why: Why
    of: str = ""
    error: ConformanceError | None = None


class Idle(ConformanceError):
    """A mutant changes nothing that an operator computes."""


def load_catalogue_text(text: str, file: str = "<text>") -> tuple[Mutant, ...]:
    """Parse a catalogue file into mutants, one for each operator that can have it.

    Raises :class:`~conformance.errors.SpecError` with every problem of the file at once.
    """
    source = parse_yaml(text, file)
    sound = schema_check.check(source, schema_check.FAULTS)
    excluded: list[LeftOut] = []
    mutants = (
        tuple(_faults(source, tuple(map(find_spec, shipped_operators())), excluded))
        if sound
        else ()
    )
    if sound and not source.problems:
        _check_used(source, {mutant.id for mutant in mutants}, excluded)
    source.check()
    return mutants


def load_catalogue(path: FilePath) -> tuple[Mutant, ...]:
    """Load the mutants in a file.

    Raises :class:`~conformance.errors.SpecError`.
    """
    return load_catalogue_text(read_text(path), str(path))


@lru_cache(maxsize=KEPT)
def mutants_of(spec: OpSpec) -> tuple[Mutant, ...]:
    """Return the mutants of an operator, in the order of their files.

    Raises :class:`~conformance.errors.SpecError` if two have the same id, and where the
    specification says of one that it does not have that nothing can show it.
    """
    mutants: dict[str, Mutant] = {}
    for source in _of_family(spec.family):
        for mutant in _faults(source, (spec,)):
            if mutants.setdefault(mutant.id, mutant) is not mutant:
                source.problem((), f"the mutant '{mutant.id}' of {spec.op} is in two files")
        source.check()
    for stated in spec.equivalent.keys() - mutants.keys():
        position = spec.positions.get(("equivalent", stated), (spec.file, 1, 1))
        message = f"{spec.op} has no mutant '{stated}'"
        raise SpecError((Problem(*position, message, hint=closest(stated, mutants) or ""),))
    return tuple(mutants.values())


def left_out(spec: OpSpec) -> tuple[LeftOut, ...]:
    """Return the mutants of its family that an operator does not have, in file order."""
    excluded: list[LeftOut] = []
    for source in _of_family(spec.family):
        for _ in _faults(source, (spec,), excluded):
            pass
    return tuple(excluded)


@cache
def _of_family(family: str) -> tuple[Source, ...]:
    """The files of a family; what they say of an operator is made when it is asked for."""
    files = sorted(family_of(family).mutants.glob("*.yaml"))
    sources = tuple(parse_yaml(read_text(path), str(path)) for path in files)
    for source in sources:
        schema_check.check(source, schema_check.FAULTS)
        source.check()
    return sources


def _faults(
    source: Source, specs: Sequence[OpSpec], excluded: list[LeftOut] | None = None
) -> Iterator[Mutant]:
    """What a sound file says of some operators; problems are noted in ``source``.

    ``excluded`` takes what an operator does not have.
    """
    excluded = [] if excluded is None else excluded
    kind = source.data["kind"]
    names_by_operator: set[tuple[str, str]] = set()
    for name, raw in source.data["faults"].items():
        path: Path = ("faults", name)
        chosen = list(each_choices(raw.get("each", {})))
        _check_operators(source, path, raw, {fill_template(name, keys) for keys, _ in chosen})
        having = tuple(_having_it(raw, specs))
        for spec in specs:
            if all(spec is not having_spec for _, having_spec in having):
                excluded += (
                    _not_for(spec, name, fill_template(name, keys), raw) for keys, _ in chosen
                )
        for op_name, spec in having:
            for keys, values in chosen:
                fault_id = fill_template(name, keys)
                if (spec.op, fault_id) in names_by_operator:
                    source.problem(path, f"two mutants are called '{fault_id}'", key=True)
                names_by_operator.add((spec.op, fault_id))
                try:
                    change = _variant(source, path, spec, op_name, fault_id, raw, values)
                except ConformanceError as error:
                    why = Why.IDLE if isinstance(error, Idle) else Why.LACKS
                    excluded.append(LeftOut(spec.op, name, fault_id, why, error.lacks, error))
                    continue
                if change is None:
                    return
                equivalent = raw.get("equivalent", {})
                dialect_of = () if op_name else map(_base, spec.lineage)
                spelled = (fault_id, spec.op, _base(spec.op), *dialect_of, op_name)
                yield Mutant(
                    id=fault_id,
                    kind=kind,
                    op=spec.op,
                    change=change,
                    description=fill_template(raw["says"], keys),
                    where_to_look=source.data["look"],
                    threads=tuple(raw.get("threads", ())),
                    excused_by=_reading(source, path, spec, op_name, raw),
                    equivalent=spec.equivalent.get(
                        fault_id, next((equivalent[n] for n in spelled if n in equivalent), "")
                    ),
                    stated_equivalences=tuple(stated(raw.get("stated", ()), spelled)),
                    cause=fill_template(raw.get("cause", ""), keys),
                    fixed=raw.get("fixed", {}),
                )


def _having_it(raw: Mapping[str, Any], specs: Sequence[OpSpec]) -> Iterator[tuple[str, OpSpec]]:
    """Each operator that can have a fault, and how its entry names it, if it does.

    A name without a version stands for every shipped version; any name also for the dialects of
    what it names. A dialect that extends several operators of an entry has its fault once.
    """
    if "operators" not in raw:
        yield from (("", spec) for spec in specs if _fits(spec, raw.get("only", {})))
        return
    dialects = set()
    for op_name, spec in product(raw["operators"], specs):
        if _stands_for(op_name, spec.op, spec.lineage) and spec.op not in dialects:
            yield op_name, spec
            if _is_dialect(spec.op, op_name):
                dialects.add(spec.op)


def _fits(spec: OpSpec, only: Mapping[str, Sequence[str]]) -> bool:
    """Whether an operator is of some kinds, as its family tells them apart."""
    return not any(True for _ in _other_kinds(spec, only))


def _other_kinds(spec: OpSpec, only: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The kinds that an operator is not of."""
    kinds = spec.kin.kinds(spec) if only else {}
    for name, allowed in only.items():
        if name not in kinds or not kinds[name] <= {*allowed}:
            yield f"{name} {' or '.join(allowed)}"


def _not_for(spec: OpSpec, entry: str, fault_id: str, raw: Mapping[str, Any]) -> LeftOut:
    """A mutant of an entry that is not for an operator."""
    if "operators" in raw:
        return LeftOut(spec.op, entry, fault_id, Why.NAMED)
    kind = next(_other_kinds(spec, raw.get("only", {})))
    return LeftOut(spec.op, entry, fault_id, Why.KIND, kind)


def _check_operators(
    source: Source, path: Path, raw: Mapping[str, Any], ids: Collection[str]
) -> None:
    """Note the operators of an entry that are not there, and who else has nothing to say in it."""
    listed = raw.get("operators", ())
    for number, op_name in enumerate(listed):
        if not _having(op_name):
            hint = closest(op_name, (*shipped_operators(), *map(_base, shipped_operators())))
            message = f"there is no operator '{op_name}'"
            source.problem((*path, "operators", number), message, hint=hint)
    having = (
        {op for op_name in listed for op in _having(op_name)} if listed else shipped_operators()
    )
    names = {*listed, *ids, *having, *map(_base, having)}
    for key in raw.get("equivalent", {}):
        if key not in names:
            message = f"'{key}' is neither an operator nor a mutant of this entry"
            source.problem((*path, "equivalent", key), message, hint=closest(key, names), key=True)


@cache
def _having(op_name: str) -> list[str]:
    return [op for op in shipped_operators() if _stands_for(op_name, op, lineage(op))]


def _stands_for(op_name: str, op: str, builds_on: Sequence[str]) -> bool:
    """Whether a name is that of an operator, or of one that it ``builds_on``."""
    if op_name not in shipped_operators():
        return op_name in map(_base, builds_on)
    return op == op_name or (op_name in builds_on and _base(op) != _base(op_name))


def _base(op: str) -> str:
    return op.rpartition("-")[0]


def _is_dialect(op: str, op_name: str) -> bool:
    """Whether an operator only extends the named one: it may lack what a fault speaks of."""
    return op_name not in (op, _base(op)) or op not in shipped_operators()


def _check_used(source: Source, ids: Collection[str], excluded: Iterable[LeftOut]) -> None:
    """Note the entries that no shipped operator can have, with what the first one lacks."""
    lacking = {reason.entry: reason for reason in reversed([*excluded]) if reason.why is Why.LACKS}
    for name, raw in source.data["faults"].items():
        if any(fill_template(name, keys) in ids for keys, _ in each_choices(raw.get("each", {}))):
            continue
        message, hint = "no shipped operator can have this mutant", ""
        if name in lacking and (error := lacking[name].error):
            message = f"{message}: for {lacking[name].op}, {error.message}"
            hint = error.hint or ""
        source.problem(("faults", name), message, hint=hint, key=True)


def _variant(
    source: Source,
    path: Path,
    spec: OpSpec,
    op_name: str,
    fault_id: str,
    raw: Mapping[str, Any],
    values: Mapping[str, str],
) -> RuleChange | None:
    """The variant of one fault; None with a problem noted.

    An operator that is not named, or only extends one that is, may lack what the fault speaks of:
    then the error is raised. Or it computes nothing with it, or does the same by its own rules:
    then :class:`Idle` is.
    """
    texts = {
        key.replace("-", "_"): fill_template(_text(raw), values)
        for key, raw in raw["replace"].items()
    }
    where = fill_template(_text(raw["where"]), values) if "where" in raw else None
    if "{" in "".join((fault_id, where or "", *texts.values())):
        source.problem(path, "'each' does not give every {name} that is used", key=True)
        return None
    try:
        if "operators" not in raw:
            roles = vocabulary(spec)
            texts, where = roles.replaced(texts), where and roles.spoken(where)
            if where == FALSE or all(text in ("original", name) for name, text in texts.items()):
                raise Idle(f"{spec.op} computes nothing with {fault_id}")
            where = None if where == TRUE else where
        change = make_rule_change(spec, fault_id, texts, where=where, why=raw["says"])
    except (ExpressionError, UsageError) as error:
        if _is_dialect(spec.op, op_name):
            raise
        expected = getattr(error, "expected", "")
        message = f"for {spec.op}, {fault_id}: {error.message}"
        source.problem(path, message, expected=expected or "", hint=error.hint or "", key=True)
        return None
    is_unchanged = all(spec.definitions.get(name) == text for name, text in change.replace.items())
    used = change.replace.keys() & _computed_with(spec)
    idle = len(used) < len(change.replace) if "operators" not in raw else not used
    if (is_unchanged or idle) and _is_dialect(spec.op, op_name):
        raise Idle(f"{spec.op} computes nothing with {fault_id}")
    return change


@lru_cache(maxsize=KEPT)
def _computed_with(spec: OpSpec) -> frozenset[str]:
    """The rules that an output of an operator needs, and all that they depend on."""
    rules = spec.kin.used(spec)
    types = {output.type.replace("-", "_") for output in spec.outputs}
    return spec.reach(spec.definitions[rule] for rule in rules).union(rules, types)


def stated(
    raw: Iterable[Mapping[str, Any]], spelled: Collection[str]
) -> Iterator[StatedEquivalence]:
    """Parse the statements on one mutant of an operator that is ``spelled`` so."""
    for entry in raw:
        if "of" not in entry or not {*entry["of"]}.isdisjoint(spelled):
            limits = (tuple(entry.get(key, ())) for key in ("types", "ranks", "profiles"))
            yield StatedEquivalence(entry["why"], entry.get("level", "should"), *limits)


def _text(raw: Any) -> str:
    return str(raw).lower() if isinstance(raw, bool) else str(raw)


def _reading(source: Source, path: Path, spec: OpSpec, op_name: str, raw: Mapping[str, Any]) -> str:
    interpretation = raw.get("reading", "")
    by_operator = interpretation if isinstance(interpretation, dict) else {op_name: interpretation}
    spelled = next((n for n in (spec.op, _base(spec.op), op_name) if n in by_operator), "")
    name = str(by_operator.get(spelled, ""))
    names = [interpretation.name for interpretation in spec.interpretations]
    if name in names or not name:
        return name
    # A table's line for every version speaks of those that have the interpretation.
    if spelled == spec.op or (
        isinstance(interpretation, str) and not _is_dialect(spec.op, op_name)
    ):
        message = f"{spec.op} has no interpretation '{name}'"
        source.problem((*path, "reading"), message, hint=closest(name, names))
    return ""
