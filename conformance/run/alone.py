"""Asks a backend in a fresh process for what failed: a reproducer must not need earlier calls."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from time import monotonic

from conformance.errors import BackendError
from conformance.model import FAILED, Finding, Result
from conformance.run.executor import Executor
from conformance.run.single import Examiner
from conformance.suite.entries import Entry
from conformance.suite.store import Suite

KINDS = frozenset({"value", "index", "shape", "dtype", "outputs", "raised"})
"""Failures that are asked for again; the others ended a process."""

OPERATORS, EACH = 4, 8
"""Operators that get a fresh process, and findings of each that are asked for there."""

EARLIER = 300
"""Calls before a failure among which those that lead to it are looked for."""

PATIENCE = 60.0
"""Seconds after which no further process is started."""


@dataclass(frozen=True)
class Fresh:
    """Fresh processes of the backend of a run, as ``start`` makes them (None: it can make none).

    ``examiner`` judged the run of ``suite``, whose entries ``asked`` are in the order of the calls.
    """

    start: Callable[[], Executor | None]
    examiner: Examiner
    suite: Suite
    asked: Sequence[Entry]

    def confirmed(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings, those that do not fail in a fresh process with what leads to them."""
        told = list(findings)
        tried = [one for one in told if one.kind in KINDS and one.reproduce]
        by_operator = groupby(sorted(tried, key=lambda one: one.op), lambda one: one.op)
        end = monotonic() + PATIENCE
        passing: set[tuple[str, str]] = set()
        for number, (op, own) in enumerate(by_operator):
            if number == OPERATORS or monotonic() > end:
                break
            ids = [one.smallest for one in own][:EACH]
            with suppress(BackendError):  # one that cannot be loaded twice shows nothing here
                verdicts = self._ask([self._entry(op, vector) for vector in ids])
                passing.update((one.op, one.id) for one in verdicts if one.status not in FAILED)
        for finding in told:
            key = finding.op, finding.smallest
            yield self._dependent(finding, end) if key in passing else finding

    def _entry(self, op: str, vector: str) -> Entry:
        return next(entry for entry in self.asked if (entry.op, entry.id) == (op, vector))

    def _dependent(self, finding: Finding, end: float) -> Finding:
        """A finding whose smallest vector passes by itself."""
        last = self._entry(finding.op, finding.smallest)
        before = self.asked[: self.asked.index(last)][-EARLIER:]
        leads: Sequence[Entry] = ()
        with suppress(BackendError):
            leads = self._leading(before, last, end)
        told = [f"{one.op}/{one.id}" for one in leads]
        reproduce = finding.reproduce
        if leads:
            more = [word for one in leads for word in ("--op", one.op, "--only", one.id)]
            reproduce = f"{reproduce} {shlex.join(more)}"
        return replace(finding, reproduce=reproduce, detail={**finding.detail, "after": told})

    def _leading(self, before: Sequence[Entry], last: Entry, end: float) -> Sequence[Entry]:
        """The fewest calls that were found after which one fails; empty where none were."""
        if not before or not self._fails(before, last):
            return ()
        while len(before) > 1 and monotonic() < end:
            half = len(before) // 2
            parts = before[:half], before[half:]
            failing = next((part for part in parts if self._fails(part, last)), None)
            if failing is None:
                break
            before = failing
        return before

    def _fails(self, before: Sequence[Entry], last: Entry) -> bool:
        return self._ask([*before, last])[-1].status in FAILED

    def _ask(self, entries: Sequence[Entry]) -> list[Result]:
        """The verdicts of a fresh process, which is asked these and nothing else."""
        started = self.start()
        if started is None:
            raise BackendError("the backend runs in this process")
        with started as executor:
            examiner = replace(self.examiner, executor=executor)
            return [examiner.ask(examiner.vector(self.suite, entry))[0] for entry in entries]
