"""Several backends by operator: the matrix as a Markdown table for a README, and for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.report.ci.markdown import MARKS, inline
from conformance.report.terminal import BOLD, RESET, TONES
from conformance.report.view import OperatorRow, Tone, View, operator_strengths, run_view
from conformance.report.wording import precision_text
from conformance.safe_text import one_line, wrap
from conformance.verdict import Verdict

FAILED_TO_RUN = "Not run"

MAX_CAUSES = 5
"""Causes that are named at most."""


def run_heading(run: RunLog, label: str = "") -> str:
    """Return the backend and its version, after the label if that differs from its name."""
    name, version = run.start.backend.name, run.start.backend.version
    return f"{name} {version}" if label in ("", name) else f"{label}: {name} {version}"


def cause_titles(causes: Iterable[Cause], op: str) -> tuple[str, ...]:
    """Return the titles of the causes of an operator, each once, the worst first."""
    titles = list(dict.fromkeys(cause.title for cause in causes if op in cause.operators))
    left_out = len(titles) - MAX_CAUSES
    return (*titles[:MAX_CAUSES], *([f"and {left_out:,} more"] if left_out > 0 else []))


@dataclass(frozen=True)
class Column:
    """A backend: its run, if it has one, and its label.

    Attributes:
        reason: why there is no run.
        page: the address of the page of its run; by default in a folder of the label's name.
    """

    run: RunLog | None
    label: str = ""
    reason: str = ""
    page: str = ""

    @property
    def address(self) -> str:
        """The address of the page of its run; empty if there is none."""
        return self.page or (f"./{self.label}/index.html" if self.label else "")

    @property
    def name(self) -> str:
        """The label, with the backend and its version if there is a run."""
        return self.label if self.run is None else run_heading(self.run, self.label)


@dataclass(frozen=True)
class Cell:
    """The result of an operator of a backend.

    Attributes:
        score: the vectors that passed, of those that were tested and are supported; or a word.
        tone: None if nothing was graded.
        notes: causes of failures, and vectors that are left out.
    """

    score: str
    tone: Tone | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GradedColumn:
    """A column with its verdict, and a cell for each operator of its run."""

    column: Column
    tone: Tone
    verdict: str
    cells: dict[str, Cell]


def grade_column(column: Column) -> GradedColumn:
    """Compute the verdict and the cells of a column."""
    if column.run is None:
        return GradedColumn(column, Tone.BAD, FAILED_TO_RUN, {})
    view = run_view(column.run)
    strength_notes = {strength.op: strength.note for strength in operator_strengths(column.run)}
    cells = {
        row.op: _cell(row, view, strength_notes.get(row.op, ""))
        for row in view.rows
        if row.selected or row.tally.total
    }
    verdict = ", ".join(filter(None, (view.headline, view.strength)))
    return GradedColumn(column, view.tone, verdict, cells)


def _cell(row: OperatorRow, view: View, strength_note: str) -> Cell:
    tally = row.tally
    notes = (*_notes(row, view), *([strength_note] if strength_note else []))
    if view.verdict is Verdict.INCONSISTENT or tally.new or row.missing:
        tone = Tone.BAD
    elif not tally.graded:
        return Cell("unsupported" if tally.unsupported else Verdict.NOTHING_GRADED, None, notes)
    else:
        tone = Tone.KNOWN if not tally.clean else Tone.WEAK if strength_note else Tone.GOOD
    return Cell(f"{tally.passed:,}/{tally.tested:,}", tone, notes)


def _notes(row: OperatorRow, view: View) -> Iterator[str]:
    yield from cause_titles(view.run.causes, row.op)
    if row.tally.unsupported and row.tally.graded:
        yield f"unsupported: {row.tally.unsupported:,}"
    if row.missing:
        yield f"without a result: {row.missing:,}"


FILE = "matrix.md"

LEGEND = (
    "Each cell gives the vectors that passed, of those that were tested and are supported, "
    "and then the causes of the failures."
)


def matrix_markdown(columns: Sequence[Column]) -> str:
    """Return a Markdown table: a column for each backend, a row for each operator."""
    graded_columns = [grade_column(column) for column in columns]
    return "\n".join([*_table(graded_columns), "", *_notes_below(columns)])


def _table(columns: Sequence[GradedColumn]) -> Iterator[str]:
    yield _row("operator", *(inline(graded.column.name) for graded in columns))
    yield "|---" * (len(columns) + 1) + "|"
    for op in dict.fromkeys(op for graded in columns for op in graded.cells):
        yield _row(inline(op), *(_cell_text(graded, op) for graded in columns))
    verdicts = (f"**{MARKS[graded.tone]} {inline(graded.verdict)}**" for graded in columns)
    yield _row("**verdict**", *verdicts)


def _cell_text(graded: GradedColumn, op: str) -> str:
    cell = graded.cells.get(op)
    if cell is None:
        return "not run" if graded.column.run is None else "not tested"
    score = f"{MARKS[cell.tone]} {cell.score}" if cell.tone else cell.score
    return "<br>".join([score, *map(inline, cell.notes)])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _notes_below(columns: Sequence[Column]) -> Iterator[str]:
    """Yield the settings of the runs, and why backends were not run."""
    starts = [column.run.start for column in columns if column.run is not None]
    for settings in dict.fromkeys(
        f"Suite {start.suite.name} ({start.suite.digest[:12]}), level "
        f"{start.options.level}, precision {precision_text(start.options.precision)}. "
        for start in starts
    ):
        yield f"{inline(settings)} {LEGEND}"
        yield ""
    for column in columns:
        if column.run is None:
            yield f"**{inline(column.name)} was not run:** {inline(column.reason)}"
            yield ""


def matrix_text(columns: Sequence[Column], *, width: int = 80, color: bool = False) -> str:
    """Return a block of text for each backend; no line is wider than ``width``."""
    blocks = [_block(grade_column(column), width, color) for column in columns]
    return "\n\n".join("\n".join(block) for block in blocks)


def _block(graded: GradedColumn, width: int, color: bool) -> Iterator[str]:
    paint = f"{BOLD}{TONES[graded.tone]}" if color else ""
    for line in wrap(f"{graded.column.name}: {graded.verdict.upper()}", width, "  ", ""):
        yield f"{paint}{line}{RESET if color else ''}"
    if graded.column.reason:
        yield from wrap(graded.column.reason, width, "  ")
    names = [one_line(op)[: width // 2] for op in graded.cells]
    scores = [cell.score for cell in graded.cells.values()]
    for name, cell in zip(names, graded.cells.values(), strict=True):
        first = f"  {name.ljust(max(map(len, names)))}  {cell.score.ljust(max(map(len, scores)))}"
        notes = wrap("; ".join(cell.notes), width, " " * (len(first) + 2), f"{first}  ")
        yield from notes or [first.rstrip()]
