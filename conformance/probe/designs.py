"""Designed inputs that tell listed models apart: drawn from a seed, and few."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array, DType
from conformance.generate.chance import Chance
from conformance.probe.inputs import FAMILIES, INTEGER_FAMILIES
from conformance.probe.integers import integer_means
from conformance.probe.models import Codes, Space, means

DRAW_COUNTS = ((64, 192), (256, 96), (1 << 30, 48))
"""Up to this many elements, the number of inputs of one draw."""

MAX_DRAWS, MANY_ELEMENTS, MAX_DRAWS_OF_MANY, MAX_FRUITLESS_DRAWS = 8, 512, 4, 2
"""Draws at most; of ``MANY_ELEMENTS`` or more ``MAX_DRAWS_OF_MANY``. Drawing ends after
``MAX_FRUITLESS_DRAWS`` draws in a row that tell no more models apart.
"""


@lru_cache(maxsize=128)
def designed_inputs(dtype: str, n: int, side: int | None, seed: int) -> tuple[Array, Codes]:
    """Choose inputs that tell the listed models of a mean apart.

    They tell as many pairs of models apart as all drawn inputs do.

    Returns:
        The inputs (inputs, n), and the codes that each model predicts (models, inputs).
    """
    space = space_of(dtype, n, side)
    chosen: list[Array] = []
    predictions: list[Codes] = []
    classes = np.zeros(len(space.models), np.int64)
    fruitless = 0
    for attempt in range(MAX_DRAWS if n < MANY_ELEMENTS else MAX_DRAWS_OF_MANY):
        drawn = candidates(dtype, n, seed, attempt)
        predicted = space.predict(drawn)
        drawn, predicted = _without_subnormals(DTYPES[dtype], drawn, predicted)
        before = len(chosen)
        ordered = np.sort(predicted, axis=0)
        distinct = (ordered[1:] != ordered[:-1]).sum(axis=0)
        for index in np.argsort(distinct, kind="stable")[::-1]:
            column = predicted[:, index]
            if _splits(classes, column):
                classes = _refined(classes, column)
                chosen.append(drawn[index])
                predictions.append(column)
        fruitless = fruitless + 1 if len(chosen) == before else 0
        if fruitless == MAX_FRUITLESS_DRAWS:
            break
    indices = _needed(predictions, int(classes.max())) or [0]
    return np.stack([chosen[i] for i in indices]), np.stack(
        [predictions[i] for i in indices], axis=1
    )


def _needed(predictions: Sequence[Codes], class_count: int) -> list[int]:
    """Leave out inputs, the latest first, without which as many models are told apart."""
    indices = list(range(len(predictions)))
    for index in reversed(range(len(predictions))):
        others = [i for i in indices if i != index]
        classes = np.zeros(len(predictions[0]), np.int64)
        for i in others:
            classes = _refined(classes, predictions[i])
        if classes.max() == class_count:
            indices = others
    return indices


def space_of(dtype: str, n: int, side: int | None) -> Space:
    """Return the listed models of a mean of ``n`` numbers; ``side`` rows, if a square."""
    return means(dtype, n, side) if DTYPES[dtype].is_float else integer_means(dtype, n)


def _without_subnormals(kind: DType, drawn: Array, predicted: Codes) -> tuple[Array, Codes]:
    """Leave out inputs of which some model's mean is subnormal: it may be flushed."""
    if not kind.is_float:
        return drawn, predicted
    magnitude = predicted & np.uint64(int(np.iinfo(kind.signed).max))
    subnormal = (magnitude > 0) & (magnitude < np.uint64(1 << (kind.digits - 1)))
    is_normal = ~subnormal.any(axis=0)
    return drawn[is_normal], predicted[:, is_normal]


def _splits(classes: NDArray[np.int64], predicted: Codes) -> bool:
    """Return whether models of one class predict different codes."""
    of_class = np.zeros(len(classes), predicted.dtype)
    of_class[classes] = predicted  # that of some model of each class
    return bool((of_class[classes] != predicted).any())


def _refined(classes: NDArray[np.int64], predicted: Codes) -> NDArray[np.int64]:
    """Split each class by what its models predict."""
    _, codes = np.unique(predicted, return_inverse=True)
    _, refined = np.unique(classes * (int(codes.max()) + 1) + codes, return_inverse=True)
    return refined.astype(np.int64)


def candidates(dtype: str, n: int, seed: int, attempt: int) -> Array:
    """Draw inputs to choose from, (inputs, n); the same for the same arguments."""
    chance = Chance(f"probe {dtype} {n} {seed} {attempt}")
    row, count = DTYPES[dtype], next(count for limit, count in DRAW_COUNTS if n <= limit)
    families = FAMILIES if row.is_float else INTEGER_FAMILIES
    return np.stack([families[i % len(families)](row, n, chance) for i in range(count)])
