"""Cases whose windows lie side by side, each with one designed input.

They are made from any specification whose windows can be placed so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

from conformance.dtypes import DTYPES, Array
from conformance.errors import ConformanceError
from conformance.model import Case, Vector
from conformance.reference import facts
from conformance.reference.values import operands_of
from conformance.spec.model import OpSpec, Quantity
from conformance.spec.validity import violations

ROW, SQUARE, WHOLE = "row", "square", "whole"
"""Shapes of windows: ``whole`` is a square that is all of its plane, where others are not."""

SIZES = {
    ROW: (2, 3, 4, 8, 9, 16, 25, 64, 256, 1024, 4096),
    SQUARE: (4, 9, 16, 25, 64, 256, 1024, 4096),
    WHOLE: (4, 9, 64, 1024),
}
"""By the shape of windows, the numbers of elements for which a mean is asked."""

FEWER_SIZES = {ROW: (2, 3, 9, 64, 1024), SQUARE: (4, 9, 64, 1024), WHOLE: (9, 64)}
"""And a maximum, which is rounded nowhere."""

WINDOWS = 2
"""Windows beside each other, where an operator can have more than one: what takes a whole plane
may be computed by other code."""


@dataclass(frozen=True)
class Form:
    """How an operator is asked: windows of ``elements``, a row or a square, ``across`` beside each
    other on each plane, in data of a ``rank``.

    The number of channels is a multiple of ``channels``. Which code computes may depend on whether
    it is, so it is for all sizes.
    """

    window: str
    elements: int
    rank: int
    across: int
    channels: int = 16

    @property
    def spans(self) -> tuple[int, ...]:
        """The lengths of a window on each spatial axis."""
        side = isqrt(self.elements)
        last = (self.elements,) if self.window == ROW else (side, side)
        return (1,) * (self.rank - 2 - len(last)) + last

    @property
    def side(self) -> int | None:
        """The rows of a square window."""
        return None if self.window == ROW else isqrt(self.elements)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The spatial shape of the data."""
        return (*self.spans[:-1], self.spans[-1] * self.across)

    def data(self, inputs: Array) -> Array:
        """Designed inputs (inputs, elements) as data: (1, channels, *sizes); windows that are left
        over hold the inputs again, from the first.
        """
        channels = self.shape(len(inputs))[1]
        filled = inputs[np.arange(channels * self.across) % len(inputs)]
        grid = filled.reshape(channels, self.across, *self.spans)
        moved = np.moveaxis(grid, 1, -2)  # windows of one plane beside each other on the last axis
        return np.ascontiguousarray(moved).reshape(1, channels, *self.sizes)

    def results(self, output: Array, count: int) -> Array:
        """The results of so many designed inputs, from the output for their data: (inputs,)."""
        return output.reshape(-1)[:count]

    def shape(self, count: int) -> tuple[int, ...]:
        """The shape of the output for so many designed inputs."""
        channels = -(-count // (self.across * self.channels)) * self.channels
        return (1, channels, *(1,) * (self.rank - 3), self.across)


def forms(spec: OpSpec, window: str, ranks: tuple[int, ...]) -> tuple[int, int] | None:
    """The rank and the number of windows across with which an operator can be asked for windows of
    this shape; None where it cannot.
    """
    fitting = (3, 4) if window == ROW else (4,)
    if window == WHOLE and forms(spec, SQUARE, ranks) != (4, WINDOWS):
        return None  # as a square is asked already
    for rank in fitting:
        for across in (1,) if window == WHOLE else (WINDOWS, 1):
            if rank in ranks and case_of(spec, Form(window, 4, rank, across), 1) is not None:
                return rank, across
    return None


def case_of(spec: OpSpec, form: Form, channels: int, dtype: str | None = None) -> Case | None:
    """A valid case of this form, of so many channels; None where there is none. Without a type it
    has the first that the operator allows.
    """
    dtype = spec.types[spec.data.type][0] if dtype is None else dtype
    attributes = _attributes(spec, form)
    return None if attributes is None else _case(spec, form, channels, dtype, attributes)


def vector_of(spec: OpSpec, case: Case, data: Array, name: str) -> Vector:
    """A vector that asks a case with these data; it has no answers."""
    inputs = (data, *operands_of(spec, case))
    return Vector(name, case, "must", (), f"{case.op}: {name}", "probe", inputs, ())


def _case(
    spec: OpSpec, form: Form, channels: int, dtype: str, attributes: Mapping[str, Any]
) -> Case:
    outputs = (1,) * (form.rank - 3) + (form.across,)
    types = {name: allowed[0] for name, allowed in spec.types.items()}
    return Case(
        op=spec.op,
        types={**types, spec.data.type: dtype},
        shapes={spec.data.name: (1, channels, *form.sizes)},
        attributes=dict(attributes),
        operands={one.name: outputs for one in spec.operands},
        pattern="given",
    )


@lru_cache(maxsize=512)
def _attributes(spec: OpSpec, form: Form) -> Mapping[str, Any] | None:
    """Attributes with which the windows are those of the form, as the document spells them."""
    role = {word: name for name, word in spec.roles.items()}
    asked: dict[str, Any] = {}
    open_ones: list[tuple[Quantity, tuple[Any, ...]]] = []
    axes = form.rank - 2
    indices = [output.type for output in spec.outputs if output.holds == "index"]
    for quantity in spec.attributes:
        meant = role.get(quantity.key, quantity.key)
        if meant in ("kernel", "strides"):
            asked = quantity.put(asked, list(form.spans))
        elif meant == "dilations":  # which are not left out: some backends have no default
            asked = quantity.put(asked, [1] * axes)
        elif meant in indices and "i32" in quantity.values:
            asked = quantity.put(asked, "i32")  # which more backends have than i64
        elif quantity.required:
            open_ones.append((quantity, tuple(_tries(quantity, axes))))
    dtype = spec.types[spec.data.type][0]
    for values in product(*(tries for _, tries in open_ones)):
        attributes = asked
        for (quantity, _), value in zip(open_ones, values, strict=True):
            attributes = quantity.put(attributes, value)
        if _fits(spec, form, _case(spec, form, 1, dtype, attributes)):
            return attributes
    return None


def _tries(quantity: Quantity, axes: int) -> Iterator[Any]:
    """Values of a required attribute that may leave windows as they are."""
    if quantity.type == "int":
        for value in (0, 1):
            yield [value] * axes if quantity.per_axis else value
    elif quantity.type == "bool":
        yield from (True, False)
    else:
        yield from (([quantity.default] if quantity.default else []) + list(quantity.values))


def _fits(spec: OpSpec, form: Form, case: Case) -> bool:
    """Whether a case is valid, and its windows are those of the form and are whole."""
    if violations(spec, case):
        return False
    kind = DTYPES[case.types[spec.data.type]]
    try:
        env = facts(spec, case, [np.zeros(case.shapes[spec.data.name], kind.numpy)])
        if tuple(env.out) != (1,) * (form.rank - 3) + (form.across,):
            return False
        for axis, (length, windows) in enumerate(zip(form.spans, env.windows, strict=True)):
            starts = np.arange(env.out[axis])[:, None] * length
            if not windows.every or not np.array_equal(windows.indices, starts + np.arange(length)):
                return False
        return env["reduce"] != "mean" or bool(np.all(np.asarray(env["divisor"]) == form.elements))
    except (ConformanceError, ValueError):
        return False
