"""Operators of one's own, written from scratch in names that the shipped ones do not have."""

from __future__ import annotations

from pathlib import Path

from conformance.core.operator import Operator
from conformance.specification import find_spec

HERE = Path(__file__).parent
AVERAGE, MAXIMUM, PARTS = "litert.AVERAGE_POOL_2D-1", "own.WindowMax-1", "own.SplitMean-1"
OPS = (AVERAGE, MAXIMUM, PARTS)


def file_of(op: str) -> Path:
    return HERE / f"{op}.yaml"


def spec_of(op: str) -> Operator:
    return find_spec(str(file_of(op)))
