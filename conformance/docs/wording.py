"""Words for parts of a specification, shared by pages and terminal."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from conformance.model import Vector
from conformance.spec.expressions import Expression
from conformance.spec.model import NegativeTest, OpSpec, Quantity


def legal(quantity: Quantity) -> str:
    """The values that a quantity may have."""
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
    """A value as the document writes it, and what expressions call it."""
    code, called = (
        str(one).lower() if isinstance(one, bool) else str(one)
        for one in (quantity.write(value), value)
    )
    return code if code == called else f"{code} ({called})"


def otherwise(quantity: Quantity) -> str:
    """What holds where an attribute is not given."""
    if quantity.required:
        return "required"
    if quantity.like:
        return f"as {quantity.like}"
    default = quantity.write(quantity.default)
    if isinstance(default, bool):
        return str(default).lower()
    return "none" if default is None else str(default)


def called(quantity: Quantity) -> str:
    """What expressions call an attribute, where that is not its name; empty where it is."""
    if quantity.half is not None:
        return f"the {('first', 'second')[quantity.half]} half is {quantity.key} in expressions"
    return f"{quantity.key} in expressions" if quantity.key != quantity.name else ""


def ways(reject: NegativeTest) -> Iterator[str]:
    """How a must-reject case differs from a valid one."""
    if reject.rank is not None:
        yield f"data of rank {reject.rank}"
    for name, count in reject.length.items():
        yield f"{name} with {count.text} entries"
    for name, value in reject.set.items():
        yield f"{name} = {value.text if isinstance(value, Expression) else value}"


def gist(vector: Vector) -> str:
    """The type, the shapes and the pattern of a vector: ``f32, 1x1x7, ramp``."""
    case = vector.case
    shapes = ["x".join(map(str, shape)) for shape in case.shapes.values()]
    operands = [f"{name} {','.join(map(str, value))}" for name, value in case.operands.items()]
    pattern = [] if case.reject else [case.pattern]
    return ", ".join([next(iter(case.types.values())), *shapes, *operands, *pattern])


def abbreviations(spec: OpSpec) -> tuple[str, ...]:
    """The definitions of the file that are no rules."""
    return tuple(name for name in spec.definitions if name not in spec.kin.rules)


def rules(spec: OpSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rules that the file chooses, and those that it leaves as the family has them."""
    known = [name for name in spec.kin.rules if name in spec.definitions]
    own = tuple(name for name in known if ("rules", name) in spec.positions)
    return own, tuple(name for name in known if name not in own)


def names(spec: OpSpec) -> dict[str, str]:
    """What a name means that the reference adds to those of the file."""
    return {name: known.about for name, known in spec.kin.names.items()}


def place(url: str) -> str:
    """A link's text: ``owner/project#12`` for a thread on GitHub, else the host and path."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an address of brackets that hold no address
        return url
    path = [part for part in parts.path.split("/") if part]
    if parts.hostname == "github.com" and len(path) >= 4 and path[2] in ("issues", "pull"):
        return f"{path[0]}/{path[1]}#{path[3]}"
    return parts.netloc + parts.path.rstrip("/")
