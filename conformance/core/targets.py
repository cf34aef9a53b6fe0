"""Coverage targets of an operator that its text gives: what can be seen when a case is evaluated.

A target is a short name, as ``kernel > strides on an axis``: a branch of a condition or its limit,
the order of two numbers, the rest of a division, a read outside of a tensor, a value of an
attribute, a tensor left out or stretched, an extent, a kind of data. All follow from the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache
from itertools import combinations, groupby
from math import prod
from typing import Any, NamedTuple

from conformance.core.binding import Binding
from conformance.core.data import filled_tensors, plain_patterns
from conformance.core.expression_text import text_of
from conformance.core.operator import Attribute, Operator, Tensor, stored
from conformance.core.tree import Kind, Node, constant
from conformance.core.watch import (
    IndexWatch,
    Watch,
    comparison_text,
    entries_of,
    events_of,
    readable,
    shortened,
)
from conformance.dtypes import Array
from conformance.errors import ConformanceError
from conformance.model import Case

BLOCKS = (4, 8, 16, 32, 64, 128)
"""Extents that implementations work in blocks of."""

STEPS = (2, 4, 8, 16)
"""Blocks whose rests are targets; a rest by one of them is a rest by larger ones, too."""

SMALL_EXTENT = 5
"""The largest extent that is a target by itself."""

LARGE_EXTENTS = (255, 1000)
"""Extents above these are targets of their own."""

MAX_EXTENT_TEXT = 20
"""Characters of an extent's text; one with a longer text goes by its index."""

SMALL_VALUE = 3
"""The largest value of an attribute that is a target by itself."""


class TargetKind(Enum):
    """What a target says; the value tells whether reports list it."""

    CONDITION = ("condition", True)
    REST = ("rest", True)
    READ = ("read", True)
    TERMS = ("terms", True)
    ATTRIBUTE = ("attribute", True)
    TENSOR = ("tensor", True)
    BROADCAST = ("broadcast", True)
    DEPARTURE = ("departure", True)
    AXES = ("axes", True)
    EXTENT = ("extent", True)
    DATA = ("data", True)
    BLOCK = ("block", False)
    ORDER = ("order", False)

    @property
    def is_reported(self) -> bool:
        """True if reports list targets of this kind; others serve selection alone."""
        return self.value[1]


class Target(NamedTuple):
    """A coverage target: its name, of less than 50 characters, and its kind."""

    name: str
    kind: TargetKind


def _pattern(letters: Sequence[str]) -> str:
    return f"({', '.join(filter(None, letters))})"


def targets_of(
    operator: Operator, case: Case, inputs: Mapping[str, Array | None] | None = None
) -> frozenset[Target]:
    """Return the targets that a valid case covers.

    ``inputs`` are its tensors by name; without them, what depends on whole numbers in tensors is
    left out. Raises :class:`~conformance.errors.InvalidCase` for a case that does not fit.
    """
    return frozenset(_CaseTargets(operator, case, inputs or {}).all())


def reported_names(targets: Iterable[Target]) -> tuple[str, ...]:
    """List the names of the targets that reports list, in order.

    Names that had to be shortened tell a reader nothing.
    """
    return tuple(sorted(readable(target.name for target in targets if target.kind.is_reported)))


class _CaseTargets:
    """Collects the targets of one case."""

    def __init__(self, operator: Operator, case: Case, inputs: Mapping[str, Array | None]) -> None:
        self.operator = operator
        self.case = case
        self.binding = Binding(operator, case.attributes, case.shapes, case.operands, case.types)
        self.names: dict[str, TargetKind] = {}
        self.watch = Watch(self.binding.value, self.binding.visitor.ranks, self.note)
        # What the binding evaluates from here on is watched.
        self.binding.visitor = self.watch
        self.inputs = {name: array for name, array in inputs.items() if array is not None}

    def note(self, kind: str, name: str) -> None:
        self.names.setdefault(name, TargetKind[kind])

    def all(self) -> Iterator[Target]:
        """Yield the targets, of which some are found several times."""
        self._conditions()
        for definition in self.operator.define.values():
            IndexWatch(self.binding, definition, self.inputs, self.note).run()
        for attribute in self.operator.attributes.values():
            self._attribute(attribute)
        self._departures()
        filled = filled_tensors(self.operator)
        for tensor, pattern in zip(filled, plain_patterns(self.case), strict=True):
            self._tensor(tensor, pattern)
        self._broadcast_patterns()
        for group, length in self.binding.lengths.items():
            self.note("AXES", f"{length} axes in {group}")
        for text, value in self._extents():
            self._extent(text, value)
        self._orders()
        always = _required_names(self.operator)
        return (Target(n, kind) for n, kind in self.names.items() if n not in always)

    def _conditions(self) -> None:
        for name in self.operator.let:
            with suppress(ConformanceError):  # what has no value in this case is not seen
                self.binding.value(name)
        for tree in self.operator.require.values():
            self.binding.evaluate(tree)

    # -- attributes

    def _attribute(self, attribute: Attribute) -> None:
        name = attribute.spelling
        value = self.binding.value(attribute.name)
        if name not in self.case.attributes:
            self.note("ATTRIBUTE", f"{name} is left out")
            return
        if attribute.list:
            self.note("ATTRIBUTE", f"{name} has {len(value)} entries")
        elif attribute.default is not None and not _departs(attribute, value):
            self.note("ATTRIBUTE", f"{name} is given as its default")
        for entry in entries_of(value):
            where = " on an axis" if attribute.per else ""
            self.note("ATTRIBUTE", f"{name} {_value_text(attribute, entry)}{where}")

    def _departures(self) -> None:
        departing = [
            attribute.name
            for attribute in self.operator.attributes.values()
            if _departs(attribute, self.binding.value(attribute.name))
        ]
        text = f"{len(departing)} attributes depart"
        if len(departing) <= 2:
            verb = "depart" if len(departing) == 2 else "departs"
            text = f"{shortened(' and '.join(departing) or 'nothing', 38)} {verb}"
        self.note("DEPARTURE", text)

    # -- tensors

    def _tensor(self, tensor: Tensor, pattern: str) -> None:
        name, shape = tensor.name, self.case.shapes.get(tensor.name)
        if tensor.absent is not None:
            self.note("TENSOR", f"{name} is {'absent' if shape is None else 'given'}")
        if shape is None:
            return
        self.note("DATA", f"{name} holds {pattern}")
        if tensor.broadcast or len(tensor.shapes) > 1 or any(self._stretched_items(tensor)):
            self.note("TENSOR", f"{name} has {len(shape)} dimensions")
        if tensor.broadcast:
            full = self._texts(tensor.shapes[0])
            self.note("BROADCAST", f"{name} is {_pattern(self._stretches(tensor, shape, full))}")

    def _texts(self, items: Iterable[Node]) -> list[tuple[str, int]]:
        """The dimensions of items with their texts, those of axes numbered from the last."""
        texts: list[tuple[str, int]] = []
        for item in items:
            value, text = self.binding.evaluate(item), shortened(text_of(item), 16)
            if isinstance(value, tuple):
                texts += [(f"{text}[{k - len(value)}]", extent) for k, extent in enumerate(value)]
            else:
                texts.append((text, value))
        return texts

    def _stretched_items(self, tensor: Tensor) -> list[Node]:
        items = self.binding.items(tensor)
        return [item for item in items if self.binding.stretches(item)]

    def _stretches(
        self, tensor: Tensor, shape: tuple[int, ...], full: list[tuple[str, int]]
    ) -> list[str]:
        """The pattern of a shape that is stretched to a full one: n, 1 or nothing for each axis."""
        letters: list[str] = []
        for back, (text, size) in enumerate(reversed(full), 1):
            extent = shape[-back] if back <= len(shape) else None
            word = "lacks" if extent is None else "is stretched in" if extent < size else "has"
            self.note("BROADCAST", f"{tensor.name} {word} {text}")
            letters.insert(0, {"lacks": "", "has": "n", "is stretched in": "1"}[word])
        return letters

    def _broadcast_patterns(self) -> None:
        """Which dimensions of two tensors that are stretched together are stretched."""
        patterns: dict[str, list[tuple[str, list[str]]]] = {}
        for tensor in self.operator.inputs:
            if tensor.name not in self.case.shapes:
                continue
            for item in self._stretched_items(tensor):
                shape = self.case.shapes[tensor.name]
                inner = len(self.binding.items(tensor)) - 1
                lead = shape[: len(shape) - inner]
                name = str(item.value)
                pattern = self._stretches(tensor, lead, self._texts([item]))
                patterns.setdefault(name, []).append((tensor.name, pattern))
        for name, tensors in patterns.items():
            for (first, letters), (second, others) in combinations(tensors, 2):
                pairs = [*zip(letters, others, strict=True)]
                if len(pairs) > 2:  # neighbours that are alike are taken for one axis
                    pairs = [pair for pair, _ in groupby(pairs)]
                a, b = map(_pattern, zip(*pairs, strict=True)) if pairs else ("()", "()")
                self.note("BROADCAST", shortened(f"{first} {a} by {second} {b} in {name}"))

    # -- numbers

    def _extents(self) -> Iterator[tuple[str, int]]:
        """The extents of dimensions and indices by their texts, each once."""
        for text, tree in _extent_trees(self.operator).items():
            try:
                value = self.binding.evaluate(tree)
            except ConformanceError:
                continue
            if not isinstance(value, tuple):
                yield text, value
                continue
            if len(value) > 1:
                yield f"{text}[0]", value[0]
                yield f"prod({text})", prod(value)
            if value:
                yield f"{text}[-1]", value[-1]
        for definition in self.operator.define.values():
            if len(definition.over) > 1:
                extents = self.binding.flat([*definition.over.values()])
                yield f"terms of {definition.name}", prod(extents)

    def _extent(self, text: str, size: int) -> None:
        for large in LARGE_EXTENTS:
            if size > large:
                self.note("EXTENT", f"{text} is above {large}")
        if size <= SMALL_EXTENT:
            self.note("EXTENT", f"{text} is {size}")
        for kind, words in _block_words(size):
            self.note(kind, f"{text} {words}")

    def _orders(self) -> None:
        """Which of two numbers of a kind is larger, and whether axes are alike."""
        values: dict[str | None, list[tuple[Node, Any]]] = {}
        for tree in _ordered_trees(self.operator):
            try:
                value = self.binding.evaluate(tree)
            except ConformanceError:
                continue
            values.setdefault(tree.kind.per, []).append((tree, entries_of(value)))
            if tree.op == "name" and isinstance(value, tuple) and len(value) > 1:
                word = "is alike" if len(set(value)) == 1 else "differs"
                self.note("AXES", f"{tree.value} {word} on all axes")
        for per, rows in values.items():
            where = " on an axis" if per else ""
            for (a, left), (b, right) in combinations(rows, 2):
                for x, y in set(zip(left, right, strict=True)):
                    order = "<" if x < y else "==" if x == y else ">"
                    self.note("ORDER", comparison_text(a, order, b) + where)


def _departs(attribute: Attribute, value: Any) -> bool:
    """Whether an attribute has a default and another value."""
    default = attribute.default
    if default is None:
        return False
    if attribute.list:
        return list(value) != list(default)
    return any(entry != _exact(attribute, default) for entry in entries_of(value))


def _exact(attribute: Attribute, default: Any) -> Any:
    return stored(default, attribute.type) if attribute.is_fraction else default


def _value_text(attribute: Attribute, entry: Any) -> str:
    """What is said of an entry: words and small numbers by themselves, fractions beside 0 and 1."""
    if attribute.type in ("word", "bool"):
        return f"is {str(entry).lower() if attribute.type == 'bool' else entry}"
    if attribute.is_fraction:
        if entry in (0, 1):
            return f"is {entry}"
        return "is negative" if entry < 0 else "is below 1" if entry < 1 else "is above 1"
    if entry == attribute.max or abs(entry) <= SMALL_VALUE:
        return f"is {entry}"
    return f"is above {SMALL_VALUE}" if entry > 0 else f"is below -{SMALL_VALUE}"


@cache
def _block_words(size: int) -> tuple[tuple[str, str], ...]:
    """What is said of an extent in blocks, with the kind of target."""
    words = [
        ("BLOCK", f"leaves {'a' if size % step else 'no'} rest by {step}")
        for step in STEPS
        if size > step or size == step > SMALL_EXTENT
    ]
    for block in BLOCKS:
        if block > SMALL_EXTENT and abs(size - block) <= 1:
            near = ("is just below", "is", "is just above")[size - block + 1]
            words.append(("EXTENT", f"{near} {block}"))
        if size > block + 1 and size > SMALL_EXTENT:
            words.append(("BLOCK", f"is above {block}"))
    return tuple(words)


@cache
def _extent_trees(operator: Operator) -> Mapping[str, Node]:
    """The trees of all extents, by their texts."""
    trees = {
        dim.name: Node("name", (), Kind("int", dim.per), 0, dim.name)
        for dim in operator.dims.values()
        if not dim.broadcast
    }
    for definition in operator.define.values():
        for index, tree in {**definition.at, **definition.over}.items():
            text = text_of(tree)
            if tree.op != "constant":
                trees[text if len(text) <= MAX_EXTENT_TEXT else f"{index} of {definition.name}"] = (
                    tree
                )
    return trees


@cache
def _required_names(operator: Operator) -> frozenset[str]:
    """The targets that every valid case covers, since the operator requires them."""
    names = set()
    trees = list(operator.require.values())
    while trees:
        tree = trees.pop()
        if tree.op in ("and", "all"):
            trees += tree.args
        names |= {event.name for event in events_of(tree)[:1]}
    return frozenset(names)


@cache
def _ordered_trees(operator: Operator) -> tuple[Node, ...]:
    """The numbers whose order counts: those that a definition or a condition speaks of.

    Numbers that only lead to others are left out, sums and halves in the text are not.
    """
    trees = [tree for definition in operator.define.values() for tree in definition.trees()]
    trees += operator.require.values()
    nodes = [node for tree in trees for node in _outermost_sums(tree)]
    nodes += [node for tree in operator.let.values() for node in tree.walk() if _is_half(node)]
    unique: dict[Any, Node] = {}
    for node in nodes:
        if node.kind.type == "int" and not node.kind.indices and _is_number(operator, node):
            unique.setdefault(node.key, node)
    return tuple(unique.values())


def _outermost_sums(node: Node) -> Iterator[Node]:
    """The nodes of a tree, without the first terms of sums of three and more."""
    yield node
    for arg in node.args:
        nodes = _outermost_sums(arg)
        yield from list(nodes)[1:] if node.op == arg.op == "+" else nodes


def _is_number(operator: Operator, node: Node) -> bool:
    if node.op == "name":
        attribute = operator.attributes.get(str(node.value))
        is_flag = attribute is not None and attribute.max is not None
        return not is_flag and node.kind.per != node.value  # the name of a group numbers its axes
    return _is_half(node) or (node.op == "+" and not any(arg.op == "constant" for arg in node.args))


def _is_half(node: Node) -> bool:
    return node.op == "//" and node.args[1].key == constant(2).key
