"""Validation against the JSON Schemas of ``case.json`` and ``manifest.json``.

Used by ``lint`` and by strict reading only; ordinary reading checks by hand.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from conformance.errors import SuiteError
from conformance.quick_schema import Check, accepts
from conformance.suite.archive import DAMAGED


@functools.cache
def load(name: str) -> Any:
    """The schema ``case`` or ``manifest``, as JSON data."""
    file = Path(__file__).with_name("schemas") / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


@functools.cache
def _sound(name: str) -> Check:
    return accepts(load(name))


def problems(name: str, document: Any) -> tuple[str, ...]:
    """What the schema ``name`` finds wrong, each as ``<path>: <what>``, in document order."""
    if _sound(name)(document):
        return ()
    import jsonschema

    validator = jsonschema.Draft202012Validator(load(name))
    return tuple(
        f"{error.json_path}: {error.message[:200]}"
        for error in sorted(validator.iter_errors(document), key=lambda e: list(map(str, e.path)))
    )


def check(name: str, document: Any, where: str) -> None:
    """Raises SuiteError, naming ``where`` and the first problem, if the schema finds one."""
    found = problems(name, document)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise SuiteError(f"{where}: {found[0]}{more}", hint=DAMAGED)
