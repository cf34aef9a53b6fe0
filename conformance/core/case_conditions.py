"""Conditions on the cases of an operator, over its names: what some cases have in common.

They follow from its dimensions, attributes, abbreviations, extents and strata. No name means
anything here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.binding import Binding
from conformance.core.expression_text import text_of
from conformance.core.operator import Operator
from conformance.core.strata import Roles, strata_of
from conformance.core.tree import Node
from conformance.errors import ConformanceError

BLOCKS = (2, 4, 8, 16, 32)
"""What numbers are divided by."""

MAX_TEXT = 24
"""Characters of a number's text; a longer one makes no condition that people read."""

COMPARISONS = ("==", "!=", "<", "<=")

Bools = NDArray[np.bool_]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class CaseCondition:
    """A condition in words of the operator, its ``cost``, and the cases in which it holds.

    Of conditions that tell the same cases from others, the one of least cost is likeliest. Reports
    have the ``wording`` of one that has a name.
    """

    text: str
    cost: int
    holds: Bools
    wording: str = ""


Entry = tuple[str, int, Bools]


class CaseConditions:
    """The numbers and words of cases of an operator, and the conditions on them."""

    def __init__(self, operator: Operator, bindings: Sequence[Binding]) -> None:
        self.operator, self.bindings = operator, bindings
        self.shared = np.zeros(len(bindings), np.bool_)
        self._strata: dict[str, Bools] = {}
        trees = {
            name: Node("name", (), attribute.kind, 0, name)
            for name, attribute in operator.attributes.items()
            if attribute.type == "int" and not attribute.list
        }
        self.single: dict[str, Numbers] = {}
        self.per_axis: dict[str, list[tuple[int, ...]]] = {}
        for name in (*operator.dims, *trees, *operator.let):
            self._add(name, [_value(binding, name) for binding in bindings])
        for definition in operator.define.values():
            extents = [*definition.at.values(), *definition.over.values()]
            for tree in extents:
                self._add(text_of(tree), [_value(binding, tree) for binding in bindings])
            self._add_terms([*definition.over.values()])

    def _add(self, text: str, values: list[Any]) -> None:
        if len(text) > MAX_TEXT or text in self.single or text in self.per_axis:
            return
        given = [value for value in values if value is not None]
        if given and all(type(value) is int for value in given):
            self.single[text] = np.array([np.nan if v is None else v for v in values])
        elif given and all(_is_row(value) for value in given):
            self.per_axis[text] = [value or () for value in values]

    def _add_terms(self, over: list[Node]) -> None:
        if len(over) < 2:
            return
        factors = [f"prod({text_of(t)})" if t.kind.per else text_of(t) for t in over]
        text = " * ".join(f if f.isidentifier() or f.endswith(")") else f"({f})" for f in factors)
        if len(text) <= 2 * MAX_TEXT:
            values = [[_value(binding, tree) for tree in over] for binding in self.bindings]
            self.single[text] = np.array([_product(each) for each in values])

    def of(self, shared: Bools) -> Iterator[CaseCondition]:
        """Yield conditions that hold in all cases that ``shared`` marks, and not in every case."""
        self.shared = shared
        entries = (*self.strata(), *self.words(), *self.numbers(), *self.orders())
        conditions = (CaseCondition(*entry) for entry in entries)
        for condition in (*conditions, *self.profiles()):
            if condition.holds[shared].all() and not condition.holds.all():
                yield condition

    def profiles(self) -> Iterator[CaseCondition]:
        """Yield that cases are within a profile of the operator, and that they are not."""
        for profile in self.operator.profiles:
            tree = self.operator.condition_with_types(profile.when)
            values = [_value(binding, tree) for binding in self.bindings]
            for holds, text, where in (
                (True, "{}", "a case within the profile"),
                (False, "not ({})", "a case outside of the profile"),
            ):
                marks = np.array([v is not None and _is_true(v) == holds for v in values], np.bool_)
                text = " ".join(text.format(profile.when).split())
                yield CaseCondition(text, 3, marks, f"{where} {profile.name}")

    def strata(self) -> Iterator[Entry]:
        """Yield the strata of all shared cases, as conditions over the operator's names."""
        among = [b for b, marked in zip(self.bindings, self.shared, strict=True) if marked]
        for text, tree in _strata(self.operator):
            if not all(_value(binding, tree) for binding in among):
                continue
            if text not in self._strata:
                holds = [bool(_value(binding, tree)) for binding in self.bindings]
                self._strata[text] = np.array(holds)
            count = sum(node.op in COMPARISONS for node in tree.walk())
            yield text, max(2, count), self._strata[text]

    def words(self) -> Iterator[Entry]:
        """Yield conditions on words, truth values, and which tensors are given, at which rank."""
        for name, attribute in self.operator.attributes.items():
            values = np.array([str(_value(binding, name)) for binding in self.bindings])
            if attribute.type == "word":
                for word in attribute.values:
                    yield f"{name} == {word}", 2, values == word
                    yield f"{name} != {word}", 3, values != word
            elif attribute.type == "bool":
                yield name, 2, values == "True"
                yield f"not {name}", 2, values != "True"
        for tensor in self.operator.inputs:
            ranks = np.array([len(b.shapes.get(tensor.name, ())) for b in self.bindings])
            given = np.array([tensor.name in b.shapes for b in self.bindings])
            yield f"has({tensor.name})", 2, given
            yield f"not has({tensor.name})", 2, ~given
            for rank in sorted(set(ranks[self.shared].tolist())):
                yield f"rank_of({tensor.name}) == {rank}", 2, ranks == rank
                yield f"rank_of({tensor.name}) > {rank - 1}", 3, ranks > rank - 1

    def numbers(self) -> Iterator[Entry]:
        """Yield comparisons of numbers with constants."""
        for text, values in self.single.items():
            yield from self._compared(text, values, 0 if text.isidentifier() else 1)
        for text, rows in self.per_axis.items():
            largest = np.array([max(row, default=np.nan) for row in rows])
            least = np.array([min(row, default=np.nan) for row in rows])
            for value in sorted(set(largest[self.shared].tolist())):
                if not np.isnan(value):
                    alike = (largest == value) & (least == value)
                    yield f"all({text} == {value:.0f})", 2 + (value > 8), alike
            yield from self._bounds(largest, f"any({text} > {{}})", 0, above=True)
            yield from self._bounds(largest, f"all({text} <= {{}})", 0, above=False)
            yield from self._bounds(least, f"all({text} > {{}})", 0, above=True)
            yield from self._bounds(least, f"any({text} <= {{}})", 0, above=False)
            yield f"any({text} != {text.join(('entry(', ', 0)'))})", 3, largest != least
            yield f"all({text} == {text.join(('entry(', ', 0)'))})", 3, largest == least
            last = np.array([row[-1] if row else np.nan for row in rows])
            yield from self._compared(f"entry({text}, length({text}) - 1)", last, 2)
            products = np.array([float(prod(row)) for row in rows])
            yield from self._compared(f"prod({text})", products, 2)

    def _compared(self, text: str, values: Numbers, more: int) -> Iterator[Entry]:
        stated = set(values[self.shared].tolist())
        if len(stated) == 1 and not np.isnan(value := stated.pop()):
            yield f"{text} == {value:.0f}", 2 + more + (value > 8), values == value
        yield from self._bounds(values, f"{text} > {{}}", more, above=True)
        yield from self._bounds(values, f"{text} <= {{}}", more, above=False)
        yield f"{text} != 0", 2 + more, values != 0
        for block in BLOCKS:
            yield f"{text} % {block} != 0", 4 + more, values % block > 0
            yield f"{text} % {block} == 0", 3 + more, values % block == 0

    def _bounds(self, values: Numbers, worded: str, more: int, above: bool) -> Iterator[Entry]:
        """Yield bounds of the shared cases: the tightest, and those at a power of two."""
        stated = values[self.shared]
        if not len(stated) or np.isnan(stated).any():
            return
        end = int(stated.min()) - 1 if above else int(stated.max())
        bounds = {end: 5}
        if end > 0:
            power = 1 << (end.bit_length() - 1)
            if not above and power < end:
                power *= 2
            bounds |= {power: 3}
            bounds |= {power - 1: 3} if above else {2 * power - 1: 4}
        if end <= 1:
            bounds[end] = 2
        for bound, cost in bounds.items():
            holds = values > bound if above else values <= bound
            yield worded.format(bound), cost + more, holds

    def orders(self) -> Iterator[Entry]:
        """Yield which of two numbers is larger."""
        for (a, x), (b, y) in combinations(self.single.items(), 2):
            if len(a) + len(b) <= MAX_TEXT:
                yield f"{a} == {b}", 3, x == y
                yield f"{a} != {b}", 4, x != y
                yield f"{a} < {b}", 4, x < y
                yield f"{a} > {b}", 4, x > y
        for (a, rows), (b, others) in combinations(self.per_axis.items(), 2):
            pairs = list(zip(rows, others, strict=True))
            if all(len(x) == len(y) for x, y in pairs):
                apart = [[i - j for i, j in zip(x, y, strict=True)] for x, y in pairs]
                least = np.array([min(row, default=0) for row in apart])
                largest = np.array([max(row, default=0) for row in apart])
                yield f"all({a} == {b})", 3, (least == 0) & (largest == 0)
                yield f"any({a} != {b})", 4, (least != 0) | (largest != 0)
                yield f"any({a} < {b})", 4, least < 0
                yield f"any({a} > {b})", 4, largest > 0


@cache
def _strata(operator: Operator) -> tuple[tuple[str, Node], ...]:
    """The conditions of an operator's strata over its names: texts and trees."""
    trees = {}
    for stratum in strata_of(operator):
        text = text_of(_in_names(stratum.condition, stratum.roles))
        with suppress(ConformanceError):
            trees[text] = operator.condition(text)
    return tuple(trees.items())


def _value(binding: Binding, of: str | Node) -> Any:
    """The value of a name or a tree; None where it has none in the case."""
    try:
        value = binding.value(of) if isinstance(of, str) else binding.evaluate(of)
    except (ConformanceError, ValueError):
        return None
    return value


def _is_true(value: Any) -> bool:
    """Whether a condition holds, on every axis."""
    return all(value) if isinstance(value, tuple) else bool(value)


def _product(values: Sequence[Any]) -> float:
    """The product of numbers and of rows of them; NaN where one has no value."""
    if any(value is None for value in values):
        return np.nan
    return float(prod(prod(value) if isinstance(value, tuple) else value for value in values))


def _is_row(value: Any) -> bool:
    return isinstance(value, tuple) and all(type(entry) is int for entry in value)


def _in_names(node: Node, roles: Roles) -> Node:
    """A condition over roles, over the operator's names."""
    if node.op == "name" and node.value in roles:
        return roles[str(node.value)]
    args = tuple(_in_names(arg, roles) for arg in node.args)
    return Node(node.op, args, node.kind, node.offset, node.value)
