"""Operators that the core is tried with, by the name of their file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from conformance.core.operator import Operator
from conformance.core.operator_reader import read_operator


@cache
def operator(name: str) -> Operator:
    path = Path(__file__).parent / "operators" / f"{name}.yaml"
    return read_operator(path.read_text("utf-8"), path.name)
