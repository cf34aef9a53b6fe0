"""A run as one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance.log.run_log import RunLog
from conformance.log.tally import Tally
from conformance.report import view as views
from conformance.report.picture import picture, picture_under
from conformance.report.visible import visible

FILE = "index.html"

BAR = 1000
"""Width of a stacked bar, in units of its own."""

BAR_LEAST = 8
"""Width of the narrowest part that is not empty, so that one failure in thousands shows."""


def render(run: RunLog) -> str:
    """The page. It makes no request, and works without scripts but for filter, sort and copy."""
    shown = views.view(run)
    css = _resource("picture.css") + _resource("report.css")
    script = _resource("report.js")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            v=shown,
            header=run.header,
            footer=run.footer,
            css=Markup(css),  # noqa: S704 - our own files, whose digest the page's policy names
            script=Markup(script),  # noqa: S704
            policy=(
                "default-src 'none'; base-uri 'none'; form-action 'none'; "
                f"style-src '{_digest(css)}'; script-src '{_digest(script)}'"
            ),
        )
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
def _environment() -> Environment:
    """Templates that escape markup, and make what cannot be seen visible, wherever text enters."""
    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=lambda number: f"{number:,}",
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
    return environment


def _finalize(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _resource(name: str) -> str:
    return files("conformance.report").joinpath("templates", name).read_text("utf-8")


def _digest(text: str) -> str:
    """How a content security policy names an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
