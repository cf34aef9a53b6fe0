"""Wording of parts of a specification, shared by pages and terminal."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from conformance.spec.expressions import Expression
from conformance.spec.model import NegativeTest, OpSpec, Quantity


def allowed_values(quantity: Quantity) -> str:
    """Return the values that a quantity may have."""
    if quantity.type == "enum":
        return ", ".join(_written(quantity, value) for value in quantity.values)
    if quantity.type == "bool":
        return ", ".join(_written(quantity, value) for value in (True, False))
    low, high = (bound and bound.text for bound in (quantity.min, quantity.max))
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"at least {low}"
    return "any whole number" if high is None else f"at most {high}"


def _written(quantity: Quantity, value: str | bool) -> str:
    """Return a value as the document spells it, and its name in expressions."""
    spelling, expression_name = (
        str(text).lower() if isinstance(text, bool) else str(text)
        for text in (quantity.write(value), value)
    )
    return spelling if spelling == expression_name else f"{spelling} ({expression_name})"


def default_text(quantity: Quantity) -> str:
    """Return the value of an attribute that is left out."""
    if quantity.required:
        return "required"
    if quantity.like:
        return f"as {quantity.like}"
    default = quantity.write(quantity.default)
    if isinstance(default, bool):
        return str(default).lower()
    return "none" if default is None else str(default)


def expression_name(quantity: Quantity) -> str:
    """Return an attribute's name in expressions; empty if it is its own."""
    if quantity.half is not None:
        return f"the {('first', 'second')[quantity.half]} half is {quantity.key} in expressions"
    return f"{quantity.key} in expressions" if quantity.key != quantity.name else ""


def differences_from_valid(reject: NegativeTest) -> Iterator[str]:
    """Yield how a negative test differs from a valid case."""
    if reject.rank is not None:
        yield f"data of rank {reject.rank}"
    for name, count in reject.length.items():
        yield f"{name} with {count.text} entries"
    for name, value in reject.set.items():
        yield f"{name} = {value.text if isinstance(value, Expression) else value}"


def abbreviations(spec: OpSpec) -> tuple[str, ...]:
    """Return the definitions of the file that are no rules."""
    return tuple(name for name in spec.definitions if name not in spec.kin.rules)


def rules(spec: OpSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rules that the file chooses, and those that the family provides."""
    names = [name for name in spec.kin.rules if name in spec.definitions]
    chosen = tuple(name for name in names if ("rules", name) in spec.positions)
    return chosen, tuple(name for name in names if name not in chosen)


def name_meanings(spec: OpSpec) -> dict[str, str]:
    """Return the meaning of each name that the oracle adds to those of the file."""
    return {name: definition.about for name, definition in spec.kin.names.items()}


def link_text(url: str) -> str:
    """Return the text of a link.

    Returns:
        ``owner/project#12`` for a thread on GitHub, else host and path.
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # an address of brackets that hold no address
        return url
    path = [part for part in parts.path.split("/") if part]
    if parts.hostname == "github.com" and len(path) >= 4 and path[2] in ("issues", "pull"):
        return f"{path[0]}/{path[1]}#{path[3]}"
    return parts.netloc + parts.path.rstrip("/")
