"""Convolutions of 3x3 filters by Winograd's algorithms, and sloppy ones, in float32."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from conformance.dtypes import DTYPES

Array = Any


class Transforms(NamedTuple):
    """The matrices of F(m, 3): ``inputs`` B', ``taps`` G and ``results`` A'."""

    inputs: Array
    taps: Array
    results: Array


F2 = Transforms(
    np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]]),
    np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]]) / 2,
    np.array([[1, 1, 1, 0], [0, 1, -1, -1]]),
)

F4 = Transforms(
    np.array(
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ]
    ),
    np.array([[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24,
    np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]),
)


def convolved(x: Array, w: Array, transforms: Transforms, pad: int = 0) -> Array:
    """Convolve tile by tile; every operation rounds to float32."""
    inputs, taps, results = (matrix.astype(np.float32) for matrix in transforms)
    tile, length = results.shape
    height, width = (extent + 2 * pad - 2 for extent in x.shape[2:])
    rows, columns = -(-height // tile), -(-width // tile)
    image = np.zeros((*x.shape[:2], rows * tile + 2, columns * tile + 2), np.float32)
    image[:, :, pad : pad + x.shape[2], pad : pad + x.shape[3]] = x
    filters = _product(_product(taps, w), taps.T)
    output = np.zeros((x.shape[0], w.shape[0], rows * tile, columns * tile), np.float32)
    for i in range(0, rows * tile, tile):
        for j in range(0, columns * tile, tile):
            part = image[:, :, i : i + length, j : j + length]
            part = _product(_product(inputs, part), inputs.T)
            total = np.zeros((x.shape[0], w.shape[0], length, length), np.float32)
            for channel in range(x.shape[1]):
                total = total + filters[None, :, channel] * part[:, None, channel]
            output[:, :, i : i + tile, j : j + tile] = _product(_product(results, total), results.T)
    return output[:, :, :height, :width]


def _product(a: Array, b: Array) -> Array:
    """Multiply matrices in float32, one term after the other."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    total = np.zeros((*shape, a.shape[-2], b.shape[-1]), np.float32)
    for k in range(a.shape[-1]):
        total = total + a[..., :, k, None] * b[..., None, k, :]
    return total


def direct(x: Array, w: Array, *, sums: str = "f32", dropped: int | None = None) -> Array:
    """Convolve term by term; each sum is stored in a type, and a term of each may be left out."""
    height, width = (extent - 2 for extent in x.shape[2:])
    total = np.zeros((x.shape[0], w.shape[0], height, width), np.float32)
    for number, (channel, i, j) in enumerate(np.ndindex(*w.shape[1:])):
        if number != dropped:
            read = x[:, None, channel, i : i + height, j : j + width]
            total = total + read * w[None, :, channel, i, j, None, None]
            total = total.astype(DTYPES[sums].numpy).astype(np.float32)
    return total
