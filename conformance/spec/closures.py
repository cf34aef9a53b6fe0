"""Compiled pieces of expressions: functions of an environment, chosen by kind beforehand.

What an operation is applied to (one value, or one an axis) is settled when the expression is
compiled, so that evaluation spends its time on the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any, NamedTuple

from conformance.spec.arithmetic import Operation
from conformance.spec.kinds import Kind

Environment = Mapping[str, Any]
Run = Callable[[Environment], Any]


UNEQUAL = "values with different numbers of axes meet"
REPEATER = "axis"
"""The name, with an entry an axis, that tells how often a single value is repeated."""


class Code(NamedTuple):
    """A compiled node: what it gives, how, the names it reads, and where it stands in the text."""

    kind: Kind
    run: Run
    names: frozenset[str]
    offset: int


def constant(value: int | bool | str) -> Run:
    return lambda _env: value


def unary(operation: Operation, a: Code) -> Run:
    """``operation`` on one value, or on each axis's."""
    x = a.run
    if a.kind.per_axis:
        return lambda env: tuple(map(operation, x(env)))
    return lambda env: operation(x(env))


def binary(operation: Operation, a: Code, b: Code) -> Run:
    """``operation`` on two values; a single one meets every axis of the other."""
    x, y = a.run, b.run
    if not a.kind.per_axis and not b.kind.per_axis:
        return lambda env: operation(x(env), y(env))
    if not b.kind.per_axis:
        return lambda env: tuple(map(operation, x(env), repeat(y(env))))
    if not a.kind.per_axis:
        return lambda env: tuple(map(operation, repeat(x(env)), y(env)))

    def both(env: Environment) -> tuple[Any, ...]:
        p, q = x(env), y(env)
        if len(p) != len(q):
            raise ArithmeticError(UNEQUAL)
        return tuple(map(operation, p, q))

    return both


def ternary(operation: Operation, a: Code, b: Code, c: Code) -> Run:
    """``operation`` on three values, of which at least the first may be one an axis."""
    codes = (a, b, c)
    if not any(code.kind.per_axis for code in codes):
        x, y, z = a.run, b.run, c.run
        return lambda env: operation(x(env), y(env), z(env))

    def each(env: Environment) -> tuple[Any, ...]:
        values = [code.run(env) for code in codes]
        lists = [v for v, code in zip(values, codes, strict=True) if code.kind.per_axis]
        if len({len(entries) for entries in lists}) > 1:
            raise ArithmeticError(UNEQUAL)
        columns: list[Iterator[Any]] = [
            iter(v) if code.kind.per_axis else repeat(v)
            for v, code in zip(values, codes, strict=True)
        ]
        return tuple(map(operation, *columns))

    return each


def repeated(a: Code) -> Code:
    """A single value repeated for each axis; a per-axis one as it is."""
    if a.kind.per_axis:
        return a
    x = a.run
    kind = replace(a.kind, per_axis=True, joined=a.kind.entangled)
    # The number of entries, not `axes`: a tap's environment holds the entry of one axis only.
    return Code(kind, lambda env: (x(env),) * len(env[REPEATER]), a.names | {REPEATER}, a.offset)


def choice(condition: Code, a: Code, b: Code) -> Run:
    """``a`` or ``b`` by one condition for the whole case; the other is not evaluated.

    So that a branch may divide by what the condition rules out.
    """
    test, x, y = condition.run, a.run, b.run
    return lambda env: x(env) if test(env) else y(env)
