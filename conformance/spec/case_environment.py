"""The named values of one case, for evaluating expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, ClassVar, Protocol, Self

from conformance.errors import EvaluationError, InvalidCase
from conformance.model import Case
from conformance.spec.expressions import Value
from conformance.spec.model import OpSpec


class Evaluable(Protocol):
    """An expression, or the replacement of one by a rule change."""

    def evaluate(self, env: Mapping[str, Value]) -> Value: ...

    def many(self, batch: Any) -> Any:
        """Evaluate for each case of a :class:`~conformance.spec.batch.Batch`."""


class Environment(dict[str, Any]):
    """Values by name; a definition is evaluated on first use, and then kept.

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
        rank = spec.rank_of(case)
        axes = spec.layout.axes(rank)
        super().__init__(
            rank=rank,
            axes=axes,
            axis=tuple(range(axes)),
            pattern=case.pattern,
            **case.types,
            **dimensions(spec, case.shapes),
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
        """Return a value with one entry per axis; repeat a value for all axes."""
        value = self[name]
        return value if isinstance(value, tuple) else (value,) * int(self["axes"])

    def under(self, definitions: Mapping[str, Evaluable], changed: AbstractSet[str]) -> Self:
        """Copy the environment with other definitions, which differ for the names ``changed``.

        What does not depend on them is not worked out again.
        """
        new = type(self).__new__(type(self))
        for copied, all_ in ((new, self), (vars(new), vars(self))):
            copied.update(all_)
            for name in changed & copied.keys():
                del copied[name]
        new.definitions = definitions
        for key in self.given.keys() - definitions.keys():
            new[key] = self.given[key]
        return new


class EnvironmentOverlay(dict[str, Any]):
    """Another environment with some values replaced."""

    def __init__(self, env: Mapping[str, Value], **overlaid: Any) -> None:
        super().__init__(overlaid)
        self._env = env

    def __missing__(self, name: str) -> Any:
        return self._env[name]


def dimensions(spec: OpSpec, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Compute the dimensions of tensors by name: a number, or a tuple per axis.

    If tensors share a dimension and differ in it, the first counts.

    Raises :class:`InvalidCase` for shapes that have not so many dimensions.
    """
    bound = spec.layout.bound(shapes[tensor.name] for tensor in spec.tensors)
    if bound is None:
        listed = ", ".join(f"{tensor.name} {list(shapes[tensor.name])}" for tensor in spec.tensors)
        raise InvalidCase(f"{spec.op} has other dimensions than {listed}", ("rank",))
    dimensions_by_name: dict[str, Any] = {}
    for name, value in bound:
        dimensions_by_name.setdefault(name, value)
    return dimensions_by_name


def shapes_of(spec: OpSpec, values: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Compute the shapes of the tensors, by name, from the values of dimensions."""
    shapes = {}
    for tensor in spec.tensors:
        shape: list[int] = []
        for name in tensor.shape:
            shape += values[name] if spec.dims[name].per_axis else (values[name],)
        shapes[tensor.name] = tuple(shape)
    return shapes


def resized(spec: OpSpec, case: Case, shape: tuple[int, ...]) -> Case:
    """Change the shape of a case's data; tensors that share dimensions follow."""
    first = spec.data.name
    if not spec.others:
        return replace(case, shapes={**case.shapes, first: shape})
    bound = spec.layout.bound((shape, *(case.shapes[tensor.name] for tensor in spec.others)))
    if bound is None:
        return replace(case, shapes={**case.shapes, first: shape})
    return replace(case, shapes=shapes_of(spec, dict(reversed(bound))))


def case_from_inputs(
    spec: OpSpec,
    inputs: list[Any],
    attributes: Mapping[str, Any],
) -> Case:
    """Make the case of input arrays and attributes.

    Raises :class:`InvalidCase` for a number or type of inputs that the operator does not have;
    whether the rest is allowed is for :mod:`conformance.spec.validity` to say.
    """
    from conformance.dtypes import name_of

    tensors = len(spec.tensors)
    input_count = tensors + len(spec.operands)
    if len(inputs) != input_count:
        raise InvalidCase(f"{spec.op} has {input_count} inputs, not {len(inputs)}", ("inputs",))
    types: dict[str, str] = {}
    for tensor, array in zip(spec.tensors, inputs, strict=False):
        dtype = name_of(array.dtype)
        if types.setdefault(tensor.type, dtype) != dtype:
            message = f"{tensor.name} of {spec.op} is {dtype}, others are {types[tensor.type]}"
            raise InvalidCase(message, ("inputs",))
    operands = {}
    for operand, array in zip(spec.operands, inputs[tensors:], strict=True):
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
        shapes={
            tensor.name: tuple(array.shape)
            for tensor, array in zip(spec.tensors, inputs, strict=False)
        },
        # None is how Python says that an argument is not given.
        attributes={name: value for name, value in attributes.items() if value is not None},
        operands=operands,
        pattern="given",
    )
