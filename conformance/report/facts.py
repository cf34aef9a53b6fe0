"""JSON data as rows of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


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
