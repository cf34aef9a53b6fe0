"""Mutants of stretching: elements of a repeated tensor are read at other places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from conformance.core.binding import Binding
from conformance.core.evaluate import Evaluation
from conformance.core.mutant_changes import StretchChange
from conformance.core.operator import Operator, Tensor

Shape = tuple[int, ...]
Places = NDArray[np.int64]


def _right(shape: Shape, full: Shape) -> Places | None:
    """The places that are right, of a shape that fits; None of another."""
    try:
        return np.broadcast_to(np.arange(prod(shape)).reshape(shape), full)
    except ValueError:
        return None


def _cycled(shape: Shape, full: Shape) -> Places:
    return np.arange(prod(full)).reshape(full) % prod(shape)


def _clamped(shape: Shape, full: Shape) -> Places:
    padded = (1,) * (len(full) - len(shape)) + shape
    last = max((axis for axis, extent in enumerate(padded) if extent > 1), default=-1)
    place = np.arange(prod(full)).reshape(full) // prod(full[last + 1 :])
    return np.minimum(place, prod(shape) - 1)


def _from_left(shape: Shape, full: Shape) -> Places | None:
    return _right(shape + (1,) * (len(full) - len(shape)), full)


def _squeezed(shape: Shape, full: Shape) -> Places | None:
    return _right(tuple(extent for extent in shape if extent != 1), full)


def _without_outer(shape: Shape, full: Shape) -> Places | None:
    padded = (1,) * (len(full) - len(shape)) + shape
    stretched = [axis for axis, extent in enumerate(padded) if extent < full[axis]]
    outer = max(stretched, default=0)
    places = np.arange(prod(shape)).reshape(padded)[(slice(1),) * outer]
    return np.broadcast_to(places, full)


RULES: Mapping[str, tuple[Callable[[Shape, Shape], Places | None], str]] = {
    "cycled": (_cycled, "Elements of {name} are read over and over, whatever its shape is."),
    "clamped": (_clamped, "After {name} has been read once, its last element is read."),
    "from the left": (_from_left, "The first axes of {name} are matched, not the last."),
    "squeezed": (_squeezed, "Axes of {name} that have one element are dropped."),
    "without outer axes": (_without_outer, "Axes of {name} before a stretched one are read at 0."),
}
"""Where elements are read by each rule, by the shape of a tensor and that it is stretched to."""


def stretch_mutants(operator: Operator) -> Iterator[tuple[StretchChange, str]]:
    """Yield wrong ways to stretch each tensor that may be, and a sentence on each."""
    for tensor in operator.inputs:
        items = [item for shape in tensor.shapes for item in shape]
        dims = [operator.dims.get(str(item.value)) for item in items if item.op == "name"]
        if tensor.broadcast or any(dim is not None and dim.broadcast for dim in dims):
            for rule, (_, says) in RULES.items():
                change = StretchChange(f"stretched.{tensor.name}: {rule}", tensor.name, rule)
                yield change, says.format(name=tensor.name)


def places(binding: Binding, change: StretchChange) -> Places | None:
    """Return where a rule reads each element, in a row; None where that is right."""
    shape = binding.shapes.get(change.tensor, (0,))
    if not prod(shape):
        return None
    full = _full_shape(binding, binding.operator.tensors[change.tensor])
    right, wrong = (rule(shape, full) for rule in (_right, RULES[change.rule][0]))
    return None if right is None or wrong is None or np.array_equal(right, wrong) else wrong


def stretched(original: Evaluation, change: StretchChange) -> Evaluation:
    """Return an evaluation with one tensor stretched by a rule, which may be right."""
    wrong = places(original.binding, change)
    if wrong is None:
        return original
    return original.with_input(change.tensor, original.inputs[change.tensor].ravel()[wrong])


def _full_shape(binding: Binding, tensor: Tensor) -> Shape:
    """The shape that a tensor is stretched to."""
    return binding.flat([*map(binding.settled, binding.items(tensor))])
