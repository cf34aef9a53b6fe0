"""Several runs of one suite side by side, as one HTML page of what ``comparison`` gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from jinja2 import Environment

from conformance.errors import LogError
from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.report import templating, wording
from conformance.report.charts import stacked_bar
from conformance.report.comparison import (
    ORDER,
    WORSE,
    Comparison,
    cause_identity,
    compare_runs,
    describe_change,
)
from conformance.report.differences import MAX_LABEL, DifferenceRow, run_differences
from conformance.report.matrix import Column, cause_titles
from conformance.report.templating import cut_text
from conformance.report.view import OpenQuestion, OperatorRow, View, run_view
from conformance.report.wording import utc_time

MAX_FACTS = 60
"""Facts in which runs differ that are shown at most."""

GRADING_FACTS = ("options, level", "options, precision")
"""The beginning of the names of facts that decide what passes."""


@dataclass(frozen=True)
class QuestionRow:
    """An open question, with the answers of each run; None for a run that was not graded on it.

    Attributes:
        is_agreed: all runs that show answers show the same.
    """

    text: str
    answers_by_run: tuple[OpenQuestion | None, ...]
    is_agreed: bool


@dataclass(frozen=True)
class SideBySide:
    """Runs of one suite.

    Attributes:
        names: a heading for each run.
        pages: the address of the page of each run, or an empty text.
        missing: why backends have no run, by label.
        cause_titles: titles of the causes of each operator, by run.
        operators: a row of each operator for each run; None if a run did not test it.
        precision: the precision that each run reaches, by type.
        questions: the open questions of each operator.
        differences: facts that differ between the runs, ``left_out`` more are not shown.
        is_graded_alike: level and precision do not differ.
        causes: the size of each cause in each run.
        comparison: of two complete runs; else None.
        no_comparison_reason: why two runs are not compared.
    """

    views: tuple[View, ...]
    names: tuple[str, ...]
    pages: tuple[str, ...]
    missing: Mapping[str, str]
    cause_titles: Mapping[str, tuple[tuple[str, ...], ...]]
    operators: Mapping[str, tuple[OperatorRow | None, ...]]
    precision: tuple[DifferenceRow, ...]
    questions: Mapping[str, tuple[QuestionRow, ...]]
    differences: tuple[DifferenceRow, ...]
    left_out: int
    is_graded_alike: bool
    causes: tuple[DifferenceRow, ...]
    comparison: Comparison | None
    no_comparison_reason: str


def arrange_side_by_side(columns: Sequence[Column]) -> SideBySide:
    """Arrange what a page shows of runs, and of backends without a run.

    Raises:
        LogError: the runs are of different suites, which are not comparable.
    """
    columns_with_run = [(column, column.run) for column in columns if column.run is not None]
    runs = [run for _, run in columns_with_run]
    suites = {run.start.suite.digest: run.start.suite.name for run in runs}
    if len(suites) > 1:
        suite_names = ", ".join(f"{name} {digest[:8]}" for digest, name in suites.items())
        raise LogError(
            f"the runs are of {len(suites)} suites ({suite_names}), which are not comparable",
            hint="compare runs of the same suite: check the backends again with it",
        )
    views = tuple(run_view(run) for run in runs)
    differences = list(run_differences(runs))
    comparison, no_comparison_reason = _compare(runs)
    return SideBySide(
        views=views,
        names=_names(columns_with_run, differences),
        pages=tuple(column.address for column, _ in columns_with_run),
        missing={column.label: column.reason for column in columns if column.run is None},
        cause_titles={
            op: tuple(cause_titles(run.causes, op) for run in runs)
            for op in dict.fromkeys(row.op for view in views for row in view.rows)
        },
        operators=_operators(views),
        precision=tuple(_precision(runs)),
        questions=_questions(views),
        differences=tuple(differences[:MAX_FACTS]),
        left_out=max(0, len(differences) - MAX_FACTS),
        is_graded_alike=not any(row.name.startswith(GRADING_FACTS) for row in differences),
        causes=tuple(_causes(runs)),
        comparison=comparison,
        no_comparison_reason=no_comparison_reason,
    )


def _names(
    columns: Sequence[tuple[Column, RunLog]], differences: Sequence[DifferenceRow]
) -> tuple[str, ...]:
    """Return a heading for each run; equal headings are extended by a fact that differs."""
    names = [column.name for column, _ in columns]
    if len(set(names)) == len(names):
        return tuple(names)
    for row in differences:
        if len(set(row.values)) == len(names):
            fact = row.name.rpartition(", ")[2]
            values = (cut_text(value or "unknown", MAX_LABEL) for value in row.values)
            return tuple(
                f"{name} ({fact} {value})" for name, value in zip(names, values, strict=True)
            )
    times = (utc_time(run.start.started) for _, run in columns)
    return tuple(f"{name} ({time})" for name, time in zip(names, times, strict=True))


def _causes(runs: Sequence[RunLog]) -> Iterator[DifferenceRow]:
    """Yield each cause with its size in each run, the worst of the first run first."""
    causes_by_run = [_by_identity(run.causes) for run in runs]
    for identity in dict.fromkeys(identity for causes in causes_by_run for identity in causes):
        row = [causes.get(identity) for causes in causes_by_run]
        title = next(cause.title for cause in row if cause is not None)
        yield DifferenceRow(title, tuple(None if cause is None else cause.size for cause in row))


def _by_identity(causes: Sequence[Cause]) -> Mapping[str, Cause]:
    """Return the causes by identity, those of new and of known failures united."""
    united: dict[str, Cause] = {}
    for cause in causes:
        first = united.setdefault(cause_identity(cause), cause)
        if first is not cause:
            findings = (*first.findings, *cause.findings)
            united[cause_identity(cause)] = replace(first, findings=findings)
    return united


def _compare(runs: Sequence[RunLog]) -> tuple[Comparison | None, str]:
    if len(runs) != 2:
        return None, ""
    if not all(run.complete for run in runs):
        return None, "Changes are not shown, since not every run is complete."
    try:
        return compare_runs(*runs), ""
    except LogError as error:
        return None, f"Changes are not shown: {error}."


def _operators(views: Sequence[View]) -> Mapping[str, tuple[OperatorRow | None, ...]]:
    rows_by_view = [{row.op: row for row in view.rows} for view in views]
    ops = dict.fromkeys(op for rows in rows_by_view for op in rows)
    return {op: tuple(rows.get(op) for rows in rows_by_view) for op in ops}


def _precision(runs: Sequence[RunLog]) -> Iterator[DifferenceRow]:
    reached_by_run = [{} if run.end is None else run.end.precision_reached for run in runs]
    for dtype in sorted({dtype for reached in reached_by_run for dtype in reached}):
        values = (
            (reached[dtype] or "none") if dtype in reached else None for reached in reached_by_run
        )
        yield DifferenceRow(dtype, tuple(values))


def _questions(views: Sequence[View]) -> Mapping[str, tuple[QuestionRow, ...]]:
    questions_by_view = [
        {
            (op, question.text): question
            for op, questions in view.questions.items()
            for question in questions
        }
        for view in views
    ]
    rows: dict[str, list[QuestionRow]] = {}
    for op, text in dict.fromkeys(key for questions in questions_by_view for key in questions):
        row = tuple(questions.get((op, text)) for questions in questions_by_view)
        answer_sets = {
            frozenset(answer.answer for answer in question.answers)
            for question in row
            if question and question.answers
        }
        rows.setdefault(op, []).append(QuestionRow(text, row, len(answer_sets) <= 1))
    return {op: tuple(op_rows) for op, op_rows in rows.items()}


FILE = "comparison.html"

MAX_CHANGES = 500
"""Vectors of one kind of change that are shown at most."""


def render(columns: Sequence[Column]) -> str:
    """Return the page of runs, and of backends without a run.

    Raises:
        LogError: the runs are of different suites.
    """
    return templating.render_page(
        "comparison.html.j2",
        _environment(),
        ("page.css", "report.css"),
        ("page.js",),
        runs=arrange_side_by_side(columns),
        order=ORDER,
        worse=WORSE,
        max_changes=MAX_CHANGES,
    )


@cache
def _environment() -> Environment:
    environment = templating.template_environment()
    environment.filters.update(
        stacked_bar=stacked_bar,
        precision_text=wording.precision_text,
        utc_time=wording.utc_time,
        describe_change=describe_change,
    )
    return environment
