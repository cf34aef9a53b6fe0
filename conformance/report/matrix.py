"""Several backends by operator: the matrix as a Markdown table for a README, and for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.report.ci.markdown import MARKS, inline
from conformance.report.terminal import BOLD, RESET, TONES
from conformance.report.view import OperatorRow, Tone, View, strengths, view
from conformance.report.wording import precision
from conformance.safe_text import one_line, wrap
from conformance.verdict import Verdict

FAILED_TO_RUN = "Not run"

MAX_CAUSES = 5
"""Causes that are named at most."""


def heading(run: RunLog, label: str = "") -> str:
    """The backend and its version, after the label where that says something else."""
    name, version = run.start.backend.name, run.start.backend.version
    return f"{name} {version}" if label in ("", name) else f"{label}: {name} {version}"


def flaws(causes: Iterable[Cause], op: str) -> tuple[str, ...]:
    """What is wrong in an operator, the worst first: the titles of its causes, each once."""
    titles = list(dict.fromkeys(cause.title for cause in causes if op in cause.operators))
    more = len(titles) - MAX_CAUSES
    return (*titles[:MAX_CAUSES], *([f"and {more:,} more"] if more > 0 else []))


@dataclass(frozen=True)
class Column:
    """One backend: its run under a label, if it has one; where there is no run, ``why`` not.

    ``page`` is the address of the page of its run, which has a folder of the label's name
    otherwise.
    """

    run: RunLog | None
    label: str = ""
    why: str = ""
    page: str = ""

    @property
    def address(self) -> str:
        """The address of the page of its run; empty where none is known."""
        return self.page or (f"./{self.label}/index.html" if self.label else "")

    @property
    def name(self) -> str:
        """The label with what was graded, as far as that is known."""
        return self.label if self.run is None else heading(self.run, self.label)


@dataclass(frozen=True)
class Cell:
    """An operator of one backend: ``score`` is how many vectors passed of those that were asked
    and are supported, or a word; ``tone`` is None where nothing was graded; ``notes`` say what is
    wrong or left out.
    """

    score: str
    tone: Tone | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Graded:
    """What is shown of one column: its verdict, and a cell for each operator of its run."""

    column: Column
    tone: Tone
    verdict: str
    cells: dict[str, Cell]


def graded(column: Column) -> Graded:
    """What is shown of a column."""
    if column.run is None:
        return Graded(column, Tone.BAD, FAILED_TO_RUN, {})
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
    if shown.verdict is Verdict.INCONSISTENT or tally.new or row.missing:
        tone = Tone.BAD
    elif not tally.graded:
        return Cell("unsupported" if tally.unsupported else Verdict.NOTHING_GRADED, None, notes)
    else:
        tone = Tone.KNOWN if not tally.clean else Tone.WEAK if strength else Tone.GOOD
    return Cell(f"{tally.passed:,}/{tally.tested:,}", tone, notes)


def _notes(row: OperatorRow, shown: View) -> Iterator[str]:
    yield from flaws(shown.run.causes, row.op)
    if row.tally.unsupported and row.tally.graded:
        yield f"unsupported: {row.tally.unsupported:,}"
    if row.missing:
        yield f"without a result: {row.missing:,}"


FILE = "matrix.md"

LEGEND = (
    "Each cell gives the vectors that passed, of those that were tested and are supported, "
    "and then the causes of the failures."
)


def markdown(columns: Sequence[Column]) -> str:
    """One column a backend, one row an operator."""
    shown = [graded(column) for column in columns]
    return "\n".join([*_table(shown), "", *_foot(shown)])


def _table(shown: Sequence[Graded]) -> Iterator[str]:
    yield _row("operator", *(inline(one.column.name) for one in shown))
    yield "|---" * (len(shown) + 1) + "|"
    for op in dict.fromkeys(op for one in shown for op in one.cells):
        yield _row(inline(op), *(_shown_cell(one, op) for one in shown))
    yield _row("**verdict**", *(f"**{MARKS[one.tone]} {inline(one.verdict)}**" for one in shown))


def _shown_cell(one: Graded, op: str) -> str:
    cell = one.cells.get(op)
    if cell is None:
        return "not run" if one.column.run is None else "not tested"
    score = f"{MARKS[cell.tone]} {cell.score}" if cell.tone else cell.score
    return "<br>".join([score, *map(inline, cell.notes)])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _foot(shown: Sequence[Graded]) -> Iterator[str]:
    starts = [one.column.run.start for one in shown if one.column.run is not None]
    for asked in dict.fromkeys(
        f"Suite {start.suite.name} ({start.suite.digest[:12]}), level "
        f"{start.options.level}, precision {precision(start.options.precision)}. "
        for start in starts
    ):
        yield f"{inline(asked)} {LEGEND}"
        yield ""
    for one in shown:
        if one.column.run is None:
            yield f"**{inline(one.column.name)} was not run:** {inline(one.column.why)}"
            yield ""


def text(columns: Sequence[Column], *, width: int = 80, color: bool = False) -> str:
    """A block for each backend; no line is wider than ``width``."""
    blocks = [_block(graded(column), width, color) for column in columns]
    return "\n\n".join("\n".join(block) for block in blocks)


def _block(one: Graded, width: int, color: bool) -> Iterator[str]:
    paint = f"{BOLD}{TONES[one.tone]}" if color else ""
    for line in wrap(f"{one.column.name}: {one.verdict.upper()}", width, "  ", ""):
        yield f"{paint}{line}{RESET if color else ''}"
    if one.column.why:
        yield from wrap(one.column.why, width, "  ")
    names = [one_line(op)[: width // 2] for op in one.cells]
    scores = [cell.score for cell in one.cells.values()]
    for name, cell in zip(names, one.cells.values(), strict=True):
        first = f"  {name.ljust(max(map(len, names)))}  {cell.score.ljust(max(map(len, scores)))}"
        notes = wrap("; ".join(cell.notes), width, " " * (len(first) + 2), f"{first}  ")
        yield from notes or [first.rstrip()]
