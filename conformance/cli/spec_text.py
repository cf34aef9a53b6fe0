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

LONGEST = 22
"""Paragraphs stand beside shorter names, and below longer ones."""

COPIED = ("http://", "https://", "conformance show ")
"""Addresses and commands are not broken, however long, so that they can be copied."""


def text(told: OperatorFacts, sections: Iterable[str], width: int) -> Iterator[str]:
    """The lines of an operator's ``sections``, at most ``width`` wide but for what is copied."""
    spec = told.spec
    yield spec.op
    for line in (spec.summary, spec.document.title, spec.document.url):
        yield from _paragraph("  ", line, width)
    for name in sections:
        heading, entries = SECTIONS[name]
        yield ""
        yield heading
        empty = True
        for entry in entries(told):
            empty = False
            yield from _lines(entry, width)
        if empty:
            yield "  none"


def more(told: OperatorFacts, width: int) -> Iterator[str]:
    """What there is besides the first sections."""
    spec = told.spec
    yield ""
    points = len(spec.interpretations) + len(spec.observe)
    if points:
        question = "1 question" if points == 1 else f"{points} questions"
        yield from wrapped(
            "",
            f"The document leaves {question} open, to which any allowed answer passes and is told "
            f"in the report: --section readings.",
            width,
        )
    yield from wrapped(
        "", f"Further sections: {', '.join(SECTIONS)}; --section NAME, or --all.", width
    )


def _lines(entry: Entry, width: int) -> Iterator[str]:
    name, paragraphs = entry
    indent = " " * (LONGEST + 4)
    label = f"  {name:{LONGEST}}  "
    if len(name) > LONGEST:
        yield from wrapped("  ", name, width)
        label = indent
    for paragraph in filter(None, paragraphs):
        yield from _paragraph(label, paragraph, width)
        label = indent


def _paragraph(label: str, paragraph: str, width: int) -> list[str]:
    if paragraph.startswith(COPIED):
        return [label + one_line(paragraph)]
    return wrapped(label, paragraph, width)


def _interface(told: OperatorFacts) -> Iterator[Entry]:
    spec = told.spec
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


def _attributes(told: OperatorFacts) -> Iterator[Entry]:
    for one in told.spec.attributes:
        otherwise = wording.default_text(one)
        default = otherwise if one.required else f"{otherwise} if not given"
        yield one.name, [f"{_quantity(one)}; {default}", wording.expression_name(one), one.why]


def _quantity(quantity: Quantity) -> str:
    axis = ", one per axis" if quantity.per_axis else ""
    should = "" if quantity.level == "must" else f" (level {quantity.level})"
    return f"{quantity.type}{axis}: {wording.allowed_values(quantity)}{should}"


def _rules(told: OperatorFacts) -> Iterator[Entry]:
    spec = told.spec
    about = spec.kin.rules
    own, left = wording.rules(spec)
    for name in own:
        yield name, [about[name].about, *_cases(spec.definitions[name])]
    for name in wording.abbreviations(spec):
        yield name, _cases(spec.definitions[name])
    used = {name for one in spec.definitions.values() for name in one.names}
    for name, meaning in wording.name_meanings(spec).items():
        if name in used:
            yield name, [meaning]
    defaults = ", ".join(f"{name} {spec.definitions[name].text}" for name in left)
    yield "rules at their defaults", [defaults]


def _cases(expression: Expression) -> list[str]:
    """An expression case by case, in the language of specifications."""
    found = branches(expression.text)
    if len(found) == 1:
        return [f"= {found[0].value}"]
    return [
        f"= {one.value} if {one.condition}" if one.condition else f"= {one.value} otherwise"
        for one in found
    ]


def _conditions(told: OperatorFacts) -> Iterator[Entry]:
    for one in told.spec.require:
        yield one.name, [f"{one.that.text} (level {one.level})", one.why]


def _errata(told: OperatorFacts) -> Iterator[Entry]:
    for one in told.spec.errata:
        yield one.id, [f'says "{one.text}"', f"holds: {one.holds}", one.why]


def _readings(told: OperatorFacts) -> Iterator[Entry]:
    for one in told.spec.interpretations:
        answers = f"expected: {one.adopted}; also allowed: {one.answer} (level {one.level})"
        yield one.name, [one.question, answers, one.why, *_answers(told.backend_answers[one.name])]
    for point in told.spec.observe:
        expected = f"vectors contain {point.expected}; " if point.expected else ""
        judged = f"{expected}never judged"
        yield point.name, [point.question, judged, *_answers(told.backend_answers[point.name])]


def _answers(found: Iterable[BackendAnswers]) -> Iterator[str]:
    for one in found:
        replies = ", ".join(f"{r.answer} ({vectors(r.vectors)}, {r.example})" for r in one.answers)
        yield f"{one.backend} {one.version}: {replies or 'not shown'}"


def _edges(told: OperatorFacts) -> Iterator[Entry]:
    for edge in told.spec.edges:
        yield edge.name, [edge.why, edge.when.text, *_smallest(told, told.covering(edge.name))]


def _profiles(told: OperatorFacts) -> Iterator[Entry]:
    for profile in told.spec.profiles:
        yield profile.name, [profile.why, profile.when.text]


def _smallest(told: OperatorFacts, found: Sequence[Vector]) -> Iterator[str]:
    if found:
        yield f"{vectors(len(found))}{', the smallest is' * (len(found) > 1)}:"
        yield f"{told.show} {found[0].id}"


def _reject(told: OperatorFacts) -> Iterator[Entry]:
    for one in told.spec.reject:
        differences = ", ".join(wording.differences_from_valid(one))
        wrong = f"{differences}; breaks {one.breaks} (level {one.level})"
        yield one.name, [one.why, wrong, *_smallest(told, told.negative_tests(one.name))]


def _faults(told: OperatorFacts) -> Iterator[Entry]:
    for fault in told.mutants:
        noticed = f"{fault.kind}; killed by {vectors(told.kill_counts[fault.id])}"
        allowed = f"allowed at level must by interpretation {fault.excused_by}" * bool(
            fault.excused_by
        )
        hidden = f"no case can kill it: {fault.equivalent}" * bool(fault.equivalent)
        yield fault.id, [fault.description, noticed, allowed, hidden, *fault.threads]


SECTIONS: dict[str, tuple[str, Callable[[OperatorFacts], Iterable[Entry]]]] = {
    "interface": ("Inputs and outputs", _interface),
    "attributes": ("Attributes", _attributes),
    "rules": ("Rules", _rules),
    "conditions": ("Conditions", _conditions),
    "errata": ("Errata", _errata),
    "readings": ("Interpretations (implementation-defined behaviour)", _readings),
    "edges": ("Coverage targets (edges)", _edges),
    "profiles": ("Profiles", _profiles),
    "reject": ("Negative tests (must be rejected)", _reject),
    "faults": ("Known bugs", _faults),
}
"""What can be told of an operator, by name: its heading, and what makes its entries."""
