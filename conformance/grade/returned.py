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
    """Pack the outputs of a backend for the run log.

    Returns:
        None unless all are small arrays of supported element types.
    """
    elements_left = MAX_ELEMENTS
    outputs_packed = []
    for got in outputs:
        if type(got) is not np.ndarray or got.size > elements_left:
            return None
        dtype = DTYPES.get(name_of(got.dtype))
        if dtype is None:
            return None
        elements_left -= got.size
        content = zlib.compress(dtype.to_storage(np.ascontiguousarray(got)).tobytes())
        if len(content) > MAX_PACKED:
            return None
        outputs_packed.append(Returned(dtype.name, got.shape, content))
    return tuple(outputs_packed)


def unpack_outputs(returned: Sequence[Returned]) -> tuple[Array, ...] | None:
    """Unpack the outputs of a failure, in no more memory than kept outputs may need.

    Returns:
        None if a log holds something else.
    """
    elements_left = MAX_ELEMENTS
    outputs = []
    for packed in returned:
        dtype = DTYPES.get(packed.dtype)
        size = math.prod(packed.shape)
        if dtype is None or len(packed.shape) > 32 or size > elements_left:
            return None
        elements_left -= size
        length = size * dtype.storage.itemsize
        try:
            content = zlib.decompressobj().decompress(packed.packed, length + 1)
            stored: Array = np.frombuffer(content, dtype.storage).reshape(packed.shape)
        except (zlib.error, ValueError):
            return None
        outputs.append(dtype.from_storage(stored))
    return tuple(outputs)
