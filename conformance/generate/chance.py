"""Reproducible random numbers for arrays, from a seed of words, on every machine."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Chance:
    """A stream of numbers that ``label`` decides.

    Made of Philox's raw words, whose stream numpy guarantees, unlike that of its distributions.
    """

    def __init__(self, label: str) -> None:
        key = int.from_bytes(hashlib.sha256(label.encode()).digest()[:16], "big")
        self._words = np.random.Philox(key=key)

    def below(self, bound: Any, count: int) -> NDArray[np.int64]:
        """``count`` whole numbers from 0 to ``bound`` - 1; ``bound`` may have one for each."""
        words = self._words.random_raw(count) >> np.uint64(11)
        return (words % np.asarray(bound, np.uint64)).astype(np.int64)

    def one_in(self, parts: int, count: int) -> NDArray[np.bool_]:
        """``count`` truth values, of which about one in so many is true."""
        return self.below(parts, count) == 0
