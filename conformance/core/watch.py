"""Visitors of plain values that note what happens: the coverage targets of expressions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conformance.core.binding import Binding
from conformance.core.expression_text import text_of
from conformance.core.functions import FUNCTIONS
from conformance.core.operator import SKIP, Definition
from conformance.core.plain import PlainVisitor
from conformance.core.tree import Node
from conformance.dtypes import Array
from conformance.errors import EvaluationError

Note = Callable[[str, str], None]
"""Takes the kind of a target and its name."""

MAX_NAME = 48
"""Characters of a target's name."""

_HASH_DIGITS = 4
_CUT_OFF = re.compile(rf"\.\.\.[0-9a-f]{{{_HASH_DIGITS}}}")

NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
AXIS_TEXT = " on an axis"


def shortened(text: str, most: int = MAX_NAME) -> str:
    """Return a text of at most so many characters; a digest replaces the end."""
    if len(text) <= most:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
    return f"{text[: most - _HASH_DIGITS - 3]}...{digest}"


def readable(names: Iterable[str]) -> tuple[str, ...]:
    """List the names of targets that are not shortened: others tell a reader nothing."""
    return tuple(name for name in names if not _CUT_OFF.search(name))


def entries_of(value: Any) -> tuple[Any, ...]:
    """Return the entries of a value, of which a single one is its own."""
    return value if isinstance(value, tuple) else (value,)


def comparison_text(a: Node, sign: str, b: Node) -> str:
    """Return a comparison in one spelling, so that turned ones have one name."""
    left, right = text_of(a), text_of(b)
    if a.op == "constant" or (b.op != "constant" and right < left):
        left, sign, right = right, TURNED[sign], left
    return shortened(f"{left} {sign} {right}", MAX_NAME - len(AXIS_TEXT))


class Event(NamedTuple):
    """A target of a node, and its test of an operation's value and arguments."""

    kind: str
    name: str
    test: Callable[..., Any]


class Watch(PlainVisitor):
    """A visitor of plain values that notes the targets of each operation."""

    def __init__(
        self, values: Callable[[str], Any] | None, ranks: Mapping[str, int], note: Note
    ) -> None:
        super().__init__(values, ranks)
        self.note = note

    def apply(self, node: Node, *args: Any) -> Any:
        """Apply an operation, and note its targets."""
        value = super().apply(node, *args)
        # Lists have entries, but not one for each axis.
        args = () if FUNCTIONS[node.op].over_axes else args
        for event in events_of(node):
            if _is_met(event, value, args):
                self.note(event.kind, event.name)
        return value


def _is_met(event: Event, value: Any, args: tuple[Any, ...]) -> bool:
    """Whether an event happens, on some axis and at some index."""
    axes = max((len(a) for a in (value, *args) if isinstance(a, tuple)), default=None)
    if axes is None:
        return _holds(event.test(value, *args))
    rows = [a if isinstance(a, tuple) else (a,) * axes for a in (value, *args)]
    return any(_holds(event.test(*row)) for row in zip(*rows, strict=True))


def _holds(result: Any) -> bool:
    return bool(result.any()) if isinstance(result, np.ndarray) else bool(result)


@cache
def events_of(node: Node) -> tuple[Event, ...]:
    """Return what can happen at an operation."""
    rule = _RULES.get(node.op)
    if rule is None or not is_plain(node):
        return ()
    per_axis = any(arg.kind.per for arg in node.args)
    suffix = AXIS_TEXT if per_axis else ""
    most = MAX_NAME - len(suffix)
    return tuple(e._replace(name=shortened(e.name, most) + suffix) for e in rule(node))


@cache
def is_plain(node: Node) -> bool:
    """Return whether a value does not depend on elements that are real numbers."""
    return node.kind.type != "real" and all(map(is_plain, node.args))


Rule = Callable[[Node], list[Event]]
"""The events of the nodes of an operation."""


def _comparison(node: Node) -> list[Event]:
    a, b = node.args
    if "word" in (a.kind.type, b.kind.type) and "constant" in (a.op, b.op):
        return []  # the values of attributes are targets themselves
    if a.kind.type == "bool":
        return _truth(node)
    sign = node.op
    events = [
        Event("CONDITION", comparison_text(a, sign, b), lambda value, *_: value),
        Event("CONDITION", comparison_text(a, NEGATED[sign], b), lambda value, *_: _inverse(value)),
    ]
    if sign in ("<", "<="):
        events.append(Event("CONDITION", comparison_text(a, "==", b), lambda _, x, y: x == y))
    return events


def _truth(node: Node) -> list[Event]:
    text = shortened(text_of(node), MAX_NAME - len(AXIS_TEXT) - len("not ()"))
    return [
        Event("CONDITION", text, lambda value, *_: value),
        Event("CONDITION", f"not ({text})", lambda value, *_: _inverse(value)),
    ]


def _joined(node: Node) -> list[Event]:
    """Events of what joins conditions; long ones are seen in their parts."""
    return _truth(node) if len(text_of(node)) <= MAX_NAME - len(AXIS_TEXT) else []


def _inverse(value: Any) -> Any:
    return ~value if isinstance(value, np.ndarray) else not value


def _division(node: Node) -> list[Event]:
    a, b = node.args
    if b.op == "constant" and b.value == 1:
        return []
    text = f"{_operand(a)} // {_operand(b)}"
    return [
        Event("REST", f"{text} has a rest", lambda _, x, y: x % y != 0),
        Event("REST", f"{text} has no rest", lambda _, x, y: x % y == 0),
    ]


def _operand(node: Node) -> str:
    text = text_of(node)
    return text if node.op in ("name", "constant") else f"({shortened(text, 18)})"


def _extreme(node: Node) -> list[Event]:
    a, b = node.args[:2]
    return [
        Event("CONDITION", comparison_text(a, "<", b), lambda _, x, y, *__: x < y),
        Event("CONDITION", comparison_text(a, "==", b), lambda _, x, y, *__: x == y),
        Event("CONDITION", comparison_text(a, ">", b), lambda _, x, y, *__: x > y),
    ]


def _clamped(node: Node) -> list[Event]:
    a, low, high = node.args
    return [
        Event("CONDITION", comparison_text(a, "<", low), lambda _, x, y, __: x < y),
        Event("CONDITION", comparison_text(a, "==", low), lambda _, x, y, __: x == y),
        Event("CONDITION", comparison_text(a, "==", high), lambda _, x, __, y: x == y),
        Event("CONDITION", comparison_text(a, ">", high), lambda _, x, __, y: x > y),
    ]


def _rounded(node: Node) -> list[Event]:
    text = _operand(node.args[0])
    return [
        Event("REST", f"{text} is no whole number", lambda value, x: value != x),
        Event("REST", f"{text} is a whole number", lambda value, x: value == x),
    ]


def _reflected(node: Node) -> list[Event]:
    text = _operand(node.args[0])
    return [
        Event("READ", f"{text} is mirrored at the first", lambda _, x, __: x < 0),
        Event("READ", f"{text} is mirrored at the last", lambda _, x, size: x >= size),
    ]


def _signed(node: Node) -> list[Event]:
    text = _operand(node.args[0])
    return [
        Event("CONDITION", f"{text} < 0", lambda _, x: x < 0),
        Event("CONDITION", f"{text} > 0", lambda _, x: x > 0),
    ]


_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("==", "!=", "<", "<="), _comparison),
    **dict.fromkeys(("and", "or", "among"), _joined),
    **dict.fromkeys(("//", "ceil_div"), _division),
    **dict.fromkeys(("min", "max"), _extreme),
    **dict.fromkeys(("floor", "ceil"), _rounded),
    "clamp": _clamped,
    "reflect": _reflected,
    "abs": _signed,
}


class IndexWatch(Watch):
    """A watch over the index space of a definition: reads outside of tensors, and terms kept.

    Whole numbers and truth values in tensors come from ``inputs``; what depends on others is not
    seen.
    """

    def __init__(
        self,
        binding: Binding,
        definition: Definition,
        inputs: Mapping[str, Array],
        note: Note,
    ) -> None:
        super().__init__(None, binding.visitor.ranks, note)
        self.binding = binding
        self.definition = definition
        self.inputs = inputs
        self.masks: list[NDArray[np.bool_]] = []
        self.is_outside = False
        self.names: dict[str, Any] = {}
        self.shape: list[int] = []
        extents = {**definition.at, **definition.over}
        values = {name: binding.evaluate(tree) for name, tree in extents.items()}
        self.shape = [int(n) for value in values.values() for n in entries_of(value)]
        axis = 0
        for name, value in values.items():
            arrays = []
            for extent in entries_of(value):
                shape = [-1 if d == axis else 1 for d in range(len(self.shape))]
                arrays.append(np.arange(extent).reshape(shape))
                axis += 1
            self.names[name] = tuple(arrays) if isinstance(value, tuple) else arrays[0]
        self.rows = sum(len(entries_of(values[name])) for name in definition.at)

    def lookup(self, name: str) -> Any:
        """Return the value of a name, computed on first use."""
        if name not in self.names:
            if name not in self.definition.abbreviations:
                return self.binding.value(name)
            self.names[name] = self.visit(self.definition.abbreviations[name])
        return self.names[name]

    def run(self) -> None:
        """Note everything that happens in the definition."""
        definition = self.definition
        if definition.keep is not None and is_plain(definition.keep):
            with suppress(EvaluationError):
                self.masks.append(np.asarray(self.visit(definition.keep)))
        for tree in (definition.term, definition.finish, definition.unspecified):
            if tree is not None:
                with suppress(EvaluationError):  # what depends on absent numbers is not seen
                    self._look(tree)
            if tree is definition.term:
                self._terms()
        if definition.outside is not None and not self.is_outside:
            self.note("READ", f"{definition.name} reads nothing outside")

    def _look(self, node: Node) -> None:
        """Visit the plain parts of an expression of elements."""
        if node.op == "read":
            self._look_at_read(node)
        elif node.op == "name" and node.value in self.definition.abbreviations:
            self._look(self.definition.abbreviations[str(node.value)])
        elif node.op == "name":
            pass
        elif is_plain(node) and not (node.op == "prod" and node.kind.type == "rational"):
            # A product of weights on each axis is a fraction for each term, and says no more.
            self.visit(node)
        elif node.op == "where" and is_plain(node.args[0]):
            condition = self.visit(node.args[0])
            single = not isinstance(condition, np.ndarray)
            for arg in (node.args[1 if condition else 2],) if single else node.args[1:]:
                self._look(arg)
        else:
            for arg in node.args:
                self._look(arg)

    def read(self, node: Node) -> Any:
        """Read whole numbers, or truth values, of an input."""
        self._look_at_read(node)
        name = str(node.value)
        array = self.inputs.get(name)
        if array is None:
            raise EvaluationError(f"{name} is not given")
        dtype, values = np.int64 if node.kind.type == "int" else np.bool_, []
        for indices in self.places(node):
            at = self.binding.positions(name, array.shape, indices)
            safe = [np.clip(np.asarray(i), 0, n - 1) for i, n in zip(at, array.shape, strict=True)]
            values.append(array.astype(dtype)[tuple(safe)])
        return tuple(values) if node.kind.per else values[0]

    def _look_at_read(self, node: Node) -> None:
        for indices in self.places(node):
            self._look_at_indices(str(node.value), indices)

    def _look_at_indices(self, name: str, indices: list[Any]) -> None:
        items = self._items(name)
        for item, index in zip(items, indices, strict=bool(items)):
            sizes = entries_of(self.binding.evaluate(item))
            pairs = zip(entries_of(index), sizes, strict=True)
            for axis, (position, size) in enumerate(pairs):
                where = _axis_text(axis, len(sizes)) if item.kind.per else ""
                self._position(f"{name}'s {shortened(text_of(item), 12)}{where}", position, size)

    def _items(self, name: str) -> list[Node]:
        """The extents that indices of a tensor are compared with: none where it is stretched."""
        if name in self.binding.operator.define:
            return list(self.binding.operator.define[name].at.values())
        tensor = self.binding.operator.tensors[name]
        if name not in self.binding.shapes:
            return []
        items = list(self.binding.items(tensor))
        stretched = tensor.broadcast or any(map(self.binding.stretches, items))
        return [] if stretched or items != list(tensor.shapes[0]) else items

    def _position(self, text: str, position: Any, size: int) -> None:
        position = np.asarray(position)
        if not position.size:
            return
        before, behind = position.min() < 0, position.max() >= size
        for is_outside, word in ((before, "before"), (behind, "behind")):
            if is_outside:
                self.note("READ", f"reads {word} {text}")
        self.is_outside |= before or behind
        if (before or behind) and self.definition.outside == SKIP:
            self.masks.append((position >= 0) & (position < size))

    def _terms(self) -> None:
        """Note of how many terms elements are made."""
        definition = self.definition
        mask = reduce(np.logical_and, self.masks, np.ones((), np.bool_))
        mask = mask.reshape([1] * (len(self.shape) - mask.ndim) + list(mask.shape))
        over = tuple(range(self.rows, len(self.shape)))
        spread = int(np.prod([self.shape[d] for d in over if mask.shape[d] == 1]))
        count = mask.sum(axis=over, keepdims=True) * spread
        total = int(np.prod([self.shape[d] for d in over]))
        self.names["terms"] = count
        if not self.masks:
            return
        prefix = f"{definition.name} has elements of "
        for words, is_met in (
            ("no term", count == 0),
            ("a single term", count == 1),
            ("a part of the terms", (count > 0) & (count < total)),
            ("all terms", count == total),
        ):
            if is_met.any():
                self.note("TERMS", prefix + words)


def _axis_text(axis: int, axes: int) -> str:
    if axes == 1:
        return ""
    return " on the first axis" if axis == 0 else " on the last axis" if axis == axes - 1 else ""
