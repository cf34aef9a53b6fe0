"""Checks events against the published schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from conformance.quick_schema import Check, accepts

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
    if _sound(name)(event):
        return None
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    # The first is enough: looking for more goes through millions of values that a line may have.
    error = best_match(islice(Draft202012Validator(_of(name)).iter_errors(event), 1))
    if error is None:
        return None
    where = error.json_path.removeprefix("$").lstrip(".")
    return f"{name} {where[:80]}: {error.message[:300]}"


def _of(event: str) -> dict[str, Any]:
    """The schema of one kind of event: the whole one would try each kind on every line."""
    return {"$ref": f"#/$defs/{event}", "$defs": schema()["$defs"]}


@cache
def _sound(event: str) -> Check:
    return accepts(_of(event))
