"""Expands entries with ``each`` into one entry per choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any


def each_choices(
    each: Mapping[str, Mapping[str, Any]],
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield every choice that ``each`` leaves: its keys by name, and its values by name."""
    for entries in product(*(values.items() for values in each.values())):
        keys = {name: key for name, (key, _) in zip(each, entries, strict=True)}
        yield keys, {name: str(value) for name, (_, value) in zip(each, entries, strict=True)}


def fill_template(text: str, values: Mapping[str, str]) -> str:
    """Replace each ``{name}`` in a text by its value."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text
