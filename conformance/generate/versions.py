"""Versions that the bytes of a suite depend on."""

from __future__ import annotations


def versions() -> dict[str, str]:
    """Return what the bytes of a suite depend on besides the specifications and the seed."""
    import platform
    import zlib

    import hypothesis
    import ml_dtypes
    import numpy as np

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "hypothesis": hypothesis.__version__,
        "ml_dtypes": ml_dtypes.__version__,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
    }
