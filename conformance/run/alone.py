"""Asks a backend in a fresh process for what failed: a reproducer must not need earlier calls."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from time import monotonic

from conformance.errors import BackendError
from conformance.model import FAILED, Finding, Result, Status
from conformance.run.check_vector import VectorChecker
from conformance.run.executor import Executor
from conformance.suite.entries import Entry
from conformance.suite.store import Suite

KINDS = frozenset({"value", "index", "shape", "dtype", "outputs", "raised"})
"""Failures that are asked for again; the others ended a process."""

OPERATORS, EACH = 4, 8
"""Operators that get a fresh process, and findings of each that are asked for there."""

EARLIER = 300
"""Calls before a failure among which those that lead to it are looked for."""

FEW = 4
"""Calls that lead to a failure, at most, for them to be told."""

PATIENCE = 60.0
"""Seconds after which nothing more is asked."""


@dataclass(frozen=True)
class Fresh:
    """Fresh processes of the backend of a run, as ``start`` makes them (None: it can make none).

    ``checker`` judged the run of ``suite``, whose entries ``tested`` are in the order of the calls.
    """

    start: Callable[[], Executor | None]
    checker: VectorChecker
    suite: Suite
    tested: Sequence[Entry]

    def confirmed(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Add, to findings that pass in a fresh process, the calls that lead to them."""
        every = list(findings)
        tried = [finding for finding in every if finding.kind in KINDS and finding.reproduce]
        tried.sort(key=lambda finding: finding.op)
        by_operator = groupby(tried, lambda finding: finding.op)
        end = monotonic() + PATIENCE
        passing: set[tuple[str, str]] = set()
        for number, (op, own) in enumerate(by_operator):
            if number == OPERATORS or monotonic() > end:
                break
            ids = [finding.smallest for finding in own][:EACH]
            with suppress(BackendError):  # one that cannot be loaded twice shows nothing here
                verdicts = self._ask([self._entry(op, vector) for vector in ids], end)
                passing.update((v.op, v.id) for v in verdicts if v.status is Status.PASS)
        for finding in every:
            key = finding.op, finding.smallest
            yield self._dependent(finding, end) if key in passing else finding

    def _entry(self, op: str, vector: str) -> Entry:
        return next(entry for entry in self.tested if (entry.op, entry.id) == (op, vector))

    def _dependent(self, finding: Finding, end: float) -> Finding:
        """A finding whose smallest vector passes by itself."""
        last = self._entry(finding.op, finding.smallest)
        before = self.tested[: self.tested.index(last)][-EARLIER:]
        leads: Sequence[Entry] = ()
        with suppress(BackendError):
            leads = self._leading(before, last, end)
        leads = leads if len(leads) <= FEW else ()
        after = [f"{entry.op}/{entry.id}" for entry in leads]
        more = [word for entry in leads for word in ("--op", entry.op, "--only", entry.id)]
        reproduce = f"{finding.reproduce} {shlex.join(more)}".rstrip()
        return replace(finding, reproduce=reproduce, detail={**finding.detail, "after": after})

    def _leading(self, before: Sequence[Entry], last: Entry, end: float) -> Sequence[Entry]:
        """The fewest calls that were found after which one fails; empty where none were."""
        if not before or not self._fails(before, last, end):
            return ()
        while len(before) > 1 and monotonic() < end:
            half = len(before) // 2
            parts = before[:half], before[half:]
            failing = next((part for part in parts if self._fails(part, last, end)), None)
            if failing is None:
                break
            before = failing
        return before

    def _fails(self, before: Sequence[Entry], last: Entry, end: float) -> bool:
        """Whether a vector fails in a fresh process after some others; no where time is over."""
        verdicts = self._ask([*before, last], end)
        return len(verdicts) > len(before) and verdicts[-1].status in FAILED

    def _ask(self, entries: Sequence[Entry], end: float) -> list[Result]:
        """The verdicts of a fresh process, which is asked these and nothing else, until ``end``."""
        started = self.start()
        if started is None:
            raise BackendError("the backend runs in this process")
        with started as executor:
            checker = replace(self.checker, executor=executor)
            return [
                checker.check(checker.vector(self.suite, entry))[0]
                for entry in takewhile(lambda _: monotonic() < end, entries)
            ]
