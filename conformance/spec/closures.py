"""Visitor that compiles an expression into nested functions, for one case.

What an operation is applied to (one value, or one an axis) is settled beforehand, by kind, so that
evaluation spends its time on the arithmetic.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any

from conformance.spec import arithmetic
from conformance.spec.arithmetic import Operation
from conformance.spec.tree import REPEATER, Node

Environment = Mapping[str, Any]
Run = Callable[[Environment], Any]

UNEQUAL = "values with different numbers of axes meet"

ELEMENTWISE: dict[str, tuple[Operation, Operation]] = {
    "+": (operator.add, arithmetic.add),
    "-": (operator.sub, arithmetic.subtract),
    "*": (operator.mul, arithmetic.multiply),
    "//": (operator.floordiv, arithmetic.floor_divide),
    "%": (operator.mod, arithmetic.modulo),
    "ceil_div": (lambda a, b: -(-a // b), arithmetic.ceil_divide),
    "min": (min, arithmetic.smaller),
    "max": (max, arithmetic.larger),
    "rounded": (arithmetic.rounded, arithmetic.rounded),
    "abs": (abs, abs),
    "negative": (operator.neg, operator.neg),
    "not": (operator.not_, arithmetic.invert),
    "and": (operator.and_, operator.and_),
    "or": (operator.or_, operator.or_),
    "where": (arithmetic.select, arithmetic.select),
    "==": (operator.eq, operator.eq),
    "!=": (operator.ne, operator.ne),
    "<": (operator.lt, operator.lt),
    "<=": (operator.le, operator.le),
}
"""What is worked out axis by axis: on plain values of a case, and where arrays may occur."""

WHOLE: dict[str, tuple[Operation, Operation]] = {
    "any": (any, arithmetic.some),
    "all": (all, arithmetic.every),
    "sum": (sum, arithmetic.total),
    "prod": (math.prod, arithmetic.product),
    "least": (arithmetic.least, arithmetic.least),
    "greatest": (arithmetic.greatest, arithmetic.greatest),
    "distinct": (arithmetic.distinct, arithmetic.distinct),
    "reverse": (lambda entries: entries[::-1], lambda entries: entries[::-1]),
    "entry": (arithmetic.entry, arithmetic.entry),
    "flat": (arithmetic.flat, arithmetic.flat),
    "somewhere": (arithmetic.somewhere, arithmetic.somewhere),
}
"""What takes values as they are, with all their axes and windows."""


def closure(node: Node) -> Run:
    """Make a function that evaluates a tree over an environment.

    It raises ArithmeticError where there is no value.
    """
    if node.op == "constant":
        value = node.value
        return lambda _env: value
    if node.op == "name":
        return operator.itemgetter(node.value)
    if node.decides:
        return _deciding(node)
    runs = [closure(arg) for arg in node.args]
    if node.op == "repeat":
        x = runs[0]
        # The number of entries, not `axes`: a tap's environment has the entry of one axis only.
        return lambda env: (x(env),) * len(env[REPEATER])
    plain, general = ELEMENTWISE.get(node.op) or WHOLE[node.op]
    operation = plain if node.kind.is_case and node.args[0].kind.is_case else general
    if node.op in WHOLE:
        return _applied(operation, runs)
    return _elementwise(operation, node.args, runs)


def _deciding(node: Node) -> Run:
    """``and``, ``or``, ``where`` by a condition on the case; what it rules out is not evaluated.

    So that a branch may divide by what the condition rules out.
    """
    test, x = (closure(arg) for arg in node.args[:2])
    if node.op == "where":
        y = closure(node.args[2])
        return lambda env: x(env) if test(env) else y(env)
    decided = node.op == "or"

    def single(env: Environment) -> Any:
        return decided if test(env) is decided else x(env)

    def per_axis(env: Environment) -> Any:
        return (decided,) * len(env[REPEATER]) if test(env) is decided else x(env)

    return per_axis if node.kind.per_axis else single


def _applied(operation: Operation, runs: Sequence[Run]) -> Run:
    if len(runs) == 1:
        (x,) = runs
        return lambda env: operation(x(env))
    x, y, *other_runs = runs
    if not other_runs:
        return lambda env: operation(x(env), y(env))
    return lambda env: operation(*(run(env) for run in runs))


def _elementwise(operation: Operation, args: Sequence[Node], runs: Sequence[Run]) -> Run:
    """``operation`` on single values, or axis by axis; a single one meets every axis."""
    spread = [arg.kind.per_axis for arg in args]
    if not any(spread):
        return _applied(operation, runs)
    if len(runs) == 1:
        (x,) = runs
        return lambda env: tuple(map(operation, x(env)))
    if len(runs) == 2:
        x, y = runs
        if spread == [True, False]:
            return lambda env: tuple(map(operation, x(env), repeat(y(env))))
        if spread == [False, True]:
            return lambda env: tuple(map(operation, repeat(x(env)), y(env)))

        def both(env: Environment) -> tuple[Any, ...]:
            a, b = x(env), y(env)
            if len(a) != len(b):
                raise ArithmeticError(UNEQUAL)
            return tuple(map(operation, a, b))

        return both

    def each(env: Environment) -> tuple[Any, ...]:
        values = [run(env) for run in runs]
        lengths = {len(value) for value, many in zip(values, spread, strict=True) if many}
        if len(lengths) > 1:
            raise ArithmeticError(UNEQUAL)
        columns = (
            value if many else repeat(value) for value, many in zip(values, spread, strict=True)
        )
        return tuple(map(operation, *columns))

    return each
