"""A run as one HTML page that needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment

from conformance.log.run_log import RunLog
from conformance.log.tally import Tally
from conformance.report import view as views
from conformance.report.picture import picture, picture_under
from conformance.report.templating import environment, page, resource

FILE = "index.html"

BAR = 1000
"""Width of a stacked bar, in units of its own."""

BAR_LEAST = 8
"""Width of the narrowest part that is not empty, so that one failure in thousands shows."""


def render(run: RunLog) -> str:
    """The page. It makes no request, and works without scripts but for filter, sort and copy."""
    return page(
        _templates(),
        "report.html.j2",
        css=resource("picture.css") + resource("report.css"),
        script=resource("report.js"),
        v=views.view(run),
        header=run.header,
        footer=run.footer,
    )


@dataclass(frozen=True)
class Part:
    """A part of a stacked bar: ``kind`` is its colour, ``x`` and ``width`` of :data:`BAR`."""

    kind: str
    label: str
    count: int
    x: float
    width: float


def bar(row: views.OperatorRow) -> tuple[Part, ...]:
    """The parts of an operator's bar, from what passed to what is missing; empty ones left out."""
    counts = [(kind, label, count) for kind, label, count in _counts(row) if count]
    total = sum(count for _, _, count in counts)
    widths = [max(BAR_LEAST, BAR * count / total) for _, _, count in counts]
    scale = BAR / sum(widths) if widths else 0
    parts, x = [], 0.0
    for (kind, label, count), width in zip(counts, widths, strict=True):
        parts.append(Part(kind, label, count, round(x, 2), round(width * scale, 2)))
        x += width * scale
    return tuple(parts)


def _counts(row: views.OperatorRow) -> Iterator[tuple[str, str, int]]:
    tally: Tally = row.tally
    yield "pass", "passed", tally.passed - tally.by_reading
    yield "reading", "passed by an allowed reading", tally.by_reading
    yield "fail", "failed", tally.failed
    yield "error", "ended in an error", tally.errors
    yield "unsupported", "unsupported", tally.unsupported
    yield "skipped", "skipped", tally.skipped
    yield "missing", "without a result", row.missing


def facts(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """JSON data as rows of a table: ``processor, flags`` and ``avx, avx2``."""
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


@cache
def _templates() -> Environment:
    return environment(
        "conformance.report",
        memory=lambda size: f"{size / 2**20:,.0f} MiB",
        pretty=lambda data: json.dumps(data, indent=2, ensure_ascii=False),
        bar=bar,
        facts=facts,
        picture=picture,
        picture_under=picture_under,
        accepted=views.accepted,
        distance=views.distance,
        element=views.element,
        options=views.options,
        precision=views.precision,
        when=views.when,
        why=views.why,
        duration=views.duration,
    )
