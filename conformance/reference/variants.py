"""The reference with rules replaced: one mechanism for readings, faults and diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.spec.environment import Evaluable, Overlay
from conformance.spec.expressions import Value
from conformance.spec.model import OpSpec, Variant


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
        replaced = self.replacement.evaluate(Overlay(env, original=original))
        return replaced if guard is True else np.where(guard, replaced, original)  # type: ignore[arg-type]


def definitions_of(spec: OpSpec, variants: Iterable[Variant]) -> Mapping[str, Evaluable]:
    """The definitions of ``spec`` with each variant's replacements, in order."""
    definitions: dict[str, Evaluable] = dict(spec.definitions)
    for variant in variants:
        for name, replacement in variant.replace.items():
            definitions[name] = _Replaced(definitions[name], replacement, variant.where)
    return definitions
