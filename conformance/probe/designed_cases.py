"""Cases whose windows lie side by side, each with one designed input.

They are made for any operator whose windows can be placed so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import isqrt
from typing import Any

import numpy as np

from conformance.core.operator import Operator
from conformance.dtypes import DTYPES, Array
from conformance.errors import ConformanceError
from conformance.model import Case, Vector
from conformance.specification import outputs, violations

ROW, SQUARE, WHOLE = "row", "square", "whole"
"""Shapes of windows: ``whole`` is a square that is all of its plane, where others are not."""

SIZES = {
    ROW: (2, 3, 4, 8, 9, 16, 25, 64, 256, 1024, 4096),
    SQUARE: (4, 9, 16, 25, 64, 256, 1024, 4096),
    WHOLE: (4, 9, 64, 1024),
}
"""Numbers of elements for a mean, by the shape of windows."""

FEWER_SIZES = {ROW: (2, 3, 9, 64, 1024), SQUARE: (4, 9, 64, 1024), WHOLE: (9, 64)}
"""Numbers of elements for a maximum, which is rounded nowhere."""

WINDOWS = 2
"""Windows beside each other, where an operator can have several.

Other code may compute a window that is its whole plane.
"""


@dataclass(frozen=True)
class WindowForm:
    """The form of a call: its windows, and how they lie in the data.

    Attributes:
        window: the shape of windows, which have ``elements`` elements.
        across: the number of windows beside each other on each plane.
        channels: the number of channels is a multiple of this. Which code computes may depend on
            whether it is, so it is for all sizes.
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
        """Arrange designed inputs (inputs, elements) as data (1, channels, *sizes).

        Surplus windows hold the inputs again, from the first.
        """
        channels = self.shape(len(inputs))[1]
        filled = inputs[np.arange(channels * self.across) % len(inputs)]
        grid = filled.reshape(channels, self.across, *self.spans)
        moved = np.moveaxis(grid, 1, -2)  # windows of one plane beside each other on the last axis
        return np.ascontiguousarray(moved).reshape(1, channels, *self.sizes)

    def shape(self, count: int) -> tuple[int, ...]:
        """Return the shape of the output for a number of designed inputs."""
        channels = -(-count // (self.across * self.channels)) * self.channels
        return (1, channels, *(1,) * (self.rank - 3), self.across)


def rank_and_windows(spec: Operator, window: str, ranks: tuple[int, ...]) -> tuple[int, int] | None:
    """Find rank and number of windows across for windows of this shape.

    Returns:
        None if the operator has no such windows.
    """
    ranks_tried = (3, 4) if window == ROW else (4,)
    if window == WHOLE and rank_and_windows(spec, SQUARE, ranks) != (4, WINDOWS):
        return None  # as a square is asked already
    for rank in ranks_tried:
        for across in (1,) if window == WHOLE else (WINDOWS, 1):
            if (
                rank in ranks
                and case_of_form(spec, WindowForm(window, 4, rank, across), 1) is not None
            ):
                return rank, across
    return None


def case_of_form(
    spec: Operator, form: WindowForm, channels: int, dtype: str | None = None
) -> Case | None:
    """Make a valid case of a form with a number of channels.

    Args:
        dtype: the first that the operator allows if None.

    Returns:
        None if no such case is valid.
    """
    dtype = spec.types[spec.inputs[0].type][0] if dtype is None else dtype
    attributes = _attributes(spec, form)
    return None if attributes is None else _case(spec, form, channels, dtype, attributes)


def make_vector(spec: Operator, case: Case, data: Array, name: str) -> Vector:
    """Make a vector of a case and its data, without expected outputs."""
    return Vector(
        name, case, "must", (), f"{case.op}: {name}", "probe", _inputs(spec, case, data), ()
    )


def _inputs(spec: Operator, case: Case, data: Array) -> tuple[Array, ...]:
    """The data, and the tensors that say how many windows there are."""
    operands = (tensor for tensor in spec.inputs if tensor.entries is not None)
    dtypes = ((t.name, DTYPES[case.types.get(t.type, t.type)].numpy) for t in operands)
    return (data, *(np.array(case.operands[name], dtype) for name, dtype in dtypes))


def _case(
    spec: Operator, form: WindowForm, channels: int, dtype: str, attributes: Mapping[str, Any]
) -> Case:
    output_shape = (1,) * (form.rank - 3) + (form.across,)
    types = {name: allowed[0] for name, allowed in spec.types.items()}
    data, *others = spec.inputs
    return Case(
        op=spec.op,
        types={**types, data.type: dtype},
        shapes={data.name: (1, channels, *form.sizes)},
        attributes=dict(attributes),
        operands={tensor.name: output_shape for tensor in others if tensor.entries is not None},
        pattern="given",
    )


@lru_cache(maxsize=512)
def _attributes(spec: Operator, form: WindowForm) -> Mapping[str, Any] | None:
    """Find attributes with which the windows are those of the form, as documented."""
    fixed, undetermined = _by_name(spec, form)
    dtype = spec.types[spec.inputs[0].type][0]
    for values in product(*undetermined.values()):
        attributes = {**fixed, **dict(zip(undetermined, values, strict=True))}
        if _fits(spec, form, _case(spec, form, 1, dtype, attributes)):
            return attributes
    return None


def _by_name(spec: Operator, form: WindowForm) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """The attributes whose names say what they are, and candidates for others without default."""
    fixed: dict[str, Any] = {}
    undetermined: dict[str, tuple[Any, ...]] = {}
    axes = form.rank - 2
    for name, attribute in spec.spelled.items():
        if "kernel" in name or "stride" in name:
            fixed[name] = list(form.spans)
        elif "dilation" in name:  # which are not left out: some backends have no default
            fixed[name] = [1] * axes
        elif "i32" in attribute.values:
            fixed[name] = "i32"  # which more backends have than i64
        elif attribute.default is None:
            numbers = ([value] * axes if attribute.per else value for value in (0, 1))
            words = attribute.values or ((True, False) if attribute.type == "bool" else numbers)
            undetermined[name] = tuple(words)
    return fixed, undetermined


MAX_ALONE = 16
"""Elements of a window that are tried one by one; of larger ones the first and the last are."""


def _fits(spec: Operator, form: WindowForm, case: Case) -> bool:
    """Return whether a case is valid and has complete windows of the form.

    Ones in a window, and zeros in others, have a mean and a maximum of one there, and of zero
    elsewhere; a single one has a maximum of one, and a mean that is no zero.
    """
    if violations(spec, case):
        return False
    dtype = DTYPES[case.types[spec.inputs[0].type]]
    n, across = form.elements, form.across
    alone = range(n) if n <= MAX_ALONE else (0, n - 1)
    windows = np.arange(across)
    for window in windows:
        for elements in (slice(None), *alone):
            inputs = np.zeros((across, n), dtype.numpy)
            inputs[window, elements] = 1
            data = np.moveaxis(inputs.reshape(1, across, *form.spans), 1, -2)
            data = np.ascontiguousarray(data).reshape(1, 1, *form.sizes)
            try:
                output = outputs(spec, _inputs(spec, case, data), case.attributes)[0]
            except (ConformanceError, ValueError):
                return False
            if output.shape != (1, 1, *(1,) * (form.rank - 3), across):
                return False
            results = output.ravel().astype(np.float64)
            right = results[window] == 1 if elements == slice(None) else results[window] > 0
            if not right or results[windows != window].any():
                return False
    return True
