"""Checks events against the published schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

EVENTS = ("header", "result", "finding", "footer")


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of one line of a run log."""
    text = files("conformance.log").joinpath("run-log.schema.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def fault(event: Mapping[str, Any]) -> str | None:
    """What is wrong with an event, or None."""
    name = event.get("event")
    if name not in EVENTS:
        return f"unknown event {str(name)[:40]!r}"
    validator = _validator(name)
    if validator.is_valid(event):
        return None
    # The first is enough: looking for more goes through millions of values that a line may have.
    error = best_match(islice(validator.iter_errors(event), 1))
    where = error.json_path.removeprefix("$").lstrip(".") if error else ""
    return f"{name} {where[:80]}: {error.message[:300] if error else 'not valid'}"


@cache
def _validator(event: str) -> Draft202012Validator:
    """A validator for one kind of event: the whole schema would try each kind on every line."""
    return Draft202012Validator({"$ref": f"#/$defs/{event}", "$defs": schema()["$defs"]})
