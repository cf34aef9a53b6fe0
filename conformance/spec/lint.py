"""Lint of specifications: what is legal but probably a mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath

from conformance.errors import Problem
from conformance.spec.expressions import Expression
from conformance.spec.model import Bound, DrawBounds, OpSpec, Quantity
from conformance.spec.quantities import quantity_conditions

Place = tuple[str | int, ...]
MOST_COMMON = 0.25
"""The share of the edges that may be marked as common in real models."""

Note = tuple[Place, str, str]
"""Where, what, and what to do."""


def lint(spec: OpSpec) -> tuple[Problem, ...]:
    """List the problems of a specification that loads, in file order.

    Each is something that does nothing or cannot do what it says: a definition or an edge that
    adds nothing, an attribute that no vector is about, a bound beyond what is legal.
    """
    notes = [
        *_name(spec),
        *_definitions(spec),
        *_interpretations(spec),
        *_questions(spec),
        *_edges(spec),
        *_bounds(spec),
        *_rejects(spec),
    ]
    return _in_order(spec, notes)


def untested_conditions(spec: OpSpec) -> dict[str, Problem]:
    """Find the conditions that no negative test breaks, by name in file order.

    In a first draft that is work to be done, not a mistake.
    """
    broken = Counter(reject.breaks for reject in spec.reject)
    notes = {}
    for condition, (_, position) in _conditions(spec).items():
        if not broken[condition]:
            hint = f"add a negative test (reject) with 'breaks: {condition}'"
            (notes[condition],) = _in_order(
                spec, [(position, f"no negative test breaks '{condition}'", hint)]
            )
    return dict(sorted(notes.items(), key=lambda note: (note[1].line, note[1].column, note[0])))


def _in_order(spec: OpSpec, notes: Iterable[Note]) -> tuple[Problem, ...]:
    problems = [
        Problem(*spec.positions.get(position, (spec.file, 1, 1)), message, hint=hint)
        for position, message, hint in notes
    ]
    return tuple(sorted(problems, key=lambda p: (p.line, p.column, p.message)))


def _name(spec: OpSpec) -> Iterator[Note]:
    stem = PurePath(spec.file).stem
    if spec.file.endswith(".yaml") and stem != spec.op:
        yield ("op",), f"the file is called '{stem}', the operator '{spec.op}'", "use one name"


def _definitions(spec: OpSpec) -> Iterator[Note]:
    used = spec.reach(_roots(spec)) | spec.kin.rules.keys()
    for name in spec.definitions:
        if name not in used:
            yield ("let", name), f"nothing uses '{name}'", "remove it"


def _roots(spec: OpSpec) -> Iterator[Expression]:
    """Every expression that stands for itself."""
    for rule in spec.kin.rules:
        yield spec.definitions[rule]
    for requirement in spec.require:
        yield requirement.that
    for target in spec.edges:
        yield target.when
    for change in spec.interpretations:
        yield from change.replace.values()
        if change.where is not None:
            yield change.where
    for point in spec.observe:
        yield point.where
    for reject in spec.reject:
        yield from (value for value in reject.set.values() if isinstance(value, Expression))


def _interpretations(spec: OpSpec) -> Iterator[Note]:
    for change in spec.interpretations:
        for name, expression in change.replace.items():
            if expression.text in (spec.definitions[name].text, "original"):
                position = ("interpretations", change.name, "replace", name)
                yield position, f"'{name}' is replaced by itself", "an interpretation must differ"


def _questions(spec: OpSpec) -> Iterator[Note]:
    first: dict[str, str] = {}
    questions = [("interpretations", v.name, v.question) for v in spec.interpretations]
    questions += [("observe", point.name, point.question) for point in spec.observe]
    for section, name, question in questions:
        twin = first.setdefault(question, name)
        if twin != name:
            yield (section, name), f"the same question as '{twin}'", "say how they differ"
    for change in spec.interpretations:
        if change.answer == change.adopted:
            position = ("interpretations", change.name, "answer")
            yield position, "the answer is the expected one (adopted)", "say how they differ"


def _edges(spec: OpSpec) -> Iterator[Note]:
    first: dict[str, str] = {}
    for target in spec.edges:
        twin = first.setdefault(target.when.text, target.name)
        if twin != target.name:
            yield ("edges", target.name), f"the same predicate as '{twin}'", "keep one of them"
        if not target.when.names:
            yield ("edges", target.name), "the predicate is the same for every case", "remove it"
        if target.common and target.common == target.why:
            position = ("edges", target.name, "common")
            yield (
                position,
                "this only repeats what the target is",
                "say which models have such cases",
            )
    common = [target.name for target in spec.edges if target.common]
    if len(common) > MOST_COMMON * len(spec.edges):
        position = ("edges", common[-1], "common")
        message = f"{len(common)} of {len(spec.edges)} coverage targets are marked as common"
        yield position, message, "mark only a few: they set the order of findings"
    reached = spec.reach(target.when for target in spec.edges)
    for key, quantity in spec.quantities.items():
        if key not in reached:
            yield (
                _place(spec, quantity),
                f"no coverage target (edge) depends on '{quantity.name}'",
                "add an edge for each of its uses, so that vectors exercise them",
            )


def _bounds(spec: OpSpec) -> Iterator[Note]:
    quantities = spec.quantities
    for quantity in quantities.values():
        yield from _draw(quantity, quantity.draw, (*_place(spec, quantity), "draw"))
    for target in spec.edges:
        for key, draw in (item for aim in target.aims for item in aim.items()):
            if key in quantities:
                yield from _draw(quantities[key], draw, ("edges", target.name, "aim"))


def _draw(quantity: Quantity, draw: DrawBounds, position: Place) -> Iterator[Note]:
    """Constant bounds only: what depends on the case is checked when cases are drawn."""
    low, high = _constant(quantity.min), _constant(quantity.max)
    least, most = _constant(draw.min), _constant(draw.max)
    listed = [value for value in draw.values if type(value) is int]
    drawn = [value for value in (least, most, *listed) if value is not None]
    if any(low is not None and value < low for value in drawn):
        yield position, f"'{quantity.name}' is drawn below its minimum {low}", "raise the bound"
    if any(high is not None and value > high for value in drawn):
        yield position, f"'{quantity.name}' is drawn above its maximum {high}", "lower the bound"
    if least is not None and most is not None and least > most:
        yield position, f"nothing lies between {least} and {most}", "exchange the bounds"


def _constant(bound: Bound) -> int | None:
    if bound is None or bound.names:
        return None
    value = bound.evaluate({})
    return value if isinstance(value, int) else None


def _conditions(spec: OpSpec) -> Mapping[str, tuple[str, Place]]:
    """Each condition that a case can break, with its level and where it is stated."""
    conditions: dict[str, tuple[str, Place]] = {}
    if spec.layout.spread:
        conditions["rank"] = (spec.data.level, ("inputs",))
    names = set(spec.data.shape)
    for tensor in spec.others:
        if not (names - {spec.layout.spread}).isdisjoint(tensor.shape):
            conditions[f"{tensor.name}.shape"] = (tensor.level, ("inputs",))
        names |= {*tensor.shape}
    for name, quantity in quantity_conditions(spec.quantities.values()).items():
        # Data have as many sizes as axes, none of them below 0.
        never = {f"{quantity.whole}.length"}
        if _constant(quantity.min) == 0:
            never.add(f"{quantity.key}.min")
        if quantity.name not in spec.dims or name not in never:
            conditions[name] = (quantity.level, _place(spec, quantity))
    for requirement in spec.require:
        conditions[requirement.name] = (requirement.level, ("require", requirement.name))
    return conditions


def _rejects(spec: OpSpec) -> Iterator[Note]:
    conditions = _conditions(spec)
    for reject in spec.reject:
        position = ("reject", reject.name)
        level, _ = conditions.get(reject.breaks, (reject.level, ()))
        if level != reject.level:
            message = f"'{reject.breaks}' holds at level {level}, this case at {reject.level}"
            yield position, message, f"write 'level: {level}'"
        yield from (
            (position, f"rank {rank} is not a rank of the data", "remove it")
            for rank in reject.ranks
            if rank not in spec.ranks
        )


def _place(spec: OpSpec, quantity: Quantity) -> Place:
    if quantity.name in spec.dims:
        return ("dims", quantity.name)
    for number, operand in enumerate(spec.operands, start=len(spec.tensors)):
        if operand.quantity.name == quantity.name:
            return ("inputs", number, "name")
    return ("attributes", quantity.name if quantity.half is None else quantity.key)
