"""Specifications that extend another.

A file that ``extends`` another is a merge patch of it (RFC 7396): tables are merged entry by entry,
an entry without a value is taken away, and anything else takes the place of what was there. Only
attributes may change their names: one that is ``as`` an attribute of the other file is that one.
"""

from __future__ import annotations

from typing import Any

from conformance.spec.yaml_source import Path, Source

ATTRIBUTES = "attributes"
OWN = ("op", "document", "errata")
"""What a file says of itself alone: another document has other mistakes."""

MAX_LINEAGE = 16
"""How many files may build on each other."""


def extended(source: Source, base: Source | None) -> Source:
    """Merge a source with the file that it extends, if it extends one.

    ``base`` is that file, already extended; None if there is none of the name that is given.
    Problems are noted in the source, each part's at the place it was written. Raises
    :class:`~conformance.errors.SpecError` where there is nothing to extend.
    """
    if not isinstance(source.data, dict) or "extends" not in source.data:
        return source
    patch = {key: value for key, value in source.data.items() if key != "extends"}
    name = source.data["extends"]
    if base is None or not isinstance(base.data, dict):
        hint = "give the name of a shipped operator, or of a file beside this one, as in AvgPool-1"
        source.problem(("extends",), "there is no specification to extend", hint=hint)
    elif len(base.extends) + 1 > MAX_LINEAGE:
        source.problem(("extends",), f"more than {MAX_LINEAGE} files extend each other")
    source.check()
    assert base is not None
    inherited = {key: value for key, value in base.data.items() if key not in OWN}
    names = _renamed(inherited.get(ATTRIBUTES), patch.get(ATTRIBUTES))
    if names:
        had = inherited[ATTRIBUTES]
        inherited[ATTRIBUTES] = {names.get(key, key): value for key, value in had.items()}
    source.data = _patched(source, inherited, patch, ())
    source.extends = (name, *base.extends)
    for was, at in base.values.items():
        path = was
        if path[:1] == (ATTRIBUTES,) and len(path) > 1:
            path = (ATTRIBUTES, names.get(path[1], path[1]), *path[2:])
        if path and path[0] not in OWN and path not in source.values:
            source.values[path] = at
            source.inherited[path] = base.file_of(was)
            if was in base.keys:
                source.keys[path] = base.keys[was]
            if was in base.insets:
                source.insets[path] = base.insets[was]
    return source


def _renamed(base: Any, patch: Any) -> dict[str | int, str]:
    """The attributes of the other file that this one writes in another way, with their new names.

    An attribute ``as`` one of the other file is that one, in its place: what expressions call it
    and what bounds it stays, and what is said here is merged.
    """
    if not isinstance(base, dict) or not isinstance(patch, dict):
        return {}
    names = {_called(name, raw): name for name, raw in base.items() if name not in patch}
    spelled = {
        raw["as"]: name
        for name, raw in patch.items()
        if isinstance(raw, dict) and isinstance(raw.get("as"), str) and name not in base
    }
    return {names[word]: name for word, name in spelled.items() if word in names}


def _called(name: str, raw: Any) -> str:
    """What expressions call an attribute."""
    word = raw.get("as", name) if isinstance(raw, dict) else name
    return str(word).replace("-", "_")


def _patched(source: Source, base: Any, patch: Any, path: Path) -> Any:
    if not isinstance(patch, dict):
        return patch
    patched = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is not None:
            patched[key] = _patched(source, patched.get(key), value, (*path, key))
        elif key in patched:
            del patched[key]
        else:
            hint = "text that holds a comma must be in quotes between { and }"
            source.problem((*path, key), f"there is no '{key}' to take away", hint=hint, key=True)
    return patched
