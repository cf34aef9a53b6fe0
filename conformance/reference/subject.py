"""One case with its right outputs, asked again and again under other rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conformance.dtypes import Array
from conformance.errors import EvaluationError
from conformance.model import Case
from conformance.reference import pooling
from conformance.reference.facts import DEPENDS, DataEnvironment
from conformance.reference.variants import definitions_of
from conformance.spec.model import OpSpec, Variant

LARGE = 1 << 18
"""Outputs of a wrong shape with more taps are not worked out: the shape tells enough."""

_AFTER = frozenset({"image", "channel", "written", "unwritten"})
"""Rules that only say where what was computed is put."""


class Altered:
    """An implementation that follows a variant of the reference, ready to be asked many cases."""

    def __init__(self, spec: OpSpec, variant: Variant) -> None:
        self.spec, self.variant = spec, variant
        self.definitions = definitions_of(spec, (replace(variant, where=None),))
        self.changed = _reached(spec, variant)
        self.only_moves = variant.replace.keys() <= _AFTER


class Subject:
    """A valid case with its data; ``outputs`` are the right ones, in the operator's own types."""

    def __init__(self, spec: OpSpec, case: Case, data: Array) -> None:
        self.spec = spec
        self.env = pooling.environment(spec, case, data)
        self._computed = pooling.computed(self.env, spec)
        self.outputs = pooling.placed(self.env, self._computed)

    def under(self, altered: Altered) -> list[Array]:
        """The outputs of an implementation.

        They are ``self.outputs``, the same list, where its variant changes nothing on the way, and
        where it gives no outputs at all (a negative number of windows, a division by zero): what
        cannot be computed shows nothing. A guard that tells windows or elements apart picks from
        both.
        """
        guard = self._guard(altered.variant)
        if guard is False:
            return self.outputs
        try:
            env = self.env.under(altered.definitions, altered.changed)
            if not any(_differs(self.env, env, name) for name in altered.variant.replace):
                return self.outputs
            if env.out != self.env.out and _taps(env) > LARGE:
                return self._in_shape(env)
            computed = self._computed if altered.only_moves else pooling.computed(env, self.spec)
            found = pooling.placed(env, computed)
        except EvaluationError:
            return self.outputs
        if guard is True:
            return found
        return [
            np.where(guard, new, right) if new.shape == right.shape else new
            for new, right in zip(found, self.outputs, strict=True)
        ]

    def _in_shape(self, env: DataEnvironment) -> list[Array]:
        """Outputs of a wrong shape that are too large to be worked out: zeros without memory."""
        shape = (*env.data.shape[:2], *env.out)
        return [np.broadcast_to(right.dtype.type(0), shape) for right in self.outputs]

    def _guard(self, variant: Variant) -> bool | Array:
        if variant.where is None:
            return True
        guard = np.asarray(variant.where.evaluate(self.env))
        if guard.all():
            return True
        return guard if guard.any() else False


def _taps(env: DataEnvironment) -> int:
    """At least how many taps all windows of all planes have; an empty window counts for one."""
    per_axis = (np.maximum(env.along("taps", axis), 1).sum() for axis in range(len(env.out)))
    return prod(env.data.shape[:2]) * prod(map(int, per_axis))


def _reached(spec: OpSpec, variant: Variant) -> frozenset[str]:
    """All names whose values a variant may change."""
    depends = {name: expression.names for name, expression in spec.definitions.items()}
    depends.update({name: frozenset(names) for name, names in DEPENDS.items()})
    for name, expression in variant.replace.items():
        depends[name] = depends.get(name, frozenset()) | expression.names
    changed = set(variant.replace)
    while True:
        more = {name for name, on in depends.items() if on & changed} - changed
        if not more:
            return frozenset(changed)
        changed |= more


def _differs(right: Mapping[str, Any], env: Mapping[str, Any], name: str) -> bool:
    """Whether a rule has another value; what a tap does is not compared."""
    if name in ("tap", "reads"):
        return True
    a, b = right[name], env[name]
    if isinstance(a, tuple) and isinstance(b, tuple):
        return not all(map(np.array_equal, a, b))
    return not np.array_equal(a, b)
