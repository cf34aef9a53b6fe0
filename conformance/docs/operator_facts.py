"""What pages and terminal say of an operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from conformance.core.formula import Formula, Line, definition_lines, formula
from conformance.core.operator import Attribute, Interpretation, Operator
from conformance.core.tree import Node


class Document(NamedTuple):
    """The published text that an operator follows."""

    title: str
    url: str


class InterfaceRow(NamedTuple):
    """A name of the interface, what it is, and what it may be."""

    name: str
    role: str
    text: str


class AttributeRow(NamedTuple):
    """An attribute: its type, the values that it may have, and its default."""

    name: str
    type: str
    values: str
    default: str


class ConditionRow(NamedTuple):
    """A condition: what holds, on which axes, and for whom."""

    name: str
    holds: Formula
    axes: str
    level: str
    why: str


@dataclass(frozen=True)
class OperatorFacts:
    """An operator, as its definition states it."""

    operator: Operator

    @property
    def op(self) -> str:
        return self.operator.op

    @property
    def summary(self) -> str:
        """What the operator does, in a sentence; empty if its file does not say."""
        return str(self.operator.data.get("summary", ""))

    @property
    def document(self) -> Document | None:
        """The published text that the definition follows."""
        data = self.operator.data.get("document")
        return None if data is None else Document(**data)

    def interface(self) -> Iterator[InterfaceRow]:
        """Yield inputs, outputs, types, dimensions and groups of axes."""
        operator = self.operator
        for tensor in operator.inputs:
            text = f"{tensor.type} {' or '.join(map(_shape, tensor.shapes))}"
            if tensor.broadcast:
                text += ", stretched to this shape"
            if tensor.entries is not None:
                text += f", a number per {tensor.entries.per}: {_values(tensor.entries)}"
            if tensor.absent is not None:
                text += f"; read as {tensor.absent} if not given"
            yield InterfaceRow(tensor.name, "input", text)
        for output in operator.outputs:
            at = operator.define[output.name].at
            text = f"{output.type} {_shape(output.shape or tuple(at.values()))}"
            left_out = [
                f"{index} where {formula(condition).text}"
                for index, condition in zip(at, output.omit, strict=False)
                if not _is_never(condition)
            ]
            text += f"; without the dimension {', '.join(left_out)}" if left_out else ""
            yield InterfaceRow(output.name, "output", text)
        for name, dtypes in operator.types.items():
            yield InterfaceRow(name, "type", ", ".join(dtypes))
        for dim in operator.dims.values():
            text = "given by the inputs' shapes"
            text += f", one per {dim.per}" if dim.per else ""
            text += ", all stretched to one shape" if dim.broadcast else ""
            yield InterfaceRow(dim.name, "dimension", text)
        for name, length in operator.groups.items():
            yield InterfaceRow(name, "group of axes", f"as many as {formula(length).text}")

    def attributes(self) -> Iterator[AttributeRow]:
        """Yield the attributes."""
        for attribute in self.operator.attributes.values():
            type_ = f"list of {attribute.type}" if attribute.list else attribute.type
            per = f", one per {attribute.per}" if attribute.per else ""
            yield AttributeRow(
                attribute.spelling, f"{type_}{per}", _values(attribute), default_text(attribute)
            )

    def abbreviations(self) -> Iterator[tuple[str, Formula]]:
        """Yield the names for values of a case."""
        for name, tree in self.operator.let.items():
            yield name, formula(tree)

    def definitions(self) -> Iterator[tuple[str, Sequence[Line]]]:
        """Yield each tensor that is defined, with the lines that state it."""
        for name, definition in self.operator.define.items():
            yield name, tuple(definition_lines(definition))

    def conditions(self) -> Iterator[ConditionRow]:
        """Yield the conditions on a case, besides the bounds of attributes."""
        for name, tree in self.operator.require.items():
            axes = f"on every {tree.kind.per}" if tree.kind.per else ""
            rejection = self.operator.reject.get(name)
            level, why = ("must", "") if rejection is None else (rejection.level, rejection.why)
            yield ConditionRow(name, formula(tree), axes, level, why)

    def changes(self, interpretation: Interpretation) -> Iterator[tuple[str, str]]:
        """Yield what an interpretation changes: a place of the file, and its new text."""
        if interpretation.habit:
            yield "the habit of a machine", interpretation.habit
        for place, text in interpretation.change.items():
            if isinstance(text, str | int):
                yield place, str(text)
            else:
                yield from ((f"{part} in {place}", str(other)) for part, other in text.items())


def default_text(attribute: Attribute) -> str:
    """Return the value of an attribute that is left out."""
    default = attribute.default
    if default is None:
        return "required"
    if isinstance(default, list):
        return ", ".join(map(str, default)) or "empty"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _values(attribute: Attribute) -> str:
    if attribute.type == "word":
        return ", ".join(attribute.values)
    if attribute.type == "bool":
        return "true, false"
    if attribute.type != "int":
        return "any number"
    if attribute.words:
        words = ", ".join(f"{word} ({number})" for word, number in attribute.words.items())
        return f"{_bounds(attribute)}, or {words}"
    return _bounds(attribute)


def _bounds(attribute: Attribute) -> str:
    low, high = attribute.min, attribute.max
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"at least {low}"
    return "any whole number" if high is None else f"at most {high}"


def _shape(items: Sequence[Node]) -> str:
    return f"[{', '.join(formula(item).text for item in items)}]"


def _is_never(condition: Node) -> bool:
    """Return whether a condition is written for no axis at all, as ``lead < 0``."""
    first = condition.args[0] if condition.op == "<" else None
    return first is not None and first.op == "name" and first.value == first.kind.per
