"""A run as HTML pages that need nothing but themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from conformance.log.run_log import RunLog
from conformance.report import templating, wording
from conformance.report.bars import bar
from conformance.report.facts import facts
from conformance.report.heat import heat_maps
from conformance.report.spread import spreads
from conformance.report.strength import strengths
from conformance.report.strength import styles as strength_styles
from conformance.report.vector_table import (
    Sheet,
    VectorTable,
    address,
    addressable,
    failures,
    is_sheet,
    sheets,
    whole,
)
from conformance.report.view import View, view
from conformance.report.visible import visible

FILE = "index.html"

STYLES = ("picture.css", "page.css", "report.css")
SCRIPTS = ("page.js", "vectors.js")

MAX_DATA = 100_000
"""Characters of what a backend declares that are shown at most."""

OPEN = 3
"""Findings that are unfolded to begin with."""


def render(run: RunLog) -> str:
    """The page. It makes no request, and works without scripts but for filter, sort and copy."""
    return _page(run, view(run), whole(run))


def pages(run: RunLog, file: str = FILE) -> Mapping[str, str]:
    """The page and those that stand beside it, by file name, the page itself last.

    A long run has its vectors on pages of their own, since no browser is quick with all of them
    on one.
    """
    shown = view(run)
    others = sheets(run, PurePath(file).stem)
    if not others:
        return {file: _page(run, shown, whole(run))}
    found = {sheet.file: _sheet(run, shown, sheet, others, file) for sheet in others}
    return {**found, file: _page(run, shown, failures(run, others))}


def beside(name: str, file: str = FILE) -> bool:
    """Whether a file of that name is one that :func:`pages` puts beside a page."""
    return is_sheet(name, PurePath(file).stem)


def _page(run: RunLog, shown: View, table: VectorTable) -> str:
    return templating.page(
        "report.html.j2",
        _environment(),
        (*STYLES, *strength_styles(run)),
        SCRIPTS,
        v=shown,
        header=run.header,
        footer=run.footer,
        heat=heat_maps(run),
        spreads=spreads(run),
        strengths=strengths(run),
        table=table,
        open=OPEN,
    )


def _sheet(run: RunLog, shown: View, sheet: Sheet, others: tuple[Sheet, ...], file: str) -> str:
    return templating.page(
        "sheet.html.j2",
        _environment(),
        STYLES,
        SCRIPTS,
        v=shown,
        header=run.header,
        sheet=sheet,
        table=VectorTable(sheet.results, len(run.results), others),
        index=file,
    )


@cache
def _environment() -> Environment:
    made = templating.environment()
    made.filters.update(
        short=wording.short,
        memory=lambda size: f"{size / 2**20:,.0f} MiB",
        pretty=_pretty,
        bar=bar,
        facts=facts,
        address=address,
        accepted=wording.accepted,
        distance=wording.distance,
        element=wording.element,
        options=wording.options,
        precision=wording.precision,
        when=wording.when,
        why=wording.why,
        duration=wording.duration,
    )
    made.tests["addressable"] = addressable
    return made


def _pretty(data: Any) -> Markup:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return escape(visible(templating.bounded(text, MAX_DATA)))
