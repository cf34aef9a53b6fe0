"""Validates YAML files against their JSON Schemas."""

from __future__ import annotations

from itertools import islice
from typing import Any

from conformance.errors import closest
from conformance.json_schema import JsonSchema
from conformance.spec.yaml_source import MAX_PROBLEMS, Path, Source


def check(source: Source, schema: JsonSchema) -> bool:
    """Note every place where ``source`` departs from the schema.

    Unknown keys are dropped from the data. Returns whether what is left is sound, so that it can be
    read on for further problems.
    """
    sound = True
    for error in list(islice(schema.errors(source.data), MAX_PROBLEMS)):
        path: Path = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            for key in sorted(error.instance.keys() - error.schema["properties"].keys()):
                _unknown_key(source, (*path, key), error)
                _take_out(source, (*path, key))
            continue
        if "propertyNames" in error.absolute_schema_path:
            path = (*path, error.instance)
        _note(source, path, error)
        sound = False
    return sound


def _take_out(source: Source, path: Path) -> None:
    source.data = _without(source.data, path)


def _without(data: Any, path: Path) -> Any:
    """The data without what stands at ``path``, if anything does; shared, so not changed itself."""
    key, *inner = path
    if isinstance(data, list):
        return [_without(v, tuple(inner)) if i == key else v for i, v in enumerate(data)]
    remaining = dict(data)
    if not inner:
        remaining.pop(key, None)
    elif key in remaining:
        remaining[key] = _without(remaining[key], tuple(inner))
    return remaining


def _unknown_key(source: Source, path: Path, error: Any) -> None:
    names = sorted(error.schema["properties"])
    key = str(path[-1])
    hint = closest(key, names)
    if hint is None and error.instance[key] is None:
        hint = "text that holds a comma must be in quotes between { and }"
    message = f"'{key}' is not known here"
    source.problem(path, message, expected=f"one of {', '.join(names)}", hint=hint, key=True)


def _note(source: Source, path: Path, error: Any) -> None:
    rule, value, value_found = error.validator, error.validator_value, error.instance
    if rule == "required":
        for key in sorted(value):
            if key not in value_found:
                about = error.schema["properties"][key].get("description", "")
                source.problem(path, f"'{key}' is missing", hint=about, key=bool(path))
    elif rule == "enum":
        source.unknown(
            path, f"{_shown(value_found)} is not allowed here", str(value_found), map(str, value)
        )
    elif rule == "const":
        hint = error.schema.get("description") if path == ("format",) else None
        message = f"{_shown(value_found)} is not allowed here"
        source.problem(path, message, expected=str(value), hint=hint)
    elif rule == "type":
        kinds = value if isinstance(value, list) else [value]
        expected = ", ".join(_TYPES[kind] for kind in kinds)
        hint = None
        if kinds == ["boolean"] and str(value_found).lower() in _TRUTHS:
            hint = "write true or false"
        message = f"{_shown(value_found)} is not allowed here"
        source.problem(path, message, expected=expected, hint=hint)
    elif rule == "pattern":
        message = f"'{value_found}' cannot be a name here"
        key = "propertyNames" in error.absolute_schema_path
        source.problem(path, message, expected=_described(error.schema), key=key)
    else:
        source.problem(path, _LIMITS[rule].format(value), hint=_described(error.schema))


_TRUTHS = ("true", "false", "yes", "no", "on", "off")
_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
}
_LIMITS = {
    "minLength": "there is no text",
    "minItems": "the list needs at least {} entries",
    "maxItems": "the list has at most {} entries",
    "minProperties": "there is nothing here",
    "maxProperties": "there are at most {} entries here",
    "uniqueItems": "an entry is given twice",
    "minimum": "the number is at least {}",
    "maximum": "the number is at most {}",
}


def _described(schema: dict[str, Any]) -> str:
    return str(schema.get("description", ""))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else f"'{str(value)[:60]}'"
