"""A batch against the evaluation of each case alone: the same values, or not settled."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.errors import EvaluationError
from conformance.families.pooling.many import WindowBatch
from conformance.generate.pool import draw
from conformance.model import Case
from conformance.reference import facts
from conformance.reference.values import data_of
from conformance.spec.batch_values import BatchValue, Rows, code
from conformance.spec.case_table import table_of
from conformance.spec.expressions import Expression
from conformance.spec.kinds import Domain
from conformance.spec.model import OpSpec
from conformance.suite.recorded_cases import read_recorded_cases, recorded_cases_file

UNUSUAL = (-(1 << 62), -(1 << 40), -7, -1, 0, 1, 2, 9, 61, 4099, 1 << 31, 1 << 40, 1 << 61, 1 << 62)


def expressions(spec: OpSpec) -> Mapping[str, Expression]:
    """Every expression of a specification that speaks of no single tap, each text once."""
    found = [*spec.definitions.values()]
    found += [one.that for one in spec.require]
    found += [edge.when for edge in spec.edges]
    found += [one.where for one in (*spec.interpretations, *spec.observe) if one.where is not None]
    found += [e for one in spec.reject for e in one.set.values() if isinstance(e, Expression)]
    found += [e for one in spec.reject for e in one.length.values()]
    draws = [quantity.draw for quantity in spec.quantities.values()]
    draws += [drawn for edge in spec.edges for aim in edge.aims for drawn in aim.values()]
    bounds = [*draws, *spec.quantities.values()]
    found += [e for one in bounds for e in (one.min, one.max) if e is not None]
    return {e.text: e for e in found if e.kind.domain is not Domain.TAP}


def cases(spec: OpSpec, rank: int, count: int) -> list[Case]:
    """Drawn cases, must-reject ones, and for half of the count drawn ones with other numbers."""
    chance = random.Random(f"{spec.op} {rank}")
    drawn = draw(spec, rank, max(6, count // 4), root=3)
    aims = [aim for edge in spec.edges for aim in edge.aims]
    for aim in chance.sample(aims, min(len(aims), 12, count // 2)):
        drawn += draw(spec, rank, max(2, count // 48), root=3, aim=aim)
    file = recorded_cases_file(spec.op)
    known = [one.case for one in read_recorded_cases(file).recorded] if file.is_file() else []
    refused = [case for case in known if case.reject and len(case.shapes["data"]) == rank]
    chance.shuffle(drawn)
    drawn = chance.sample(refused, min(len(refused), max(1, count // 8))) + drawn
    half = drawn[: count // 2]
    return half + [changed(spec, chance.choice(drawn), chance) for _ in range(count - len(half))]


def changed(spec: OpSpec, case: Case, chance: random.Random) -> Case:
    """The case with some numbers in place of others, mostly near ones."""

    def other(value: Any) -> Any:
        if type(value) is not int or chance.random() < 0.75:
            return value
        near = (value - 1, value + 1, 0, 1, 2 * value, -value)
        return chance.choice(near if chance.random() < 0.9 else UNUSUAL)

    attributes = {
        name: [other(entry) for entry in value] if isinstance(value, list) else other(value)
        for name, value in case.attributes.items()
    }
    if attributes and chance.random() < 0.05:
        attributes.pop(chance.choice(sorted(attributes)))
    sizes = [min(abs(other(n)), 70) for n in case.shapes[spec.data.name]]
    return replace(
        case,
        attributes=attributes,
        shapes={spec.data.name: tuple(sizes)},
        operands={name: tuple(map(other, value)) for name, value in case.operands.items()},
    )


def disagreements(
    spec: OpSpec, rank: int, cases: list[Case], *, with_data: int
) -> tuple[list[str], int, int]:
    """Where a batch says something else than evaluation alone; how many values were compared, and
    how many the batch left unsettled. Data are looked at in so many of the cases."""
    batch = WindowBatch(table_of(spec, cases, rank))
    found: list[str] = []
    compared = unsettled = 0
    asked = expressions(spec)
    told = {text: batch.evaluate(one) for text, one in asked.items()}
    ends = {rows: _ends(rows, len(cases)) for rows in _all_rows(batch)}
    for place, case in enumerate(cases):
        if len(case.shapes[spec.data.name]) != rank or batch.table.odd[place]:
            continue
        data = data_of(spec, replace(case, shapes={spec.data.name: (1,) * rank}))
        if place < with_data and np.prod(case.shapes[spec.data.name]) < 1 << 12:
            data = data_of(spec, case)
        whole = data[0].shape == case.shapes[spec.data.name]
        env = facts(spec, case, data)
        for text, (value, unknown) in told.items():
            if unknown[place]:
                unsettled += 1
                continue
            ours = [_own(e, place, ends) for e in (value if isinstance(value, tuple) else (value,))]
            if not whole and any(kind != "known" for kind, _ in ours):
                continue
            compared += 1
            try:
                alone = asked[text].evaluate(env)
            except EvaluationError as error:
                found.append(f"{text}: settled, but {error} {case}")
                continue
            theirs = alone if isinstance(alone, tuple) else (alone,)
            if len(theirs) != len(ours) or not all(map(_same, ours, theirs)):
                found.append(f"{text}: {ours}, alone {theirs} {case}")
    return found, compared, unsettled


def _all_rows(batch: WindowBatch) -> Iterator[Rows]:
    yield from batch.axis_rows
    if batch.axes > 1:
        yield batch.grid


def _ends(rows: Rows, count: int) -> Any:
    return np.searchsorted(rows.case, np.arange(count + 1))


def _own(entry: BatchValue, place: int, ends: Mapping[Rows, Any]) -> tuple[str, Any]:
    """What a batch says of one case: a value, or where a truth value holds and where it may."""
    if entry.array is None:
        return "unknown", None

    def of(array: Any) -> Any:
        if np.ndim(array) == 0:
            return array
        if entry.rows is None:
            return array[place]
        begin, end = ends[entry.rows][place : place + 2]
        return array[begin:end]

    if entry.maybe is not None:
        return "between", (of(entry.array), of(entry.maybe))
    return "known", of(entry.array)


def _same(ours: tuple[str, Any], alone: Any) -> bool:
    kind, value = ours
    if isinstance(alone, str):
        return kind == "known" and int(value) == code(alone)
    if kind == "unknown":
        return True
    if kind == "between":
        holds, may = value
        some, every = np.any(alone), np.all(alone)
        return not (np.all(holds) and np.size(holds) and not every) and not (
            np.size(may) and not np.any(may) and some
        )
    plain = np.asarray(alone).ravel()
    # What a condition on the case decides is one value alone, and here one for each window.
    fits = plain.size == 1 or np.size(value) in (1, plain.size)
    return fits and bool((np.asarray(value) == plain).all())
