"""Mutants of machines: habits that no honest implementation has at the standard precision."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.core.machine import Style
from conformance.core.mutant_changes import HabitChange
from conformance.core.operator import Operator
from conformance.core.tree import Node
from conformance.dtypes import DTYPES

HABITS: dict[str, tuple[Style, str]] = {
    "sums in f16": (Style(sums="f16"), "Sums are kept in f16."),
    "sums in bf16": (Style(sums="bf16"), "Sums are kept in bf16."),
    "computes in f16": (Style(computes="f16"), "Every operation is in f16."),
    "computes in bf16": (Style(computes="bf16"), "Every operation is in bf16."),
    "computes in f32": (Style(), "Whole numbers, or those of f64, are computed in f32."),
    "inputs through f16": (Style(converts="f16"), "Inputs are converted to f16 on the way."),
    "inputs through bf16": (Style(converts="bf16"), "Inputs are converted to bf16 on the way."),
    "flushes": (Style(flushes=True), "Results that are subnormal numbers are 0."),
    "skips NaN": (Style(skips_nan=True), "Terms that are NaN are left out."),
    "saturates": (Style(saturates=True), "Results that are too large are the largest number."),
    "cuts off": (Style(rounding="toward_zero"), "Results are cut off, not rounded to nearest."),
}
"""Habits by name, with a sentence on each."""

OF_INTERPRETATIONS = {
    **HABITS,
    "reciprocal": (Style(reciprocal=True), "A division is a product with a reciprocal."),
}
"""What an interpretation may have as its habit."""

OF_DIVISIONS: dict[str, tuple[Style, str]] = {
    "reciprocal in f16": (
        Style(computes="f16", sums="f32", reciprocal=True),
        "A division is a product with a reciprocal in f16.",
    ),
}
OF_SEARCHES: dict[str, tuple[Style, str]] = {
    "searches from 0": (Style(from_zero=True), "A search for the largest begins with 0."),
}


def habit_mutants(operator: Operator) -> Iterator[tuple[HabitChange, str]]:
    """Yield habits that an operator may be computed with, and a sentence on each."""
    habits = dict(HABITS)
    types = {name for dtypes in operator.types.values() for name in dtypes}
    if all(DTYPES[name].is_float and name != "f64" for name in types):
        del habits["computes in f32"]
    if _divides(operator):
        habits |= OF_DIVISIONS
    if _searches(operator):
        habits |= OF_SEARCHES
    for name, (style, says) in habits.items():
        yield HabitChange(f"machine: {name}", style), says


def _divides(operator: Operator) -> bool:
    """Whether a machine divides anything to compute an operator."""
    return any(node.op == "/" and node.kind.type == "real" for node in _nodes(operator))


def _searches(operator: Operator) -> bool:
    """Whether a definition looks for a largest or a smallest term."""
    kinds = (definition.combine for definition in operator.define.values())
    return any("max" in kind or "min" in kind for kind in kinds)


def _nodes(operator: Operator) -> Iterator[Node]:
    for definition in operator.define.values():
        for tree in definition.trees():
            yield from tree.walk()
