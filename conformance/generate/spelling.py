"""Which attributes a case spells out, and which it leaves to their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.spec.model import OpSpec


def spelled(spec: OpSpec, attributes: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The attributes without some of those that have their default.

    A backend may take the wrong default, or none; one that is always given hides that. Each bit of
    the case's ``seed`` decides on one attribute, so about half of them are left out.
    """
    return {
        quantity.name: attributes[quantity.name]
        for place, quantity in enumerate(spec.attributes)
        if quantity.default is None
        or attributes[quantity.name] != quantity.default
        or not seed >> place & 1
    }


def in_full(spec: OpSpec, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes with the defaults of those that are left out."""
    return {q.name: attributes.get(q.name, q.default) for q in spec.attributes}
