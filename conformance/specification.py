"""Operators: loads their specifications, and evaluates and judges cases of them."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from conformance.core import loader, mutants
from conformance.core.answers import answers, readings
from conformance.core.binding import Binding
from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.expression_text import text_of
from conformance.core.habit_mutants import OF_INTERPRETATIONS
from conformance.core.mutant_changes import HabitChange, TextChange
from conformance.core.negative import conditions
from conformance.core.operator import Definition, Operator, Output, Profile
from conformance.core.operator_reader import operator_of
from conformance.core.targets import reported_names, targets_of
from conformance.core.tree import Node
from conformance.dtypes import Array, name_of
from conformance.errors import ConformanceError, InvalidCase, UsageError
from conformance.model import Case, Vector
from conformance.spec.catalogue import Change, Mutant
from conformance.spec.yaml_reader import KEPT, parse_yaml

SOURCE = "generated"
"""The source of a vector that is made of a case."""

PROSE = frozenset({"summary", "document", "errata", "roles", "profiles"})
"""What people and the catalogue read: another wording promises nothing else."""


def shipped_operators() -> tuple[str, ...]:
    """List the operators of the package."""
    return loader.shipped_names()


class _Shipped(Mapping[str, Operator]):
    def __getitem__(self, op: str) -> Operator:
        if op not in self:
            raise KeyError(op)
        return find_spec(op)

    def __contains__(self, op: object) -> bool:
        return op in shipped_operators()

    def __iter__(self) -> Iterator[str]:
        return iter(shipped_operators())

    def __len__(self) -> int:
        return len(shipped_operators())


def shipped_specs() -> Mapping[str, Operator]:
    """Return the specifications of the package, by operator; each is read on first use."""
    return _Shipped()


def find_spec(op: str) -> Operator:
    """Load an operator's specification: a shipped one by name, or a YAML file by path.

    Raises :class:`~conformance.errors.UsageError` for a name that is not known, and SpecError with
    every problem of a file.
    """
    return loader.load_operator(op)


def select_specs(ops: Sequence[str], default: Sequence[str] | None = None) -> dict[str, Operator]:
    """Load the requested specifications, by operator.

    ``ops`` are names, patterns of names, and files; none means ``default``, or all names. Raises
    :class:`~conformance.errors.UsageError` where two specify one operator.
    """
    shipped = shipped_operators()
    requested = [name for op in ops for name in fnmatch.filter(shipped, op) or [op]]
    specs: dict[str, Operator] = {}
    for source in requested if ops else default or shipped:
        spec = find_spec(source)
        other = specs.setdefault(spec.op, spec)
        if other.file != spec.file:
            raise UsageError(
                f"{other.file} and {spec.file} both specify {spec.op}", hint="leave one of them out"
            )
    return specs


def load_whole(text: str, file: str) -> Operator:
    """Parse a specification that extends no other, so that no file is looked up.

    Raises :class:`~conformance.errors.SpecError` with every problem of the text at once.
    """
    return operator_of(parse_yaml(text, file))


@dataclass(frozen=True)
class Condition:
    """A condition on cases of an operator."""

    spec: Operator
    tree: Node

    def holds(self, case: Case) -> bool:
        """Return whether a case meets it.

        Raises EvaluationError, InvalidCase or ValueError where it has no value. In a negative test
        it has one where the names have that it speaks of.
        """
        value = binding_of(self.spec, case, tolerant=case.reject is not None).evaluate(self.tree)
        return all(value) if isinstance(value, tuple) else bool(value)


def condition_of(spec: Operator, text: str) -> Condition:
    """Parse a condition on the cases of an operator.

    Raises :class:`~conformance.errors.ExpressionError` for what makes no sense there.
    """
    return Condition(spec, spec.condition_with_types(text))


@dataclass(frozen=True)
class Violation:
    """A condition by name (``kernel.min``, a requirement's name) and how it is broken."""

    condition: str
    level: str
    message: str


@lru_cache(maxsize=KEPT)
def spec_digest(spec: Operator) -> str:
    """Hash what a specification says, its prose aside: SHA-256 in hexadecimal."""
    stated = {key: value for key, value in spec.data.items() if key not in PROSE}
    text = json.dumps(stated, sort_keys=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def mutants_of(spec: Operator) -> tuple[Mutant, ...]:
    """Return the mutants of an operator."""
    return mutants.mutants_of(spec)


def interpretation_changes(spec: Operator) -> Mapping[str, Change]:
    """Return what each interpretation of an operator changes, by name."""
    return {
        reading.name: (
            HabitChange(reading.name, OF_INTERPRETATIONS[reading.habit][0])
            if reading.habit
            else TextChange(reading.name, _edits(reading.change))
        )
        for reading in spec.interpretations
    }


def _edits(change: Mapping[str, str | Mapping[str, str]]) -> tuple[tuple[str, str, str], ...]:
    edits: list[tuple[str, str, str]] = []
    for place, new in change.items():
        parts = new if isinstance(new, Mapping) else {"": new}
        edits += ((place, part, str(text)) for part, text in parts.items())
    return tuple(edits)


def violations(spec: Operator, case: Case) -> tuple[Violation, ...]:
    """List the conditions that a case breaks."""
    wrong = [
        Violation(f"{variable}.type", "must", f"{variable} is {case.types.get(variable)}")
        for variable, allowed in spec.types.items()
        if case.types.get(variable) not in allowed
    ]
    try:
        broken = binding_of(spec, case).violations()
    except InvalidCase as error:
        conditions = error.violations or ("inputs",)
        return (*wrong, *(Violation(name, "must", error.message) for name in conditions))
    except ConformanceError as error:
        return (*wrong, Violation("inputs", "must", error.message))
    return (*wrong, *(Violation(name, "must", f"{name} does not hold") for name in broken))


def case_from_inputs(
    spec: Operator, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
) -> Case:
    """Make the case of input arrays and attributes.

    Raises :class:`~conformance.errors.InvalidCase` for inputs that the operator does not have.
    """
    named = dict(zip((tensor.name for tensor in spec.inputs), inputs, strict=False))
    if len(inputs) > len(spec.inputs):
        raise InvalidCase(
            f"{spec.op} has {len(spec.inputs)} inputs, not {len(inputs)}", ("inputs",)
        )
    given = {name: array for name, array in named.items() if array is not None}
    # A type that no given tensor has is the first of its own.
    types = {variable: allowed[0] for variable, allowed in spec.types.items()} | {
        spec.tensors[name].type: name_of(array.dtype)
        for name, array in given.items()
        if spec.tensors[name].type in spec.types
    }
    stated = {name: value for name, value in attributes.items() if value is not None}
    operands = {n: tuple(a.ravel().tolist()) for n, a in given.items() if spec.tensors[n].entries}
    shapes = {n: tuple(array.shape) for n, array in given.items() if n not in operands}
    return Case(spec.op, types, shapes, stated, operands, pattern="given")


def outputs(
    spec: Operator, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
) -> list[Array]:
    """Return the outputs in their own types, rounded once from the exact values.

    Raises :class:`~conformance.errors.InvalidCase` for what the operator does not allow.
    """
    if len(inputs) > len(spec.inputs):
        raise InvalidCase(
            f"{spec.op} has {len(spec.inputs)} inputs, not {len(inputs)}", ("inputs",)
        )
    arrays = (None if array is None else np.asarray(array) for array in inputs)
    named = dict(zip((tensor.name for tensor in spec.inputs), arrays, strict=False))
    return Evaluation(spec, attributes, named).outputs()


def build(
    spec: Operator, case: Case, level: str = "must", *, interpretations: bool = True
) -> Vector:
    """Make the vector of a case; a negative test (``case.reject``) has no answers.

    Without ``interpretations`` there are no answers but the specification's own.
    """
    arrays = inputs_of(spec, case)
    absent = tuple(i for i, array in enumerate(arrays) if array is None)
    inputs = tuple(array for array in arrays if array is not None)
    named = dict(zip(spec.tensors, arrays, strict=True))
    given = tuple(name for name, array in named.items() if array is not None)
    if case.reject is not None:
        sentences = conditions(spec)
        broken = " ".join(sentences[name] for name in sorted(broken_conditions(spec, case)))
        text = f"{describe(spec, case)} must be rejected: {broken}"
        source = SOURCE
        return Vector(
            case.id, case, level, (), text, source, inputs, (), absent=absent, order=given
        )
    expected = answers(spec, case, arrays)
    return Vector(
        id=case.id,
        case=case,
        level=level,
        edges=reported_names(targets_of(spec, case, named)),
        description=f"{describe(spec, case)}.",
        source=SOURCE,
        inputs=inputs,
        answers=expected,
        readings=readings(spec, case, arrays, expected) if interpretations else {},
        absent=absent,
        order=given,
    )


def binding_of(spec: Operator, case: Case, *, tolerant: bool = False) -> Binding:
    """Give the names of a definition their values in a case.

    Raises :class:`~conformance.errors.InvalidCase` for shapes and attributes that do not fit,
    unless it is to be ``tolerant`` of them.
    """
    return Binding(spec, case.attributes, case.shapes, case.operands, case.types, tolerant=tolerant)


def implied_interpretations(spec: Operator) -> Mapping[str, frozenset[str]]:
    """Find, for each interpretation by name, the others that it includes."""
    return {
        reading.name: frozenset(
            other.name
            for other in spec.interpretations
            if other.change and other.change.items() < reading.change.items()
        )
        for reading in spec.interpretations
    }


def interpretations_by_element(spec: Operator) -> frozenset[str]:
    """Find the interpretations that each element of an output may follow by itself.

    They change nothing but what reads outside of tensors add to sums. That is a matter of each
    read: kernels multiply the padding of one border and skip that of another.
    """
    places = {
        f"define.{name}.outside"
        for name, definition in spec.define.items()
        if definition.combine == "sum" and not _counts_terms(definition)
    }
    return frozenset(
        reading.name
        for reading in spec.interpretations
        if reading.change and reading.change.keys() <= places
    )


def _counts_terms(definition: Definition) -> bool:
    return any(node.op == "name" and node.value == "terms" for node in definition.finish.walk())


def definition_problem(spec: Operator, case: Case) -> str:
    """Say how a case does not fit its operator; empty if it does."""
    if unknown := sorted({*case.shapes, *case.operands} - spec.tensors.keys()):
        return f"{spec.op} has no input {unknown[0]}"
    if case.reject is not None and not broken_conditions(spec, case):
        return f"{spec.op} does not reject {case.reject}"
    if case.types.keys() != spec.types.keys():
        expected = ", ".join(sorted(spec.types))
        return f"its types are {', '.join(sorted(case.types))}, those of {spec.op} {expected}"
    return ""


def order_problem(spec: Operator, vector: Vector) -> str:
    """Say how inputs are not in the operator's order; empty if they are."""
    names = vector.argument_names
    if names != [name if name in vector.names else "" for name in spec.tensors][: len(names)]:
        return f"its inputs stand in another order, {', '.join(vector.names)}"
    return ""


def planes_of(rank: int) -> int:
    """Return how many dimensions of an output, from the first, only tell planes apart."""
    return max(0, rank - PLANE)


def dimension_names(spec: Operator, output: Output) -> list[tuple[str, bool]]:
    """Return the names of an output's dimensions; each says whether it stands for several."""
    definition = spec.define[output.name]
    if output.shape:
        return [(text_of(item), item.kind.per is not None) for item in output.shape]
    return [(name, extent.kind.per is not None) for name, extent in definition.at.items()]


def document_of(spec: Operator) -> tuple[str, str]:
    """Return title and address of the document; empty where a definition names none."""
    document = spec.data.get("document", {})
    return document.get("title", ""), document.get("url", "")


PLANE = 2
"""The last dimensions of an output, which a table shows together."""

MAX_RANK = 5
"""The largest rank of tensors that claims speak of, where the operator states none."""


def ranks_of(spec: Operator) -> range:
    """Return the ranks of the first tensor that cases of an operator may have."""
    least, greatest = spec.inputs[0].ranks or (1, MAX_RANK)
    return range(least, greatest + 1)


def profiles_of(spec: Operator) -> tuple[Profile, ...]:
    """Return the restrictions that real backends have."""
    return spec.profiles


def broken_conditions(spec: Operator, case: Case) -> frozenset[str]:
    """Return the conditions that a negative test is to break; none for a valid case.

    A test has the name of its condition, or another; then they are those that it breaks.
    """
    if case.reject is None:
        return frozenset()
    named = conditions(spec)
    if case.reject in named:
        return frozenset({case.reject})
    return frozenset(broken.condition for broken in violations(spec, case)) & named.keys()


def level_of(spec: Operator, case: Case) -> str:
    """Return the level of a case: must, but for some negative tests."""
    if case.reject is None:
        return "must"
    rejections = [spec.reject.get(name) for name in broken_conditions(spec, case)]
    levels = {"must" if rejection is None else rejection.level for rejection in rejections}
    return "should" if levels == {"should"} else "must"


def attributes_left_out(spec: Operator, case: Case) -> tuple[str, ...]:
    """List the attributes with a default that a case does not give."""
    return tuple(
        name
        for name, attribute in spec.spelled.items()
        if attribute.default is not None and name not in case.attributes
    )


def case_in_a_line(spec: Operator, request: Mapping[str, Any]) -> str:
    """Describe a case in a line: shapes, types, and attributes without their default.

    ``request`` is :attr:`conformance.model.Case.request`.
    """
    types, shapes = request["types"], request["shapes"]
    given = [
        f"{tensor.name} {_sizes(shapes[tensor.name])} {types.get(tensor.type, tensor.type)}"
        for tensor in spec.inputs
        if tensor.name in shapes
    ]
    stated = [f"{name} {_value(value)}" for name, value in request.get("attributes", {}).items()]
    return ", ".join([" and ".join(given), *stated])


def describe(spec: Operator, case: Case) -> str:
    """Say a case in one line, as a statement of fact."""
    tensors = " and ".join(
        f"{tensor.name} {_sizes(case.shapes[tensor.name])}"
        for tensor in spec.inputs
        if tensor.name in case.shapes
    )
    parts = [f"{case.op} of {case.dtype} {tensors} ({case.pattern})"]
    parts += [f"{name} {_value(value)}" for name, value in case.attributes.items()]
    return ", ".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_value, value)) or "empty"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sizes(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"
