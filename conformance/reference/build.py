"""Builds a vector from a case: data, expected outputs, interpretations, a description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.dtypes import Array
from conformance.model import Case, Vector
from conformance.reference import facts
from conformance.reference.readings import readings
from conformance.reference.values import data_of, operands_of
from conformance.spec.model import OpSpec

SOURCE = "generated"


def build(spec: OpSpec, case: Case, level: str = "must", *, interpretations: bool = True) -> Vector:
    """The vector of a case; a negative test (``case.reject``) has no answers.

    Without ``interpretations`` there are no answers but the specification's own, which takes half
    the time and is enough for outputs that are these.
    """
    data = data_of(spec, case)
    inputs = (*data, *operands_of(spec, case))
    if case.reject is not None:
        why = next(entry.why for entry in spec.reject if entry.name == case.reject)
        text = f"{describe(spec, case)} must be rejected: {why}"
        return Vector(case.id, case, level, (), text, SOURCE, inputs, ())
    env = facts(spec, case, data)
    base = spec.kin.oracle.answers(env, spec)
    return Vector(
        id=case.id,
        case=case,
        level=level,
        edges=_edges(spec, env),
        description=describe(spec, case) + ".",
        source=SOURCE,
        inputs=inputs,
        answers=base,
        readings=readings(spec, env, base) if interpretations else {},
    )


def edges_of(spec: OpSpec, case: Case, data: Sequence[Array]) -> tuple[str, ...]:
    """The coverage targets that hold for a valid case, in the order of the specification."""
    return _edges(spec, facts(spec, case, data))


def _edges(spec: OpSpec, env: Any) -> tuple[str, ...]:
    return tuple(edge.name for edge in spec.edges if edge.when.evaluate(env))


def describe(spec: OpSpec, case: Case) -> str:
    """A case in one line, as a statement of fact."""
    shapes = ["x".join(map(str, case.shapes[tensor.name])) for tensor in spec.tensors]
    dtype = case.types[spec.data.type]
    parts = [f"{case.op} of {dtype} {' and '.join(shapes)} ({case.pattern})"]
    for name, value in {**case.operands, **case.attributes}.items():
        if isinstance(value, list | tuple):
            parts.append(f"{name} {','.join(map(str, value)) or 'empty'}")
        else:
            parts.append(f"{name} {str(value).lower() if isinstance(value, bool) else value}")
    return ", ".join(parts)
