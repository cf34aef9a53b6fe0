"""The file of mutants of one operator, which a suite carries.

A catalogue speaks of many operators (:mod:`conformance.spec.catalogue`). Here each mutant is
written out for one: the rules that it replaces, and what it is told by. The format:
docs/fault-format.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from conformance.errors import ExpressionError, UsageError, closest
from conformance.spec import schema_check
from conformance.spec.catalogue import Mutant, StatedEquivalence, stated
from conformance.spec.model import OpSpec
from conformance.spec.rule_change import make_rule_change
from conformance.spec.yaml_reader import KEPT, parse_yaml
from conformance.spec.yaml_source import Path, Source

FORMAT = 1


def mutants_to_data(spec: OpSpec, mutants: Sequence[Mutant]) -> dict[str, Any]:
    """Return the mutants of an operator as plain data, as :func:`load_mutants_text` reads it."""
    kinds = {}
    for kind, group in groupby(mutants, key=lambda mutant: mutant.kind):
        alike = list(group)
        kinds[kind] = {
            "look": alike[0].where_to_look,
            "faults": {mutant.id: dict(_entry(mutant)) for mutant in alike},
        }
    return {"format": FORMAT, "op": spec.op, "kinds": kinds}


def _entry(mutant: Mutant) -> Iterator[tuple[str, Any]]:
    yield "says", mutant.description
    yield "replace", {name: rule.text for name, rule in mutant.rule_change.replace.items()}
    if mutant.rule_change.where is not None:
        yield "where", mutant.rule_change.where.text
    if mutant.cause:
        yield "cause", mutant.cause
    if mutant.fixed:
        yield "fixed", dict(mutant.fixed)
    if mutant.threads:
        yield "threads", list(mutant.threads)
    if mutant.excused_by:
        yield "reading", mutant.excused_by
    if mutant.equivalent:
        yield "equivalent", mutant.equivalent
    if mutant.stated_equivalences:
        yield "stated", [_plain(statement) for statement in mutant.stated_equivalences]


def _plain(stated: StatedEquivalence) -> dict[str, Any]:
    limits = ((key, list(getattr(stated, key))) for key in ("types", "ranks", "profiles"))
    level = {"level": stated.level} if stated.level != "should" else {}
    return level | {key: values for key, values in limits if values} | {"why": stated.why}


@lru_cache(maxsize=KEPT)
def load_mutants_text(text: str, spec: OpSpec, file: str = "<text>") -> tuple[Mutant, ...]:
    """Parse the mutants of ``spec``; ``file`` names the text in messages.

    Raises :class:`~conformance.errors.SpecError` with every problem of the text at once.
    """
    source = parse_yaml(text, file, holds="the mutants of an operator")
    mutants = (
        tuple(_faults(source, spec)) if schema_check.check(source, schema_check.MUTANTS) else ()
    )
    source.check()
    return mutants


def _faults(source: Source, spec: OpSpec) -> Iterator[Mutant]:
    if source.data["op"] != spec.op:
        message = f"these are mutants of {source.data['op']}"
        source.problem(("op",), message, expected=spec.op)
        return
    names: set[str] = set()
    for kind, entries in source.data["kinds"].items():
        for name, raw in entries["faults"].items():
            path: Path = ("kinds", kind, "faults", name)
            if name in names:
                source.problem(path, f"two mutants are called '{name}'", key=True)
            names.add(name)
            yield from _fault(source, path, spec, kind, entries["look"], raw)


def _fault(
    source: Source, path: Path, spec: OpSpec, kind: str, look: str, raw: Mapping[str, Any]
) -> Iterator[Mutant]:
    name = str(path[-1])
    names = [interpretation.name for interpretation in spec.interpretations]
    interpretation = raw.get("reading", "")
    if interpretation and interpretation not in names:
        message = f"{spec.op} has no interpretation '{interpretation}'"
        source.problem((*path, "reading"), message, hint=closest(interpretation, names))
    try:
        change = make_rule_change(
            spec, name, raw["replace"], where=raw.get("where"), why=raw["says"]
        )
    except (ExpressionError, UsageError) as error:
        source.problem(path, f"{name}: {error.message}", hint=error.hint or "", key=True)
        return
    yield Mutant(
        id=name,
        kind=kind,
        op=spec.op,
        change=change,
        description=raw["says"],
        where_to_look=look,
        threads=tuple(raw.get("threads", ())),
        excused_by=interpretation,
        equivalent=raw.get("equivalent", ""),
        stated_equivalences=tuple(stated(raw.get("stated", ()), ())),
        cause=raw.get("cause", ""),
        fixed=raw.get("fixed", {}),
    )
