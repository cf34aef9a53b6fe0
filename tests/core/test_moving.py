"""Operators that are restated as definitions give each recorded case what their rules give it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance import specification
from conformance.core.answers import alike, specified
from conformance.core.loader import load_operator
from conformance.core.negative import broken_conditions, negative_tests
from conformance.core.operator import Operator
from conformance.dtypes import DTYPES
from conformance.errors import ConformanceError
from conformance.generate.definition_cases import draw_cases
from conformance.model import ALL_OPEN, OPEN_BIT, Answer, Vector
from conformance.reference import build as rules_build
from conformance.reference.mean_bounds import accumulator
from conformance.resources import directory
from conformance.spec import loader
from conformance.suite.recorded_cases import (
    RecordedCase,
    read_recorded_cases,
    recorded_cases_file,
)

MOVING = sorted((directory("specs") / "moving").glob("*.yaml"))
SAMPLE = 10
"""Recorded cases of an operator that are compared, spread over all small ones."""

ROUNDING = 2.0**-44
"""How much wider an interval may be, as a share: magnitudes are rounded upward in float64."""


@dataclass(frozen=True)
class Room:
    """How a definition may accept more than the rules, and why.

    Ends may be ``values`` of the type further out, or further by ``units`` unit roundoffs of the
    interval's width. With ``infinite`` the rules may leave open what is plus infinity here, with
    ``nan`` a definition what is NaN.
    """

    why: str
    values: int = 0
    units: int = 0
    infinite: bool = False
    nan: bool = False


AVERAGES = Room("a sum of magnitudes of just 2**digits units is not seen to be exact", values=1)
NORMS = Room(
    "the rules forget to round a number of taps that the type does not have, and what is flushed",
    values=2,
    units=4,
)
SIGNED_NORMS = replace(
    NORMS,
    why="the root of plus infinity is one, whatever that of minus infinity is; with an odd power "
    "a sum that may overflow is open, though NaN is among what is added",
    infinite=True,
    nan=True,
)
ROOMS = {
    **dict.fromkeys(("AdaptiveAvgPool-8", "torch.adaptive_avg_pool-2"), AVERAGES),
    **dict.fromkeys((f"onnx.LpPool-{version}" for version in (2, 11, 18, 22)), NORMS),
    "torch.lp_pool-2": SIGNED_NORMS,
}
"""Operators that accept more under their definition than under their rules."""
NO_ROOM = Room("")


@cache
def definition(path: Path) -> Operator:
    return load_operator(str(path))


@cache
def recorded(op: str) -> tuple[RecordedCase, ...]:
    return read_recorded_cases(recorded_cases_file(op)).recorded


def sample(path: Path, wanted: Callable[[RecordedCase], bool]) -> Sequence[RecordedCase]:
    entries = [entry for entry in recorded(path.stem) if wanted(entry)]
    small = [entry for entry in entries if not entry.is_large]
    return small[:: max(1, len(small) // SAMPLE)]


@pytest.mark.parametrize("path", MOVING, ids=lambda path: path.stem)
def test_values_and_interpretations_are_those_of_the_rules(path: Path) -> None:
    rules, cases = loader.find_spec(path.stem), dict[str, list[str]]()
    for entry in sample(path, lambda entry: entry.case.reject is None):
        vector = rules_build.build(rules, entry.case, entry.level)
        for difference in differences(definition(path), vector):
            cases.setdefault(difference, []).append(vector.id)
    lines = [f"{what}: {len(ids)} cases, as {' '.join(ids[:3])}" for what, ids in cases.items()]
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("path", MOVING, ids=lambda path: path.stem)
def test_negative_tests_keep_their_names_and_levels(path: Path) -> None:
    operator = definition(path)
    for entry in sample(path, lambda entry: entry.case.reject is not None):
        vector = specification.build(operator, entry.case, entry.level)
        assert vector.id == entry.case.id
        assert specification.definition_problem(operator, entry.case) == ""
        broken = specification.broken_conditions(operator, entry.case)
        assert broken == {v.condition for v in specification.violations(operator, entry.case)}
        assert len(broken) == 1, (vector.id, broken)
        assert specification.level_of(operator, entry.case) == entry.level, (vector.id, broken)


STATED = {
    "kernel.required",
    "kernel_shape.required",
    "kernel_size.required",
    "norm_type.required",
    "storage_order.max",
    "storage_order.min",
    "strides.required",
}
"""Conditions that documents state, and of which rules have no negative test."""


@pytest.mark.parametrize("path", MOVING, ids=lambda path: path.stem)
def test_negative_tests_that_rules_have_not_are_of_what_documents_state(path: Path) -> None:
    operator = definition(path)
    tests = negative_tests(operator, draw_cases(operator, 60, seed=2))
    rejecting = [entry.case for entry in recorded(path.stem) if entry.case.reject is not None]
    known = {name for case in rejecting for name in broken_conditions(operator, case)}
    assert {str(test.case.reject) for test in tests} <= known | STATED


@pytest.mark.parametrize("path", MOVING, ids=lambda path: path.stem)
def test_profiles_hold_for_the_same_cases(path: Path) -> None:
    operator, rules = definition(path), loader.find_spec(path.stem)
    assert [p.name for p in operator.profiles] == [p.name for p in rules.profiles]
    conditions = [
        [specification.condition_of(spec, p.when) for p in specification.profiles_of(spec)]
        for spec in (operator, rules)
    ]
    for entry in sample(path, lambda entry: entry.case.reject is None):
        ours, theirs = ([c.holds(entry.case) for c in each] for each in conditions)
        assert ours == theirs, entry.case.id


def differences(operator: Operator, vector: Vector) -> Iterator[str]:
    """Say how a definition departs from the vector of the rules; narrower intervals do not."""
    room = ROOMS.get(operator.op, NO_ROOM)
    try:
        built = specification.build(operator, vector.case, vector.level)
    except ConformanceError as error:
        yield f"no value: {error}"
        return
    for name, ours, theirs in zip(vector.names, built.inputs, vector.inputs, strict=True):
        if not _same(theirs, ours, np.zeros(theirs.shape, np.bool_)):
            yield f"{name}: input"
    yield from _of_outputs("", vector.answers, built.answers, room)
    under, wanted = built.readings, _changing(vector)
    for name in sorted(under.keys() - wanted.keys()):
        plain = wanted.get(_without_habits(operator, name), vector.answers)
        if any(_of_outputs("", plain, under[name], room)):
            yield f"{name}: only the definition"
    for name in sorted(wanted.keys() - under.keys()):
        # A habit of which it is shown that it changes nothing here is left out.
        plain = under.get(_without_habits(operator, name), built.answers)
        if any(_of_outputs("", wanted[name], plain, room)):
            yield f"{name}: only the rules"
    for name in wanted.keys() & under.keys():
        yield from _of_outputs(f"{name}: ", wanted[name], under[name], room)


def _changing(vector: Vector) -> dict[str, tuple[Answer, ...]]:
    """The interpretations that change an element which has a value, and no smaller one does alike.

    Rules have those besides that only change what unspecified elements hold.
    """
    kept: dict[str, tuple[Answer, ...]] = {}
    for name, outputs in vector.readings.items():
        smaller = kept.values() if "+" in name else ()
        if not any(alike(outputs, other) for other in (vector.answers, *smaller)):
            kept[name] = outputs
    return kept


def _without_habits(operator: Operator, name: str) -> str:
    habits = {entry.name for entry in operator.interpretations if entry.habit}
    return "+".join(part for part in name.split("+") if part not in habits)


def _of_outputs(
    before: str, old: Sequence[Answer], new: Sequence[Answer], room: Room
) -> Iterator[str]:
    assert len(old) == len(new)
    for rules, output in zip(old, new, strict=True):
        for what in _of_output(specified(rules), specified(output), room):
            yield f"{before}{rules.name}: {what}"


def _of_output(old: Answer, new: Answer, room: Room) -> Iterator[str]:
    if (old.name, old.dtype) != (new.name, new.dtype):
        yield f"is {new.name} of {new.dtype}"
    if old.expected.shape != new.expected.shape:
        yield "shape"
        return
    nowhere = _mask(old) == ALL_OPEN
    infinite = nowhere & np.isposinf(new.expected.astype(np.float64)) & room.infinite
    if not np.array_equal(nowhere & ~infinite, _mask(new) == ALL_OPEN):
        yield "unspecified"
    for name in ("expected", "rounded", "choices"):
        if not _same(getattr(old, name), getattr(new, name), nowhere):
            yield name
    if old.rounded is not None:
        for precision in ("standard", "native"):
            if _is_wider(old, new, precision, room):
                yield f"wider at {precision}"


def _mask(output: Answer) -> Any:
    return np.zeros(output.expected.shape, np.uint8) if output.open is None else output.open


def _same(old: np.ndarray | None, new: np.ndarray | None, nowhere: np.ndarray) -> bool:
    """Whether values are equal, down to the sign of zero, where there are any."""
    if old is None or new is None:
        return old is new
    if old.shape != new.shape or old.dtype != new.dtype:
        return False
    if old.shape != nowhere.shape:
        return np.array_equal(old, new)
    old, new = old[~nowhere], new[~nowhere]
    if old.dtype.kind in "iu":
        return np.array_equal(old, new)
    old, new = old.astype(np.float64), new.astype(np.float64)
    numbers = ~np.isnan(old)
    signs = np.array_equal(np.signbit(old[numbers]), np.signbit(new[numbers]))
    return signs and np.array_equal(old, new, equal_nan=True)


def _is_wider(old: Answer, new: Answer, precision: str, room: Room) -> bool:
    """Whether a definition accepts what the rules refuse, and no room is left for that."""
    checked = (_mask(old) & OPEN_BIT[precision]) == 0
    opened = checked & ((_mask(new) & OPEN_BIT[precision]) != 0)
    if (opened & ~(np.isnan(old.expected) & room.nan)).any():
        return True
    dtype = DTYPES[old.dtype]
    low, high = (end.astype(dtype.numpy)[checked & ~opened] for end in old.interval(precision))
    lower, higher = (end.astype(np.float64)[checked & ~opened] for end in new.interval(precision))
    if not np.array_equal(np.isnan(low), np.isnan(lower)):
        return True
    share = max(ROUNDING, room.units * 2.0 ** -accumulator(dtype, precision).digits)
    with np.errstate(invalid="ignore"):
        least, most = (
            dtype.from_ordinals(dtype.ordinals(end) + step * room.values).astype(np.float64)
            for end, step in ((low, -1), (high, 1))
        )
        low, high = low.astype(np.float64), high.astype(np.float64)
        width = np.nan_to_num((high - low) * share, posinf=0.0)
        wider = (lower < np.minimum(least, low - width)) | (higher > np.maximum(most, high + width))
    return bool(wider.any())
