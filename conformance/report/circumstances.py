"""Facts of the environment on which results may depend, flattened for display."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.log.run_log import RunLog

GATE = ("known_failures", "require", "strict", "gate_sha256", "min_strength")
"""Options that decide what a run exits with, and not what its results are."""

OBJECT = ("spec", "sha256")
"""Where the backend is and what stands there: two runs are compared because that has changed."""


def circumstances(run: RunLog) -> dict[str, str]:
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
