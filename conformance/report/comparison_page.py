"""Several runs of one suite side by side, as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from jinja2 import Environment

from conformance.errors import LogError
from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.report import templating, wording
from conformance.report.charts import bar
from conformance.report.comparison import (
    ORDER,
    WORSE,
    Change,
    Comparison,
    compare,
    identity,
    words,
)
from conformance.report.differences import MAX_LABEL, Row, differences
from conformance.report.matrix import Column, flaws
from conformance.report.templating import bounded
from conformance.report.view import OpenQuestion, OperatorRow, View, view
from conformance.report.wording import when

MAX_FACTS = 60
"""Facts in which runs differ that are shown at most."""

JUDGED = ("options, level", "options, precision")
"""The beginning of facts that decide what passes."""


@dataclass(frozen=True)
class QuestionRow:
    """A question that a document leaves open, as each run answers it; None where it does not say.

    ``agreed`` where all runs that show an answer show the same.
    """

    text: str
    answers: tuple[OpenQuestion | None, ...]
    agreed: bool


@dataclass(frozen=True)
class SideBySide:
    """Runs of one suite.

    ``names`` has a heading for each run, ``pages`` the address of its own page, or nothing.
    ``missing`` are backends without a run, by their label, and why. ``operators`` has for each
    operator one row a run, or None where a run did not ask it, ``faults`` short names of what is
    wrong; ``readings`` the questions of each operator; ``precision`` what each run reaches of each
    type. ``differences`` are facts in which the runs differ, of which ``left_out`` are not shown;
    ``judged_alike`` tells whether level and precision are not among them. ``causes`` has the size
    of each cause in each run. ``changes`` compares two runs; of more, or of a run that is not
    whole, there is none, and ``unchanged`` says why.
    """

    views: tuple[View, ...]
    names: tuple[str, ...]
    pages: tuple[str, ...]
    missing: Mapping[str, str]
    faults: Mapping[str, tuple[tuple[str, ...], ...]]
    operators: Mapping[str, tuple[OperatorRow | None, ...]]
    precision: tuple[Row, ...]
    readings: Mapping[str, tuple[QuestionRow, ...]]
    differences: tuple[Row, ...]
    left_out: int
    judged_alike: bool
    causes: tuple[Row, ...]
    changes: Comparison | None
    unchanged: str


def side_by_side(columns: Sequence[Column]) -> SideBySide:
    """What a page shows of one or more runs, and of backends that have none.

    Raises :class:`LogError` for runs of different suites, which nothing makes comparable.
    """
    told = [(column, column.run) for column in columns if column.run is not None]
    runs = [run for _, run in told]
    suites = {run.start.suite.digest: run.start.suite.name for run in runs}
    if len(suites) > 1:
        named = ", ".join(f"{name} {digest[:8]}" for digest, name in suites.items())
        raise LogError(
            f"the runs are of {len(suites)} suites ({named}), which are not comparable",
            hint="compare runs of the same suite: check the backends again with it",
        )
    views = tuple(view(run) for run in runs)
    found = list(differences(runs))
    changes, unchanged = _changes(runs)
    return SideBySide(
        views=views,
        names=_names(told, found),
        pages=tuple(column.address for column, _ in told),
        missing={column.label: column.why for column in columns if column.run is None},
        faults={
            op: tuple(flaws(run.causes, op) for run in runs)
            for op in dict.fromkeys(row.op for shown in views for row in shown.rows)
        },
        operators=_operators(views),
        precision=tuple(_precision(runs)),
        readings=_readings(views),
        differences=tuple(found[:MAX_FACTS]),
        left_out=max(0, len(found) - MAX_FACTS),
        judged_alike=not any(row.name.startswith(JUDGED) for row in found),
        causes=tuple(_causes(runs)),
        changes=changes,
        unchanged=unchanged,
    )


def _names(told: Sequence[tuple[Column, RunLog]], found: Sequence[Row]) -> tuple[str, ...]:
    """A heading for each run; of runs that would have the same, with what differs in them."""
    names = [column.name for column, _ in told]
    if len(set(names)) == len(names):
        return tuple(names)
    for row in found:
        if len(set(row.values)) == len(names):
            what = row.name.rpartition(", ")[2]
            values = (bounded(value or "unknown", MAX_LABEL) for value in row.values)
            return tuple(
                f"{name} ({what} {value})" for name, value in zip(names, values, strict=True)
            )
    times = (when(run.start.started) for _, run in told)
    return tuple(f"{name} ({time})" for name, time in zip(names, times, strict=True))


def _causes(runs: Sequence[RunLog]) -> Iterator[Row]:
    """Each cause with how many vectors show it in each run, the worst of the first run first."""
    found = [_by_identity(run.causes) for run in runs]
    for name in dict.fromkeys(name for one in found for name in one):
        there = [one.get(name) for one in found]
        title = next(cause.title for cause in there if cause is not None)
        yield Row(title, tuple(None if one is None else one.size for one in there))


def _by_identity(causes: Sequence[Cause]) -> Mapping[str, Cause]:
    """The causes, those of new and of known failures as one."""
    found: dict[str, Cause] = {}
    for cause in causes:
        first = found.setdefault(identity(cause), cause)
        if first is not cause:
            both = (*first.findings, *cause.findings)
            found[identity(cause)] = replace(first, findings=both)
    return found


def _changes(runs: Sequence[RunLog]) -> tuple[Comparison | None, str]:
    if len(runs) != 2:
        return None, ""
    if not all(run.complete for run in runs):
        return None, "Changes are not shown, since not every run is complete."
    try:
        return compare(*runs), ""
    except LogError as error:
        return None, f"Changes are not shown: {error}."


def _operators(views: Sequence[View]) -> Mapping[str, tuple[OperatorRow | None, ...]]:
    rows = [{row.op: row for row in shown.rows} for shown in views]
    names = dict.fromkeys(op for one in rows for op in one)
    return {op: tuple(one.get(op) for one in rows) for op in names}


def _precision(runs: Sequence[RunLog]) -> Iterator[Row]:
    reached = [{} if run.end is None else run.end.precision_reached for run in runs]
    for dtype in sorted({dtype for one in reached for dtype in one}):
        yield Row(dtype, tuple((one[dtype] or "none") if dtype in one else None for one in reached))


def _readings(views: Sequence[View]) -> Mapping[str, tuple[QuestionRow, ...]]:
    asked = [
        {
            (op, question.text): question
            for op, questions in shown.readings.items()
            for question in questions
        }
        for shown in views
    ]
    found: dict[str, list[QuestionRow]] = {}
    for op, text in dict.fromkeys(key for one in asked for key in one):
        answers = tuple(one.get((op, text)) for one in asked)
        shown = {frozenset(a.answer for a in one.answers) for one in answers if one and one.answers}
        found.setdefault(op, []).append(QuestionRow(text, answers, agreed=len(shown) <= 1))
    return {op: tuple(rows) for op, rows in found.items()}


FILE = "comparison.html"

MAX_CHANGES = 500
"""Vectors of one kind of change that are shown at most."""


def render(columns: Sequence[Column]) -> str:
    """The page of one or more runs, and of backends that have none.

    Raises :class:`LogError` for runs of different suites.
    """
    return templating.page(
        "comparison.html.j2",
        _environment(),
        ("page.css", "report.css"),
        ("page.js",),
        c=side_by_side(columns),
        order=ORDER,
        worse=WORSE,
        most=MAX_CHANGES,
    )


@cache
def _environment() -> Environment:
    made = templating.environment()
    made.filters.update(
        bar=bar,
        precision=wording.precision,
        when=wording.when,
        told=_told,
    )
    return made


def _told(change: Change) -> str:
    return " ".join(words(change))
