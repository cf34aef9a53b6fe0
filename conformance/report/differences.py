"""What differs between runs besides their results, and names that tell two runs apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.log.run_log import RunLog
from conformance.report.wording import when
from conformance.safe_text import shortened

GATE = ("known_failures", "require", "strict", "gate_sha256", "min_strength")
"""Options that decide what a run exits with, and not what its results are."""

OBJECT = ("spec", "sha256")
"""Where the backend is and what stands there: two runs are compared because that has changed."""


MAX_LABEL = 40
"""Characters of a fact that names a run."""


@dataclass(frozen=True)
class Row:
    """A fact, with what each run has of it; None for nothing."""

    name: str
    values: tuple[str | None, ...]


def differences(runs: Sequence[RunLog]) -> Iterator[Row]:
    """The facts that a result may depend on and that differ between runs."""
    told = [_circumstances(run) for run in runs]
    for name in dict.fromkeys(name for one in told for name in one):
        values = tuple(one.get(name) for one in told)
        if len(set(values)) > 1:
            yield Row(name, values)


def labels(old: RunLog, new: RunLog, found: Sequence[Row]) -> tuple[str, str]:
    """Names for two runs, by the first thing that differs in their headers."""
    backends = [run.start.backend for run in (old, new)]
    names = [f"{backend.name} {backend.version}" for backend in backends]
    if backends[0].name != backends[1].name or names[0] != names[1]:
        return names[0], names[1]
    for row in found:
        values = ["unknown" if one is None else shortened(one, MAX_LABEL) for one in row.values]
        if values[0] != values[1]:
            what = row.name.rpartition(", ")[2]
            return f"{what} {values[0]}", f"{what} {values[1]}"
    times = [when(run.start.started) for run in (old, new)]
    return (times[0], times[1]) if times[0] != times[1] else ("old", "new")


def _circumstances(run: RunLog) -> dict[str, str]:
    """What a result may depend on besides the vector, by name."""
    header = run.header
    told = {
        "tool": header["tool"],
        "suite": {key: header["suite"][key] for key in ("name", "digest")},
        "backend": {key: value for key, value in header["backend"].items() if key not in OBJECT},
        "options": {key: value for key, value in header["options"].items() if key not in GATE},
        "environment": header["environment"],
    }
    return dict(_spelled(told))


def _spelled(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _spelled(value, f"{name}, ")
        elif value is not None:
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
