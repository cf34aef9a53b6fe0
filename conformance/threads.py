"""Divides threads among worker processes."""

from __future__ import annotations

from collections.abc import Container

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Environment variables by which numerical libraries choose their number of threads."""


def shares(jobs: int, cores: int, preset: Container[str]) -> dict[str, str]:
    """Return variables that give each of ``jobs`` processes its share of ``cores``.

    ``preset`` variables stay as they are; a single process may use all cores.
    """
    if jobs == 1:
        return {}
    share = str(max(1, cores // jobs))
    return {name: share for name in VARIABLES if name not in preset}
