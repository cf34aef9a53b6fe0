"""Converts the outputs of a backend from the layout that it declares to the specified one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.backends.axis_order import recount_indices, untransposed
from conformance.backends.layouts import TensorLayout
from conformance.grade.outcome import DescribedValue, Ending, Outcome, describe_value
from conformance.model import Vector


def restore_layout(outcome: Outcome, vector: Vector, arrangement: TensorLayout | None) -> Outcome:
    """Convert outputs to the specified layout, and note what the judge cannot see then."""
    if arrangement is None or outcome.ending is not Ending.RETURNED:
        return outcome
    plural = type(outcome.returned) in (list, tuple)
    items: list[Any] = list(outcome.returned) if plural else [outcome.returned]  # type: ignore[call-overload]
    shapes: list[str] = []
    indices: list[str] = []
    for number, item in enumerate(items[: len(arrangement.outputs)]):
        order = arrangement.outputs[number].get(len(describe_value(item).shape or ()))
        if order is not None:
            items[number] = _reorder_axes(item, order.axes)
            shapes += _shape_note(number, item, items[number], vector, order.letters)
        if number in arrangement.countings and type(item) is np.ndarray:
            items[number], lost = recount_indices(items[number], arrangement.countings[number])
            if lost:
                indices.append(
                    f"{lost} of {item.size} indices in output {number} are outside of the data, or "
                    f"in another image or channel, counted in {arrangement.counted(number)}"
                )
    is_misshapen = any(
        describe_value(item).shape != answer.expected.shape
        for item, answer in zip(items, vector.answers, strict=False)
    )
    # Where a shape is wrong that is the failure, whatever the indices are.
    note = "; ".join(shapes if is_misshapen else indices)
    return replace(outcome, returned=items if plural else items[0], note=note)


def _reorder_axes(item: Any, order: tuple[int, ...]) -> Any:
    """An output as specified: an array, or the description of one that is not here."""
    if type(item) is np.ndarray:
        return untransposed(item, order)
    if (
        isinstance(item, DescribedValue)
        and item.shape is not None
        and len(item.shape) == len(order)
    ):
        shape = tuple(item.shape[order.index(axis)] for axis in range(len(order)))
        return replace(item, shape=shape)
    return item


def _shape_note(
    number: int, item: Any, reordered: Any, vector: Vector, letters: str
) -> Iterator[str]:
    """What a wrong shape was as it came."""
    came, shape = describe_value(item).shape, describe_value(reordered).shape
    if came is None or number >= len(vector.answers):
        return
    expected = vector.answers[number].expected.shape
    if shape != expected:
        mistaken = ", the layout of the specification" if came == expected else ""
        yield f"output {number} came as {came}{mistaken}, and {letters} is declared"
