"""Negative tests: valid cases with exactly one condition violated."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

from conformance.audit.partitions import base_type, cases_within, partitions_of_rank
from conformance.errors import Problem, SpecError
from conformance.generate.pool import draw, text_of
from conformance.model import Case
from conformance.spec.case_environment import Environment, dimensions, shapes_of
from conformance.spec.default_attributes import with_defaults, without_forbidden_defaults
from conformance.spec.expressions import Expression
from conformance.spec.model import DrawBounds, NegativeTest, OpSpec
from conformance.spec.validity import violations

TRIES = 24
"""How many valid cases are drawn to start from, at most; the smallest that serves is kept."""


def reject_cases(spec: OpSpec, *, root: int, known: Sequence[Case] = ()) -> list[tuple[Case, str]]:
    """Each must-reject entry of a specification on each of its ranks, with its level.

    One starts from a case that is drawn as the entry says; more from ``known`` valid cases, so that
    each profile in which the entry can break its condition has one that starts within it.
    Raises :class:`~conformance.errors.SpecError` where an entry cannot break its condition, or
    breaks others too.
    """
    found = []
    starts = {rank: _Starts(spec, rank, known) for rank in spec.ranks}
    for entry, rank, start in _drawn_starts(spec, root=root):
        if isinstance(start, Problem):
            raise SpecError((start,))
        chosen = [start, *(starts[rank].more(entry, start) if rank in starts else ())]
        found += [(_broken(spec, entry, one), entry.level) for one in chosen]
    return list(_asked_once(found))


def unbroken(spec: OpSpec, *, root: int) -> Iterator[Problem]:
    """A problem for each must-reject entry that cannot break its condition alone on some rank."""
    noted = set()
    for entry, rank, start in _drawn_starts(spec, root=root):
        legal = entry.rank is not None or rank in spec.ranks  # of others the text says enough
        if isinstance(start, Problem) and legal and entry.name not in noted:
            noted.add(entry.name)
            yield start


def _drawn_starts(spec: OpSpec, *, root: int) -> Iterator[tuple[NegativeTest, int, Case | Problem]]:
    """Each must-reject entry on each of its ranks, with the valid case that it starts from, or why
    there is none."""
    plain = {
        spec.data.type: DrawBounds(values=(base_type(spec),)),
        "pattern": DrawBounds(values=(spec.kin.patterns[0],)),
    }
    # Most entries have the same aim.
    drawn_before: dict[tuple[int, str], list[Case]] = {}
    for entry in spec.reject:
        aim = {**plain, **entry.aim}
        for rank in [entry.rank] if entry.rank else entry.ranks or spec.ranks:
            key = rank, text_of(aim)
            if key not in drawn_before:
                drawn = draw(spec, rank, TRIES, root=root, aim=aim)
                drawn_before[key] = sorted(drawn, key=_size)
            seen: set[tuple[str, ...]] = set()
            start = _start(spec, entry, drawn_before[key], seen)
            yield entry, rank, start or _cannot(spec, entry, rank, seen)


def _cannot(
    spec: OpSpec, entry: NegativeTest, rank: int, seen: Collection[tuple[str, ...]]
) -> Problem:
    """``seen`` is what the cases break that are made of valid ones."""
    ways = sorted({f"'{name}'" for names in seen for name in names} - {f"'{entry.breaks}'"})
    breaks = f"cases also break {', '.join(ways)}" if ways else "no case breaks it"
    message = f"'{entry.name}' should break only '{entry.breaks}' at rank {rank}, but {breaks}"
    hint = "narrow the valid case with 'aim', or correct 'breaks' or that condition"
    file, line, column = spec.positions.get(("reject", entry.name), (spec.file, 1, 1))
    if file == spec.file:
        return Problem(file, line, column, message, hint=hint)
    return Problem(
        *_reason_here(spec, entry),
        f"{message}: it is inherited from {file}:{line}",
        hint=f"if it is legal here, remove it: '{entry.name}:' without a value under 'reject'; "
        "otherwise give it another 'set' there",
    )


def _reason_here(spec: OpSpec, entry: NegativeTest) -> tuple[str, int, int]:
    """The place in the file itself that changes what an inherited entry breaks, as far as it can be
    seen: the condition or the attribute, or else the line that inherits."""
    name = entry.breaks.partition(".")[0]
    attributes = [one.name for one in spec.attributes if name in (one.key, one.whole)]
    places = [("require", name), *(("attributes", one) for one in attributes), ("extends",)]
    found = (spec.positions.get(place, ("", 1, 1)) for place in places)
    return next((one for one in found if one[0] == spec.file), (spec.file, 1, 1))


def _asked_once(found: Sequence[tuple[Case, str]]) -> Iterator[tuple[Case, str]]:
    """Without those that ask what another does: an entry may give all that two cases differ in, and
    two entries may break the same case alike. Each entry keeps its first."""
    asked, entries = set(), set()
    firsts = []
    for case, _ in found:
        rank = len(next(iter(case.shapes.values())))
        firsts.append((case.reject, rank) not in entries)
        entries.add((case.reject, rank))
        if firsts[-1]:
            asked.add(replace(case, reject=None).id)
    for (case, level), first in zip(found, firsts, strict=True):
        question = replace(case, reject=None).id
        if first or question not in asked:
            asked.add(question)
            yield case, level


class _Starts:
    """Known valid cases of one rank, in the plainest data, by the profiles that they belong to."""

    def __init__(self, spec: OpSpec, rank: int, known: Sequence[Case]) -> None:
        self.spec = spec
        self._parts = [part for part in partitions_of_rank(spec, rank) if part.profile]
        plain = {spec.data.type: base_type(spec)}
        found = {
            one.id: one
            for case in sorted(known, key=_size)
            if spec.rank_of(case) == rank and not case.reject
            for one in [replace(case, types={**case.types, **plain}, pattern=spec.patterns[0])]
        }
        self._inside = {
            part: list(compress(found.values(), cases_within(spec, part, list(found.values()))))
            for part in self._parts
        }

    def more(self, entry: NegativeTest, first: Case) -> Iterator[Case]:
        """Few more that an entry breaks as it says, of the profiles which ``first`` is not of."""
        chosen = [first]
        for part in self._parts:
            if not cases_within(self.spec, part, chosen).any():
                start = _start(self.spec, entry, self._inside[part][:TRIES], set())
                if start is not None:
                    chosen.append(start)
                    yield start


def _start(
    spec: OpSpec, entry: NegativeTest, smallest_first: Sequence[Case], seen: set[tuple[str, ...]]
) -> Case | None:
    """The first of some valid cases that an entry breaks as it says; ``seen`` takes what others
    break."""
    for valid in smallest_first:
        if breaking(spec, entry, valid, seen) is not None:
            return valid
    return None


def breaking(
    spec: OpSpec, entry: NegativeTest, valid: Case, seen: set[tuple[str, ...]] | None = None
) -> Case | None:
    """The negative test that an entry makes of a valid case; None where it breaks another condition
    than the entry says, or several, which ``seen`` takes."""
    if not _may_start(spec, entry, valid):
        return None
    case = _broken(spec, entry, valid)
    conditions = tuple(violation.condition for violation in violations(spec, case))
    if conditions == (entry.breaks,):
        return case
    if seen is not None:
        seen.add(conditions)
    return None


def _size(case: Case) -> tuple[int, str]:
    return sum(map(sum, case.shapes.values())), case.id


def _may_start(spec: OpSpec, entry: NegativeTest, valid: Case) -> bool:
    """Whether an entry starts from such cases, and a list whose length it changes may be given."""
    if entry.within and not entry.within.evaluate(_known(spec, valid)):
        return False
    values = with_defaults(spec, valid)
    return all(q.may_be_given(values) for q in spec.attributes if q.whole in entry.length)


def _known(spec: OpSpec, case: Case) -> Environment:
    return spec.kin.oracle.case_environment(spec, case)


def _broken(spec: OpSpec, entry: NegativeTest, valid: Case) -> Case:
    env = _known(spec, valid)
    case = replace(valid, reject=entry.name)
    for key, value in entry.set.items():
        new = value.evaluate(env) if isinstance(value, Expression) else value
        case = _set(spec, case, key, new)
    for key, length in entry.length.items():
        case = _resize(spec, case, key, length.evaluate(env))
    # What is set may forbid that another default is given.
    return without_forbidden_defaults(spec, case)


def _set(spec: OpSpec, case: Case, key: str, value: Any) -> Case:
    """The case with another value of a quantity: on the last axis alone if it has one an axis."""

    def changed(old: Any) -> list[int]:
        entry = value[-1] if isinstance(value, tuple) else value
        return [*old[:-1], entry]

    if key not in spec.quantities:  # a dimension of one tensor alone
        name, _, dim = key.partition(".")
        tensor = next(one for one in spec.others if one.name == name)
        place, shape = tensor.shape.index(dim), case.shapes[name]
        changed_there = (*shape[:place], value, *shape[place + 1 :])
        return replace(case, shapes={**case.shapes, name: changed_there})
    quantity = spec.quantities[key]
    axes = spec.axes_of(case)
    for attribute in spec.attributes:
        if attribute.key == key:
            new = changed(attribute.of(case.attributes, axes)) if quantity.per_axis else value
            return replace(case, attributes=attribute.put(case.attributes, new))
    for operand in spec.operands:
        if operand.quantity.key == key:
            new = tuple(changed(case.operands[operand.name]))
            return replace(case, operands={**case.operands, operand.name: new})
    dims = dimensions(spec, case.shapes)
    dims[key] = changed(dims[key]) if quantity.per_axis else value
    return replace(case, shapes=shapes_of(spec, dims))


def _resize(spec: OpSpec, case: Case, key: str, length: Any) -> Case:
    def resized(old: Any) -> list[int]:
        return [*old, *([old[-1]] * length)][:length]

    axes = spec.axes_of(case)
    parts = [attribute for attribute in spec.attributes if attribute.whole == key]
    if parts:
        old = [entry for part in parts for entry in part.of(case.attributes, axes)]
        attributes = {**case.attributes, parts[0].name: resized(old)}
        return replace(case, attributes=attributes)
    name = next(o.name for o in spec.operands if o.quantity.key == key)
    return replace(case, operands={**case.operands, name: tuple(resized(case.operands[name]))})
