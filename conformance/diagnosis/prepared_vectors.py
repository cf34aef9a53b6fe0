"""Vectors of one operator, read and prepared once for all searches among their failures."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from conformance.core.operator import Operator
from conformance.diagnosis.agreement import is_small
from conformance.implementations import EvaluatedCase, subject_of
from conformance.model import Vector

CACHED_VECTORS = 4_096
"""Vectors that are kept in memory."""

Shapes = frozenset[tuple[int, ...]]


class PreparedVectors:
    """Vectors by id, and the oracle on them, which keeps what it has evaluated."""

    def __init__(self, spec: Operator, read: Callable[[str], Vector]) -> None:
        self._spec = spec
        self.read = lru_cache(CACHED_VECTORS)(read)
        self._subjects: dict[tuple[str, Shapes], EvaluatedCase[Any]] = {}

    def prepare(self, vector: Vector, shapes: Shapes) -> EvaluatedCase[Any]:
        """Return the oracle on a vector, of a small one the same each time."""
        key = vector.id, shapes
        if key in self._subjects:
            return self._subjects[key]
        subject = subject_of(self._spec, vector.case, vector.arguments, shapes)
        if is_small(vector):
            self._subjects[key] = subject
        return subject
