"""Repeats calls: in the same process, without the other inputs, and in other processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from conformance.probe.probe_calls import CallKey, ProbeResponse, run_calls
from conformance.probe.statements import CONSISTENT, DECIDED, Shown, Statement
from conformance.run.environment import usable_cores
from conformance.run.pipeline import Pipeline
from conformance.threads import VARIABLES

Progress = Callable[[str, int, int], None]

TIMES = 2
"""Repetitions of a call in the same process."""

REPEATED, BESIDE, ELSEWHERE = "repeated calls", "inputs beside it", "another process"
SAME, DIFFERENT = "the same results", "other results"

MAX_DIFFERING = 6
"""Differing results that are listed with a statement."""


@dataclass(frozen=True)
class OtherProcess:
    """Another process that repeats calls: its difference, and the variables set in it."""

    about: str
    variables: Mapping[str, str] = field(default_factory=dict)


def processes() -> tuple[OtherProcess, ...]:
    """List the other processes: one like the first, two with other numbers of threads."""
    many = 2 * (usable_cores() or os.cpu_count() or 1)
    return (
        OtherProcess(ELSEWHERE),
        OtherProcess("with 1 thread", dict.fromkeys(VARIABLES, "1")),
        OtherProcess(f"with {many} threads", dict.fromkeys(VARIABLES, str(many))),
    )


def is_about_repeats(name: str) -> bool:
    """Return whether only repeated calls show a property."""
    return name in (REPEATED, BESIDE, ELSEWHERE) or name.startswith("with ")


def by_key(responses: Iterable[ProbeResponse]) -> dict[CallKey, list[ProbeResponse]]:
    """Group responses by operator, element type and shape of windows."""
    groups: dict[CallKey, list[ProbeResponse]] = {}
    for response in responses:
        groups.setdefault(response.call.key, []).append(response)
    return groups


def calls_to_repeat(responses: Sequence[ProbeResponse]) -> list[ProbeResponse]:
    """Choose calls of a middle size and of the largest, for each key."""
    chosen: list[ProbeResponse] = []
    for group in by_key(responses).values():
        ordered = sorted(group, key=lambda response: response.call.form.elements)
        chosen += dict.fromkeys((ordered[len(ordered) // 2], ordered[-1]))
    return chosen


def repeat_here(
    pipeline: Pipeline, responses: Sequence[ProbeResponse], progress: Progress
) -> list[Statement]:
    """Repeat calls in the same process, and inputs without others beside them."""
    progress("the same calls again", 0, 1)
    calls = [response.call for response in responses]
    again = [repeated for _ in range(TIMES) for repeated in run_calls(pipeline, calls)]
    pairs: list[tuple[ProbeResponse, tuple[Shown, ...]]] = []
    singles = run_calls(pipeline, [call.alone(0) for call in calls])
    for old, single in zip(responses, singles, strict=True):
        assert old.results is not None
        same = single.results is not None and (single.results == old.results[0]).all()
        pairs.append((old, () if same else ((old.call.id, 0),)))
    return _compared(REPEATED, [*responses] * TIMES, again) + _statements(BESIDE, pairs)


def repeat_elsewhere(
    pipeline: Pipeline, responses: Sequence[ProbeResponse], process: OtherProcess
) -> list[Statement]:
    """Repeat calls in another process."""
    again = list(run_calls(pipeline, [response.call for response in responses]))
    return _compared(process.about, responses, again)


def _compared(
    name: str, before: Sequence[ProbeResponse], after: Sequence[ProbeResponse]
) -> list[Statement]:
    pairs: list[tuple[ProbeResponse, tuple[Shown, ...]]] = []
    for old, new in zip(before, after, strict=True):
        assert old.results is not None
        numbers = (
            [0] if new.results is None else np.flatnonzero(old.results != new.results).tolist()
        )
        pairs.append((old, tuple((old.call.id, number) for number in numbers)))
    return _statements(name, pairs)


def _statements(
    name: str, pairs: Iterable[tuple[ProbeResponse, tuple[Shown, ...]]]
) -> list[Statement]:
    """Make a statement for each key of responses with their differing results."""
    sizes: dict[CallKey, set[int]] = {}
    differing: dict[CallKey, dict[Shown, None]] = {}
    for response, results in pairs:
        key = response.call.key
        sizes.setdefault(key, set()).add(response.call.form.elements)
        differing.setdefault(key, {}).update(dict.fromkeys(results))
    return [
        Statement(
            *key,
            property=name,
            sizes=tuple(sorted(sizes[key])),
            verdict=DECIDED if results else CONSISTENT,
            values=(DIFFERENT,) if results else (SAME,),
            contradicted=(SAME,) if results else (),
            shown_by=tuple(results)[:MAX_DIFFERING],
        )
        for key, results in differing.items()
    ]
