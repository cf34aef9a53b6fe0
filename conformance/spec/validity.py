"""Which conditions of its specification a case violates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.errors import EvaluationError
from conformance.model import Case
from conformance.spec.batch import Batch
from conformance.spec.batch_values import BatchValue, Bools, code
from conformance.spec.case_environment import Environment
from conformance.spec.case_table import Table
from conformance.spec.expressions import Expression
from conformance.spec.model import OpSpec, Quantity


@dataclass(frozen=True)
class Violation:
    """A condition by name (``kernel.min``, ``rank``, a requirement's name) and how it is broken."""

    condition: str
    level: str
    message: str


def violations(spec: OpSpec, case: Case) -> tuple[Violation, ...]:
    """List every condition that ``case`` breaks, in the order of the specification.

    A requirement that cannot be judged because a quantity in it is itself broken is left out, so
    that a case with one fault has one violation.
    """
    violations: list[Violation] = [*_rank(spec, case), *_types(spec, case)]
    values = _given(spec, case)
    env = Environment(spec, case) if _readable(spec, values) else None
    broken: set[str] = set()
    for quantity in spec.quantities.values():
        problems = tuple(_quantity(quantity, values, case, spec, env))
        violations += (
            problem for problem in problems if problem not in violations
        )  # halves share their list
        if problems:
            broken.add(quantity.key)
    names = {quantity.name for quantity in spec.attributes}
    violations += [
        Violation("attributes", "must", f"{spec.op} has no attribute '{name}'")
        for name in case.attributes
        if name not in names
    ]
    if env is not None:
        violations += _requirements(spec, env, broken)
    return tuple(violations)


def valid(table: Table, batch: Batch) -> tuple[Bools, Bools]:
    """Mark the cases that break no condition, and those not settled; both (cases,).

    What is not settled is for :func:`violations` to say.
    """
    spec = table.spec
    sound = np.full(len(table), spec.layout.rank(table.axes) in spec.ranks)
    unsettled = table.odd.copy()
    for variable, allowed in spec.types.items():
        sound &= np.isin(table.columns[variable], list(map(code, allowed)))
    for key, quantity in spec.quantities.items():
        column = table.columns[key]
        if quantity.type == "enum":
            sound &= np.isin(column, list(map(code, quantity.values)))
        for bound, within in ((quantity.min, np.greater_equal), (quantity.max, np.less_equal)):
            if bound is None:
                continue
            limits, unknown = batch.evaluate(bound)
            spread = limits if isinstance(limits, tuple) else (limits,) * len(np.atleast_2d(column))
            legal = np.all(
                [within(*p) for p in zip(np.atleast_2d(column), _arrays(spread), strict=True)],
                axis=0,
            )
            # A bound without a value bounds nothing, and a default that is left out is not judged.
            default = np.all(np.atleast_2d(column) == quantity.default, axis=0)
            unsettled |= unknown | (~legal & default)
            sound &= legal | unknown | default
    for requirement in spec.require:
        holds, may = batch.truth(requirement.that)
        unsettled |= may & ~holds
        sound &= may
    return sound & ~unsettled, (sound & unsettled) | table.odd


def _arrays(entries: Iterable[BatchValue]) -> list[Any]:
    return [entry.array for entry in entries]


def _rank(spec: OpSpec, case: Case) -> Iterable[Violation]:
    rank = spec.rank_of(case)
    if rank not in spec.ranks:
        low, high = spec.data.rank
        message = f"{spec.data.name} has rank {rank}, not {low} to {high}"
        yield Violation("rank", spec.data.level, message)
        return
    yield from _shapes(spec, case)


def _shapes(spec: OpSpec, case: Case) -> Iterable[Violation]:
    """Where tensors have not the dimensions that the first one and their names ask for."""
    axes = spec.axes_of(case)
    dims: dict[str, Any] = {}
    for tensor in spec.tensors:
        shape = case.shapes[tensor.name]
        expected_rank = len(tensor.shape) + sum(
            spec.dims[name].per_axis for name in tensor.shape
        ) * (axes - 1)
        if len(shape) != expected_rank:
            message = f"{tensor.name} has rank {len(shape)}, not {expected_rank}"
            yield Violation(f"{tensor.name}.rank", tensor.level, message)
            continue
        at = 0
        for name in tensor.shape:
            count = axes if spec.dims[name].per_axis else 1
            value = shape[at : at + count]
            at += count
            if dims.setdefault(name, value) != value:
                message = f"{name} of {tensor.name} is {_listed(value)}, not {_listed(dims[name])}"
                yield Violation(f"{tensor.name}.shape", tensor.level, message)


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _types(spec: OpSpec, case: Case) -> Iterable[Violation]:
    for variable, allowed in spec.types.items():
        dtype = case.types.get(variable)
        if dtype not in allowed:
            message = f"type {variable} is {dtype}, not one of {', '.join(allowed)}"
            yield Violation(f"{variable}.values", "must", message)


def _given(spec: OpSpec, case: Case) -> dict[str, Any]:
    values: dict[str, Any] = {
        q.key: q.read(case.attributes[q.name]) for q in spec.attributes if q.name in case.attributes
    }
    bound = spec.layout.bound(case.shapes[tensor.name] for tensor in spec.tensors)
    values.update(reversed(bound or ()))
    values.update({o.quantity.key: case.operands[o.name] for o in spec.operands})
    return values


def _readable(spec: OpSpec, values: Mapping[str, Any]) -> bool:
    """Whether an environment can be made: every per-axis value is at least a list."""
    return all(
        isinstance(values[q.key], list | tuple)
        for q in spec.quantities.values()
        if q.per_axis and q.key in values
    ) and all(name in values for name in spec.dims)


def _quantity(
    quantity: Quantity,
    values: Mapping[str, Any],
    case: Case,
    spec: OpSpec,
    env: Environment | None,
) -> Iterable[Violation]:
    key = quantity.key

    def broken(broken_rule: str, message: str, quantity_name: str = quantity.whole) -> Violation:
        return Violation(f"{quantity_name}.{broken_rule}", quantity.level, message)

    if key not in values:
        if quantity.required:
            yield broken("required", f"{quantity.name} is required")
        return
    value = values[key]
    shown_value = value if quantity.half is None else case.attributes[quantity.name]
    entries = shown_value if quantity.per_axis else [shown_value]
    if not isinstance(entries, list | tuple):
        yield broken("type", f"{quantity.name} is {shown_value!r}, not a list of integers")
        return
    if not all(_typed(quantity, entry) for entry in entries):
        yield broken("type", f"{quantity.name} is {shown_value!r}, not of type {quantity.type}")
        return
    if quantity.type == "enum":
        if value not in quantity.values:
            allowed = ", ".join(quantity.values)
            yield broken("values", f"{quantity.name} is '{value}', not one of {allowed}")
        return
    axes = spec.axes_of(case)
    ends = 1 if quantity.half is None else 2
    if quantity.per_axis and len(entries) != ends * axes:
        each = "" if quantity.half is None else ", not a beginning and an end for each"
        message = f"{quantity.name} has {len(entries)} entries for {axes} spatial axes{each}"
        yield broken("length", message)
        return
    entries = value if quantity.per_axis else [value]
    for name, bound, sign in (("min", quantity.min, 1), ("max", quantity.max, -1)):
        limits = _evaluated(bound, env)
        if limits is None:
            continue
        spread = limits if isinstance(limits, tuple) else (limits,) * len(entries)
        if any(sign * entry < sign * limit for entry, limit in zip(entries, spread, strict=True)):
            side = "below" if sign > 0 else "above"
            called = quantity.name if quantity.half is None else key
            yield broken(name, f"{called} is {value}, {side} {limits}", key)


def _typed(quantity: Quantity, value: Any) -> bool:
    if quantity.type == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, bool if quantity.type == "bool" else str)


def _evaluated(bound: Expression | None, env: Environment | None) -> Any:
    if bound is None or env is None:
        return None
    try:
        return bound.evaluate(env)
    except (EvaluationError, ValueError):
        return None


def _requirements(spec: OpSpec, env: Environment, broken: set[str]) -> Iterable[Violation]:
    for requirement in spec.require:
        names = spec.reach([requirement.that])
        if names & broken or not names <= env.keys() | spec.definitions.keys():
            continue
        holds = requirement.that.evaluate(env)
        if not (all(holds) if isinstance(holds, tuple) else holds):
            yield Violation(requirement.name, requirement.level, requirement.why)
