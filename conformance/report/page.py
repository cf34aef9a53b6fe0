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
from conformance.report.charts import heat_maps, spreads, stacked_bar
from conformance.report.vector_table import MAX_ROWS, is_addressable, slowest_results, vector_data
from conformance.report.view import operator_strengths, run_view
from conformance.safe_text import visible

FILE = "index.html"

STYLES = ("picture.css", "page.css", "report.css")
SCRIPTS = ("page.js", "causes.js", "vectors.js")

MAX_DATA = 100_000
"""Characters of declared capabilities that are shown at most."""

UNFOLDED = 1
"""Causes that are unfolded when the page opens."""


def render(run: RunLog) -> str:
    """Return the page of a run.

    The page makes no request. Without scripts it lacks filters and the table of vectors.
    """
    return templating.render_page(
        "report.html.j2",
        _environment(),
        STYLES,
        SCRIPTS,
        view=run_view(run),
        header=run.start,
        footer=run.end,
        heat_maps=heat_maps(run),
        spreads=spreads(run),
        strengths=operator_strengths(run),
        vector_data=vector_data(run),
        slowest=slowest_results(run),
        max_rows=MAX_ROWS,
        unfolded=UNFOLDED,
    )


@cache
def _environment() -> Environment:
    environment = templating.template_environment()
    environment.filters.update(
        short_count=wording.short_count,
        memory=lambda size: f"{size / 2**20:,.0f} MiB",
        pretty=_pretty,
        stacked_bar=stacked_bar,
        flat_facts=flat_facts,
        accepted_interval=wording.accepted_interval,
        element_name=wording.element_name,
        option_groups=wording.option_groups,
        precision_text=wording.precision_text,
        utc_time=wording.utc_time,
        known_failure_text=wording.known_failure_text,
        duration=wording.duration,
        call_time=wording.call_time,
    )
    environment.tests["addressable"] = is_addressable
    return environment


def _pretty(data: Any) -> Markup:
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return escape(visible(templating.cut_text(text, MAX_DATA)))


def flat_facts(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each fact with its name: ``processor, flags`` and ``avx, avx2``."""
    for key, value in data.items():
        name = f"{prefix}, {key}" if prefix else str(key)
        if isinstance(value, Mapping) and value:
            yield from flat_facts(value, name)
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            yield name, ", ".join(value) or "none"
        elif isinstance(value, str):
            yield name, value
        elif value is None or value == {}:
            yield name, "not known" if value is None else "none"
        else:
            yield name, json.dumps(value, ensure_ascii=False)
