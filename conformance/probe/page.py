"""A probe as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment

from conformance.probe.record import number
from conformance.probe.wording import (
    WINDOWS,
    StatementRow,
    size_range,
    statement_rows,
    value_name,
)
from conformance.report import templating, wording

FILE = "index.html"
STYLES = ("page.css", "probe.css")

MAX_RUNS = 8
"""Runs of an input that the page lists; the JSON file has all."""

MAX_MODELS = 4
"""Models that are listed for one range of sizes."""

MAX_RESULTS = 8
"""Results that are listed for one row."""


def render(probe: Mapping[str, Any]) -> str:
    """Render the page of a probe, from its JSON data."""
    ops = dict.fromkeys(statement["op"] for statement in probe["statements"])
    calls = {call["id"]: call for call in probe["calls"]}
    return templating.render_page(
        "probe.html.j2",
        _templates(),
        STYLES,
        ("page.js",),
        probe=probe,
        operators=[_section(op, probe, calls) for op in ops],
        failed=[call for call in probe["calls"] if call["message"]],
        input_count=sum(len(call["planes"]) for call in probe["calls"] if not call["message"]),
    )


def _section(
    op: str, probe: Mapping[str, Any], calls: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    rows = statement_rows([statement for statement in probe["statements"] if statement["op"] == op])
    return {
        "op": op,
        "fits": _fitting_models([fit for fit in probe["fits"] if fit["op"] == op]),
        "rows": [(row, _shown_results(row, calls, probe["inputs"])) for row in rows],
    }


def _fitting_models(fits: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List the models that fit, once for element types that have the same."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for fit in fits:
        key = fit["window"], tuple(fit["sizes"]), tuple(fit["models"])
        groups.setdefault(key, []).append(fit)
    return [
        {
            "dtypes": [fit["dtype"] for fit in group],
            "window": WINDOWS[window],
            "sizes": size_range(sizes),
            "models": models[:MAX_MODELS],
            "more": max(fit["fitting"] for fit in group) - min(len(models), MAX_MODELS),
            "fitting": " or ".join(
                dict.fromkeys(f"{fit['fitting']} of {fit['listed']}" for fit in group)
            ),
        }
        for (window, sizes, models), group in groups.items()
    ]


def _shown_results(
    row: StatementRow, calls: Mapping[str, Mapping[str, Any]], inputs: Mapping[str, Any]
) -> list[dict[str, str]]:
    results = []
    for dtype, call_id, index in row.shown[:MAX_RESULTS]:
        call = calls[call_id]
        _, name, key, code = call["planes"][index]
        results.append(
            {
                "dtype": dtype,
                "where": f"{WINDOWS[call['window']]} of {call['elements']}",
                "name": name,
                "inputs": _numbers(inputs[key], dtype),
                "code": code,
                "result": number(code, dtype) if code else "none",
            }
        )
    return results


def _numbers(runs: Sequence[tuple[int, str]], dtype: str) -> str:
    """Return an input as people write it: ``1.5, 3 x 0.25``."""
    numbers = [
        (f"{count} x " if count > 1 else "") + number(code, dtype)
        for count, code in runs[:MAX_RUNS]
    ]
    if len(runs) > MAX_RUNS:
        numbers.append(f"and {len(runs) - MAX_RUNS} more")
    return ", ".join(numbers)


@cache
def _templates() -> Environment:
    environment = templating.template_environment(__package__)
    environment.filters.update(when=wording.utc_time, value=value_name)
    return environment
