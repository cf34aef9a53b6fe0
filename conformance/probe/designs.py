"""Inputs that tell listed models apart: drawn from a seed, and as few of them as do it."""

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

DRAWN = ((64, 192), (256, 96), (1 << 30, 48))
"""Up to so many elements, so many inputs are drawn at once and looked at."""

ROUNDS, MANY, FEWER, SILENT = 8, 512, 4, 2
"""How often more are drawn, at most; of ``MANY`` elements and more ``FEWER`` times; and until so
many draws in a row tell no more apart."""


@lru_cache(maxsize=128)
def designed(dtype: str, n: int, side: int | None, seed: int) -> tuple[Array, Codes]:
    """Inputs (inputs, n) that tell the listed models of a mean apart, and the codes that each
    model predicts (models, inputs). As many pairs of models are told apart as any drawn input does.
    """
    space = space_of(dtype, n, side)
    chosen: list[Array] = []
    kept: list[Codes] = []
    classes = np.zeros(len(space.models), np.int64)
    silent = 0
    for attempt in range(ROUNDS if n < MANY else FEWER):
        drawn = candidates(dtype, n, seed, attempt)
        predicted = space.predict(drawn)
        drawn, predicted = _without_subnormals(DTYPES[dtype], drawn, predicted)
        before = len(chosen)
        ordered = np.sort(predicted, axis=0)
        telling = (ordered[1:] != ordered[:-1]).sum(axis=0)
        for number in np.argsort(telling, kind="stable")[::-1]:
            column = predicted[:, number]
            if _splits(classes, column):
                classes = _refined(classes, column)
                chosen.append(drawn[number])
                kept.append(column)
        silent = silent + 1 if len(chosen) == before else 0
        if silent == SILENT:
            break
    needed = _needed(kept, int(classes.max())) or [0]
    return np.stack([chosen[i] for i in needed]), np.stack([kept[i] for i in needed], axis=1)


def _needed(kept: Sequence[Codes], most: int) -> list[int]:
    """Inputs that together tell as many models apart as all do; the latest are left out first."""
    needed = list(range(len(kept)))
    for number in reversed(range(len(kept))):
        rest = [i for i in needed if i != number]
        classes = np.zeros(len(kept[0]), np.int64)
        for i in rest:
            classes = _refined(classes, kept[i])
        if classes.max() == most:
            needed = rest
    return needed


def space_of(dtype: str, n: int, side: int | None) -> Space:
    """The listed models of a mean of ``n`` numbers; ``side`` rows, if a square."""
    return means(dtype, n, side) if DTYPES[dtype].is_float else integer_means(dtype, n)


def _without_subnormals(kind: DType, drawn: Array, predicted: Codes) -> tuple[Array, Codes]:
    """Without the inputs of which some model's mean is subnormal: it may be flushed."""
    if not kind.is_float:
        return drawn, predicted
    magnitude = predicted & np.uint64(int(np.iinfo(kind.signed).max))
    subnormal = (magnitude > 0) & (magnitude < np.uint64(1 << (kind.digits - 1)))
    kept = ~subnormal.any(axis=0)
    return drawn[kept], predicted[:, kept]


def _splits(classes: NDArray[np.int64], predicted: Codes) -> bool:
    """Whether models of one class predict different codes."""
    of_class = np.zeros(len(classes), predicted.dtype)
    of_class[classes] = predicted  # that of some model of each class
    return bool((of_class[classes] != predicted).any())


def _refined(classes: NDArray[np.int64], predicted: Codes) -> NDArray[np.int64]:
    """The classes, each split by what its models predict."""
    _, found = np.unique(predicted, return_inverse=True)
    _, both = np.unique(classes * (int(found.max()) + 1) + found, return_inverse=True)
    return both.astype(np.int64)


def candidates(dtype: str, n: int, seed: int, attempt: int) -> Array:
    """Inputs to choose from, (inputs, n); the same for the same arguments."""
    chance = Chance(f"probe {dtype} {n} {seed} {attempt}")
    kind, count = DTYPES[dtype], next(count for most, count in DRAWN if n <= most)
    families = FAMILIES if kind.is_float else INTEGER_FAMILIES
    return np.stack([families[i % len(families)](kind, n, chance) for i in range(count)])
