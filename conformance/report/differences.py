"""Differences between runs besides their results, and labels that distinguish two runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.log.run_log import RunLog
from conformance.report.wording import utc_time
from conformance.safe_text import shortened

GATE_OPTIONS = ("known_failures", "require", "strict", "gate_sha256", "min_strength")
"""Options that decide the exit code of a run, and not its results."""

IGNORED_BACKEND_FACTS = ("spec", "sha256")
"""Facts of a backend that are ignored: two runs are compared because these have changed."""

MAX_LABEL = 40
"""Characters of a fact that names a run."""


@dataclass(frozen=True)
class DifferenceRow:
    """A fact with its value in each run; None for no value."""

    name: str
    values: tuple[str | None, ...]


def run_differences(runs: Sequence[RunLog]) -> Iterator[DifferenceRow]:
    """Yield the facts that a result may depend on and that differ between runs."""
    facts_by_run = [_facts(run) for run in runs]
    for name in dict.fromkeys(name for facts in facts_by_run for name in facts):
        values = tuple(facts.get(name) for facts in facts_by_run)
        if len(set(values)) > 1:
            yield DifferenceRow(name, values)


def run_labels(old: RunLog, new: RunLog, differences: Sequence[DifferenceRow]) -> tuple[str, str]:
    """Return labels for two runs, by the first difference between their headers."""
    backends = [run.start.backend for run in (old, new)]
    names = [f"{backend.name} {backend.version}" for backend in backends]
    if backends[0].name != backends[1].name or names[0] != names[1]:
        return names[0], names[1]
    for row in differences:
        values = [
            "unknown" if value is None else shortened(value, MAX_LABEL) for value in row.values
        ]
        if values[0] != values[1]:
            fact = row.name.rpartition(", ")[2]
            return f"{fact} {values[0]}", f"{fact} {values[1]}"
    times = [utc_time(run.start.started) for run in (old, new)]
    return (times[0], times[1]) if times[0] != times[1] else ("old", "new")


def _facts(run: RunLog) -> dict[str, str]:
    """Return the facts that a result may depend on besides the vector, by name."""
    header = run.header
    facts = {
        "tool": header["tool"],
        "suite": {key: header["suite"][key] for key in ("name", "digest")},
        "backend": {
            key: value
            for key, value in header["backend"].items()
            if key not in IGNORED_BACKEND_FACTS
        },
        "options": {
            key: value for key, value in header["options"].items() if key not in GATE_OPTIONS
        },
        "environment": header["environment"],
    }
    return dict(_flatten(facts))


def _flatten(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{name}, ")
        elif value is not None:
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
