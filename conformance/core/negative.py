"""Negative tests from the text: valid cases, changed so that exactly one condition is broken.

Conditions are the requirements, the bounds and words of attributes, their lengths, and shapes that
have to fit. A change is found by trying: values next to the valid ones, and beyond each bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.core.binding import Binding
from conformance.core.data import SEPARATOR, patterns_of
from conformance.core.operator import Attribute, Operator
from conformance.core.plain import PlainVisitor
from conformance.core.tree import NO_NAMES
from conformance.dtypes import DTYPES
from conformance.errors import ConformanceError, EvaluationError, InvalidCase
from conformance.model import Case
from conformance.spec.yaml_source import Source

STEPS = (-1, 1, 2, 4, 9)
"""How far from a valid number others are tried."""

MAX_STARTS = 40
"""Valid cases of one rank that are tried, the smallest first."""


@dataclass(frozen=True)
class NegativeTest:
    """A case that an implementation has to refuse; its ``reject`` names the condition it breaks."""

    case: Case
    level: str
    why: str


def conditions(operator: Operator) -> Mapping[str, str]:
    """Return the conditions that a case can break, by name, each as a sentence."""
    sentences = {name: f"{name}: {operator.data['require'][name]}." for name in operator.require}
    for attribute in operator.attributes.values():
        sentences.update(_of_attribute(attribute))
    for tensor in operator.inputs:
        sentences[f"{tensor.name}.rank"] = f"{tensor.name} has too few or too many dimensions."
        sentences[f"{tensor.name}.shape"] = f"{tensor.name} has a shape that does not fit."
        if tensor.entries is not None:
            sentences.update(_of_entries(tensor.entries))
    for dim in operator.dims.values():
        if dim.broadcast:
            sentences[f"{dim.name}.broadcast"] = f"The extents of {dim.name} do not broadcast."
        if dim.min:
            sentences[f"{dim.name}.min"] = f"{dim.name} is at least {dim.min}."
    return sentences


def _of_attribute(attribute: Attribute) -> Iterator[tuple[str, str]]:
    yield from _of_entries(attribute)
    if attribute.default is None:
        yield f"{attribute.name}.required", f"{attribute.name} has no default."
    if attribute.type != "word":
        yield f"{attribute.name}.type", f"{attribute.name} is of type {attribute.type}."


def _of_entries(attribute: Attribute) -> Iterator[tuple[str, str]]:
    name = attribute.name
    if attribute.min is not None:
        yield f"{name}.min", f"{name} is at least {attribute.min}."
    if attribute.max is not None:
        yield f"{name}.max", f"{name} is at most {attribute.max}."
    if attribute.values:
        yield f"{name}.values", f"{name} is {' or '.join(attribute.values)}."
    if attribute.per:
        yield f"{name}.length", f"{name} has an entry for each {attribute.per}."


def negative_tests(operator: Operator, valid: Sequence[Case]) -> tuple[NegativeTest, ...]:
    """Return a test of each condition for each rank of the first tensor.

    Each starts from the smallest of the ``valid`` cases that serves, in the plainest data. What no
    change of them breaks alone has none, nor what an implementation may refuse or not.
    """
    free = {name for name, rejection in operator.reject.items() if rejection.level == "may"}
    sentences = {name: text for name, text in conditions(operator).items() if name not in free}
    tests: dict[tuple[int, str], NegativeTest] = {}
    starts: dict[int, int] = {}
    for start in sorted((_plain(operator, case) for case in valid), key=_size):
        if broken_conditions(operator, start):
            continue  # it is not valid in the plainest type
        rank = len(start.shapes[operator.inputs[0].name])
        starts[rank] = starts.get(rank, 0) + 1
        if starts[rank] > MAX_STARTS or all((rank, name) in tests for name in sentences):
            continue
        for case in _edited(operator, start, _read_by(operator, start)):
            broken = broken_conditions(operator, case)
            key = rank, broken[0] if len(broken) == 1 else ""
            if key[1] in sentences and key not in tests:
                level, why = _level(operator, key[1], sentences[key[1]])
                tests[key] = NegativeTest(replace(case, reject=key[1]), level, why)
    order = list(sentences)
    return tuple(tests[key] for key in sorted(tests, key=lambda key: (key[0], order.index(key[1]))))


def _level(operator: Operator, condition: str, sentence: str) -> tuple[str, str]:
    rejection = operator.reject.get(condition)
    return ("must", sentence) if rejection is None else (rejection.level, rejection.why)


def broken_conditions(operator: Operator, case: Case) -> tuple[str, ...]:
    """Return the conditions that a case breaks; one without a name is an empty text.

    Where a value is out of its bounds, what else would be broken without them is listed too.
    """
    try:
        return _bound(operator, case).violations()
    except EvaluationError:
        return ("",)
    except InvalidCase as error:
        broken = error.violations or ("",)
    if not broken[0].endswith((".min", ".max")):
        return broken
    binding = _bound(operator, case, tolerant=True)
    broken = tuple(dict.fromkeys(binding.refused))
    try:
        return broken + binding.violations()
    except ConformanceError:
        return broken  # as of a stride of 0, of which nothing else can be said


def _bound(operator: Operator, case: Case, *, tolerant: bool = False) -> Binding:
    given = case.attributes, case.shapes, case.operands, case.types
    return Binding(operator, *given, tolerant=tolerant)


def check_rejections(operator: Operator, source: Source) -> None:
    """Note in ``source`` each rejection of what is no condition of the operator."""
    names = conditions(operator)
    for name in operator.reject.keys() - names.keys():
        message = f"{operator.op} has no condition '{name}'"
        source.unknown(("reject", name), message, name, names, key=True)


# -- changes of a valid case


def _size(case: Case) -> tuple[int, str]:
    return sum(map(sum, case.shapes.values())), case.id


def _plain(operator: Operator, case: Case) -> Case:
    """A case in the plainest data: f32 where there is, and the first pattern."""
    types = {
        variable: "f32" if "f32" in allowed else allowed[0]
        for variable, allowed in operator.types.items()
    }
    pattern = SEPARATOR.join(patterns[0] for patterns in patterns_of(operator, types))
    return replace(case, types=types, pattern=pattern)


def _read_by(operator: Operator, case: Case) -> frozenset[str]:
    """The names that outputs or requirements of a case follow from.

    What is ignored, as pads beside a word for padding, may have any value.
    """
    binding = _bound(operator, case)
    read: set[str] = set()

    def look_up(name: str) -> Any:
        if name not in read:
            read.add(name)
            if name in operator.let:
                visitor.visit(operator.let[name])  # of its branches only that which is taken
        return binding.value(name)

    visitor = PlainVisitor(look_up, binding.visitor.ranks)
    for tree in operator.require.values():
        visitor.visit(tree)
    named = NO_NAMES.union(*(definition.names for definition in operator.define.values()))
    for output in operator.outputs:
        named |= {output.type}.union(*(tree.names for tree in (*output.shape, *output.omit)))
    for name in named & (operator.let.keys() | operator.attributes.keys()):
        look_up(name)
    return frozenset(read)


def _edited(operator: Operator, case: Case, read: Collection[str]) -> Iterator[Case]:
    """The case with one attribute that is read, or one shape, changed; many are valid, too."""
    binding = _bound(operator, case)
    for attribute in operator.attributes.values():
        if attribute.name not in read:
            continue
        for value in _other_values(attribute, binding):
            yield replace(case, attributes={**case.attributes, attribute.spelling: value})
        if attribute.default is None:
            others = {k: v for k, v in case.attributes.items() if k != attribute.spelling}
            yield replace(case, attributes=others)
    for tensor in operator.inputs:
        if tensor.entries is not None and tensor.name in case.operands:
            for value in _other_values(tensor.entries, binding):
                yield replace(case, operands={**case.operands, tensor.name: tuple(value)})
    for name, shape in case.shapes.items():
        for other in _other_shapes(shape, _least_extents(binding, name)):
            yield replace(case, shapes={**case.shapes, name: other})


def _other_values(attribute: Attribute, binding: Binding) -> Iterator[Any]:
    if attribute.type not in ("int", "word"):
        yield from _other_fractions(attribute, binding)
        return
    value = binding.value(attribute.name)
    if not isinstance(value, tuple):
        yield from _other_entries(attribute, value)
        return
    for last in _other_entries(attribute, value[-1]) if value else ():
        yield [*value[:-1], last]
    plain = [*value, *attribute.values, (attribute.min or 0) + 1][0]
    for count in range(1, 2 * max(len(shape) for shape in binding.shapes.values())):
        yield [plain] * count
    yield list(value[:-1])  # after those: an empty list may pass for one that is left out
    for first in _other_entries(attribute, value[0]) if len(value) > 1 else ():
        yield [first, *value[1:]]


def _other_fractions(attribute: Attribute, binding: Binding) -> Iterator[list[float]]:
    """Yield other fractions of a list: none above 0, and too many."""
    if attribute.list and attribute.type in DTYPES:
        given = [float(entry) for entry in binding.value(attribute.name)]
        yield from ([*given[:-1], last] for last in (0.0, -1.0) if given)
        yield [*given, 1.0]


def _other_entries(attribute: Attribute, entry: Any) -> Iterator[Any]:
    if attribute.type == "word":
        misspelt = max(attribute.values, key=len)[:-1]
        yield from (word for word in (*attribute.values, misspelt + "_") if word != entry)
        return
    yield from (attribute.min - 1,) if attribute.min is not None else ()
    yield from (attribute.max + 1,) if attribute.max is not None else ()
    yield from (entry + step for step in STEPS)


def _least_extents(binding: Binding, name: str) -> Sequence[int]:
    """The least extents to try of a tensor: 0 may be accepted where much else is refused.

    A dimension that states its least value is tried below it.
    """
    least: list[int] = []
    for item in binding.items(binding.operator.tensors[name]):
        dim = binding.operator.dims.get(str(item.value)) if item.op == "name" else None
        count = len(binding.value(item.kind.per)) if item.kind.per else 1
        least += [dim.min - 1 if dim is not None and dim.min else 1] * count
    rank = len(binding.shapes[name])
    return least if len(least) == rank else [1] * rank


def _other_shapes(shape: tuple[int, ...], least: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for axis, extent in enumerate(shape):
        for step in STEPS:
            if extent + step >= least[axis]:
                yield (*shape[:axis], extent + step, *shape[axis + 1 :])
    yield (*shape, 1)
    yield shape[:-1]
