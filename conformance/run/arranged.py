"""Converts inputs to the layout that a backend declares, and its outputs back.

Every way of calling a backend goes through here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from conformance.backends.arranging import recounted, restored
from conformance.backends.layouts import Arrangement, arrangement
from conformance.grade.outcome import Described, Ending, Outcome, described
from conformance.model import Vector
from conformance.run.executor import Executor
from conformance.spec.model import OpSpec


def arranged(executor: Executor, specs: Mapping[str, OpSpec]) -> Executor:
    """An executor, within its context, that takes vectors and gives outputs as specified.

    It is the same one where it does so already: its backend declares no layout of its own, say.
    """
    declared = executor.identity.capabilities
    plain = declared is None or (declared.layout is None and declared.index_layout is None)
    if plain or executor.as_specified:
        return executor
    return _Arranged(executor, specs)


class _Arranged(Executor):
    def __init__(self, executor: Executor, specs: Mapping[str, OpSpec]) -> None:
        self.identity = executor.identity
        self.ahead = executor.ahead
        self._executor = executor
        self._specs = specs
        self._asked: deque[tuple[Vector, Arrangement | None]] = deque()
        executor.probes = lambda: (self._sent(one)[0] for one in self.probes())

    def close(self) -> None:
        self._executor.close()

    def allow(self, seconds: float) -> None:
        self._executor.allow(seconds)

    def settings(self) -> dict[str, Any]:
        return self._executor.settings()

    def submit(self, vector: Vector) -> None:
        sent, how = self._sent(vector)
        self._asked.append((vector, how))
        self._executor.submit(sent)

    def take(self) -> Outcome:
        outcome = self._executor.take()
        vector, how = self._asked.popleft()
        if how is None or outcome.ending is not Ending.RETURNED:
            return outcome
        return _restored(outcome, vector, how)

    def _sent(self, vector: Vector) -> tuple[Vector, Arrangement | None]:
        how = arrangement(self.identity.capabilities, self._specs.get(vector.case.op), vector.case)
        return (vector if how is None else replace(vector, inputs=how.sent(vector))), how


def _restored(outcome: Outcome, vector: Vector, how: Arrangement) -> Outcome:
    """The outcome with its outputs as specified, and a note of what the judge cannot see then."""
    plural = type(outcome.returned) in (list, tuple)
    items: list[Any] = list(outcome.returned) if plural else [outcome.returned]  # type: ignore[call-overload]
    shapes: list[str] = []
    indices: list[str] = []
    for number, item in enumerate(items[: len(how.laid_out)]):
        if how.order is not None and how.laid_out[number]:
            items[number] = _turned(item, how.order)
            shapes += _shape_note(number, item, items[number], vector, how)
        if number in how.countings and type(item) is np.ndarray:
            items[number], lost = recounted(items[number], how.countings[number])
            if lost:
                indices.append(
                    f"{lost} of {item.size} indices in output {number} are outside of the data, or "
                    f"in another image or channel, counted in {how.counted(number)}"
                )
    wrong = any(
        described(item).shape != answer.expected.shape
        for item, answer in zip(items, vector.answers, strict=False)
    )
    # Where a shape is wrong that is the failure, whatever the indices are.
    note = "; ".join(shapes if wrong else indices)
    return replace(outcome, returned=items if plural else items[0], note=note)


def _turned(item: Any, order: tuple[int, ...]) -> Any:
    """An output as specified: an array, or what is told of one that is not there."""
    if type(item) is np.ndarray:
        return restored(item, order)
    if isinstance(item, Described) and item.shape is not None and len(item.shape) == len(order):
        shape = tuple(item.shape[order.index(axis)] for axis in range(len(order)))
        return replace(item, shape=shape)
    return item


def _shape_note(
    number: int, item: Any, turned: Any, vector: Vector, how: Arrangement
) -> Iterator[str]:
    """What a wrong shape was as it came."""
    came, shape = described(item).shape, described(turned).shape
    if came is None or number >= len(vector.answers):
        return
    expected = vector.answers[number].expected.shape
    if shape != expected:
        mistaken = ", the layout of the specification" if came == expected else ""
        yield f"output {number} came as {came}{mistaken}, and {how.name} is declared"
