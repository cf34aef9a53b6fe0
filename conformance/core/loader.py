"""Loads operators that are defined in index notation: shipped ones by name, files by path."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from conformance.core.answers import check_interpretations
from conformance.core.lint import note_unused
from conformance.core.negative import check_rejections
from conformance.core.operator import Operator
from conformance.core.operator_reader import operator_of
from conformance.errors import Problem, UsageError, closest
from conformance.resources import directory
from conformance.spec.inheritance import extended
from conformance.spec.yaml_reader import parse_yaml, read_text
from conformance.spec.yaml_source import Source

NAME = re.compile("[A-Za-z][A-Za-z0-9_.]*-[0-9]+")
"""The name of an operator."""


def folder() -> Path:
    """Return the folder of the shipped operators; each has a file of its name."""
    return directory("specs")


@cache
def shipped_files() -> tuple[Path, ...]:
    """List the files of the shipped operators."""
    return tuple(sorted(folder().glob("*-[0-9]*.yaml")))


@cache
def shipped_names() -> tuple[str, ...]:
    """List the shipped operators."""
    return tuple(path.stem for path in shipped_files())


def load_operator(op: str) -> Operator:
    """Load an operator: a shipped one by name, or a YAML file by path.

    Raises :class:`~conformance.errors.UsageError` for a name that is not known, and SpecError with
    every problem of a file.
    """
    if op.endswith((".yaml", ".yml")):
        return _checked(_source(Path(op), read_text(Path(op))))
    if op not in shipped_names():
        near = {name.lower(): name for name in shipped_names()}.get(op.lower())
        hint = f"did you mean '{near}'?" if near else closest(op, shipped_names())
        known = f"known: {', '.join(shipped_names())}; or give a .yaml file"
        raise UsageError(f"there is no operator '{op}'", hint=hint or known)
    return _shipped(op)


def unused_names(file: str) -> tuple[Problem, ...]:
    """List what a file says to no purpose, in file order.

    Raises SpecError with every problem of a file that does not load.
    """
    source = _source(Path(file), read_text(Path(file)))
    note_unused(_checked(source), source)
    return tuple(sorted(source.problems, key=lambda problem: (problem.line, problem.column)))


@lru_cache(maxsize=64)
def _shipped(op: str) -> Operator:
    path = folder() / f"{op}.yaml"
    return _checked(_source(path, read_text(path)))


def _checked(source: Source) -> Operator:
    """The operator of a file, whose interpretations and rejections speak of what it has."""
    operator = operator_of(source)
    check_interpretations(operator, source)
    check_rejections(operator, source)
    source.check()
    return operator


def _source(path: Path, text: str, read: frozenset[Path] = frozenset()) -> Source:
    """What a file says, with what it extends: a file beside it, or a shipped one.

    Those that were ``read`` before extend this one, so that it extends none of them.
    """
    read |= {path}
    source = parse_yaml(text, str(path))
    name = source.data.get("extends") if isinstance(source.data, dict) else None
    base = None
    if isinstance(name, str) and NAME.fullmatch(name):
        candidates = (parent / f"{name}.yaml" for parent in (path.parent, folder()))
        # A file of the same name may extend the shipped one, but none extends itself.
        file = next((file for file in candidates if file not in read and file.is_file()), None)
        base = None if file is None else _source(file, read_text(file), read)
        if base is not None:
            base.data = _without_indices(base.data, source.data)
    return extended(source, base)


def _without_indices(base: Any, patch: Any) -> Any:
    """What a file says, without the indices that one which extends it states anew.

    Their order is that of the dimensions, which merging would keep.
    """
    patched = patch.get("define") if isinstance(patch, dict) else None
    defined = base.get("define") if isinstance(base, dict) else None
    if not isinstance(patched, dict) or not isinstance(defined, dict):
        return base
    kept = dict(defined)
    for name, definition in patched.items():
        if isinstance(definition, dict) and isinstance(kept.get(name), dict):
            restated = {"at", "over"} & definition.keys()
            kept[name] = {k: v for k, v in kept[name].items() if k not in restated}
    return {**base, "define": kept}
