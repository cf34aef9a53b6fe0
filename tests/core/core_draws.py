"""Cases of a definition, drawn with a seed."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

from conformance.core.loader import load_operator
from conformance.dtypes import Array
from conformance.generate.cases import case_strategy
from conformance.model import Case


@cache
def drawn(op: str, count: int, dtypes: tuple[str, ...] = ()) -> tuple[Case, ...]:
    """Draw so many valid cases of a shipped operator."""
    cases: list[Case] = []

    @seed(1)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case_strategy(load_operator(op), dtypes))
    def draw(case: Case) -> None:
        cases.append(case)

    draw()
    return tuple(cases)


def same_values(array: Array, other: Array) -> bool:
    """Return whether arrays have the same numbers: numpy does not know the NaN of bf16."""
    wide = (a.astype(np.float64) if a.dtype.kind not in "iu" else a for a in (array, other))
    first, second = wide
    return array.shape == other.shape and np.array_equal(
        first, second, equal_nan=first.dtype.kind == "f"
    )
