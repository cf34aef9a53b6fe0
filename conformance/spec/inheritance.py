"""Specifications that extend another: only what differs is written down.

A file that ``extends`` another is a merge patch of it (RFC 7396): tables are merged entry by entry,
an entry without a value is taken away, and anything else takes the place of what was there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.spec.source import Path, Source

OWN = ("op", "document", "errata")
"""What a file says of itself alone: another document has other mistakes."""

MAX_LINEAGE = 16
"""How many files may build on each other."""

Find = Callable[[str], Source | None]
"""The parsed file of an operator by name, already extended; None if there is none."""


def extended(source: Source, find: Find) -> Source:
    """The source with what it takes from the file that it extends, or as it is if it extends none.

    Problems are noted in the source, each part's at the place it was written. Raises
    :class:`~conformance.errors.SpecError` where there is nothing to extend.
    """
    if not isinstance(source.data, dict) or "extends" not in source.data:
        return source
    name = source.data.pop("extends")
    base = find(name) if isinstance(name, str) else None
    if base is None or not isinstance(base.data, dict):
        hint = "give the name of a shipped operator, or of a file beside this one, as in AvgPool-1"
        source.problem(("extends",), "there is no specification to extend", hint=hint)
    elif len(base.extends) + 1 > MAX_LINEAGE:
        source.problem(("extends",), f"more than {MAX_LINEAGE} files extend each other")
    source.check()
    assert base is not None
    kept = {key: value for key, value in base.data.items() if key not in OWN}
    source.data = _patched(source, kept, source.data, ())
    source.extends = (name, *base.extends)
    for path, at in base.values.items():
        if path and path[0] not in OWN and path not in source.values:
            source.values[path] = at
            source.inherited[path] = base.file_of(path)
            if path in base.keys:
                source.keys[path] = base.keys[path]
            if path in base.insets:
                source.insets[path] = base.insets[path]
    return source


def _patched(source: Source, base: Any, patch: Any, path: Path) -> Any:
    if not isinstance(patch, dict):
        return patch
    found = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is not None:
            found[key] = _patched(source, found.get(key), value, (*path, key))
        elif key in found:
            del found[key]
        else:
            hint = "text that holds a comma must be in quotes between { and }"
            source.problem((*path, key), f"there is no '{key}' to take away", hint=hint, key=True)
    return found
