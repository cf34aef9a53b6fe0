"""A probe as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment

from conformance.probe.record import number
from conformance.probe.wording import WINDOWS, StatementRow, rows, sizes, value_of
from conformance.report import templating, wording

FILE = "index.html"
STYLES = ("page.css", "probe.css")

MOST_RUNS = 8
"""Runs of an input that are written down on the page, at most; the JSON file has all."""


@dataclass(frozen=True)
class ShownStatement:
    """A result on the page: what was asked, what went in and what came out."""

    dtype: str
    where: str
    name: str
    inputs: str
    code: str
    result: str


@dataclass(frozen=True)
class Fitting:
    """Which listed models fit an operator, for element types that have the same ones."""

    dtypes: tuple[str, ...]
    window: str
    sizes: str
    models: tuple[str, ...]
    more: int
    fitting: str


@dataclass(frozen=True)
class OfOperator:
    """What the page says of one operator."""

    op: str
    fits: tuple[Fitting, ...]
    rows: tuple[tuple[StatementRow, tuple[ShownStatement, ...]], ...]


def render(found: Mapping[str, Any]) -> str:
    """The page of a probe, from its JSON data."""
    ops = dict.fromkeys(one["op"] for one in found["statements"])
    calls = {call["id"]: call for call in found["calls"]}
    return templating.page(
        "probe.html.j2",
        _templates(),
        STYLES,
        ("page.js",),
        found=found,
        operators=[_of(op, found, calls) for op in ops],
        failed=[call for call in found["calls"] if call["message"]],
        asked=sum(len(call["planes"]) for call in found["calls"] if not call["message"]),
    )


def _of(op: str, found: Mapping[str, Any], calls: Mapping[str, Mapping[str, Any]]) -> OfOperator:
    told = rows([one for one in found["statements"] if one["op"] == op])
    return OfOperator(
        op,
        tuple(_fits([one for one in found["fits"] if one["op"] == op])),
        tuple((row, _shown(row, calls, found["inputs"])) for row in told),
    )


def _fits(fits: Sequence[Mapping[str, Any]]) -> list[Fitting]:
    same: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for one in fits:
        key = one["window"], tuple(one["sizes"]), tuple(one["models"])
        same.setdefault(key, []).append(one)
    return [
        Fitting(
            dtypes=tuple(one["dtype"] for one in group),
            window=WINDOWS[window],
            sizes=sizes(at),
            models=models[:MOST_MODELS],
            more=max(one["fitting"] for one in group) - min(len(models), MOST_MODELS),
            fitting=" or ".join(
                dict.fromkeys(f"{one['fitting']} of {one['listed']}" for one in group)
            ),
        )
        for (window, at, models), group in same.items()
    ]


MOST_MODELS = 4
"""Models that are listed for one range of sizes, at most."""


def _shown(
    row: StatementRow, calls: Mapping[str, Mapping[str, Any]], inputs: Mapping[str, Any]
) -> tuple[ShownStatement, ...]:
    found = []
    for dtype, call, place in row.shown[:MOST_SHOWN]:
        _, name, key, code = calls[call]["planes"][place]
        count = calls[call]["elements"]
        found.append(
            ShownStatement(
                dtype=dtype,
                where=f"{WINDOWS[calls[call]['window']]} of {count}",
                name=name,
                inputs=_numbers(inputs[key], dtype),
                code=code,
                result=number(code, dtype) if code else "none",
            )
        )
    return tuple(found)


MOST_SHOWN = 8
"""Results that are listed for one row, at most."""


def _numbers(runs: Sequence[tuple[int, str]], dtype: str) -> str:
    """An input as people write it: ``1.5, 3 x 0.25``."""
    told = [
        (f"{count} x " if count > 1 else "") + number(code, dtype)
        for count, code in runs[:MOST_RUNS]
    ]
    more = len(runs) - MOST_RUNS
    return ", ".join(told) + (f", and {more} more" if more > 0 else "")


@cache
def _templates() -> Environment:
    made = templating.environment(__package__)
    made.filters.update(when=wording.when, value=value_of)
    return made
