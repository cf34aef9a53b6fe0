"""From specifications to the vectors of a suite: draw, select, build; in several processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace

from conformance.errors import UsageError
from conformance.generate.build import build
from conformance.generate.coverage import Candidate, candidate
from conformance.generate.pool import draw
from conformance.generate.reject import reject_cases
from conformance.generate.select import by_edge_and_dtype, cover
from conformance.generate.strategies import Aim
from conformance.model import Case, Vector
from conformance.spec.loader import find
from conformance.spec.model import Draw, OpSpec
from conformance.spec.validity import violations
from conformance.suite.manifest import Uncovered

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Effort:
    """How many cases are drawn: at large, at each edge, and at each edge still missing a dtype."""

    base: int = 1200
    aimed: int = 24
    missing: int = 40


@dataclass(frozen=True)
class Selection:
    """The vectors of one operator on one rank (0: its must-reject vectors), and what is missing."""

    vectors: tuple[Vector, ...]
    uncovered: tuple[Uncovered, ...]


@dataclass(frozen=True)
class Task:
    """One unit of work; its result depends on nothing else."""

    op: str
    rank: int
    root: int
    effort: Effort

    def run(self) -> Selection:
        spec = find(self.op)
        if self.rank == 0:
            rejected = reject_cases(spec, root=self.root)
            return Selection(tuple(build(spec, case, level) for case, level in rejected), ())
        chosen, uncovered = select(spec, self.rank, root=self.root, effort=self.effort)
        cases = [twin for one in chosen for twin in twins(spec, one.case)]
        return Selection(tuple(build(spec, case) for case in cases), uncovered)


def tasks(ops: Sequence[str], *, root: int, effort: Effort | None = None) -> list[Task]:
    """The work that a suite of these operators takes, in the order of its results."""
    effort = effort or Effort()
    return [Task(op, rank, root, effort) for op in ops for rank in (*find(op).ranks, 0)]


def run(work: Sequence[Task], *, processes: int, progress: Progress) -> Iterator[Selection]:
    """The results of all tasks in their order, whatever the number of processes.

    Raises UsageError if a process ends before its work is done.
    """
    if processes <= 1:
        for number, task in enumerate(work):
            progress(_label(task), number, len(work))
            yield task.run()
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        processes, mp_context=context, initializer=_leave_interrupts
    ) as executor:
        futures = [executor.submit(task.run) for task in work]
        try:
            for number, (task, future) in enumerate(zip(work, futures, strict=True)):
                progress(_label(task), number, len(work))
                yield future.result()
        except BrokenProcessPool as error:
            raise UsageError(
                f"a process ended while it worked on {_label(task)}",
                hint="it may have run out of memory; ask for fewer processes",
            ) from error
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for process in context.active_children():
                process.terminate()
            raise


def _leave_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; the first one ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _label(task: Task) -> str:
    return f"{task.op} rank {task.rank}" if task.rank else f"{task.op} rejects"


def select(
    spec: OpSpec, rank: int, *, root: int, effort: Effort
) -> tuple[list[Candidate], tuple[Uncovered, ...]]:
    """Few cases of one rank that show every edge in every element type, and what none shows."""
    pool: dict[str, Candidate] = {}
    shown: set[Hashable] = set()

    def add(count: int, aim: Aim | None) -> None:
        for case in draw(spec, rank, count, root=root, aim=aim):
            if case.id not in pool and not violations(spec, case):
                pool[case.id] = candidate(spec, case)
                shown.update(by_edge_and_dtype(pool[case.id]))

    add(effort.base, None)
    for edge in spec.edges:
        if edge.aim:
            add(effort.aimed, edge.aim)
    wanted = [(dtype, edge) for edge in spec.edges for dtype in spec.types[spec.data.type]]
    for dtype, edge in wanted:
        if (dtype, edge.name) not in shown:
            add(effort.missing, {**edge.aim, spec.data.type: Draw(values=(dtype,))})
    uncovered = tuple(
        Uncovered(spec.op, rank, dtype, edge.name)
        for dtype, edge in wanted
        if (dtype, edge.name) not in shown
    )
    simplest_first = sorted(pool.values(), key=lambda one: (one.cost, one.case.id))
    return cover(simplest_first, by_edge_and_dtype, lambda one: one.cost), uncovered


def twins(spec: OpSpec, case: Case) -> list[Case]:
    """The case once for each value of the attributes whose values are all asked."""
    found = [case]
    for quantity in spec.attributes:
        if quantity.twins:
            found = [
                replace(one, attributes={**one.attributes, quantity.name: value})
                for one in found
                for value in quantity.values
            ]
    return found


def suites_of(vectors: Sequence[Vector]) -> dict[str, tuple[str, ...]]:
    """For each vector, by id, the suites it belongs to: core, and smoke for the few that together
    show each edge and each must-reject entry of each operator once."""

    def shows(vector: Vector) -> list[tuple[str, str]]:
        name = vector.case.reject
        return [(vector.case.op, name)] if name else [(vector.case.op, e) for e in vector.edges]

    smallest_first = sorted(vectors, key=lambda v: (_size(v), v.id))
    smoke = {v.id for v in cover(smallest_first, shows, lambda v: 100 + _size(v))}
    return {v.id: ("smoke", "core") if v.id in smoke else ("core",) for v in vectors}


def _size(vector: Vector) -> int:
    return sum(array.size for array in vector.inputs) + sum(a.expected.size for a in vector.answers)


def versions() -> dict[str, str]:
    """What the bytes of a suite depend on besides the specifications and the seed."""
    import platform
    import zlib

    import hypothesis
    import ml_dtypes
    import numpy as np

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "hypothesis": hypothesis.__version__,
        "ml_dtypes": ml_dtypes.__version__,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
    }
