"""Translates conditions, and functions over axes and windows, for the prover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any

from conformance.feasible.backend import Truth
from conformance.feasible.term import ZERO, Term
from conformance.feasible.trace import EITHER, NEGATIVE, POSITIVE, ForAll
from conformance.feasible.values import Choice, Untranslatable, Value, elementwise
from conformance.spec.tree import Node

if TYPE_CHECKING:
    from conformance.feasible.translate import Translator


def call(tr: Translator, node: Node, window: Any, want: int) -> Value:
    """The value of a call; ``want`` is as in :mod:`.trace`."""
    name, args = node.op, node.args
    if name == "somewhere":
        return _somewhere(tr, args[0], want)
    if name == "where":
        return _where(tr, args, window)
    if name in _OVER_AXES:
        value = tr.node(args[0], window, want if name in ("any", "all") else EITHER)
        return _settled(value, _OVER_AXES[name](tr, value))
    if name not in _FUNCTIONS:
        raise Untranslatable(name)
    return _FUNCTIONS[name](tr, *(tr.node(arg, window, EITHER) for arg in args))


def _settled(value: Value, entry: Any) -> Value:
    """One entry made of those of all axes."""
    if not value.per_axis:
        raise Untranslatable("a value per axis is wanted")
    return Value((entry,), False, value.case, value.array)


def _where(tr: Translator, args: Sequence[Node], window: Any) -> Value:
    condition = tr.node(args[0], window, EITHER)
    test, logic = condition.truths, tr.logic
    if condition.per_axis or not condition.case:
        a, b = (tr.node(arg, window, EITHER) for arg in args[1:])
        return elementwise(logic, lambda c, x, y: _chosen(tr, c, x, y), condition, a, b)
    a = tr.under(test[0], lambda: tr.node(args[1], window, EITHER))
    b = tr.under(logic.negate(test[0]), lambda: tr.node(args[2], window, EITHER))
    value = elementwise(logic, lambda x, y: _chosen(tr, test[0], x, y), a, b)
    array = logic.either(logic.both(test[0], a.array), logic.both(logic.negate(test[0]), b.array))
    if a.array is b.array:
        array = a.array
    return replace(value, array=array)


def _chosen(tr: Translator, condition: Truth, a: Any, b: Any) -> Any:
    logic = tr.logic
    if isinstance(a, Term) and isinstance(b, Term):
        return tr.algebra.choose(condition, a, b)
    if isinstance(a, Choice) and isinstance(b, Choice):
        when = {
            member: logic.either(
                logic.both(condition, a.when.get(member, False)),
                logic.both(logic.negate(condition), b.when.get(member, False)),
            )
            for member in (*a.when, *(m for m in b.when if m not in a.when))
        }
        return Choice(when)
    if isinstance(a, Term | Choice) or isinstance(b, Term | Choice):
        raise Untranslatable("where of values of different types")
    return logic.either(logic.both(condition, a), logic.both(logic.negate(condition), b))


def _somewhere(tr: Translator, body: Node, want: int) -> Value:
    """Names a window, where it may be wanted to hold; else speaks of all that are named."""
    logic = tr.logic
    held = logic.truth("somewhere")

    def says(window: Any, want: int) -> tuple[Truth, Truth]:
        """Whether there is such a window, and whether the body holds of it."""
        value = tr.node(body, window, want)
        return logic.implies(value.array, window.inside()), value.single

    def not_there(window: Any) -> Truth:
        there, truth = says(window, NEGATIVE)
        return logic.implies(there, logic.negate(truth))

    if want >= 0:
        window = tr.names.window()
        tr.trace.windows.append(window)
        tr.trace.side.append(logic.implies(held, logic.both(*says(window, POSITIVE))))
    if want <= 0:
        tr.trace.foralls.append(ForAll(logic.negate(held), not_there))
    return Value((held,))


def _flat(tr: Translator, position: Value, size: Value) -> Value:
    index = ZERO
    for at, extent in zip(position.numbers, size.numbers, strict=True):
        index = tr.algebra.add(tr.algebra.multiply(index, extent), at)
    array = tr.logic.either(position.array, size.array)
    return Value((index,), False, position.case and size.case, array)


def _reverse(_tr: Translator, value: Value) -> Value:
    return replace(value, entries=value.entries[::-1])


def _entry(_tr: Translator, value: Value, number: Value) -> Value:
    (place,) = number.numbers
    if place.constant is None or not 0 <= place.constant < len(value.entries):
        raise Untranslatable("entry of an axis that is not known")
    return _settled(value, value.entries[place.constant])


def _distinct(tr: Translator, value: Value) -> Truth:
    pairs = combinations(value.numbers, 2)
    return tr.logic.all(tr.logic.negate(tr.algebra.equal(a, b)) for a, b in pairs)


_OVER_AXES: dict[str, Callable[[Translator, Value], Any]] = {
    "any": lambda tr, value: tr.logic.any(value.truths),
    "all": lambda tr, value: tr.logic.all(value.truths),
    "sum": lambda tr, value: tr.algebra.add(*value.numbers),
    "prod": lambda tr, value: tr.algebra.over_axes(value.numbers),
    "least": lambda tr, value: reduce(tr.algebra.least, value.numbers),
    "greatest": lambda tr, value: reduce(tr.algebra.greatest, value.numbers),
    "distinct": _distinct,
}
_FUNCTIONS: dict[str, Callable[..., Value]] = {"flat": _flat, "reverse": _reverse, "entry": _entry}
