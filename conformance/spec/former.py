"""Converts cases with a former spelling of attributes to the current one.

The halves of a list were attributes of their own, called as expressions call them; and defaults
were given that the document does not let be given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conformance.model import Case
from conformance.spec.model import OpSpec, Quantity


def respelled(spec: OpSpec, case: Case) -> Case:
    """Spell a case's attributes as the document does; keep a case that does.

    A list is given where its first half was, or where it is not the default. Halves of different
    lengths make a list of an odd length. What is no half of a list stays as it is: the case may be
    anybody's.
    """
    halves = {
        attribute.key: attribute for attribute in spec.attributes if attribute.half is not None
    }
    attributes: dict[str, Any] = {}
    for name, value in case.attributes.items():
        joined = _joined(spec, halves[name].name, case) if name in halves else None
        if joined is None:
            attributes[name] = value
        else:
            attributes[halves[name].name] = joined
    values = {attribute.key: attribute.of(attributes, 0) for attribute in spec.attributes}
    for attribute in spec.attributes:
        # Whether a list was given its first half says.
        is_given = attribute.half != 0 or not case.attributes.keys().isdisjoint(
            (attribute.key, attribute.name)
        )
        if attribute.name in attributes and not (is_given and attribute.may_be_given(values)):
            parts = [part for part in spec.attributes if part.name == attribute.name]
            if _is_default(parts, attributes[attribute.name]):
                del attributes[attribute.name]
    return replace(case, attributes=attributes)


def _joined(spec: OpSpec, name: str, case: Case) -> list[Any] | None:
    """The list whose halves a case gives; None where that is no list."""
    parts = [attribute for attribute in spec.attributes if attribute.name == name]
    halves = [case.attributes[half.key] for half in parts if half.key in case.attributes]
    if name in case.attributes or not all(isinstance(half, list | tuple) for half in halves):
        return None
    lists = [case.attributes.get(half.key, [half.default or 0] * len(halves[0])) for half in parts]
    return [entry for half in lists for entry in half]


def _is_default(parts: Sequence[Quantity], value: Any) -> bool:
    """Whether an attribute of the document has its default."""
    for part in parts:
        value_read = part.read(value)
        entries = value_read if isinstance(value_read, list | tuple) else [value_read]
        if part.default is None or any(entry != part.default for entry in entries):
            return False
    return True
