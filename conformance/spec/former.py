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
    """The same question in the document's spelling; a case that has it already is the same.

    A list is given where its first half was, or where it is not the default. Halves of different
    lengths make a list of an odd length. What is no half of a list stays as it is: the case may be
    anybody's.
    """
    halves = {one.key: one for one in spec.attributes if one.half is not None}
    attributes: dict[str, Any] = {}
    for name, value in case.attributes.items():
        whole = _joined(spec, halves[name].name, case) if name in halves else None
        if whole is None:
            attributes[name] = value
        else:
            attributes[halves[name].name] = whole
    values = {one.key: one.of(attributes, 0) for one in spec.attributes}
    for one in spec.attributes:
        # Whether a list was given its first half says.
        given = one.half != 0 or not case.attributes.keys().isdisjoint((one.key, one.name))
        if one.name in attributes and not (given and one.may_be_given(values)):
            parts = [part for part in spec.attributes if part.name == one.name]
            if _is_default(parts, attributes[one.name]):
                del attributes[one.name]
    return replace(case, attributes=attributes)


def _joined(spec: OpSpec, name: str, case: Case) -> list[Any] | None:
    """The list whose halves a case gives; None where that is no list."""
    parts = [one for one in spec.attributes if one.name == name]
    given = [case.attributes[one.key] for one in parts if one.key in case.attributes]
    if name in case.attributes or not all(isinstance(half, list | tuple) for half in given):
        return None
    lists = [case.attributes.get(one.key, [one.default or 0] * len(given[0])) for one in parts]
    return [entry for half in lists for entry in half]


def _is_default(parts: Sequence[Quantity], value: Any) -> bool:
    """Whether an attribute of the document has its default."""
    for part in parts:
        own = part.read(value)
        entries = own if isinstance(own, list | tuple) else [own]
        if part.default is None or any(entry != part.default for entry in entries):
            return False
    return True
