"""Finds families of operators: folders of :mod:`conformance.families`, and entry points."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from conformance.errors import UsageError
from conformance.spec.family import Family

GROUP = "conformance.families"
"""The entry points of other distributions; each is an object or a class of families."""

_PACKAGE = "conformance.families"
_FOLDER = Path(__file__).resolve().parents[1] / "families"


def names() -> tuple[str, ...]:
    """List the available families, those of this package first."""
    return tuple(dict.fromkeys((*_own(), *sorted(entry.name for entry in _entries()))))


def is_family(name: str) -> bool:
    """Return whether a family of this name exists; look in other distributions last."""
    return name in _own() or name in names()


@cache
def family_of(name: str) -> Family:
    """Load the family of a name.

    One of this package cannot be replaced by another distribution.

    Raises :class:`~conformance.errors.UsageError` where there is none, and for one of another
    distribution that cannot be loaded, which is named.
    """
    if name in _own():
        family: Family = importlib.import_module(f"{_PACKAGE}.{name}").FAMILY
        return family
    entries = [entry for entry in _entries() if entry.name == name]
    if not entries:
        raise UsageError(f"there is no family '{name}'", hint=f"known: {', '.join(names())}")
    if len(entries) > 1:
        listed = ", ".join(sorted(map(_distribution, entries)))
        raise UsageError(
            f"the family '{name}' is in several distributions: {listed}",
            hint="uninstall all but one of them",
        )
    return _loaded(entries[0])


@cache
def _own() -> tuple[str, ...]:
    return tuple(sorted(file.parent.name for file in _FOLDER.glob("*/__init__.py")))


@cache
def _entries() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown distribution"


def _loaded(entry: EntryPoint) -> Family:
    problem = ""
    try:
        family_class = entry.load()
        family: object = family_class() if isinstance(family_class, type) else family_class
        if not isinstance(family, Family):
            problem = f"{entry.value} is no Family"
        elif getattr(family, "name", "") != entry.name:
            problem = f"it calls itself '{str(getattr(family, 'name', ''))[:80]}'"
        else:
            attributes = ("layout", "rules", "names", "outputs", "patterns")
            lacking = [attribute for attribute in attributes if not hasattr(family, attribute)]
            if not lacking:
                return family
            problem = f"it has no {', '.join(lacking)}"
    except Exception as error:  # whatever foreign code raises
        problem = f"{type(error).__name__}: {error}"
    raise UsageError(
        f"the family '{entry.name}' of {_distribution(entry)} cannot be used: {problem}",
        hint="update or uninstall that distribution",
    )
