"""The ways in which a mutant departs from an operator: its text, a path, a habit, a stretch."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.core.changes import Change
from conformance.core.machine import Style

TEMPLATES = ("zero", "neighbour", "unwritten", "left_out", "twice", "first_block", "last_block")
"""What becomes of part of an index. Zero: it is 0. Neighbour: it has the value before it.
Unwritten: it has any value. Left out, twice: of an index that is combined away, its terms. First
and last block: the only one that is computed, or combined."""

AXES = ("", "first", "last", "flat")
"""The axis of an index with an entry for each: the first, the last, or all of them in a row."""


@dataclass(frozen=True)
class TextChange:
    """Another text in some places, as (place, part, text); without a part the text is all of it.

    A part is replaced wherever the place has it, and all parts of a place at once. The change holds
    in the cases in which the condition ``where`` does, in all if it is empty, and for the elements
    of outputs for which ``elements`` holds, a condition over the indices of their definition.
    """

    name: str
    edits: tuple[tuple[str, str, str], ...]
    where: str = ""
    elements: str = ""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The edits, as :func:`conformance.core.changes.changed` takes them."""
        parts: dict[str, dict[str, str]] = {}
        for location, part, text in self.edits:
            if part:
                parts.setdefault(location, {})[part] = text
        texts = ({location: text} for location, part, text in self.edits if not part)
        return (*({location: of} for location, of in parts.items()), *texts)


@dataclass(frozen=True)
class PathChange:
    """A path of a kernel that computes ``index`` of a definition in blocks, and is wrong.

    ``template``, of :data:`TEMPLATES`, says what becomes of what is left after the last full block,
    or of the other blocks. Where there is no more than ``block`` along the index, nothing does.
    """

    name: str
    definition: str
    index: str
    block: int
    template: str
    axis: str = ""
    where: str = ""


@dataclass(frozen=True)
class HabitChange:
    """A machine with another style computes the operator."""

    name: str
    style: Style
    where: str = ""


@dataclass(frozen=True)
class StretchChange:
    """A tensor that is stretched to another shape has its elements elsewhere there.

    ``rule`` says where, of :data:`conformance.core.stretch_mutants.RULES`.
    """

    name: str
    tensor: str
    rule: str
    where: str = ""


DefinitionChange = TextChange | PathChange | HabitChange | StretchChange
"""What the mutants of an operator that is a definition change."""
