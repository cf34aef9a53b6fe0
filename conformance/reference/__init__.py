"""The oracle: exact outputs of an operator, from its specification alone."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from conformance.dtypes import Array
from conformance.errors import InvalidCase
from conformance.model import Answer, Case
from conformance.reference.variants import definitions_of
from conformance.spec.case_environment import case_from_inputs
from conformance.spec.model import OpSpec, RuleChange
from conformance.spec.validity import violations


def evaluate(
    spec: OpSpec,
    inputs: list[Array],
    attributes: Mapping[str, Any],
    *,
    exact: bool = True,
    variants: tuple[RuleChange, ...] = (),
) -> list[Array]:
    """The outputs of an operator for some inputs.

    With ``exact`` floating outputs are float64, rounded once from the exact result; otherwise
    they have the operator's own type, rounded once too. Integers and indices have their own type.

    Raises :class:`~conformance.errors.InvalidCase` for inputs or attributes that the
    specification does not allow.
    """
    arrays = [np.asarray(array) for array in inputs]
    case = case_from_inputs(spec, arrays, attributes)
    broken = violations(spec, case)
    if broken:
        text = "; ".join(violation.message for violation in broken)
        raise InvalidCase(f"{spec.op}: {text}", tuple(v.condition for v in broken))
    env = facts(spec, case, arrays, variants)
    return spec.kin.oracle.outputs(env, spec, dtype="f64" if exact else None)


def answers(
    spec: OpSpec, case: Case, inputs: Sequence[Array], variants: Iterable[RuleChange] = ()
) -> tuple[Answer, ...]:
    """What each output of a valid case must be, under the rules that ``variants`` replace.

    ``inputs`` are the arrays of its tensors, as many as the operator has; what follows them is not
    looked at.
    """
    return spec.kin.oracle.answers(facts(spec, case, inputs, variants), spec)


def facts(
    spec: OpSpec, case: Case, inputs: Sequence[Array], variants: Iterable[RuleChange] = ()
) -> Any:
    """The named values of a valid case with its inputs, as edges speak of them: an environment of
    the operator's family. ``inputs`` are those of :func:`answers`."""
    return spec.kin.oracle.environment(spec, case, inputs, definitions_of(spec, variants))


class _Callable(ModuleType):
    """The package is also the public function of its name (:func:`conformance.api.reference`).

    Python binds a package to its parent's attribute, so ``conformance.reference(...)`` reaches
    this module and never a function.
    """

    def __call__(
        self, op: str, inputs: Sequence[Array], attributes: Mapping[str, Any]
    ) -> list[Array]:
        # It is above this package, which nothing here may import.
        function: Any = importlib.import_module("conformance.api").reference
        return list(function(op, inputs, attributes))


sys.modules[__name__].__class__ = _Callable
