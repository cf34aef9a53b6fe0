"""Values and intervals are the same on processors with fewer features, and with another BLAS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import everywhere
import pytest

DIGEST = "4f6d7ebc806bbadb3524c3d11bbcd4e06d665eac42aa7ba5bdf70a82b1545bd8"
"""What every machine and every version of numpy gives."""

FEATURES = "AVX2 FMA3 AVX512F AVX512_SKX"


def test_it_is_what_it_was() -> None:
    assert everywhere.digest() == DIGEST


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "environment",
    [
        {"NPY_DISABLE_CPU_FEATURES": FEATURES},
        {"OPENBLAS_CORETYPE": "Prescott"},
        {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "2"},
    ],
    ids=str,
)
def test_other_processors(environment: dict[str, str]) -> None:
    program = Path(everywhere.__file__)
    result = subprocess.run(
        [sys.executable, "-W", "ignore", str(program)],
        env={**os.environ, **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout.strip() == DIGEST
