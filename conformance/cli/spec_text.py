"""Describes an operator as text for a terminal, like its HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from conformance.cli.text import wrapped
from conformance.core.formula import formula
from conformance.docs.operator_facts import OperatorFacts
from conformance.safe_text import one_line

Entry = tuple[str, Sequence[str]]
"""A name, and the paragraphs that stand beside it."""

NAME_WIDTH = 22
"""Characters of a name beside which paragraphs stand; they stand below longer names."""

COPIED = ("http://", "https://")
"""How addresses begin, which are not broken, however long, so that they can be copied."""


def operator_text(facts: OperatorFacts, sections: Iterable[str], width: int) -> Iterator[str]:
    """Yield the lines of an operator's ``sections``, at most ``width`` characters wide.

    Only addresses (:data:`COPIED`) and long names may be wider.
    """
    document = facts.document
    published = () if document is None else (document.title, document.url)
    yield facts.op
    for paragraph in filter(None, (facts.summary, *published, f"defined in {facts.operator.file}")):
        yield from _paragraph("  ", paragraph, width)
    for name in sections:
        heading, entries = SECTIONS[name]
        yield from _section(heading, entries(facts), width)


def _section(heading: str, entries: Iterable[Entry], width: int) -> Iterator[str]:
    """Yield a section: its heading, and each name with the paragraphs beside it."""
    yield ""
    yield heading
    empty = True
    for entry in entries:
        empty = False
        yield from _lines(entry, width)
    if empty:
        yield "  none"


def _lines(entry: Entry, width: int) -> Iterator[str]:
    name, paragraphs = entry
    indent = " " * (NAME_WIDTH + 4)
    label = f"  {name:{NAME_WIDTH}}  "
    if len(name) > NAME_WIDTH:
        yield from wrapped("  ", name, width)
        label = indent
    for paragraph in filter(None, paragraphs):
        yield from _paragraph(label, paragraph, width)
        label = indent


def _paragraph(label: str, paragraph: str, width: int) -> list[str]:
    if paragraph.startswith(COPIED):
        return [label + one_line(paragraph)]
    return wrapped(label, paragraph, width)


def _interface(facts: OperatorFacts) -> Iterator[Entry]:
    for name, role, text in facts.interface():
        yield name, [f"{role}: {text}"]


def _attributes(facts: OperatorFacts) -> Iterator[Entry]:
    for name, type_, values, default in facts.attributes():
        given = default if default == "required" else f"{default} if not given"
        yield name, [f"{type_}: {values}; {given}"]


def _rules(facts: OperatorFacts) -> Iterator[Entry]:
    for name, value in facts.abbreviations():
        yield name, [f"= {value.text}"]
    for name, lines in facts.definitions():
        yield name, [line.text for line in lines]


def _conditions(facts: OperatorFacts) -> Iterator[Entry]:
    for row in facts.conditions():
        parts = filter(None, (row.holds.text, row.axes))
        yield row.name, [f"{', '.join(parts)} (level {row.level})", row.why]


def _errata(facts: OperatorFacts) -> Iterator[Entry]:
    for erratum in facts.operator.errata:
        yield erratum.id, [f'says "{erratum.text}"', f"holds: {erratum.holds}", erratum.why]


def _profiles(facts: OperatorFacts) -> Iterator[Entry]:
    for profile in facts.operator.profiles:
        yield profile.name, [profile.why, profile.when]


def _interpretations(facts: OperatorFacts) -> Iterator[Entry]:
    for option in facts.operator.interpretations:
        allowed = f"also allowed: {option.answer} (level {option.level})"
        changes = [f"then {place} is {text}" for place, text in facts.changes(option)]
        where = "" if option.where is None else f"where {formula(option.where).text}"
        expected = f"expected: {option.adopted}; {allowed}"
        yield option.name, [option.question, expected, option.why, *changes, where]


SECTIONS: dict[str, tuple[str, Callable[[OperatorFacts], Iterable[Entry]]]] = {
    "interface": ("Inputs and outputs", _interface),
    "attributes": ("Attributes", _attributes),
    "rules": ("Definition", _rules),
    "conditions": ("Conditions", _conditions),
    "errata": ("Errata", _errata),
    "readings": ("Interpretations (implementation-defined behaviour)", _interpretations),
    "profiles": ("Profiles", _profiles),
}
"""The sections of an operator, by name: heading, and the function that yields entries."""
