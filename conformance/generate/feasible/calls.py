"""What calls of functions mean to the prover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any

from conformance.generate.feasible.backend import Truth
from conformance.generate.feasible.term import ONE, ZERO, Term
from conformance.generate.feasible.trace import EITHER, ForAll
from conformance.generate.feasible.values import Choice, Untranslatable, Value, elementwise
from conformance.spec.tree import Node

if TYPE_CHECKING:
    from conformance.generate.feasible.translate import Translator


def call(tr: Translator, node: Node, window: Any, want: int) -> Value:
    """The value of a call; ``want`` is as in :mod:`.trace`."""
    name, args = node.op, node.args
    if name in ("somewhere", "everywhere"):
        return _over_windows(tr, name == "somewhere", args[0], want)
    if name == "where":
        return _where(tr, args, window)
    if name in ("any", "all"):
        truths = tr.node(args[0], window, want)
        joined = tr.logic.any if name == "any" else tr.logic.all
        return _settled(truths, joined(truths.truths))
    values = [tr.node(arg, window, EITHER) for arg in args]
    function = _FUNCTIONS.get(name)
    if function is None:
        raise Untranslatable(name)
    return function(tr, values)


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
    return Value(value.entries, value.per_axis, value.case, array)


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
        return Choice(when, a.members | b.members)
    if isinstance(a, Term | Choice) or isinstance(b, Term | Choice):
        raise Untranslatable("where of values of different types")
    return logic.either(logic.both(condition, a), logic.both(logic.negate(condition), b))


def _over_windows(tr: Translator, some: bool, body: Node, want: int) -> Value:
    """``somewhere`` names a window; ``everywhere`` speaks of all that are named.

    Wanted to be false, each is the other of the opposite.
    """
    logic = tr.logic
    held = logic.truth("somewhere" if some else "everywhere")
    sign = 1 if some else -1

    def says(window: Any, positive: bool) -> Truth:
        """What the body says of one window, of which there may be none."""
        value = tr.node(body, window, 1 if positive else -1)
        there = logic.implies(value.array, window.inside())
        truth = value.single if positive else logic.negate(value.single)
        return logic.both(there, truth) if positive is some else logic.implies(there, truth)

    guard = held if some else logic.negate(held)
    if want * sign >= 0:
        window = tr.names.window()
        tr.trace.windows.append(window)
        tr.trace.side.append(logic.implies(guard, says(window, some)))
    if want * sign <= 0:
        instance = lambda window: says(window, not some)  # noqa: E731
        tr.trace.foralls.append(ForAll(logic.negate(guard), instance))
    return Value((held,))


def _count(tr: Translator, values: Sequence[Value]) -> Value:
    ones = [tr.algebra.choose(truth, ONE, ZERO) for truth in values[0].truths]
    return _settled(values[0], tr.algebra.add(*ones))


def _distinct(tr: Translator, values: Sequence[Value]) -> Value:
    pairs = combinations(values[0].numbers, 2)
    return _settled(
        values[0], tr.logic.all(tr.logic.negate(tr.algebra.equal(a, b)) for a, b in pairs)
    )


def _extreme(name: str) -> Callable[[Translator, Sequence[Value]], Value]:
    def build(tr: Translator, values: Sequence[Value]) -> Value:
        operation = getattr(tr.algebra, name)
        return elementwise(tr.logic, operation, *(value.of(Term) for value in values))

    return build


def _over_axes(name: str) -> Callable[[Translator, Sequence[Value]], Value]:
    def build(tr: Translator, values: Sequence[Value]) -> Value:
        return _settled(values[0], reduce(getattr(tr.algebra, name), values[0].numbers))

    return build


def _absolute(tr: Translator, values: Sequence[Value]) -> Value:
    def magnitude(a: Term) -> Term:
        return tr.algebra.greatest(a, tr.algebra.scale(a, -1))

    return elementwise(tr.logic, magnitude, values[0].of(Term))


def _ceil_div(tr: Translator, values: Sequence[Value]) -> Value:
    a, b = (value.of(Term) for value in values)
    tr.divisor(b)

    return elementwise(tr.logic, lambda x, y: tr.division.divide(x, y, up=True)[0], a, b)


def _flat(tr: Translator, values: Sequence[Value]) -> Value:
    position, size = values
    index = ZERO
    for at, extent in zip(position.numbers, size.numbers, strict=True):
        index = tr.algebra.add(tr.algebra.multiply(index, extent), at)
    array = tr.logic.either(position.array, size.array)
    return Value((index,), False, position.case and size.case, array)


def _reverse(_tr: Translator, values: Sequence[Value]) -> Value:
    (value,) = values
    return Value(value.entries[::-1], value.per_axis, value.case, value.array)


def _entry(_tr: Translator, values: Sequence[Value]) -> Value:
    value, number = values
    (place,) = number.numbers
    if place.constant is None or not 0 <= place.constant < len(value.entries):
        raise Untranslatable("entry of an axis that is not known")
    return _settled(value, value.entries[place.constant])


_FUNCTIONS: dict[str, Callable[[Translator, Sequence[Value]], Value]] = {
    "min": _extreme("least"),
    "max": _extreme("greatest"),
    "least": _over_axes("least"),
    "greatest": _over_axes("greatest"),
    "abs": _absolute,
    "ceil_div": _ceil_div,
    "count": _count,
    "sum": lambda tr, values: _settled(values[0], tr.algebra.add(*values[0].numbers)),
    "prod": lambda tr, values: _settled(values[0], tr.algebra.over_axes(values[0].numbers)),
    "distinct": _distinct,
    "flat": _flat,
    "reverse": _reverse,
    "entry": _entry,
}
