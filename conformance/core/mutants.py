"""The mutants of an operator that is a definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from conformance.core.catalogue import catalogue_mutants
from conformance.core.changes import texts_of
from conformance.core.habit_mutants import HABITS, OF_INTERPRETATIONS, habit_mutants
from conformance.core.mutant_changes import DefinitionChange, HabitChange, TextChange
from conformance.core.operator import Operator
from conformance.core.path_mutants import path_mutants
from conformance.core.stretch_mutants import stretch_mutants
from conformance.core.text_mutants import text_mutants
from conformance.spec.catalogue import Mutant


@lru_cache(maxsize=64)
def mutants_of(operator: Operator) -> tuple[Mutant, ...]:
    """Return the mutants of an operator: those of the catalogue, then those by construction.

    Their ids are unique. What the catalogue has is not constructed once more. An interpretation
    that makes the same change excuses a mutant.
    """
    named = catalogue_mutants(operator)
    seen = {_meaning(operator, mutant) for mutant in named}
    rest = (m for m in constructed(operator) if _meaning(operator, m) not in seen)
    excusing: dict[Any, str] = {}
    for reading in operator.interpretations:
        if reading.habit:
            excusing[HabitChange("", OF_INTERPRETATIONS[reading.habit][0])] = reading.name
        elif reading.where is None:
            texts = texts_of(operator, reading.change)
            excusing[frozenset(texts.items()), ""] = reading.name
            if any("flushed(" in text for text in texts.values()):
                # What takes subnormal numbers for zero has none among its results.
                excusing[HabitChange("", HABITS["flushes"][0])] = reading.name
    return tuple(
        replace(m, excused_by=m.excused_by or excusing.get(_meaning(operator, m), ""))
        for m in (*named, *rest)
    )


def _meaning(operator: Operator, mutant: Mutant) -> Any:
    """What mutants share that make the same change under other names."""
    change = mutant.change
    if isinstance(change, TextChange):
        return (frozenset(texts_of(operator, *change.changes).items()), change.where)
    assert isinstance(change, DefinitionChange)
    return replace(change, name="")


def constructed(operator: Operator) -> Iterator[Mutant]:
    """Yield the mutants by construction."""
    for mutant in text_mutants(operator):
        change = mutant.change
        yield Mutant(change.name, "text", operator.op, change, mutant.says, mutant.look)
    for path, says in path_mutants(operator):
        look = f"the path that takes {path.index} in blocks of {path.block}"
        yield Mutant(path.name, "path", operator.op, path, says, look)
    for habit, says in habit_mutants(operator):
        look = "the formats and the rounding of the kernel"
        yield Mutant(habit.name, "machine", operator.op, habit, says, look)
    for stretch, says in stretch_mutants(operator):
        look = f"the index or the strides of {stretch.tensor} where it is stretched"
        yield Mutant(stretch.name, "stretch", operator.op, stretch, says, look)
