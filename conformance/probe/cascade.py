"""Cascade summation, as PyTorch adds up a contiguous row on a CPU.

Four vectors of lanes are added to at once. After each so many steps their sums are carried to a
second level, from there to a third, and to a fourth, so that no sum has many terms. The rule is
that of ``aten/src/ATen/native/cpu/SumKernel.cpp``.
"""

from __future__ import annotations

import numpy as np

from conformance.dtypes import Array

LEVELS, VECTORS, LEAST = 4, 4, 4
"""Levels of sums, vectors that are added to at once, and the least binary logarithm of a level's
number of steps."""


def cascade(x: Array, lanes: int) -> Array:
    """The sums of rows (rows, n), with so many lanes in a vector."""
    rows, n = x.shape
    whole = n // lanes * lanes
    total = _vectors(x[:, whole:, None])[:, 0]
    if whole:
        sums = _vectors(x[:, :whole].reshape(rows, -1, lanes))
        for lane in range(lanes):
            total = total + sums[:, lane]
    return total


def _vectors(x: Array) -> Array:
    """The sums of vectors: (rows, count, lanes) becomes (rows, lanes)."""
    rows, count, lanes = x.shape
    full = count // VECTORS
    found = _steps(x[:, : full * VECTORS].reshape(rows, full, VECTORS * lanes))
    each = found.reshape(rows, VECTORS, lanes)
    total = each[:, 0]
    for i in range(full * VECTORS, count):
        total = total + x[:, i]
    for i in range(1, VECTORS):
        total = total + each[:, i]
    return total


def _steps(x: Array) -> Array:
    """The sums of (rows, steps, width), carried from level to level: (rows, width)."""
    rows, steps, width = x.shape
    power = max(LEAST, max(steps - 1, 0).bit_length() // LEVELS)
    level = [np.zeros((rows, width), x.dtype) for _ in range(LEVELS)]
    for i in range(steps):
        level[0] = level[0] + x[:, i]
        done = i + 1
        for j in range(1, LEVELS):
            if done % (1 << (j * power)):
                break
            level[j] = level[j] + level[j - 1]
            level[j - 1] = np.zeros_like(level[j])
    total = level[0]
    for j in range(1, LEVELS):
        total = total + level[j]
    return total
