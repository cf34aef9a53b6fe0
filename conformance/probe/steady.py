"""Asks again: in the same process, without the other inputs, in another one, with other threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from conformance.probe.asking import Answered, ask
from conformance.probe.statements import CONSISTENT, DECIDED, Shown, Statement
from conformance.run.environment import usable_cores
from conformance.run.pipeline import Pipeline
from conformance.threads import VARIABLES

Progress = Callable[[str, int, int], None]

Place = tuple[str, str, str]
"""Operator, element type and shape of windows."""

TIMES = 2
"""How often calls are repeated in the same process."""

REPEATED, BESIDE, ELSEWHERE = "repeated calls", "inputs beside it", "another process"
SAME, DIFFERENT = "the same results", "other results"


@dataclass(frozen=True)
class Process:
    """Another process that is asked: what is different about it, and the variables set in it."""

    about: str
    variables: Mapping[str, str] = field(default_factory=dict)


def processes() -> tuple[Process, ...]:
    """The further processes: one like the first, and two with other numbers of threads."""
    many = 2 * (usable_cores() or os.cpu_count() or 1)
    return (
        Process(ELSEWHERE),
        Process("with 1 thread", dict.fromkeys(VARIABLES, "1")),
        Process(f"with {many} threads", dict.fromkeys(VARIABLES, str(many))),
    )


def is_about_repeats(name: str) -> bool:
    """Whether a property is one of those that only asking again shows."""
    return name in (REPEATED, BESIDE, ELSEWHERE) or name.startswith("with ")


def chosen(seen: Sequence[Answered]) -> list[Answered]:
    """The calls that are asked again: of each operator, type and shape a middle size and the
    largest.
    """
    found: dict[Place, list[Answered]] = {}
    for one in seen:
        call = one.call
        found.setdefault((call.spec.op, call.dtype, call.form.window), []).append(one)
    kept = []
    for group in found.values():
        ordered = sorted(group, key=lambda one: one.call.form.elements)
        kept += list(dict.fromkeys((ordered[len(ordered) // 2], ordered[-1])))
    return kept


def same_process(
    pipeline: Pipeline, seen: Sequence[Answered], progress: Progress
) -> list[Statement]:
    """What repeats in the same process show, and inputs without others beside them."""
    progress("the same calls again", 0, 1)
    again = [one for _ in range(TIMES) for one in ask(pipeline, [old.call for old in seen])]
    repeated = list(_told(REPEATED, [*seen] * TIMES, again))
    alone: dict[Place, list[tuple[Answered, tuple[Shown, ...]]]] = {}
    for old, one in zip(seen, ask(pipeline, [old.call.alone(0) for old in seen]), strict=True):
        assert old.results is not None
        same = one.results is not None and (one.results == old.results[0]).all()
        alone.setdefault(_key(old), []).append((old, () if same else ((old.call.id, 0),)))
    return repeated + _statements(BESIDE, alone)


def elsewhere(pipeline: Pipeline, seen: Sequence[Answered], process: Process) -> list[Statement]:
    """What the same calls in another process show."""
    again = list(ask(pipeline, [old.call for old in seen]))
    return list(_told(process.about, seen, again))


def _told(name: str, seen: Sequence[Answered], again: Sequence[Answered]) -> list[Statement]:
    found: dict[Place, list[tuple[Answered, tuple[Shown, ...]]]] = {}
    for old, new in zip(seen, again, strict=True):
        assert old.results is not None
        if new.results is None:
            shown: tuple[Shown, ...] = ((old.call.id, 0),)
        else:
            places = np.flatnonzero(old.results != new.results).tolist()
            shown = tuple((old.call.id, place) for place in places)
        found.setdefault(_key(old), []).append((old, shown))
    return _statements(name, found)


def _statements(
    name: str, found: Mapping[Place, Iterable[tuple[Answered, tuple[Shown, ...]]]]
) -> list[Statement]:
    said = []
    for (op, dtype, window), pairs in found.items():
        shown = tuple(dict.fromkeys(one for _, places in pairs for one in places))
        sizes = tuple(sorted({old.call.form.elements for old, _ in pairs}))
        said.append(
            Statement(
                op,
                dtype,
                window,
                property=name,
                sizes=sizes,
                verdict=DECIDED if shown else CONSISTENT,
                values=(DIFFERENT,) if shown else (SAME,),
                contradicted=(SAME,) if shown else (),
                shown_by=shown[:MOST_SHOWN],
            )
        )
    return said


def _key(seen: Answered) -> Place:
    return seen.call.spec.op, seen.call.dtype, seen.call.form.window


MOST_SHOWN = 6
"""Results that differ and are listed, at most."""
