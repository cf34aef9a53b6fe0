"""Fast JSON Schema validation: a quick yes, or jsonschema explains the errors.

jsonschema says best what is wrong and where, and interprets the schema anew for each document. What
is sound, which is nearly everything, is left to a compiled validator, and jsonschema is not even
imported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Check = Callable[[Any], bool]


def accepts(schema: Mapping[str, Any]) -> Check:
    """A function that is true only of data in which jsonschema finds nothing wrong."""
    from jsonschema_rs import Draft202012Validator

    validator = Draft202012Validator(dict(schema))

    def sound(data: Any) -> bool:
        try:
            return validator.is_valid(data)
        except ValueError:  # nothing that JSON can hold: a key that is no text, a date
            return False

    return sound


@cache
def load_schema(package: str, name: str) -> dict[str, Any]:
    """Load the JSON Schema ``name`` that lies in a package."""
    schema: dict[str, Any] = json.loads(files(package).joinpath(name).read_text("utf-8"))
    return schema


@cache
def _validator(package: str, name: str) -> Check:
    return accepts(load_schema(package, name))


def first_problem(package: str, name: str, document: Any) -> str:
    """Return what a schema finds wrong first, with its path; empty if the document is valid."""
    if _validator(package, name)(document):
        return ""
    from jsonschema import Draft202012Validator

    error = next(Draft202012Validator(load_schema(package, name)).iter_errors(document), None)
    if error is None:
        return ""
    return f"{error.json_path.removeprefix('$').lstrip('.')[:80]}: {error.message[:200]}"
