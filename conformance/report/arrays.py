"""Arrays that a log keeps of a failure, as nested lists of text; a log may hold anything."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from conformance.dtypes import DTYPES
from conformance.model import Returned

MAX_SHOWN = 512
"""Elements of an array that are shown at most."""

MAX_AXES = 8


def texts(kept: Sequence[Returned] | None) -> list[Any]:
    """Each array as nested lists of numbers as text; None in place of one that is large or damaged.

    Never more memory is taken than an array that is shown may need.
    """
    return [_text(one) for one in kept or ()]


def _text(one: Returned) -> Any:
    dtype, size = DTYPES.get(one.dtype), math.prod(one.shape)
    if dtype is None or not 0 < size <= MAX_SHOWN or not 0 < len(one.shape) <= MAX_AXES:
        return None
    length = size * dtype.storage.itemsize
    try:
        content = zlib.decompressobj().decompress(one.packed, length + 1)
        stored = np.frombuffer(content, dtype.storage).reshape(one.shape)
    except (zlib.error, ValueError):
        return None
    return np.vectorize(str, otypes=[object])(dtype.from_storage(stored)).tolist()
