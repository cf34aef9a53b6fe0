"""Hypothesis strategies for the cases of an operator, from its specification.

Draws are constructive: each bound is an expression over what was drawn before it, so nothing is
drawn only to be thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from conformance.model import Case
from conformance.spec.default_attributes import case_from_values
from conformance.spec.expressions import Expression
from conformance.spec.model import DrawBounds, OpSpec, Quantity

Aim = Mapping[str, DrawBounds]
Integer = Callable[[int, int], int]
"""Draws a whole number between two, both included; all that is drawn comes of such."""

SEEDS = 1 << 16
DEFAULT_SPAN = 8
"""How far above its minimum a quantity is drawn that has no maximum."""

FAR = 1 << 100
"""Where integers are really drawn. Hypothesis mixes the integer literals of the modules that happen
to be loaded into its draws, so the same seed would give other cases in another process, from a
wheel, or after an edit anywhere. No literal lies out there."""


def cases(spec: OpSpec, rank: int, aim: Aim | None = None) -> st.SearchStrategy[Case]:
    """Valid cases of one rank; ``aim`` narrows what is drawn, by quantity, type or ``pattern``."""
    return _cases(spec, rank, aim or {})


@st.composite
def _cases(draw: st.DrawFn, spec: OpSpec, rank: int, aim: Aim) -> Case:
    def integer(low: int, high: int) -> int:
        return draw(st.integers(FAR + low, FAR + high)) - FAR

    return one_case(spec, rank, aim, integer)


def one_case(spec: OpSpec, rank: int, aim: Aim, integer: Integer) -> Case:
    """A case that the integers decide; see :func:`cases`."""
    aim = {name.replace("-", "_"): narrowed for name, narrowed in aim.items()}
    axes = spec.layout.axes(rank)
    env: dict[str, Any] = {"rank": rank, "axes": axes, "axis": tuple(range(axes))}
    types = {
        variable: _pick(integer, _values(aim.get(variable), allowed))
        for variable, allowed in spec.types.items()
    }
    env |= types
    env["pattern"] = _pick(integer, _patterns(spec, types[spec.data.type], aim.get("pattern")))
    for quantity in spec.quantities.values():
        env[quantity.key] = _draw(integer, quantity, aim.get(quantity.key), env)
    return case_from_values(spec, env, integer(0, SEEDS - 1))


def _patterns(spec: OpSpec, dtype: str, aim: DrawBounds | None) -> tuple[str, ...]:
    """What data of a type are filled with: by the aim, as far as the type allows."""
    given = spec.data.patterns
    aimed, any_ = (
        tuple(one for one in asked if spec.fills(one, dtype))
        for asked in (_values(aim, given), given)
    )
    return aimed or any_


def _values(aim: DrawBounds | None, allowed: tuple[str, ...]) -> tuple[Any, ...]:
    return aim.values if aim is not None and aim.values else allowed


def _pick(integer: Integer, values: Sequence[Any]) -> Any:
    return values[integer(0, len(values) - 1)]


def _draw(integer: Integer, quantity: Quantity, aim: DrawBounds | None, env: dict[str, Any]) -> Any:
    if quantity.type == "bool":
        return _pick(integer, aim.values if aim and aim.values else (False, True))
    if quantity.type == "enum":
        narrowed = aim.values if aim and aim.values else quantity.draw.values
        return _pick(integer, narrowed or quantity.values)
    listed = aim.values if aim and aim.values else quantity.draw.values
    entries = int(env["axes"]) if quantity.per_axis else 1
    if listed:
        drawn = tuple(_pick(integer, listed) for _ in range(entries))
    else:
        lows = _spread(_bound("min", quantity, aim), env, entries, default=0)
        highs = _spread(_bound("max", quantity, aim), env, entries, default=None)
        drawn = tuple(
            integer(low, max(low, low + DEFAULT_SPAN if high is None else high))
            for low, high in zip(lows, highs, strict=True)
        )
    return drawn if quantity.per_axis else drawn[0]


def _bound(side: str, quantity: Quantity, aim: DrawBounds | None) -> Expression | None:
    """The narrowest bound that is given: the aim's, the draw's, the legal one."""
    for source in (aim, quantity.draw, quantity):
        bound: Expression | None = getattr(source, side, None)
        if bound is not None:
            return bound
    return None


def _spread(
    bound: Expression | None, env: dict[str, Any], entries: int, *, default: int | None
) -> tuple[Any, ...]:
    value = default if bound is None else bound.evaluate(env)
    return value if isinstance(value, tuple) else (value,) * entries
