"""A run as a self-contained HTML page, from ``templates/``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from conformance.log.run_log import RunLog
from conformance.report import templating, wording
from conformance.report.charts import bar, heat_maps, spreads
from conformance.report.vector_table import MAX_ROWS, addressable, slowest, table
from conformance.report.view import strengths, view
from conformance.safe_text import visible

FILE = "index.html"

STYLES = ("picture.css", "page.css", "report.css")
SCRIPTS = ("page.js", "causes.js", "vectors.js")

MAX_DATA = 100_000
"""Characters of what a backend declares that are shown at most."""

OPEN = 1
"""Causes that are unfolded to begin with."""


def render(run: RunLog) -> str:
    """The page. It makes no request; without scripts it lacks filters and the table of vectors."""
    return templating.page(
        "report.html.j2",
        _environment(),
        STYLES,
        SCRIPTS,
        v=view(run),
        header=run.start,
        footer=run.end,
        heat=heat_maps(run),
        spreads=spreads(run),
        strengths=strengths(run),
        table=table(run),
        slowest=slowest(run),
        most=MAX_ROWS,
        open=OPEN,
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
        accepted=wording.accepted,
        counted=wording.counted,
        element=wording.element,
        options=wording.options,
        precision=wording.precision,
        when=wording.when,
        why=wording.why,
        duration=wording.duration,
        taken=wording.taken,
    )
    made.tests["addressable"] = addressable
    return made


def _pretty(data: Any) -> Markup:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return escape(visible(templating.bounded(text, MAX_DATA)))


def facts(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Each fact with its name: ``processor, flags`` and ``avx, avx2``."""
    for key, value in data.items():
        name = f"{prefix}, {key}" if prefix else str(key)
        if isinstance(value, Mapping) and value:
            yield from facts(value, name)
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            yield name, ", ".join(value) or "none"
        elif isinstance(value, str):
            yield name, value
        elif value is None or value == {}:
            yield name, "not known" if value is None else "none"
        else:
            yield name, json.dumps(value, ensure_ascii=False)
