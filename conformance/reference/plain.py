"""Base class of an oracle, for families whose outputs are computed in one call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from conformance.dtypes import DTYPES, Array
from conformance.errors import EvaluationError
from conformance.model import ALL_OPEN, Answer, Case
from conformance.reference.batches import CaseBatch
from conformance.spec.case_environment import Environment, Evaluable
from conformance.spec.case_table import Table
from conformance.spec.model import OpSpec

MAX_ELEMENTS = 1 << 24
"""No output may be larger; a case that asks for more is refused."""


class Evaluation(Environment):
    """A case with the arrays of its tensors.

    Values of elements broadcast to the first output. A family gives names that depend on the
    inputs as ``sources``.
    """

    def __init__(
        self,
        spec: OpSpec,
        case: Case,
        inputs: Iterable[Array],
        definitions: Mapping[str, Evaluable] | None = None,
        sources: Mapping[str, Callable[[Any], Any]] | None = None,
    ) -> None:
        super().__init__(spec, case, definitions)
        self.spec, self.case = spec, case
        self.inputs = tuple(inputs)[: len(spec.tensors)]
        self.worked_out = sources or {}

    def __missing__(self, name: str) -> Any:
        if name not in self.worked_out:
            return super().__missing__(name)
        self[name] = value = self.worked_out[name](self)
        return value


class Plain(ABC):
    """An oracle that needs :meth:`computed` and :meth:`extents` alone.

    Outputs of floating-point types are accepted where they equal what is computed, each rounded
    once; a family that allows more has :meth:`answers` and :meth:`ends` of its own. ``sources`` are
    names that are worked out of the inputs, ``depends`` says on what.
    """

    sources: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    depends: Mapping[str, tuple[str, ...]] = {}

    @abstractmethod
    def extents(self, env: Evaluation) -> tuple[int, ...]:
        """The shape of the outputs."""

    @abstractmethod
    def computed(self, env: Evaluation) -> list[Array]:
        """The exact values of each output: integers, or float64."""

    def environment(
        self,
        spec: OpSpec,
        case: Case,
        inputs: Sequence[Array],
        definitions: Mapping[str, Evaluable],
    ) -> Evaluation:
        return Evaluation(spec, case, inputs, definitions, self.sources)

    def case_environment(self, spec: OpSpec, case: Case) -> Environment:
        return Environment(spec, case)

    def batch(self, table: Table) -> CaseBatch:
        return CaseBatch(table)

    def shape(self, env: Evaluation) -> tuple[int, ...]:
        found = self.extents(env)
        if any(one < 0 for one in found) or np.prod(found, dtype=float) > MAX_ELEMENTS:
            raise EvaluationError(f"an output of shape {found} cannot be computed")
        return found

    def is_whole(self, _spec: OpSpec, _case: Case) -> bool:
        return False

    def too_large(
        self, _env: Evaluation, _right: Evaluation, _shapes: Collection[tuple[int, ...]]
    ) -> tuple[int, ...] | None:
        return None

    def outputs(self, env: Evaluation, spec: OpSpec, *, dtype: str | None = None) -> list[Array]:
        self.shape(env)  # refuses what is too large before it is worked out
        with np.errstate(all="ignore"):
            return [
                values.astype(DTYPES[dtype if dtype and DTYPES[own].is_float else own].numpy)
                for own, values in zip(self._types(env, spec), self.computed(env), strict=True)
            ]

    def remembered(
        self, env: Evaluation, spec: OpSpec, _kept: dict[Any, list[Array]]
    ) -> list[Array]:
        return self.outputs(env, spec)

    def answers(self, env: Evaluation, spec: OpSpec) -> tuple[Answer, ...]:
        exact, own = self.outputs(env, spec, dtype="f64"), self.outputs(env, spec)
        mask = self._open(env) * ALL_OPEN
        bits = mask.astype(np.uint8) if mask.any() else None
        return tuple(
            Answer(output.name, dtype, expected, open=bits)
            if not DTYPES[dtype].is_float
            else Answer(output.name, dtype, expected, rounded, rounded, rounded, open=bits)
            for output, dtype, expected, rounded in zip(
                spec.outputs, self._types(env, spec), exact, own, strict=True
            )
        )

    def ends(self, env: Evaluation, spec: OpSpec, precision: str) -> list[Array]:
        found: list[Array] = []
        for answer in self.answers(env, spec):
            exact = answer.rounded is None
            found += (answer.expected,) * 2 if exact else answer.interval(precision)
        return found

    def unspecified(
        self,
        env: Evaluation,
        spec: OpSpec,
        precision: str | None = None,  # noqa: ARG002 - nothing overflows here
    ) -> list[Array]:
        return [self._open(env)] * len(spec.outputs)

    def _open(self, env: Evaluation) -> Array:
        known = "open" in env.definitions
        return np.broadcast_to(
            np.asarray(env["open"] if known else False, np.bool_), self.shape(env)
        )

    @staticmethod
    def _types(env: Evaluation, spec: OpSpec) -> list[str]:
        return [str(env[output.type.replace("-", "_")]) for output in spec.outputs]
