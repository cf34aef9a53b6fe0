"""Whether two runs ask the same, of the same, in the same place: told from their headers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from conformance.log.encoding import decode, encode

SECTIONS = ("tool", "suite", "backend", "options", "environment")
"""The members of a header that say what is asked. The others say when."""

_SHOWN = 60


def differences(
    one: Mapping[str, Any], other: Mapping[str, Any], *, apart_from: Collection[str] = ()
) -> Iterator[str]:
    """Where two headers differ, each as ``backend.version: '1.0', not '1.1'``.

    ``apart_from`` names what may differ: sections, or members with their section. What only one
    of them has counts as null in the other.
    """
    # As a log holds it: bounded texts, lists for tuples.
    one, other = decode(encode(one)), decode(encode(other))
    for section in SECTIONS:
        if section not in apart_from:
            for name, (a, b) in _apart(section, one.get(section), other.get(section)):
                if name not in apart_from:
                    yield f"{name}: {_shown(a)}, not {_shown(b)}"


def _apart(name: str, one: Any, other: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """The innermost members that differ, by their path."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            yield from _apart(f"{name}.{key}", one.get(key), other.get(key))
    elif one != other:
        yield name, (one, other)


def _shown(value: Any) -> str:
    text = json.dumps(value)  # ASCII, so that what a file holds cannot reach a terminal
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
