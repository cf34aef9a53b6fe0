"""Evaluation with replaced rules: for interpretations, mutants and diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.reference.batches import CaseBatch
from conformance.spec.case_environment import EnvironmentOverlay, Evaluable
from conformance.spec.expressions import Value
from conformance.spec.model import OpSpec, RuleChange


@dataclass(frozen=True)
class _Replaced:
    """A definition with another in its place, where a guard holds; ``original`` names the first."""

    original: Evaluable
    replacement: Evaluable
    where: Evaluable | None

    def evaluate(self, env: Mapping[str, Value]) -> Any:
        guard = True if self.where is None else self.where.evaluate(env)
        original = self.original.evaluate(env)
        if guard is False:
            return original
        replaced = self.replacement.evaluate(EnvironmentOverlay(env, original=original))
        return replaced if guard is True else np.where(guard, replaced, original)  # type: ignore[arg-type]

    def many(self, batch: CaseBatch) -> Any:
        original = self.original.many(batch)
        with batch.meaning({"original": original}):
            replaced = self.replacement.many(batch)
        if self.where is None:
            return replaced
        return batch.applied("where", self.where.many(batch), replaced, original)


@dataclass(frozen=True)
class _Misread:
    """An attribute or an operand that is read otherwise than the case has it.

    The replacement speaks of attributes and operands as given, so that two can change places.
    """

    key: str
    replacement: Evaluable
    where: Evaluable | None

    def evaluate(self, env: Any) -> Any:
        original = env.given[self.key]
        given = EnvironmentOverlay(env, **env.given, original=original)
        if self.where is not None and not self.where.evaluate(given):
            return original
        return self.replacement.evaluate(given)

    def many(self, batch: CaseBatch) -> Any:
        original = batch.given[self.key]
        with batch.meaning({**batch.given, "original": original}):
            replaced = self.replacement.many(batch)
            if self.where is None:
                return replaced
            return batch.applied("where", self.where.many(batch), replaced, original)


def definitions_of(spec: OpSpec, variants: Iterable[RuleChange]) -> Mapping[str, Evaluable]:
    """The definitions of ``spec`` with each variant's replacements, in order."""
    definitions: dict[str, Evaluable] = dict(spec.definitions)
    for variant in variants:
        for name, replacement in variant.replace.items():
            if name in spec.definitions:
                definitions[name] = _Replaced(definitions[name], replacement, variant.where)
            else:
                definitions[name] = _Misread(name, replacement, variant.where)
    return definitions


def reached(spec: OpSpec, variants: Iterable[RuleChange]) -> frozenset[str]:
    """All names whose values variants may change."""
    depends = {name: expression.names for name, expression in spec.definitions.items()}
    depends.update({name: frozenset(names) for name, names in spec.kin.oracle.depends.items()})
    changed: set[str] = set()
    for variant in variants:
        changed |= variant.replace.keys()
        for name, expression in variant.replace.items():
            depends[name] = depends.get(name, frozenset()) | expression.names
    while True:
        more = {name for name, on in depends.items() if on & changed} - changed
        if not more:
            return frozenset(changed)
        changed |= more
