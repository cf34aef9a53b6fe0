"""The named values of one case, for evaluating expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from conformance.errors import EvaluationError, InvalidCase
from conformance.model import Case
from conformance.spec.expressions import Value
from conformance.spec.model import OpSpec


class Evaluable(Protocol):
    """An expression, or a variant's replacement of one."""

    def evaluate(self, env: Mapping[str, Value]) -> Value: ...

    def many(self, batch: Any) -> Any:
        """The value for each case of a :class:`~conformance.spec.batch.Batch`."""


class Environment(dict[str, Any]):
    """Values by name; a definition is evaluated when it is first asked for, and then kept.

    ``definitions`` replaces those of the specification (see :mod:`conformance.reference.variants`).
    ``sources`` are further names that are worked out on demand, by a function of the environment.
    """

    sources: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def __init__(
        self,
        spec: OpSpec,
        case: Case,
        definitions: Mapping[str, Evaluable] | None = None,
    ) -> None:
        shape = case.shapes[spec.data.name]
        axes = len(shape) - 2
        super().__init__(
            rank=len(shape),
            axes=axes,
            axis=tuple(range(axes)),
            pattern=case.pattern,
            **case.types,
            **dimensions(spec, shape),
        )
        self.given: dict[str, Any] = {}
        """Attributes and operands as the case has them, which a variant may misread."""
        for quantity in spec.attributes:
            value = quantity.of(case.attributes, axes)
            if value is not None:
                self.given[quantity.key] = tuple(value) if quantity.per_axis else value
        for operand in spec.operands:
            self.given[operand.quantity.key] = tuple(case.operands[operand.name])
        self.definitions: Mapping[str, Evaluable] = (
            spec.definitions if definitions is None else definitions
        )
        self.update(
            (key, value) for key, value in self.given.items() if key not in self.definitions
        )

    def __missing__(self, name: str) -> Any:
        source = self.sources.get(name)
        if source is not None:
            value = source(self)
        elif name in self.definitions:
            value = self.definitions[name].evaluate(self)
        else:
            raise EvaluationError(f"'{name}' has no value for this case")
        self[name] = value
        return value

    def per_axis(self, name: str) -> tuple[Any, ...]:
        """A value with one entry an axis; a value for all axes is repeated."""
        value = self[name]
        return value if isinstance(value, tuple) else (value,) * int(self["axes"])


class Overlay(dict[str, Any]):
    """Another environment with some values in place of its own."""

    def __init__(self, env: Mapping[str, Value], **own: Any) -> None:
        super().__init__(own)
        self._env = env

    def __missing__(self, name: str) -> Any:
        return self._env[name]


def dimensions(spec: OpSpec, shape: tuple[int, ...]) -> dict[str, Any]:
    """The dimensions of the data by name: an int, or one an axis for the one that expands."""
    axes = len(shape) - 2
    found: dict[str, Any] = {}
    position = 0
    for name in spec.data.shape:
        if spec.dims[name].per_axis:
            found[name] = tuple(shape[position : position + axes])
            position += axes
        else:
            found[name] = shape[position]
            position += 1
    return found


def case_of(
    spec: OpSpec,
    inputs: list[Any],
    attributes: Mapping[str, Any],
) -> Case:
    """The case that some input arrays and attributes ask.

    Raises :class:`InvalidCase` for a number or type of inputs that the operator does not have;
    whether the rest is allowed is for :mod:`conformance.spec.validity` to say.
    """
    from conformance.dtypes import name_of

    wanted = 1 + len(spec.operands)
    if len(inputs) != wanted:
        raise InvalidCase(f"{spec.op} has {wanted} inputs, not {len(inputs)}", ("inputs",))
    types = {spec.data.type: name_of(inputs[0].dtype)}
    operands = {}
    for operand, array in zip(spec.operands, inputs[1:], strict=True):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InvalidCase(f"{operand.name} of {spec.op} is a 1-D integer array", ("inputs",))
        types[operand.type] = name_of(array.dtype)
        operands[operand.name] = tuple(int(value) for value in array)
    for variable, allowed in spec.types.items():
        if len(allowed) == 1:  # that of an output, say, which no input tells
            types.setdefault(variable, allowed[0])
    return Case(
        op=spec.op,
        types=types,
        shapes={spec.data.name: tuple(inputs[0].shape)},
        # None is how Python says that an argument is not given.
        attributes={name: value for name, value in attributes.items() if value is not None},
        operands=operands,
        pattern="given",
    )
