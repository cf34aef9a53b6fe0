"""Describes an operator as text for a terminal, like its HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from conformance.cli.text import wrapped
from conformance.docs import wording
from conformance.docs.backend_interpretations import BackendAnswers
from conformance.docs.formula import branches
from conformance.docs.operator_facts import OperatorFacts
from conformance.model import Vector
from conformance.report.wording import vectors
from conformance.safe_text import one_line
from conformance.spec.expressions import Expression
from conformance.spec.model import Quantity

Entry = tuple[str, Sequence[str]]
"""A name, and the paragraphs that stand beside it."""

NAME_WIDTH = 22
"""Characters of a name beside which paragraphs stand; they stand below longer names."""

COPIED = ("http://", "https://", "conformance show ")
"""Addresses and commands are not broken, however long, so that they can be copied."""


def operator_text(facts: OperatorFacts, sections: Iterable[str], width: int) -> Iterator[str]:
    """Yield the lines of an operator's ``sections``, at most ``width`` characters wide.

    Only addresses and commands (:data:`COPIED`) may be wider.
    """
    spec = facts.spec
    yield from heading_lines(spec.op, (spec.summary, spec.document.title, spec.document.url), width)
    for name in sections:
        heading, entries = SECTIONS[name]
        yield from section_lines(heading, entries(facts), width)


def heading_lines(op: str, paragraphs: Iterable[str], width: int) -> Iterator[str]:
    """Yield an operator's name, and what is said below it."""
    yield op
    for paragraph in paragraphs:
        yield from _paragraph("  ", paragraph, width)


def section_lines(heading: str, entries: Iterable[Entry], width: int) -> Iterator[str]:
    """Yield a section: its heading, and each name with the paragraphs beside it."""
    yield ""
    yield heading
    empty = True
    for entry in entries:
        empty = False
        yield from _lines(entry, width)
    if empty:
        yield "  none"


def section_hints(facts: OperatorFacts, width: int) -> Iterator[str]:
    """Yield hints about the sections that are not shown by default."""
    spec = facts.spec
    yield ""
    count = len(spec.interpretations) + len(spec.observe)
    if count:
        question = "1 question" if count == 1 else f"{count} questions"
        yield from wrapped(
            "",
            f"The document leaves {question} open, to which any allowed answer passes and is "
            f"reported: --section readings.",
            width,
        )
    yield from wrapped(
        "", f"Further sections: {', '.join(SECTIONS)}; --section NAME, or --all.", width
    )


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
    spec = facts.spec
    low, high = spec.data.rank
    ranks = f", rank {low} to {high}" if spec.layout.spread else ""
    for tensor in spec.tensors:
        yield tensor.name, [f"input: {tensor.type} [{', '.join(tensor.shape)}]{ranks}"]
    for operand in spec.operands:
        quantity = operand.quantity
        yield operand.name, [f"input: {operand.type}, {_quantity(quantity)}", quantity.why]
    for output in spec.outputs:
        held = f"the {output.holds} of each {spec.kin.part}"
        yield output.name, [f"output: {output.type} [{', '.join(output.shape)}], {held}"]
    for name, dtypes in spec.types.items():
        yield name, [f"type: {', '.join(dtypes)}"]
    for dim in spec.dims.values():
        yield dim.name, [f"dimension: {_quantity(dim)}", dim.why]


def _attributes(facts: OperatorFacts) -> Iterator[Entry]:
    for attribute in facts.spec.attributes:
        text = wording.default_text(attribute)
        default = text if attribute.required else f"{text} if not given"
        paragraphs = [f"{_quantity(attribute)}; {default}", wording.expression_name(attribute)]
        yield attribute.name, [*paragraphs, attribute.why]


def _quantity(quantity: Quantity) -> str:
    axis = ", one per axis" if quantity.per_axis else ""
    should = "" if quantity.level == "must" else f" (level {quantity.level})"
    return f"{quantity.type}{axis}: {wording.allowed_values(quantity)}{should}"


def _rules(facts: OperatorFacts) -> Iterator[Entry]:
    spec = facts.spec
    rules = spec.kin.rules
    written, defaulted = wording.rules(spec)
    for name in written:
        yield name, [rules[name].about, *_cases(spec.definitions[name])]
    for name in wording.abbreviations(spec):
        yield name, _cases(spec.definitions[name])
    used = {name for definition in spec.definitions.values() for name in definition.names}
    for name, meaning in wording.name_meanings(spec).items():
        if name in used:
            yield name, [meaning]
    defaults = ", ".join(f"{name} {spec.definitions[name].text}" for name in defaulted)
    yield "rules at their defaults", [defaults]


def _cases(expression: Expression) -> list[str]:
    """Split an expression into its cases, in the language of specifications."""
    cases = branches(expression.text)
    if len(cases) == 1:
        return [f"= {cases[0].value}"]
    return [
        f"= {case.value} if {case.condition}" if case.condition else f"= {case.value} otherwise"
        for case in cases
    ]


def _conditions(facts: OperatorFacts) -> Iterator[Entry]:
    for requirement in facts.spec.require:
        condition = f"{requirement.that.text} (level {requirement.level})"
        yield requirement.name, [condition, requirement.why]


def _errata(facts: OperatorFacts) -> Iterator[Entry]:
    for erratum in facts.spec.errata:
        yield erratum.id, [f'says "{erratum.text}"', f"holds: {erratum.holds}", erratum.why]


def _interpretations(facts: OperatorFacts) -> Iterator[Entry]:
    for option in facts.spec.interpretations:
        allowed = f"also allowed: {option.answer} (level {option.level})"
        paragraphs = [option.question, f"expected: {option.adopted}; {allowed}", option.why]
        yield option.name, [*paragraphs, *_answers(facts.backend_answers[option.name])]
    for observation in facts.spec.observe:
        expected = f"vectors contain {observation.expected}; " if observation.expected else ""
        paragraphs = [observation.question, f"{expected}never judged"]
        yield observation.name, [*paragraphs, *_answers(facts.backend_answers[observation.name])]


def _answers(backends: Iterable[BackendAnswers]) -> Iterator[str]:
    for backend in backends:
        answers = ", ".join(
            f"{answer.answer} ({vectors(answer.vectors)}, {answer.example})"
            for answer in backend.answers
        )
        yield f"{backend.backend} {backend.version}: {answers or 'not shown'}"


def _targets(facts: OperatorFacts) -> Iterator[Entry]:
    for target in facts.spec.edges:
        smallest = _smallest(facts, facts.covering(target.name))
        yield target.name, [target.why, target.when.text, *smallest]


def _profiles(facts: OperatorFacts) -> Iterator[Entry]:
    for profile in facts.spec.profiles:
        yield profile.name, [profile.why, profile.when.text]


def _smallest(facts: OperatorFacts, covering: Sequence[Vector]) -> Iterator[str]:
    if covering:
        yield f"{vectors(len(covering))}{', the smallest is' * (len(covering) > 1)}:"
        yield f"{facts.show} {covering[0].id}"


def _negative_tests(facts: OperatorFacts) -> Iterator[Entry]:
    for test in facts.spec.reject:
        differences = ", ".join(wording.differences_from_valid(test))
        broken = f"{differences}; breaks {test.breaks} (level {test.level})"
        yield test.name, [test.why, broken, *_smallest(facts, facts.negative_tests(test.name))]


def _mutants(facts: OperatorFacts) -> Iterator[Entry]:
    for mutant in facts.mutants:
        kills = f"{mutant.kind}; killed by {vectors(facts.kill_counts[mutant.id])}"
        excuse = f"allowed at level must by interpretation {mutant.excused_by}"
        excused = excuse * bool(mutant.excused_by)
        equivalent = f"no case can kill it: {mutant.equivalent}" * bool(mutant.equivalent)
        yield mutant.id, [mutant.description, kills, excused, equivalent, *mutant.threads]


SECTIONS: dict[str, tuple[str, Callable[[OperatorFacts], Iterable[Entry]]]] = {
    "interface": ("Inputs and outputs", _interface),
    "attributes": ("Attributes", _attributes),
    "rules": ("Rules", _rules),
    "conditions": ("Conditions", _conditions),
    "errata": ("Errata", _errata),
    "readings": ("Interpretations (implementation-defined behaviour)", _interpretations),
    "edges": ("Coverage targets (edges)", _targets),
    "profiles": ("Profiles", _profiles),
    "reject": ("Negative tests (must be rejected)", _negative_tests),
    "faults": ("Known bugs", _mutants),
}
"""The sections of an operator, by name: heading, and the function that yields entries."""
