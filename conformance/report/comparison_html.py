"""Several runs of one suite as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Environment

from conformance.report import templating, wording
from conformance.report.charts import bar
from conformance.report.comparison import ORDER, WORSE, Change, words
from conformance.report.matrix import Column
from conformance.report.side_by_side import side_by_side

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
        (
            "page.css",
            "report.css",
            *templating.styles(*(one.run for one in columns if one.run is not None)),
        ),
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
