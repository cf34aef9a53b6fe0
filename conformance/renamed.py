"""Former names of mutants and coverage targets, for files of earlier releases.

An entry says ``was: [old-name]``. Whoever reads a log, a baseline, a manifest or recorded cases
asks here, so that an old name means what it meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from conformance.data import directory


def faults(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids of faults, each by the name that it has now."""
    now = fault_names()
    return tuple(now.get(one, one) for one in ids)


def edges(op: str, ids: Iterable[str]) -> tuple[str, ...]:
    """Names of edges of an operator, each by the name that it has now."""
    now = edge_names(op)
    return tuple(now.get(one, one) for one in ids) if now else tuple(ids)


@cache
def fault_names() -> Mapping[str, str]:
    """The name that each renamed fault has now, by the one that it had."""
    found: dict[str, str] = {}
    for path in sorted((directory("specs") / "faults").glob("*/*.yaml")):
        for name, raw in _renamed(path, "faults"):
            each = raw.get("each", {})
            for keys in product(*each.values()):
                chosen = {"{" + one + "}": str(key) for one, key in zip(each, keys, strict=True)}
                found |= {_filled(old, chosen): _filled(name, chosen) for old in raw["was"]}
    return found


@cache
def edge_names(op: str) -> Mapping[str, str]:
    """The name that each renamed edge of a shipped operator has now, by the one that it had."""
    path = directory("specs") / f"{op}.yaml"
    if not (_OPERATOR.fullmatch(op) and path.is_file()):
        return {}
    extends = re.search("^extends: (.+)$", path.read_text("utf-8"), re.MULTILINE)
    found = dict(edge_names(extends[1])) if extends else {}
    return found | {old: name for name, raw in _renamed(path, "edges") for old in raw["was"]}


_OPERATOR = re.compile("[A-Za-z][A-Za-z0-9_.]*-[0-9]+")


def _renamed(path: Path, section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The entries of a shipped file that had other names."""
    text = path.read_text("utf-8")
    # Most files have none, and need not be parsed for it; libyaml takes a tenth of the time.
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    entries = yaml.load(text, loader)[section] if re.search(r"[ {]was:", text) else {}  # noqa: S506
    yield from ((name, raw) for name, raw in entries.items() if raw and "was" in raw)


def _filled(text: str, chosen: Mapping[str, str]) -> str:
    for name, key in chosen.items():
        text = text.replace(name, key)
    return text
