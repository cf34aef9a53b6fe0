"""Unpacks large arrays in a script. Its text is copied into scripts that need it."""

import base64
import zlib
from typing import Any

import numpy as np


def unpacked(text: str, codes: str, shape: tuple[int, ...]) -> Any:
    """Return the array whose elements, as little-endian ``codes``, are packed in the text."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), codes).reshape(shape)
