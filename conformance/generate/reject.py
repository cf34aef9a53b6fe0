"""Must-reject cases: a valid case with exactly one condition broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.errors import SuiteError
from conformance.generate.pool import draw, text_of
from conformance.generate.spelling import in_full
from conformance.model import Case
from conformance.reference.windows import WindowEnvironment
from conformance.spec.expressions import Expression
from conformance.spec.model import Draw, OpSpec, Reject
from conformance.spec.validity import violations

TRIES = 24
"""How many valid cases are drawn to start from; the smallest that serves is kept."""


def reject_cases(spec: OpSpec, *, root: int) -> list[tuple[Case, str]]:
    """Each must-reject entry of a specification on each of its ranks, with its level.

    Raises :class:`~conformance.errors.SuiteError` where an entry cannot break its condition, or
    breaks others too.
    """
    plain = {spec.data.type: Draw(values=("f32",)), "pattern": Draw(values=("ramp",))}
    # Most entries have the same aim.
    known: dict[tuple[int, str], list[Case]] = {}
    found = []
    for entry in spec.reject:
        aim = {**plain, **entry.aim}
        for rank in [entry.rank] if entry.rank else entry.ranks or spec.ranks:
            key = rank, text_of(aim)
            if key not in known:
                drawn = draw(spec, rank, TRIES, root=root, aim=aim)
                drawn.sort(key=lambda case: (sum(map(sum, case.shapes.values())), case.id))
                known[key] = drawn
            found.append((_reject(spec, entry, rank, known[key]), entry.level))
    return found


def _reject(spec: OpSpec, entry: Reject, rank: int, smallest_first: list[Case]) -> Case:
    """The first of some valid cases that an entry breaks as it says, broken."""
    seen: set[tuple[str, ...]] = set()
    for valid in smallest_first:
        if not _may_be_given(spec, entry, valid):
            continue
        case = _broken(spec, entry, valid)
        conditions = tuple(violation.condition for violation in violations(spec, case))
        if conditions == (entry.breaks,):
            return case
        seen.add(conditions)
    raise SuiteError(
        f"{spec.op}: reject '{entry.name}' should break only '{entry.breaks}' at rank {rank}, "
        f"but breaks {sorted(seen)}",
        hint="narrow the valid case with 'aim', or correct 'breaks'",
    )


def _may_be_given(spec: OpSpec, entry: Reject, valid: Case) -> bool:
    """Whether a list whose length an entry changes may be given in a case at all."""
    values = in_full(spec, valid)
    return all(q.may_be_given(values) for q in spec.attributes if q.whole in entry.length)


def _broken(spec: OpSpec, entry: Reject, valid: Case) -> Case:
    env = WindowEnvironment(spec, valid)
    case = replace(valid, reject=entry.name)
    for key, value in entry.set.items():
        new = value.evaluate(env) if isinstance(value, Expression) else value
        case = _set(spec, case, key, new)
    for key, length in entry.length.items():
        case = _resize(spec, case, key, length.evaluate(env))
    return case


def _set(spec: OpSpec, case: Case, key: str, value: Any) -> Case:
    """The case with another value of a quantity: on the last axis alone if it has one an axis."""

    def changed(old: Any) -> list[int]:
        entry = value[-1] if isinstance(value, tuple) else value
        return [*old[:-1], entry]

    quantity = spec.quantities[key]
    axes = len(case.shapes[spec.data.name]) - 2
    for attribute in spec.attributes:
        if attribute.key == key:
            new = changed(attribute.of(case.attributes, axes)) if quantity.per_axis else value
            return replace(case, attributes=attribute.put(case.attributes, new))
    for operand in spec.operands:
        if operand.quantity.key == key:
            new = tuple(changed(case.operands[operand.name]))
            return replace(case, operands={**case.operands, operand.name: new})
    shape = list(case.shapes[spec.data.name])
    shape[spec.data.shape.index(key)] = value
    return replace(case, shapes={**case.shapes, spec.data.name: tuple(shape)})


def _resize(spec: OpSpec, case: Case, key: str, length: Any) -> Case:
    def resized(old: Any) -> list[int]:
        return [*old, *([old[-1]] * length)][:length]

    axes = len(case.shapes[spec.data.name]) - 2
    parts = [attribute for attribute in spec.attributes if attribute.whole == key]
    if parts:
        old = [entry for part in parts for entry in part.of(case.attributes, axes)]
        attributes = {**case.attributes, parts[0].name: resized(old)}
        return replace(case, attributes=attributes)
    name = next(o.name for o in spec.operands if o.quantity.key == key)
    return replace(case, operands={**case.operands, name: tuple(resized(case.operands[name]))})
