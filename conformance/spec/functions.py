"""The functions that expressions may call."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from conformance.errors import ExpressionError
from conformance.spec import arithmetic
from conformance.spec.arithmetic import Operation
from conformance.spec.closures import Code, Run, binary, choice, repeated, ternary, unary
from conformance.spec.kinds import Domain, Kind, elementwise


@dataclass(frozen=True)
class Function:
    """A function: how it is written, what it gives, and how a call of it is compiled."""

    signature: str
    about: str
    build: Callable[[Sequence[Code], int], Code]
    least: int = 1
    most: int | None = 1


def of_type(code: Code, type_: str) -> Code:
    """``code``, if its value is of this type."""
    if code.kind.type != type_:
        want = {"int": "a whole number", "bool": "a truth value", "enum": "an enum value"}[type_]
        hint = None
        if type_ == "int" and code.kind.type == "bool":
            hint = "where(condition, 1, 0) makes a number of a truth value; count adds them up"
        elif type_ == "bool" and code.kind.type == "int":
            hint = "compare the number with something, for example with > 0"
        raise ExpressionError(f"this is {code.kind}", offset=code.offset, expected=want, hint=hint)
    return code


def joined(kind: Kind, run: Run, codes: Sequence[Code], offset: int) -> Code:
    """The code of a node above ``codes``; refuses what no tap can have a value for."""
    if kind.domain is Domain.TAP and kind.joined:
        raise ExpressionError(
            "a tap's value cannot depend on other axes, or on the data",
            offset=offset,
            expected="per-axis values of the case and the window",
        )
    names = frozenset().union(*(code.names for code in codes))
    return Code(kind, run, names, offset)


def numeric(plain: Operation, general: Operation, codes: Sequence[Code], offset: int) -> Code:
    """An operation on two numbers: ``plain`` where no array can occur, else ``general``."""
    a, b = (of_type(code, "int") for code in codes)
    kind = elementwise("int", (a.kind, b.kind))
    return joined(kind, binary(plain if kind.is_case else general, a, b), codes, offset)


def conditional(condition: Code, a: Code, b: Code, kind: Kind, offset: int) -> Code:
    """``a`` where ``condition`` holds, else ``b``, as a value of ``kind``."""
    codes = (condition, a, b)
    if condition.kind.per_axis or not condition.kind.is_case:
        return joined(kind, ternary(arithmetic.select, *codes), codes, offset)
    if a.kind.per_axis != b.kind.per_axis:
        a, b = repeated(a), repeated(b)
    return joined(kind, choice(condition, a, b), (condition, a, b), offset)


def _where(codes: Sequence[Code], offset: int) -> Code:
    condition = of_type(codes[0], "bool")
    a, b = codes[1], of_type(codes[2], codes[1].kind.type)
    values = None
    if a.kind.type == "enum":
        values = (a.kind.values or frozenset()) | (b.kind.values or frozenset())
        if not condition.kind.is_case:
            raise ExpressionError(
                f"the condition is {condition.kind}",
                offset=condition.offset,
                expected="a condition on the case alone, since enums do not vary within one",
            )
    kind = elementwise(a.kind.type, (condition.kind, a.kind, b.kind), values)
    return conditional(condition, a, b, kind, offset)


def _extreme(name: str, plain: Operation, general: Operation, over_axes: Operation) -> Function:
    def build(codes: Sequence[Code], offset: int) -> Code:
        if len(codes) > 1:
            return reduce(lambda a, b: numeric(plain, general, (a, b), offset), codes)
        if not codes[0].kind.per_axis:
            raise ExpressionError(
                f"{name} of a single value", offset=offset, expected="two values, or one per axis"
            )
        return _over_axes("int", "int", over_axes)(codes, offset)

    side = {"min": "smallest", "max": "largest"}[name]
    about = f"the {side} of several values, axis by axis; of one per-axis value, over the axes"
    return Function(f"{name}(a, b, ...) or {name}(a)", about, build, 1, None)


def _over_axes(
    takes: str, gives: str, operation: Operation, plain: Operation | None = None
) -> Callable[[Sequence[Code], int], Code]:
    def build(codes: Sequence[Code], offset: int) -> Code:
        code = of_type(codes[0], takes)
        _per_axis(code)
        kind = replace(code.kind, type=gives, per_axis=False, joined=False)
        if kind.domain is Domain.TAP:
            raise ExpressionError(
                "the taps of different axes do not meet",
                offset=offset,
                expected="a value of the case or the window here",
            )
        x = code.run
        reducer = plain if plain is not None and kind.is_case else operation
        return joined(kind, lambda env: reducer(x(env)), codes, offset)

    return build


def _per_axis(code: Code) -> None:
    if code.kind.per_axis:
        return
    hint = "it needs no function over the axes"
    if not code.kind.is_case and code.kind.type == "bool":
        hint = "somewhere(...) and everywhere(...) ask about all windows"
    raise ExpressionError(
        f"this is {code.kind}", offset=code.offset, expected="a value per axis", hint=hint
    )


def _absolute(codes: Sequence[Code], offset: int) -> Code:
    code = of_type(codes[0], "int")
    return joined(elementwise("int", (code.kind,)), unary(abs, code), codes, offset)


def _distinct(codes: Sequence[Code], offset: int) -> Code:
    code = of_type(codes[0], "int")
    _per_axis(code)
    if not code.kind.is_case:
        raise ExpressionError(
            f"this is {code.kind}", offset=code.offset, expected="a value of the case alone"
        )
    return joined(Kind("bool"), unary(arithmetic.distinct, _whole(code)), codes, offset)


def _whole(code: Code) -> Code:
    """A per-axis value to be handed over as one tuple."""
    return code._replace(kind=replace(code.kind, per_axis=False))


def _reverse(codes: Sequence[Code], offset: int) -> Code:
    code = codes[0]
    _per_axis(code)
    if code.kind.domain is Domain.TAP or not code.kind.is_case:
        raise ExpressionError(
            f"this is {code.kind}", offset=code.offset, expected="a value of the case alone"
        )
    x = code.run
    return joined(code.kind, lambda env: x(env)[::-1], codes, offset)


def _entry(codes: Sequence[Code], offset: int) -> Code:
    code, number = codes[0], of_type(codes[1], "int")
    _per_axis(code)
    for one in (code, number):
        if not one.kind.is_case or (one is number and one.kind.per_axis):
            raise ExpressionError(
                f"this is {one.kind}", offset=one.offset, expected="a value of the case alone"
            )
    kind = replace(code.kind, per_axis=False)
    return joined(kind, binary(arithmetic.entry, _whole(code), number), codes, offset)


def _flat(codes: Sequence[Code], offset: int) -> Code:
    for code in codes:
        _per_axis(of_type(code, "int"))
    kind = replace(elementwise("int", (c.kind for c in codes)), per_axis=False, joined=False)
    if kind.domain is Domain.TAP:
        raise ExpressionError("the taps of different axes do not meet", offset=offset)
    position, size = map(_whole, codes)
    return joined(kind, binary(arithmetic.flat, position, size), codes, offset)


def _rounded(codes: Sequence[Code], offset: int) -> Code:
    return numeric(arithmetic.rounded, arithmetic.rounded, codes, offset)


def _over_windows(operation: Operation) -> Callable[[Sequence[Code], int], Code]:
    def build(codes: Sequence[Code], offset: int) -> Code:
        code = of_type(codes[0], "bool")
        if code.kind.per_axis:
            raise ExpressionError(
                f"this is {code.kind}",
                offset=code.offset,
                expected="one truth value for each window",
                hint="any(...) or all(...) first settles it over the axes",
            )
        return joined(Kind("bool"), unary(operation, code), codes, offset)

    return build


def _ceil_div(codes: Sequence[Code], offset: int) -> Code:
    return numeric(lambda a, b: -(-a // b), arithmetic.ceil_divide, codes, offset)


FUNCTIONS: dict[str, Function] = {
    "min": _extreme("min", min, arithmetic.smaller, arithmetic.least),
    "max": _extreme("max", max, arithmetic.larger, arithmetic.greatest),
    "abs": Function("abs(a)", "the magnitude", _absolute),
    "ceil_div": Function("ceil_div(a, b)", "a / b, rounded up", _ceil_div, 2, 2),
    "rounded": Function(
        "rounded(a, bits)",
        "a with at most so many significant bits, to nearest, of two to even",
        _rounded,
        2,
        2,
    ),
    "where": Function(
        "where(condition, a, b)", "a where the condition holds, else b", _where, 3, 3
    ),
    "any": Function(
        "any(p)", "whether p holds on some axis", _over_axes("bool", "bool", arithmetic.some, any)
    ),
    "all": Function(
        "all(p)", "whether p holds on every axis", _over_axes("bool", "bool", arithmetic.every, all)
    ),
    "count": Function(
        "count(p)", "on how many axes p holds", _over_axes("bool", "int", arithmetic.count, sum)
    ),
    "sum": Function(
        "sum(a)", "the sum over the axes", _over_axes("int", "int", arithmetic.total, sum)
    ),
    "prod": Function(
        "prod(a)",
        "the product over the axes",
        _over_axes("int", "int", arithmetic.product, math.prod),
    ),
    "reverse": Function("reverse(a)", "the values of the axes in the opposite order", _reverse),
    "entry": Function("entry(a, k)", "the value on axis k, counted from 0", _entry, 2, 2),
    "distinct": Function("distinct(a)", "whether no two axes have the same value", _distinct),
    "flat": Function(
        "flat(position, size)", "the row-major index of a position in a box of a size", _flat, 2, 2
    ),
    "somewhere": Function(
        "somewhere(p)", "whether p holds for some window", _over_windows(arithmetic.somewhere)
    ),
    "everywhere": Function(
        "everywhere(p)", "whether p holds for every window", _over_windows(arithmetic.everywhere)
    ),
}

OPERATORS: dict[str, tuple[Operation, Operation]] = {
    "Add": (operator.add, arithmetic.add),
    "Sub": (operator.sub, arithmetic.subtract),
    "Mult": (operator.mul, arithmetic.multiply),
    "FloorDiv": (operator.floordiv, arithmetic.floor_divide),
    "Mod": (operator.mod, arithmetic.modulo),
}
"""The arithmetic operators, by the name of their node in Python's syntax tree."""
