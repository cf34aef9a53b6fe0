"""The one table of what expressions may call: kinds, plain values, and functions of reals.

A row has everything that the visitors need to know of a function, so that a new one is a row. Its
``plain`` form computes single values (whole numbers, fractions, truth values, words) and arrays of
them alike: over the indices of a definition, or over thousands of cases.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.tree import NO_NAMES, NUMERIC, Kind, Node
from conformance.errors import EvaluationError, ExpressionError

MAX_POWER_BITS = 1 << 16
"""Bits of a power, as far as they follow from its operands."""

KindRule = Callable[[Sequence[Node], int], Kind]
"""The kind of a call of these arguments at this offset; raises ExpressionError for wrong ones."""


@dataclass(frozen=True)
class RealFunction:
    """A function of real numbers.

    ``exact`` is its method of ``flint.arb``, ``limit`` computes it in float64 at infinities, at NaN
    and where there is no finite value, ``machine`` anywhere. Implementations err by ``ulps`` units
    in the last place.
    """

    exact: str
    limit: Callable[..., Any]
    machine: Callable[..., Any]
    ulps: float = 4.0


@dataclass(frozen=True)
class Function:
    """A function of the language, or an operator.

    ``over_axes``: it takes values with all their entries, not entry by entry. ``real`` is how reals
    are computed, of functions that only reals have. ``symbol``: it is written between its
    arguments.
    """

    signature: str
    about: str
    kind: KindRule
    plain: Callable[..., Any]
    least: int = 1
    most: int | None = 1
    over_axes: bool = False
    real: RealFunction | None = None
    symbol: bool = False


# -- kinds


def fail(message: str, offset: int, expected: str = "", hint: str | None = None) -> ExpressionError:
    """Make the error of an expression."""
    return ExpressionError(message, offset=offset, expected=expected, hint=hint)


def together(type_: str, args: Sequence[Node], words: frozenset[str] = NO_NAMES) -> Kind:
    """Return the kind of a value that is computed entry by entry.

    Raises :class:`~conformance.errors.ExpressionError` where two arguments have an entry for each
    of different groups of axes.
    """
    groups = sorted({arg.kind.per for arg in args if arg.kind.per})
    if len(groups) > 1:
        message = f"one value has an entry per {groups[0]}, another per {groups[1]}"
        raise fail(message, args[-1].offset)
    per = groups[0] if groups else None
    return Kind(type_, per, NO_NAMES.union(*(arg.kind.indices for arg in args)), words)


def of_type(node: Node, *types: str) -> Node:
    """Return ``node`` if its value is of one of these types; raise ExpressionError if not."""
    if node.kind.type in types:
        return node
    hint = None
    if node.kind.type == "bool" and "int" in types:
        hint = "where(condition, 1, 0) makes a number of a truth value"
    elif node.kind.is_number and types == ("bool",):
        hint = "compare the number with something, for example with > 0"
    elif node.kind.type == "real":
        hint = "elements of tensors decide no sizes and no indices, but those of whole numbers"
    elif node.kind.type == "rational":
        hint = "floor(x) or ceil(x) makes a whole number of it"
    expected = {"bool": "a truth value", "int": "a whole number"}.get(types[0], "a number")
    raise fail(f"this is {node.kind}", node.offset, expected, hint)


def _widest(args: Sequence[Node]) -> str:
    return max((of_type(arg, *NUMERIC).kind.type for arg in args), key=NUMERIC.index)


def _numbers(args: Sequence[Node], _offset: int) -> Kind:
    return together(_widest(args), args)


def _plain_numbers(args: Sequence[Node], _offset: int) -> Kind:
    for arg in args:
        of_type(arg, "int", "rational")
    return together(_widest(args), args)


def _whole(*types: str) -> KindRule:
    """The rule of functions of ``types`` whose value is whole."""

    def rule(args: Sequence[Node], _offset: int) -> Kind:
        for arg in args:
            of_type(arg, *types)
        return together("int", args)

    return rule


def _made_whole(args: Sequence[Node], _offset: int) -> Kind:
    """The rule of what makes whole numbers: those of a case decide sizes, elements stay reals."""
    return together("real" if _widest(args) == "real" else "int", args)


def _bits(args: Sequence[Node], _offset: int) -> Kind:
    for arg in args:
        of_type(arg, "int", "real")
    return together(_widest(args), args)


def _quotient(args: Sequence[Node], _offset: int) -> Kind:
    widest = _widest(args)
    return together("real" if widest == "real" else "rational", args)


def _power(args: Sequence[Node], _offset: int) -> Kind:
    exponent = of_type(args[1], "int")
    if exponent.kind.indices:
        raise fail("the exponent depends on an index", exponent.offset, "a number of the case")
    return together(_widest(args[:1]), args)


def _truths(args: Sequence[Node], _offset: int) -> Kind:
    return together("bool", [of_type(arg, "bool") for arg in args])


def _comparable(args: Sequence[Node], offset: int) -> Kind:
    kinds = [arg.kind for arg in args]
    if all(kind.is_number for kind in kinds):
        return together("bool", args)
    if len({kind.type for kind in kinds}) > 1 or kinds[0].type not in ("bool", "word"):
        raise fail(f"{kinds[0]} and {kinds[1]} do not compare", offset)
    if kinds[0].type == "word" and not kinds[0].words & kinds[1].words:
        raise fail("these words have no value in common", args[1].offset, str(kinds[0]))
    return together("bool", args)


def _ordered(args: Sequence[Node], _offset: int) -> Kind:
    _widest(args)
    return together("bool", args)


def _where(args: Sequence[Node], offset: int) -> Kind:
    condition, a, b = args
    of_type(condition, "bool")
    if a.kind.is_number and b.kind.is_number:
        return together(_widest((a, b)), args)
    if a.kind.type != b.kind.type or a.kind.type not in ("bool", "word"):
        raise fail(f"{a.kind} and {b.kind} do not mix", offset)
    return together(a.kind.type, args, a.kind.words | b.kind.words)


def _entries(type_: str | None, *takes: str) -> KindRule:
    """The rule of functions of one value with an entry for each axis."""

    def rule(args: Sequence[Node], _offset: int) -> Kind:
        node = args[0]
        if takes:
            of_type(node, *takes)
        if not node.kind.per:
            raise fail(f"this is {node.kind}", node.offset, "a value with an entry for each axis")
        return replace(node.kind, type=type_ or node.kind.type, per=None)

    return rule


def _extreme(args: Sequence[Node], offset: int) -> Kind:
    """The rule of the least and the greatest of several, which a list has too."""
    if args[0].kind.type == "list":
        return Kind(args[0].kind.holds)
    return _entries(None, "int", "rational")(args, offset)


def _reverse(args: Sequence[Node], offset: int) -> Kind:
    return replace(_entries(None)(args, offset), per=args[0].kind.per)


def _before(args: Sequence[Node], offset: int) -> Kind:
    return replace(_entries("int", "bool")(args, offset), per=args[0].kind.per)


def _flat(args: Sequence[Node], _offset: int) -> Kind:
    for arg in args:
        if not of_type(arg, "int").kind.per:
            raise fail(f"this is {arg.kind}", arg.offset, "a value with an entry for each axis")
    return replace(together("int", args), per=None)


def _length(args: Sequence[Node], _offset: int) -> Kind:
    if args[0].kind.type != "list" and not args[0].kind.per:
        message = f"this is {args[0].kind}"
        raise fail(message, args[0].offset, "a list, or a value with an entry for each axis")
    return Kind("int")


def _entry(args: Sequence[Node], _offset: int) -> Kind:
    values, number = args
    of_type(number, "int")
    if values.kind.type == "list":
        return Kind(values.kind.holds, number.kind.per, number.kind.indices)
    if not values.kind.per:
        raise fail(f"this is {values.kind}", values.offset, "a list, or a value per axis")
    indices = values.kind.indices | number.kind.indices
    return replace(values.kind, per=number.kind.per, indices=indices)


def _place(args: Sequence[Node], _offset: int) -> Kind:
    values, value = args
    of_type(value, "int")
    if values.kind.type != "list" and not values.kind.per:
        raise fail(f"this is {values.kind}", values.offset, "a list, or a value per axis")
    return Kind("int", value.kind.per, values.kind.indices | value.kind.indices)


def _among(args: Sequence[Node], offset: int) -> Kind:
    value, values = args
    if values.kind.type != "list":
        raise fail(f"this is {values.kind}", values.offset, "a list, or [a, b, ...]")
    if not value.kind.is_number:
        raise fail(f"a list holds no {value.kind}", offset)
    return replace(value.kind, type="bool")


def _real(args: Sequence[Node], _offset: int) -> Kind:
    _widest(args)
    return together("real", args)


def _element(args: Sequence[Node], offset: int) -> Kind:
    if args[0].op != "read":
        raise fail("this is no element of a tensor", args[0].offset, "X[i], an element")
    return _numbers(args, offset)


def _root(args: Sequence[Node], offset: int) -> Kind:
    _power(args, offset)
    return together("real", args)


# -- plain values


def _is_array(*values: Any) -> bool:
    return any(isinstance(value, np.ndarray) for value in values)


_fractions = np.frompyfunc(lambda a, b: Fraction(a) / Fraction(b), 2, 1)
_floors = np.frompyfunc(lambda a: int(a.__floor__()), 1, 1)


def _divide(a: Any, b: Any) -> Any:
    return np.asarray(_fractions(a, b)) if _is_array(a, b) else Fraction(a) / Fraction(b)


def _int64(values: Any) -> NDArray[np.int64]:
    return np.asarray(values).astype(np.int64)


def _floor(a: Any) -> Any:
    if not _is_array(a):
        return int(a.__floor__())
    return _int64(_floors(a)) if a.dtype == object else np.floor(a)


def _round(a: Any) -> Any:
    if not _is_array(a):
        return round(a)
    return _int64(_nearest(a)) if a.dtype == object else np.rint(a)


_nearest = np.frompyfunc(round, 1, 1)


def _floor_divide(a: Any, b: Any) -> Any:
    return _int64(a // b) if _is_array(a, b) else int(a // b)


def _of_bits(run: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation on bits, of whole numbers that a machine holds as floats, too."""

    def plain(a: Any, b: Any) -> Any:
        return run(*(x if isinstance(x, int) or x.dtype == object else _int64(x) for x in (a, b)))

    return plain


def _select(condition: Any, a: Any, b: Any) -> Any:
    if _is_array(condition):
        return np.where(condition, a, b)
    return a if condition else b


def _rounded(a: Any, bits: int) -> Any:
    """Fractions with so many significant bits at most, to nearest, of two to even."""
    return np.asarray(_roundings(a, bits)) if _is_array(a) else _roundings(a, bits)


def _with_bits(a: Any, bits: int) -> Fraction:
    a = Fraction(a)
    if not a:
        return a
    exponent = a.numerator.bit_length() - a.denominator.bit_length() - bits
    if abs(a) >= Fraction(2) ** (exponent + bits):
        exponent += 1
    return Fraction(round(a / Fraction(2) ** exponent)) * Fraction(2) ** exponent


_roundings = np.frompyfunc(_with_bits, 2, 1)


def _least(*values: Any) -> Any:
    return reduce(np.minimum, values) if _is_array(*values) else min(values)


def _greatest(*values: Any) -> Any:
    return reduce(np.maximum, values) if _is_array(*values) else max(values)


def _reflect(at: Any, size: Any) -> Any:
    period = _greatest(2 * (size - 1), 1)
    at = at % period
    return _least(at, period - at)


def _raised(a: Any, b: Any) -> Any:
    """A power. Without a limit a file of one line keeps a process busy for hours."""
    bits = np.max(np.abs(np.asarray(b))) * 64 if _is_array(a, b) else abs(b) * _bit_length(a)
    if bits > MAX_POWER_BITS:
        raise EvaluationError(f"a power of more than {MAX_POWER_BITS} bits")
    return a**b


def _bit_length(a: Any) -> int:
    a = Fraction(a)
    return max(a.numerator.bit_length(), a.denominator.bit_length())


def _flat_index(position: Sequence[Any], size: Sequence[Any]) -> Any:
    return reduce(
        lambda index, pair: index * pair[1] + pair[0], zip(position, size, strict=True), 0
    )


def _entry_of(values: Sequence[Any], number: Any) -> Any:
    if isinstance(number, tuple):
        return tuple(_entry_of(values, k) for k in number)
    if _is_array(number):
        if not _is_array(*values):
            return np.asarray(values)[number]
        chosen = np.asarray(values[0])
        for k, value in enumerate(values):
            chosen = np.where(number == k, value, chosen)
        return chosen
    if not 0 <= number < len(values):
        raise IndexError(number)
    return values[number]


def _place_of(values: Sequence[Any], value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_place_of(values, entry) for entry in value)
    place: Any = -1
    for k in range(len(values) - 1, -1, -1):
        place = _select(values[k] == value, k, place)
    return place


def _is_among(value: Any, values: Sequence[Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_is_among(entry, values) for entry in value)
    return reduce(operator.or_, (value == entry for entry in values), False)


def _not_plain(*_values: Any) -> Any:
    raise TypeError("a function of reals has no plain value")


# -- the table


def _infix(sign: str, about: str, kind: KindRule, plain: Callable[..., Any]) -> Function:
    return Function(f"a {sign} b", about, kind, plain, 2, 2, symbol=True)


def _function_of_reals(
    name: str, about: str, limit: Callable[..., Any], machine: Callable[..., Any], ulps: float = 4
) -> Function:
    row = RealFunction(name, limit, machine, ulps)
    return Function(f"{name}(x)", about, _real, _not_plain, real=row)


def _erf(x: Any) -> Any:
    from math import erf

    return np.vectorize(erf, otypes=[np.float64])(x)


def _machine_root(x: Any, degree: int) -> Any:
    if degree == 1:
        return x
    return np.where(np.asarray(x) < 0, np.nan, np.abs(x) ** (1 / degree))


def _machine_signed_root(x: Any, degree: int) -> Any:
    return np.sign(x) * np.abs(x) ** (1 / degree)


# Errors of functions: the largest that Innocente and Zimmermann (Accuracy of mathematical functions
# in single, double, double extended, and quadruple precision, 2025) list for a libm in current use,
# and the CUDA C++ Programming Guide (mathematical functions, maximum ulp error) for a GPU, is 2 or
# less of most of these; 4 leaves room for vectorised ones. Of sinh, asinh and atanh it is 3, of
# tan, acosh and pow 4 (in f32), and they have twice that. Sines are as good near their zeros and of
# large arguments, which are reduced by all digits of pi; a fast path that does not is not honest.
FUNCTIONS: dict[str, Function] = {
    "+": _infix("+", "the sum", _numbers, operator.add),
    "-": _infix("-", "the difference", _numbers, operator.sub),
    "*": _infix("*", "the product", _numbers, operator.mul),
    "/": _infix("/", "the quotient, a fraction", _quotient, _divide),
    "//": _infix("//", "the quotient, rounded down", _whole("int", "rational"), _floor_divide),
    "%": _infix("%", "the rest of a division that is rounded down", _numbers, operator.mod),
    "**": _infix("**", "the power; b is a whole number of the case", _power, _raised),
    "negative": Function("-a", "the negative", _numbers, operator.neg, symbol=True),
    "==": _infix("==", "whether they are equal", _comparable, operator.eq),
    "!=": _infix("!=", "whether they differ", _comparable, operator.ne),
    "is_nan": Function("is_nan(x)", "whether it is not a number", _ordered, lambda a: a != a),
    "<": _infix("<", "whether a is smaller", _ordered, operator.lt),
    "<=": _infix("<=", "whether a is not larger", _ordered, operator.le),
    "and": Function(
        "a and b",
        "whether both hold",
        _truths,
        lambda *values: reduce(operator.and_, values),
        2,
        None,
        symbol=True,
    ),
    "or": Function(
        "a or b",
        "whether either holds",
        _truths,
        lambda *values: reduce(operator.or_, values),
        2,
        None,
        symbol=True,
    ),
    "not": Function(
        "not a",
        "whether it does not hold",
        _truths,
        lambda a: ~a if _is_array(a) else not a,
        symbol=True,
    ),
    "among": Function(
        "a in list", "whether the list has it", _among, _is_among, 2, 2, over_axes=True, symbol=True
    ),
    "where": Function("where(condition, a, b)", "a where it holds, else b", _where, _select, 3, 3),
    "min": Function("min(a, b, ...)", "the smallest", _numbers, _least, 2, None),
    "max": Function("max(a, b, ...)", "the largest", _numbers, _greatest, 2, None),
    "abs": Function("abs(a)", "the magnitude", _numbers, abs),
    "clamp": Function(
        "clamp(a, low, high)",
        "the nearest number between low and high",
        _plain_numbers,
        lambda a, low, high: _greatest(low, _least(a, high)),
        3,
        3,
    ),
    "floor": Function("floor(a)", "rounded down", _made_whole, _floor),
    "ceil": Function("ceil(a)", "rounded up", _made_whole, lambda a: -_floor(-a)),
    "round": Function(
        "round(a)", "the nearest whole number; of two as near, the even one", _made_whole, _round
    ),
    "ceil_div": Function(
        "ceil_div(a, b)",
        "a / b, rounded up",
        _whole("int", "rational"),
        lambda a, b: -_floor_divide(-a, b),
        2,
        2,
    ),
    "rounded": Function(
        "rounded(a, bits)",
        "the nearest fraction of at most so many significant bits; of two as near, the even one",
        lambda args, _offset: together("rational", [of_type(a, "int", "rational") for a in args]),
        _rounded,
        2,
        2,
    ),
    **{
        f"bit_{name}": Function(
            f"bit_{name}(a, b)", f"the bits that {words} has", _bits, _of_bits(run), 2, 2
        )
        for name, words, run in (
            ("and", "each of two whole numbers", operator.and_),
            ("or", "either of two whole numbers", operator.or_),
            ("xor", "one alone of two whole numbers", operator.xor),
        )
    },
    "reflect": Function(
        "reflect(i, size)",
        "the position mirrored at the first and the last, which are not repeated",
        _whole("int"),
        _reflect,
        2,
        2,
    ),
    "step": Function(
        "step(a)",
        "a, computed before anything else: nothing is moved across it",
        _numbers,
        lambda a: a,
    ),
    "computed": Function(
        "computed(a)",
        "a coordinate, as a machine has it in f32 or wider: where that decides, either passes",
        _plain_numbers,
        lambda a: a,
    ),
    "flushed": Function(
        "flushed(X[i])",
        "an element, or 0 where it is subnormal in its type: a machine takes either",
        _element,
        lambda a: a,
    ),
    "any": Function(
        "any(p)",
        "whether p holds on some axis",
        _entries("bool", "bool"),
        lambda entries: reduce(operator.or_, entries, False),
        over_axes=True,
    ),
    "all": Function(
        "all(p)",
        "whether p holds on every axis",
        _entries("bool", "bool"),
        lambda entries: reduce(operator.and_, entries, True),
        over_axes=True,
    ),
    "count": Function(
        "count(p)",
        "on how many axes p holds",
        _entries("int", "bool"),
        lambda entries: reduce(operator.add, (entry * 1 for entry in entries), 0),
        over_axes=True,
    ),
    "sum": Function(
        "sum(a)",
        "the sum over the axes",
        _entries(None, "int", "rational"),
        lambda entries: reduce(operator.add, entries, 0),
        over_axes=True,
    ),
    "prod": Function(
        "prod(a)",
        "the product over the axes",
        _entries(None, "int", "rational"),
        lambda entries: reduce(operator.mul, entries, 1),
        over_axes=True,
    ),
    "least": Function(
        "min(a)",
        "the smallest of the axes, or of a list; 0 of none",
        _extreme,
        lambda entries: _least(*entries) if len(entries) else 0,
        over_axes=True,
    ),
    "greatest": Function(
        "max(a)",
        "the largest of the axes, or of a list; 0 of none",
        _extreme,
        lambda entries: _greatest(*entries) if len(entries) else 0,
        over_axes=True,
    ),
    "reverse": Function(
        "reverse(a)",
        "the entries in the opposite order",
        _reverse,
        lambda entries: entries[::-1],
        over_axes=True,
    ),
    "before": Function(
        "before(p)",
        "on how many axes p holds before each",
        _before,
        lambda entries: tuple(accumulate((entry * 1 for entry in entries), initial=0))[:-1],
        over_axes=True,
    ),
    "flat": Function(
        "flat(position, size)",
        "the row-major index of a position in a box of a size",
        _flat,
        _flat_index,
        2,
        2,
        over_axes=True,
    ),
    "length": Function("length(a)", "the number of entries", _length, len, over_axes=True),
    "entry": Function(
        "entry(a, k)",
        "entry k of a list, or of a value per axis, from 0",
        _entry,
        _entry_of,
        2,
        2,
        over_axes=True,
    ),
    "place": Function(
        "place(a, n)",
        "the first place at which n stands in a list, or in a value per axis; -1 where it does not",
        _place,
        _place_of,
        2,
        2,
        over_axes=True,
    ),
    "sqrt": _function_of_reals("sqrt", "the square root, correctly rounded", np.sqrt, np.sqrt, 0.5),
    "exp": _function_of_reals("exp", "the exponential", np.exp, np.exp),
    "log": _function_of_reals("log", "the natural logarithm", np.log, np.log),
    "tanh": _function_of_reals("tanh", "the hyperbolic tangent", np.tanh, np.tanh),
    "erf": _function_of_reals("erf", "the error function", np.sign, _erf),
    **{
        name: _function_of_reals(name, f"the {about}", numpy, numpy, ulps)
        for name, about, numpy, ulps in (
            ("sin", "sine", np.sin, 4),
            ("cos", "cosine", np.cos, 4),
            ("tan", "tangent", np.tan, 8),
            ("asin", "angle of a sine", np.arcsin, 4),
            ("acos", "angle of a cosine", np.arccos, 4),
            ("atan", "angle of a tangent", np.arctan, 4),
            ("sinh", "hyperbolic sine", np.sinh, 6),
            ("cosh", "hyperbolic cosine", np.cosh, 4),
            ("asinh", "inverse of the hyperbolic sine", np.arcsinh, 6),
            ("acosh", "inverse of the hyperbolic cosine", np.arccosh, 8),
            ("atanh", "inverse of the hyperbolic tangent", np.arctanh, 6),
        )
    },
    "pow": Function(
        "pow(x, y)",
        "the power; y is any number",
        _real,
        _not_plain,
        2,
        2,
        real=RealFunction("pow", np.power, np.power, 8),
    ),
    "root": Function(
        "root(x, q)",
        "the root of a degree q, a whole number of the case",
        _root,
        _not_plain,
        2,
        2,
        real=RealFunction("root", _machine_root, _machine_root, 2),
    ),
    "signed_root": Function(
        "signed_root(x, q)",
        "the root of the magnitude, with the sign of x",
        _root,
        _not_plain,
        2,
        2,
        real=RealFunction("signed_root", _machine_signed_root, _machine_signed_root, 2),
    ),
}

PER_AXIS_FORMS = {"min": "least", "max": "greatest"}
"""Functions that are another one where they are given a single argument."""
