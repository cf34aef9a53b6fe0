"""The backend of packed benchmarks: numpy on f32 images alone, so that all vectors are such."""

from __future__ import annotations

from conformance.backends.capabilities import Capabilities
from conformance.backends.numpy import OPERATORS, NumPy


class Images(NumPy):
    """numpy, which declares f32 of rank 4 only."""

    name = "numpy-images"
    capabilities = Capabilities(operators=OPERATORS, dtypes=("f32",), ranks=(4,))
