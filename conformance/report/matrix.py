"""Several backends by operator: the data of the matrix table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.report.view import OperatorRow, View, strengths, view

FAILED_TO_RUN = "Not run"

MAX_CAUSES = 5
"""Causes that are named at most."""


def heading(run: RunLog, label: str = "") -> str:
    """The backend and its version, after the label where that says something else."""
    name, version = run.header["backend"]["name"], run.header["backend"]["version"]
    return f"{name} {version}" if label in ("", name) else f"{label}: {name} {version}"


def flaws(causes: Iterable[Cause], op: str) -> tuple[str, ...]:
    """What is wrong in an operator, the worst first: the titles of its causes, each once."""
    titles = list(dict.fromkeys(cause.title for cause in causes if op in cause.operators))
    more = len(titles) - MAX_CAUSES
    return (*titles[:MAX_CAUSES], *([f"and {more:,} more"] if more > 0 else []))


@dataclass(frozen=True)
class Column:
    """One backend: its run under a label, if it has one; where there is no run, ``why`` not."""

    run: RunLog | None
    label: str = ""
    why: str = ""

    @property
    def name(self) -> str:
        """The label with what was graded, as far as that is known."""
        return self.label if self.run is None else heading(self.run, self.label)


@dataclass(frozen=True)
class Cell:
    """An operator of one backend: ``score`` is how many vectors passed of those that were asked
    and are supported, or a word; ``tone`` is ``good``, ``known``, ``weak`` (too little evidence),
    ``bad`` or, where nothing was graded, ``none``; ``notes`` say what is wrong or left out.
    """

    score: str
    tone: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Graded:
    """What is shown of one column: its verdict, and a cell for each operator of its run."""

    column: Column
    tone: str
    verdict: str
    cells: dict[str, Cell]


def graded(column: Column) -> Graded:
    """What is shown of a column."""
    if column.run is None:
        return Graded(column, "bad", FAILED_TO_RUN, {})
    shown = view(column.run)
    notes = {one.op: one.note for one in strengths(column.run)}
    cells = {
        row.op: _cell(row, shown, notes.get(row.op, ""))
        for row in shown.rows
        if row.selected or row.tally.total
    }
    verdict = ", ".join(filter(None, (shown.headline, shown.strength)))
    return Graded(column, shown.tone, verdict, cells)


def _cell(row: OperatorRow, shown: View, strength: str) -> Cell:
    tally = row.tally
    notes = (*_notes(row, shown), *([strength] if strength else []))
    asked = tally.passed + tally.failed + tally.errors
    if shown.verdict == "inconsistent" or tally.new or row.missing:
        tone = "bad"
    elif not tally.graded:
        return Cell("unsupported" if tally.unsupported else "nothing graded", "none", notes)
    else:
        tone = "known" if not tally.clean else "weak" if strength else "good"
    return Cell(f"{tally.passed:,}/{asked:,}", tone, notes)


def _notes(row: OperatorRow, shown: View) -> Iterator[str]:
    yield from flaws(shown.run.causes, row.op)
    if row.tally.unsupported and row.tally.graded:
        yield f"unsupported: {row.tally.unsupported:,}"
    if row.missing:
        yield f"without a result: {row.missing:,}"
