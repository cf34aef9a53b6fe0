"""Whether data is all that a JSON Schema asks for: yes, or a no that jsonschema has to explain.

jsonschema says what is wrong and where, and interprets the schema anew for each document. Here a
schema becomes nested functions once. So what is sound, which is nearly everything, costs a small
part of that, and jsonschema is not even imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

Check = Callable[[Any], bool]

NOTES = {"$schema", "$id", "$comment", "$defs", "title", "description"}
"""Keywords that ask for nothing."""


class Doubt(Exception):
    """A question that is left to jsonschema."""


def accepts(schema: Mapping[str, Any]) -> Check:
    """A function that is true only of data in which jsonschema finds nothing wrong.

    It is false of all other data, and where it would be slow to tell. Raises ValueError for a
    schema with a keyword that is not known here.
    """
    check = _Compiler(schema.get("$defs", {})).check(schema)

    def sound(data: Any) -> bool:
        try:
            return check(data)
        except Doubt:
            return False

    return sound


class _Compiler:
    """Makes functions of schemas, and of each of their ``$defs`` once."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self.made: dict[str, Check] = {}

    def check(self, schema: Any) -> Check:
        if schema is None or isinstance(schema, bool):
            return lambda _: schema is not False
        unknown = schema.keys() - NOTES - {key for group in _KEYWORDS for key in group}
        if unknown:
            raise ValueError(f"there is no quick check of {', '.join(sorted(unknown))}")
        checks = [
            make(self, *map(schema.get, keys))
            for keys, make in _KEYWORDS.items()
            if not schema.keys().isdisjoint(keys)
        ]
        return _all(checks) if checks else self.check(True)

    def type(self, names: str | Sequence[str]) -> Check:
        return _TYPES[names] if isinstance(names, str) else _any([_TYPES[name] for name in names])

    def values(self, listed: Sequence[Any] | None, constant: Any) -> Check:
        known = [constant] if listed is None else listed
        if all(isinstance(one, str) for one in known):
            words = frozenset(known)
            return lambda value: isinstance(value, str) and value in words
        if not all(isinstance(one, str | int | None) for one in known):
            raise ValueError("there is no quick check of values of other kinds")
        # True is no 1 in JSON.
        return lambda value: any(
            value == one and isinstance(value, bool) is isinstance(one, bool) for one in known
        )

    def reference(self, target: str) -> Check:
        name = target.removeprefix("#/$defs/")
        if name not in self.made:
            # Until it is made, for a definition that speaks of itself.
            self.made[name] = lambda value: self.made[name](value)
            self.made[name] = self.check(self.definitions[name])
        return self.made[name]

    def any_of(self, schemas: Sequence[Any]) -> Check:
        return _any([self.check(schema) for schema in schemas])

    def all_of(self, schemas: Sequence[Any]) -> Check:
        return _all([self.check(schema) for schema in schemas])

    def condition(self, *schemas: Any) -> Check:
        holds, yes, no = map(self.check, schemas)
        return lambda value: yes(value) if holds(value) else no(value)

    def text(self, pattern: str | None, least: int | None) -> Check:
        search, shortest = re.compile(pattern or "").search, least or 0
        return lambda value: (
            not isinstance(value, str) or (len(value) >= shortest and search(value) is not None)
        )

    def number(self, least: float | None, most: float | None) -> Check:
        low = float("-inf") if least is None else least
        high = float("inf") if most is None else most
        return lambda value: not _is_number(value) or not (value < low or value > high)

    def array(self, items: Any, least: int | None, most: int | None, unique: bool | None) -> Check:
        each, short, long = self.check(items), least or 0, _or_endless(most)

        def sound(value: Any) -> bool:
            if not isinstance(value, list):
                return True
            if unique and not {type(item) for item in value} <= {str, int}:
                raise Doubt
            return (
                short <= len(value) <= long
                and not (unique and len(set(value)) < len(value))
                and (items is None or all(map(each, value)))
            )

        return sound

    def object(
        self,
        properties: Mapping[str, Any] | None,
        additional: Any,
        names: Any,
        required: Sequence[str] | None,
        dependent: Mapping[str, Sequence[str]] | None,
        *sizes: int | None,
    ) -> Check:
        known = {key: self.check(schema) for key, schema in (properties or {}).items()}
        other, name = self.check(additional), self.check(names)
        needed = set(required or ())
        together = [(key, set(keys)) for key, keys in (dependent or {}).items()]
        few, many = sizes[0] or 0, _or_endless(sizes[1])

        def sound(value: Any) -> bool:
            if not isinstance(value, dict):
                return True
            keys = value.keys()
            return (
                needed <= keys
                and few <= len(value) <= many
                and all(key not in keys or others <= keys for key, others in together)
                and (names is None or all(map(name, value)))
                and all(known.get(key, other)(item) for key, item in value.items())
            )

        return sound


def _all(checks: Sequence[Check]) -> Check:
    return reduce(lambda one, other: lambda value: one(value) and other(value), checks)


def _any(checks: Sequence[Check]) -> Check:
    return reduce(lambda one, other: lambda value: one(value) or other(value), checks)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    """jsonschema takes 1.0 for a whole number."""
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def _or_endless(most: int | None) -> float:
    return float("inf") if most is None else most


_TYPES: Mapping[str, Check] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": _is_whole,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}

_KEYWORDS: Mapping[tuple[str, ...], Callable[..., Check]] = {
    ("type",): _Compiler.type,
    ("enum", "const"): _Compiler.values,
    ("$ref",): _Compiler.reference,
    ("anyOf",): _Compiler.any_of,
    ("allOf",): _Compiler.all_of,
    ("if", "then", "else"): _Compiler.condition,
    ("pattern", "minLength"): _Compiler.text,
    ("minimum", "maximum"): _Compiler.number,
    ("items", "minItems", "maxItems", "uniqueItems"): _Compiler.array,
    (
        *("properties", "additionalProperties", "propertyNames", "required"),
        *("dependentRequired", "minProperties", "maxProperties"),
    ): _Compiler.object,
}
"""Keywords that are checked together, and what makes the check from their values."""
