"""The outputs of a failure, packed to be kept in the run log."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np

from conformance.dtypes import DTYPES, Array, name_of
from conformance.model import Returned

MAX_ELEMENTS = 1 << 17
"""Elements of all outputs of a failure, at most, for them to be kept."""

MAX_PACKED = 1 << 16
"""Bytes of each output, compressed, at most."""


def pack_outputs(outputs: Sequence[object]) -> tuple[Returned, ...] | None:
    """The outputs of a backend, if all are small arrays of known element types; else None."""
    room = MAX_ELEMENTS
    found = []
    for got in outputs:
        if type(got) is not np.ndarray or got.size > room:
            return None
        dtype = DTYPES.get(name_of(got.dtype))
        if dtype is None:
            return None
        room -= got.size
        content = zlib.compress(dtype.to_storage(np.ascontiguousarray(got)).tobytes())
        if len(content) > MAX_PACKED:
            return None
        found.append(Returned(dtype.name, got.shape, content))
    return tuple(found)


def unpack_outputs(returned: Sequence[Returned]) -> tuple[Array, ...] | None:
    """The outputs again; None where a log holds something else.

    Never more memory is taken than the kept outputs of one failure may need.
    """
    room = MAX_ELEMENTS
    found = []
    for one in returned:
        dtype = DTYPES.get(one.dtype)
        size = math.prod(one.shape)
        if dtype is None or len(one.shape) > 32 or size > room:
            return None
        room -= size
        length = size * dtype.storage.itemsize
        try:
            content = zlib.decompressobj().decompress(one.packed, length + 1)
            stored: Array = np.frombuffer(content, dtype.storage).reshape(one.shape)
        except (zlib.error, ValueError):
            return None
        found.append(dtype.from_storage(stored))
    return tuple(found)
