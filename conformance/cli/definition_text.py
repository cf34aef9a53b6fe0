"""Describes an operator that is a definition as text for a terminal, like its HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from conformance.cli.spec_text import Entry, heading_lines, section_lines
from conformance.core.formula import formula
from conformance.docs.definition_facts import DefinitionFacts


def definition_text(facts: DefinitionFacts, sections: Iterable[str], width: int) -> Iterator[str]:
    """Yield the lines of an operator's ``sections``, at most ``width`` characters wide.

    Only addresses, commands and long names may be wider.
    """
    document = facts.document
    published = () if document is None else (document.title, document.url)
    paragraphs = (facts.summary, *published, f"defined in {facts.operator.file}")
    yield from heading_lines(facts.op, filter(None, paragraphs), width)
    for name in sections:
        heading, entries = SECTIONS[name]
        yield from section_lines(heading, entries(facts), width)


def _interface(facts: DefinitionFacts) -> Iterator[Entry]:
    for name, role, text in facts.interface():
        yield name, [f"{role}: {text}"]


def _attributes(facts: DefinitionFacts) -> Iterator[Entry]:
    for name, type_, values, default in facts.attributes():
        given = default if default == "required" else f"{default} if not given"
        yield name, [f"{type_}: {values}; {given}"]


def _rules(facts: DefinitionFacts) -> Iterator[Entry]:
    for name, value in facts.abbreviations():
        yield name, [f"= {value.text}"]
    for name, lines in facts.definitions():
        yield name, [line.text for line in lines]


def _conditions(facts: DefinitionFacts) -> Iterator[Entry]:
    for row in facts.conditions():
        parts = filter(None, (row.holds.text, row.axes))
        yield row.name, [f"{', '.join(parts)} (level {row.level})", row.why]


def _errata(facts: DefinitionFacts) -> Iterator[Entry]:
    for erratum in facts.operator.errata:
        yield erratum.id, [f'says "{erratum.text}"', f"holds: {erratum.holds}", erratum.why]


def _profiles(facts: DefinitionFacts) -> Iterator[Entry]:
    for profile in facts.operator.profiles:
        yield profile.name, [profile.why, profile.when]


def _interpretations(facts: DefinitionFacts) -> Iterator[Entry]:
    for option in facts.operator.interpretations:
        allowed = f"also allowed: {option.answer} (level {option.level})"
        changes = [f"then {place} is {text}" for place, text in facts.changes(option)]
        where = "" if option.where is None else f"where {formula(option.where).text}"
        expected = f"expected: {option.adopted}; {allowed}"
        yield option.name, [option.question, expected, option.why, *changes, where]


SECTIONS: dict[str, tuple[str, Callable[[DefinitionFacts], Iterable[Entry]]]] = {
    "interface": ("Inputs and outputs", _interface),
    "attributes": ("Attributes", _attributes),
    "rules": ("Definition", _rules),
    "conditions": ("Conditions", _conditions),
    "errata": ("Errata", _errata),
    "readings": ("Interpretations (implementation-defined behaviour)", _interpretations),
    "profiles": ("Profiles", _profiles),
}
"""The sections of a definition, by name: heading, and the function that yields entries."""
