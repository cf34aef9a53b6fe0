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
"""What numerical libraries read before they start their threads."""


def shares(jobs: int, cores: int, given: Container[str]) -> dict[str, str]:
    """Variables that leave each of ``jobs`` processes its share of ``cores``.

    What is ``given`` already is left as it is; one process alone has no share but all.
    """
    if jobs == 1:
        return {}
    share = str(max(1, cores // jobs))
    return {name: share for name in VARIABLES if name not in given}
