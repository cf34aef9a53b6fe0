"""Exact numbers in arrays: integers over a denominator on one power of two, or balls.

Integers are int64 where a bound on their bits proves that wide enough, Python integers otherwise; a
number moves to Python integers before it could overflow. What is not rational is a ball of
``flint.arb``: a midpoint and a radius, at a precision that can be raised until it decides.
Infinities and NaN are kept beside the numbers (``special``, 0 where a number is finite). Nothing is
rounded before :func:`rounded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import asin, lcm
from operator import is_not
from typing import Any, ClassVar

import numpy as np
from flint import arb, ctx, fmpz
from numpy.typing import NDArray

from conformance.core import integers
from conformance.core.distinct import Distinct
from conformance.core.functions import FUNCTIONS
from conformance.core.integers import (
    NARROW_BITS,
    Integers,
    Ties,
    as_wide,
    bit_length,
    round_ratio,
)
from conformance.dtypes import DTYPES, Array, DType
from conformance.errors import EvaluationError

NARROW = 62
"""Bits that int64 is trusted with."""

WHOLE_FLOATS = 53
"""Bits of integers that are floats as they are, so that magnitudes are the same however held."""

PART = 1 << 17
"""Numbers that are rounded at once: some 20 MB."""

FAR = 1 << 39
"""An exponent beyond those of all types."""

Change = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Number:
    """``num / den * 2**exp``, elementwise.

    ``bits`` is at least the bit length of each numerator; ``den`` is a positive odd integer, or an
    array of positive ones.
    """

    num: Integers
    den: Any = 1
    exp: int = 0
    bits: int = 1
    special: NDArray[np.float64] | None = None

    @property
    def array(self) -> Array:
        """The array whose shape is that of the numbers."""
        return self.num

    @property
    def scalar(self) -> Fraction | None:
        """The value of a single finite number; None of arrays."""
        if np.ndim(self.num) or not isinstance(self.den, int) or self.special is not None:
            return None
        return Fraction(int(self.num), self.den) * Fraction(2) ** self.exp

    def each(self, change: Change) -> Number:
        """Make a change to every array: an index, a transposition, a broadcast."""
        den = self.den if isinstance(self.den, int) else change(self.den)
        special = None if self.special is None else change(self.special)
        return Number(change(self.num), den, self.exp, self.bits, special)


@dataclass(frozen=True, eq=False)
class Ball:
    """Numbers known to lie in balls: ``mid`` holds ``flint.arb``, each with its radius."""

    mid: NDArray[np.object_]
    special: NDArray[np.float64] | None = None
    scalar: ClassVar[None] = None

    @property
    def array(self) -> Array:
        """The array whose shape is that of the numbers."""
        return self.mid

    def each(self, change: Change) -> Ball:
        """Make a change to every array."""
        return Ball(change(self.mid), None if self.special is None else change(self.special))


Exact = Number | Ball


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the precision of balls for a while."""
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


# -- from and to arrays


def decode(array: Array, dtype: DType) -> Number:
    """Convert an array of a type to exact numbers."""
    shape = array.shape
    parts = integers.decode(array.reshape(-1) if array.ndim else array.reshape(1), dtype)
    num = parts.significand.reshape(shape)
    finite = not (
        parts.nan.any() or (dtype.is_float and (parts.posinf.any() or parts.neginf.any()))
    )
    special = None if finite else np.where(np.isfinite(array), 0.0, array.astype(np.float64))
    return Number(num, 1, parts.exponent, _longest(num), special)


def infinity(sign: int) -> Number:
    """Return an infinity of a sign."""
    return Number(np.zeros((), np.int64), special=np.asarray(sign * np.inf))


def number(value: Any) -> Number:
    """Convert a plain value, or an array of them, to exact numbers."""
    values = np.asarray(value)
    if values.dtype != object:
        num = values.astype(np.int64)
        return Number(num, bits=_longest(num))
    entries = values.ravel().tolist()
    den = lcm(*(entry.denominator for entry in entries))
    twos = (den & -den).bit_length() - 1
    wide = _object([x.numerator * (den // x.denominator) for x in entries], values.shape)
    bits = _longest(wide)
    return Number(wide.astype(np.int64) if bits <= NARROW else wide, den >> twos, -twos, bits)


def _object(entries: Sequence[Any], shape: tuple[int, ...]) -> NDArray[np.object_]:
    array = np.empty(len(entries), object)
    array[:] = entries
    return array.reshape(shape)


def _longest(ints: Any) -> int:
    """The most bits of any of some integers, at least 1."""
    ints = np.asarray(ints)
    # Not by magnitudes: that of the lowest is not in its type.
    ends = int(ints.min(initial=0)), int(ints.max(initial=0))
    return max(1, *(end.bit_length() for end in ends))


def rounded(value: Number, dtype: DType, ties: Ties = "even") -> Array:
    """Round each number once to the nearest of a type; infinities and NaN stay."""
    shape = np.broadcast_shapes(np.shape(value.num), np.shape(value.den))
    num = np.broadcast_to(value.num, shape).reshape(-1)
    den = value.den if isinstance(value.den, int) else np.broadcast_to(value.den, shape).reshape(-1)
    array = np.empty(num.size, dtype.numpy)
    for first in range(0, num.size, PART):
        part = slice(first, first + PART)
        below = den if isinstance(den, int) else den[part]
        array[part] = round_ratio(num[part], below, value.exp, dtype, ties=ties)
    return _specials_in(array.reshape(shape), value, dtype)


def _specials_in(array: Array, value: Exact, dtype: DType) -> Array:
    """An array with infinities and NaN in place; NaN has no sign, in which processors differ."""
    if value.special is None:
        return array
    special = np.where(np.isnan(value.special), np.nan, value.special).astype(dtype.numpy)
    return np.where(value.special != 0, special, array)


def differ(a: Exact, b: Exact) -> NDArray[np.bool_]:
    """Mark the numbers that differ; balls, where they are not the same ones."""
    if not isinstance(a, Number) or not isinstance(b, Number):
        marks = np.asarray(_are_others(as_ball(a).mid, as_ball(b).mid), np.bool_)
    elif _differ(a, b) and not (a.exp == b.exp and np.array_equal(a.den, b.den)):
        less = Number(-b.num, b.den, b.exp, b.bits)
        marks = np.asarray(_plus(a, less).num != 0, np.bool_)
    else:
        marks = np.asarray(a.num != b.num, np.bool_)
    if a.special is None and b.special is None:
        return marks
    first, second = (0.0 if x.special is None else x.special for x in (a, b))
    both_nan = np.isnan(first) & np.isnan(second)
    return np.asarray(marks | ((first != second) & ~both_nan), np.bool_)


_are_others = np.frompyfunc(is_not, 2, 1)


def decided(value: Exact, dtype: DType) -> Array | None:
    """Round as :func:`rounded` does; None where balls are too large to decide."""
    if isinstance(value, Number):
        return rounded(value, dtype)
    distinct = Distinct.of([value], value.mid.shape)
    few = value if distinct is None else distinct.one_of_each(value)
    low, high = (rounded_end(few, side, dtype) for side in ("lower", "upper"))
    if ((low != high) & ~np.isnan(low)).any():
        return None
    return high if distinct is None else distinct.spread(high)


def rounded_end(value: Exact, side: str, dtype: DType, ties: Ties = "even") -> Array:
    """Round the lower or the upper ends of balls as :func:`rounded` does exact numbers."""
    if isinstance(value, Number):
        return rounded(value, dtype, ties)
    balls = np.asarray(value.mid, object)  # of none of its axes numpy makes a ball alone
    parts = _shortened(balls.ravel(), side)
    num, exp = (np.asarray(part, object).astype(np.int64) for part in parts)
    array = round_ratio(num, 1, exp, dtype, ties=ties).reshape(balls.shape)
    return _specials_in(array, value, dtype)


def rounded_tie(value: Ball, dtype: DType) -> Array:
    """Round as :func:`decided` does; balls around the middle of two numbers give the even one."""
    low, high = (rounded_end(value, side, dtype) for side in ("lower", "upper"))
    is_even = low.view(dtype.code) % 2 == 0
    return np.where((low != high) & is_even, low, high)


def _short(ball: arb, side: str) -> tuple[int, int]:
    """An end as ``num * 2**exp``, its last bit 1 where others follow.

    That is rounded as the end is.
    """
    if not ball.is_finite():
        return 0, 0
    man, exp = getattr(ball, side)().man_exp()
    num, places = int(man), int(exp)
    extra = num.bit_length() - NARROW_BITS
    if extra > 0:
        whole = num >> extra
        num, places = whole | (whole << extra != num), places + extra
    return num, max(-FAR, min(FAR, places))


_shortened = np.frompyfunc(_short, 2, 2)


def end(value: Exact, side: str) -> Exact:
    """Return the lower or the upper ends of balls, at the precision in force.

    Of exact numbers they are the numbers themselves.
    """
    if isinstance(value, Number):
        return value
    ends_of = np.frompyfunc(lambda x: getattr(x, side)() if x.is_finite() else arb(0), 1, 1)
    return Ball(np.asarray(ends_of(value.mid), object), value.special)


def ends(value: Exact) -> tuple[Number, Number]:
    """Return the lower and the upper ends of balls as exact numbers."""
    return _on_one_power(end(value, "lower")), _on_one_power(end(value, "upper"))


def _on_one_power(value: Exact) -> Number:
    """Balls without a radius as numbers."""
    if isinstance(value, Number):
        return value
    flat = [ball.man_exp() for ball in value.mid.ravel()]
    low = min((int(exp) for man, exp in flat if man), default=0)
    num = _object(
        [int(man) << (int(exp) - low) if man else 0 for man, exp in flat], value.mid.shape
    )
    return Number(num, 1, low, _longest(num), value.special)


# -- arithmetic


def _widened(num: Integers, bits: int) -> Integers:
    return num if bits <= NARROW else as_wide(np.asarray(num))


def _scaled(num: Integers, bits: int, factor: Any) -> tuple[Integers, int]:
    """Numerators by a whole number, or by an array of them."""
    if isinstance(factor, int) and factor == 1:
        return num, bits
    bits += factor.bit_length() if isinstance(factor, int) else _longest(factor)
    return _widened(num, bits) * factor, bits


def _shifted(num: Integers, bits: int, by: int) -> tuple[Integers, int]:
    return (_widened(num, bits + by) << by, bits + by) if by else (num, bits)


def _ball(num: int, den: int, exp: int) -> arb:
    """``num / den * 2**exp`` at the precision in force."""
    return arb((fmpz(num), exp)) / den if den != 1 else arb((fmpz(num), exp))


_balls = np.frompyfunc(_ball, 3, 1)


def as_ball(value: Exact) -> Ball:
    """Convert to balls, at the precision in force."""
    if isinstance(value, Ball):
        return value
    num, den = as_wide(np.asarray(value.num)), as_wide(np.asarray(value.den))
    return Ball(np.asarray(_balls(num, den, value.exp), object), value.special)


_signs = np.frompyfunc(lambda ball: float(ball > 0) - float(ball < 0), 1, 1)


def _shadow(value: Exact) -> NDArray[np.float64]:
    """Infinities and NaN as they are, and finite numbers by their sign."""
    if isinstance(value, Number):
        sign = np.asarray(np.sign(value.num), np.float64)
    else:
        sign = np.asarray(_signs(value.mid), np.float64)
    return sign if value.special is None else np.where(value.special != 0, value.special, sign)


def _with_specials(value: Exact, shadow: Any, touched: Any) -> Exact:
    """``value`` with what ``shadow`` gives where an operand is special (``touched``)."""
    shadow = np.asarray(shadow)
    special = np.where(touched & ~np.isfinite(shadow), shadow, 0.0)
    # What is finite though an operand is not: exp(-inf) is 0, 1 / inf is 0, tanh(inf) is 1.
    limit = np.where(touched & np.isfinite(shadow), shadow, 0.0)
    keep = ~np.broadcast_to(touched, special.shape)
    if isinstance(value, Ball):
        entries, places = np.unique(limit, return_inverse=True)
        limits = _object([_limit(entry) for entry in entries.tolist()], entries.shape)
        return Ball(np.where(keep, value.mid, limits[places.reshape(limit.shape)]), special)
    num = np.where(keep, np.asarray(value.num), 0)
    cleared = Number(num, value.den, value.exp, value.bits, None)
    if limit.any():
        cleared = _plus(cleared, Number(limit.astype(np.int64), bits=1))
    return Number(cleared.num, cleared.den, cleared.exp, cleared.bits, special)


def _limit(value: float) -> arb:
    """What a function goes to, of a number near it: a whole number, or a multiple of pi / 2."""
    return arb(int(value)) if value == int(value) else arb.pi() * round(value / asin(1)) / 2


def _touched(*values: Exact) -> Any:
    touched: Any = False
    for value in values:
        if value.special is not None:
            touched = touched | (value.special != 0)
    return touched


def add(a: Exact, b: Exact) -> Exact:
    """Add numbers; infinities of both signs give NaN."""
    total: Exact
    if isinstance(a, Number) and isinstance(b, Number):
        total = _plus(a, b)
    else:
        total = Ball(np.asarray(as_ball(a).mid + as_ball(b).mid, object))
    if a.special is None and b.special is None:
        return total
    with np.errstate(invalid="ignore"):
        return _with_specials(total, _shadow(a) + _shadow(b), _touched(a, b))


def _plus(a: Number, b: Number) -> Number:
    exp = min(a.exp, b.exp)
    left, right = _shifted(a.num, a.bits, a.exp - exp), _shifted(b.num, b.bits, b.exp - exp)
    den = a.den
    if isinstance(a.den, int) and isinstance(b.den, int):
        den = lcm(a.den, b.den)
        left, right = _scaled(*left, den // a.den), _scaled(*right, den // b.den)
    elif a.den is not b.den:
        den = as_wide(np.asarray(a.den)) * b.den
        left, right = _scaled(*left, b.den), _scaled(*right, a.den)
    bits = max(left[1], right[1]) + 1
    return Number(_widened(left[0], bits) + _widened(right[0], bits), den, exp, bits)


def negative(a: Exact) -> Exact:
    """Negate numbers."""
    special = None if a.special is None else -a.special
    if isinstance(a, Ball):
        return Ball(np.asarray(-a.mid, object), special)
    return Number(-a.num, a.den, a.exp, a.bits, special)


def absolute(a: Exact) -> Exact:
    """Return magnitudes."""
    special = None if a.special is None else np.abs(a.special)
    if isinstance(a, Ball):
        return Ball(np.asarray(abs(a.mid), object), special)
    return Number(abs(a.num), a.den, a.exp, a.bits, special)


def multiply(a: Exact, b: Exact) -> Exact:
    """Multiply numbers; zero times an infinity is NaN."""
    product: Exact
    if isinstance(a, Number) and isinstance(b, Number):
        bits = a.bits + b.bits
        both = isinstance(a.den, int) and isinstance(b.den, int)
        den = a.den * b.den if both else as_wide(np.asarray(a.den)) * b.den
        product = Number(_widened(a.num, bits) * _widened(b.num, bits), den, a.exp + b.exp, bits)
    else:
        product = Ball(np.asarray(as_ball(a).mid * as_ball(b).mid, object))
    if a.special is None and b.special is None:
        return product
    with np.errstate(invalid="ignore"):
        return _with_specials(product, _shadow(a) * _shadow(b), _touched(a, b))


def divide(a: Exact, b: Exact) -> Exact:
    """Divide numbers; division by zero gives an infinity, or NaN."""
    zero = _is_zero(b)
    quotient = _over(a, b)
    if a.special is None and b.special is None and not zero.any():
        return quotient
    touched = _touched(a, b) | (zero & (_touched(b) == np.False_))
    with np.errstate(all="ignore"):
        return _with_specials(quotient, _shadow(a) / _shadow(b), touched)


def _is_zero(a: Exact) -> NDArray[np.bool_]:
    """Where numbers are certainly 0."""
    return np.asarray(a.num == 0 if isinstance(a, Number) else _balls_at_zero(a.mid), np.bool_)


_balls_at_zero = np.frompyfunc(lambda ball: ball == 0, 1, 1)


def _over(a: Exact, b: Exact) -> Exact:
    if isinstance(a, Ball) or isinstance(b, Ball):
        with np.errstate(all="ignore"):
            return Ball(np.asarray(as_ball(a).mid / as_ball(b).mid, object))
    if b.scalar:
        factor = 1 / b.scalar
        twos = (factor.denominator & -factor.denominator).bit_length() - 1
        num, bits = _scaled(a.num, a.bits, abs(factor.numerator))
        den = a.den * (factor.denominator >> twos)
        return Number(num if factor > 0 else -num, den, a.exp - twos, bits)
    num, bits = _scaled(a.num, a.bits, b.den)
    num, below, den = (np.asarray(part) for part in (num, b.num, a.den))
    if max(bits, b.bits + _longest(den)) > WHOLE_FLOATS:
        num, below, den = as_wide(num), as_wide(below), as_wide(den)
    below = np.where(below == 0, 1, below)
    return Number(num * np.sign(below), den * abs(below), a.exp - b.exp, bits)


def power(a: Exact, exponent: int) -> Exact:
    """Raise numbers to a whole power, at least 0."""
    result: Exact = Number(np.ones(np.shape(a.array), np.int64))
    for _ in range(exponent):
        result = multiply(result, a)
    return result


def function(name: str, a: Exact, *parameters: int) -> Exact:
    """Apply a function of reals, as balls; its limit where it has no value.

    So the logarithm of 0 is minus infinity, that of a negative number NaN, and an exponential whose
    exponent is beyond all formats infinite.

    Raises EvaluationError for a root of a degree below 1.
    """
    row = FUNCTIONS[name].real
    assert row is not None
    if isinstance(a, Number):
        distinct, places = _distinct(a)
        values = [_of_number(row.exact, n, d, a.exp, ctx.prec, parameters) for n, d in distinct]
        # Nothing finite: outside of the domain, at its end, or beyond what a ball can hold.
        lost = np.asarray([not value.is_finite() for value in values], np.bool_)[places]
        ball = Ball(np.asarray(_object(values, (len(values),))[places], object))
    else:
        values = np.frompyfunc(lambda x: applied(row.exact, x, *parameters), 1, 1)(a.mid)
        ball = Ball(np.asarray(values, object))
        is_lost = np.frompyfunc(lambda x, y: not (y.is_finite() or _is_at_an_end(x)), 2, 1)
        lost = np.asarray(is_lost(a.mid, ball.mid), np.bool_)
    touched = _touched(a) | lost
    if not np.any(touched):
        return ball
    with np.errstate(all="ignore"):
        return _with_specials(ball, row.limit(_held(a), *parameters), touched)


def _is_at_an_end(x: arb) -> bool:
    """Whether a ball holds an end of a domain and other numbers: it may have any limit."""
    return not x.is_exact() and any(x.contains(arb(end)) for end in (-1, 0, 1))


def _held(a: Exact) -> Array:
    """Numbers in float64, on the same side of every number of it that is even."""
    return rounded_end(a, "lower", DTYPES["f64"], "odd")


def real_power(a: Exact, b: Exact) -> Exact:
    """Raise numbers to powers, as balls; limits as IEEE 754 has them."""
    ball = Ball(np.asarray(_powers(as_ball(a).mid, as_ball(b).mid), object))
    touched = _touched(a, b) | ~np.asarray(_are_finite(ball.mid), np.bool_)
    if not np.any(touched):
        return ball
    with np.errstate(all="ignore"):
        return _with_specials(ball, np.power(_held(a), _held(b)), touched)


def _power_of(x: arb, y: arb) -> arb:
    """A power; where it is a root that is a number of few digits, exactly that."""
    while x.is_exact() and x > 0 and y.is_exact() and not y.is_integer():
        root = _exact_root(x, 2)
        if not root.is_exact():
            break
        x, y = root, 2 * y
    if x < 0 and y.is_integer():
        return abs(x) ** y * (1 if (y / 2).is_integer() else -1)
    return x**y


_powers = np.frompyfunc(_power_of, 2, 1)
_are_finite = np.frompyfunc(lambda ball: ball.is_finite(), 1, 1)


def whole_parts(value: Number, rounding: str) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """Return numbers as Python integers, and where they have one.

    They are whole, or are rounded; without a rounding they are rounded down.
    """
    num = np.asarray(value.num, object) * 2 ** max(value.exp, 0)
    den = np.asarray(value.den, object) * 2 ** max(-value.exp, 0)
    down = np.asarray(num // den, object)
    rest = num - down * den
    has_value = (rest == 0) | bool(rounding)
    if rounding == "toward_zero":
        down = down + ((num < 0) & (rest != 0))
    elif rounding and rounding != "down":
        half = num > 0 if rounding == "away" else down % 2 == 1
        down = down + ((2 * rest > den) | ((2 * rest == den) & half))
    if value.special is not None:
        has_value = has_value & (value.special == 0)
    return np.asarray(down, object), np.asarray(has_value, np.bool_)


def whole(value: Exact, rounding: str) -> Exact:
    """Round to whole numbers; an undecided ball gives one of all that it may be."""
    if isinstance(value, Ball):
        low, high = (whole(each, rounding) for each in ends(value))
        if not differ(low, high).any():
            return low
        return Ball(np.asarray(_unions(as_ball(low).mid, as_ball(high).mid)), value.special)
    parts = whole_parts(value, rounding)[0]
    bits = _longest(parts)
    num = parts.astype(np.int64) if bits <= NARROW else parts
    return Number(num, bits=bits, special=value.special)


_unions = np.frompyfunc(lambda low, high: low.union(high), 2, 1)


def remainder(a: Exact, b: Exact) -> Exact:
    """Return what divisions that are rounded down leave; NaN of an infinity, and by 0."""
    rest = add(a, negative(multiply(whole(divide(a, b), "down"), b)))
    endless = np.isinf(np.zeros(()) if b.special is None else b.special)
    if not endless.any():
        return rest
    finite = endless & (_touched(a) == np.False_)
    with np.errstate(invalid="ignore"):
        signs = _shadow(a) * _shadow(b)
    return choose(finite, choose(signs < 0, b, a), rest)


def bitwise(run: Callable[[Any, Any], Any], a: Exact, b: Exact) -> Number:
    """Combine the bits of whole numbers; raises EvaluationError for others."""
    parts = []
    for value in (a, b):
        numbers, are_whole = whole_parts(value, "") if isinstance(value, Number) else ((), False)
        if not np.all(are_whole):
            raise EvaluationError("only whole numbers have bits")
        parts.append(numbers)
    return number(run(*parts))


def _distinct(a: Number) -> tuple[list[tuple[int, int]], NDArray[np.intp]]:
    """The numerators and denominators that differ, and which of them each number has."""
    num, den = np.broadcast_arrays(a.num, a.den)
    if isinstance(a.den, int) and num.dtype != object:
        values, places = np.unique(num, return_inverse=True)
        return [(value, a.den) for value in values.tolist()], places.reshape(num.shape)
    seen: dict[tuple[int, int], int] = {}
    pairs = zip(num.ravel().tolist(), den.ravel().tolist(), strict=True)
    places = np.fromiter((seen.setdefault(pair, len(seen)) for pair in pairs), np.intp, num.size)
    return [*seen], places.reshape(num.shape)


@lru_cache(maxsize=1 << 15)
def _of_number(
    name: str, num: int, den: int, exp: int, _bits: int, parameters: tuple[int, ...]
) -> arb:
    """A function of ``num / den * 2**exp``, the same object for the same number and precision."""
    return applied(name, _ball(num, den, exp), *parameters)


def applied(name: str, x: arb, *parameters: int) -> arb:
    """Apply a function to a ball: one of its methods, or a signed root."""
    if name in ("root", "signed_root") and parameters[0] < 1:
        raise EvaluationError(f"there is no root of the degree {parameters[0]}")
    if name == "signed_root":
        return applied("root", x, *parameters) if x >= 0 else -applied("root", -x, *parameters)
    if name == "root" and x.is_exact() and x >= 0:
        return _exact_root(x, *parameters)
    return getattr(x, name)(*parameters)


def _exact_root(x: arb, degree: int) -> arb:
    """The root of a number without a radius, which is exact where there is such a number."""
    significand, exponent = x.man_exp()
    significand <<= int(exponent) % degree
    root = significand.root(degree)
    if root**degree == significand:
        return arb((root, int(exponent) // degree))
    return x.root(degree)


def choose(condition: Any, a: Exact, b: Exact) -> Exact:
    """Return ``a`` where a condition holds, else ``b``."""
    if isinstance(a, Ball) or isinstance(b, Ball):
        left, right = as_ball(a), as_ball(b)
        mid = np.asarray(np.where(condition, left.mid, right.mid), object)
        return Ball(mid, _chosen_special(condition, left, right))
    zero = Number(np.zeros((), np.int64))
    # On one denominator and one exponent.
    x = _plus(a, Number(zero.num, b.den, b.exp)) if _differ(a, b) else a
    y = _plus(b, Number(zero.num, a.den, a.exp)) if _differ(a, b) else b
    bits = max(x.bits, y.bits)
    num = np.where(condition, _widened(x.num, bits), _widened(y.num, bits))
    return Number(num, x.den, x.exp, bits, _chosen_special(condition, a, b))


def concatenated(parts: Sequence[Exact], axis: int) -> Exact:
    """Join arrays of numbers along an axis."""
    if len(parts) == 1:
        return parts[0]
    special = None
    if any(part.special is not None for part in parts):
        each = [np.zeros(x.array.shape) if x.special is None else x.special for x in parts]
        special = np.concatenate(each, axis)
    if not all(isinstance(part, Number) for part in parts):
        return Ball(np.concatenate([as_ball(part).mid for part in parts], axis), special)
    numbers = [on_one_denominator(part) for part in parts if isinstance(part, Number)]
    # On one denominator and one exponent, as a sum with zeros has it.
    zeros = [Number(np.zeros((), np.int64), x.den, x.exp) for x in numbers]
    common = zeros[0]
    for zero in zeros[1:]:
        common = _plus(common, zero)
    alike = [_plus(x, common) if _differ(x, common) else x for x in numbers]
    bits = max(x.bits for x in alike)
    num = np.concatenate([_widened(x.num, bits) for x in alike], axis)
    return Number(num, alike[0].den, alike[0].exp, bits, special)


def _differ(a: Number, b: Number) -> bool:
    same = a.den is b.den or (isinstance(a.den, int) and isinstance(b.den, int) and a.den == b.den)
    return not (same and a.exp == b.exp)


def _chosen_special(condition: Any, a: Exact, b: Exact) -> NDArray[np.float64] | None:
    if a.special is None and b.special is None:
        return None
    left, right = (0.0 if x.special is None else x.special for x in (a, b))
    return np.where(condition, left, right)


def compared(a: Exact, b: Exact) -> NDArray[np.float64]:
    """Compare numbers: -1, 0 or 1, and NaN where either is.

    Raises :class:`~conformance.errors.EvaluationError` where balls overlap.
    """
    difference = add(a, negative(b))
    if isinstance(difference, Number):
        sign = np.asarray(np.sign(difference.num), np.float64)
    else:
        sign = np.asarray(_signs(difference.mid), np.float64)
        if not all(ball.is_zero() for ball in difference.mid[sign == 0]):
            raise EvaluationError("numbers that are no fractions are too near to be compared")
    if a.special is None and b.special is None:
        return sign
    left, right = (np.zeros(()) if x.special is None else x.special for x in (a, b))
    with np.errstate(invalid="ignore"):
        special = np.where(left == right, sign, np.sign(left - right))
    both = np.broadcast_arrays(left, right)
    unordered = np.isnan(both[0]) | np.isnan(both[1])
    infinite = (both[0] != 0) | (both[1] != 0)
    equal = infinite & (both[0] == both[1])
    return np.where(unordered, np.nan, np.where(equal, 0.0, np.where(infinite, special, sign)))


def total(a: Exact, axes: tuple[int, ...], most: int = 0) -> Exact:
    """Sum over axes, which stay; room is left for ``most`` terms."""
    special = None
    if a.special is not None:
        with np.errstate(invalid="ignore"):
            special = a.special.sum(axis=axes, keepdims=True)
    if isinstance(a, Ball):
        # Of nothing numpy gives the integer 0.
        return Ball(np.asarray(np.add.reduce(a.mid, axis=axes, keepdims=True) + arb(0)), special)
    a = on_one_denominator(a)
    count = max(most, int(np.prod([a.num.shape[axis] for axis in axes])))
    bits = a.bits + count.bit_length()
    num = np.add.reduce(_widened(a.num, bits), axis=axes, keepdims=True)
    return Number(np.asarray(num), a.den, a.exp, bits, special)


def on_one_denominator(a: Number) -> Number:
    """Return the numbers over one common denominator."""
    if isinstance(a.den, int):
        return a
    den = lcm(*map(int, np.asarray(a.den).ravel()))
    factor = den // as_wide(np.asarray(a.den))
    num, bits = _scaled(a.num, a.bits, factor)
    twos = (den & -den).bit_length() - 1
    return Number(num, den >> twos, a.exp - twos, bits, a.special)


def ordered(a: Exact) -> Integers:
    """Return integers in the order of the values: NaN above all, infinities at the ends.

    Raises :class:`~conformance.errors.EvaluationError` for balls, which may be in no order.
    """
    if isinstance(a, Ball):
        raise EvaluationError("the largest of numbers that are no fractions cannot be told")
    a = on_one_denominator(a)
    if a.special is None:
        return a.num
    big = 1 << (a.bits + 1)
    order = np.where(np.isposinf(a.special), big, _widened(a.num, a.bits + 3))
    order = np.where(np.isneginf(a.special), -big, order)
    return np.where(np.isnan(a.special), 2 * big, order)


# -- products of matrices


MAX_LIMB_PRODUCTS = 100
"""Products of matrices above which numbers are too long for limbs to pay."""


@dataclass(frozen=True, eq=False)
class MatrixLayout:
    """Two arrays over one index space as stacks of matrices.

    The first ``rows`` axes are indices of the result: of both arrays, of the left alone, of the
    right alone. The others are summed.
    """

    full: tuple[int, ...]
    both: tuple[int, ...]
    left_alone: tuple[int, ...]
    right_alone: tuple[int, ...]
    summed: tuple[int, ...]

    @classmethod
    def of(
        cls, left: Sequence[int], right: Sequence[int], extents: Sequence[int], rows: int
    ) -> MatrixLayout:
        """Return the layout of arrays of two shapes over an index space of some extents."""
        result = np.broadcast_shapes(tuple(left), tuple(right))[:rows]
        full = (*result, *extents[rows:])
        alone = [d for d in range(rows) if left[d] != right[d]]
        return cls(
            full,
            tuple(d for d in range(rows) if left[d] == right[d]),
            tuple(d for d in alone if right[d] == 1),
            tuple(d for d in alone if right[d] != 1),
            tuple(range(rows, len(full))),
        )

    def left(self, array: Array) -> Array:
        """Arrange the left array as (both, left alone, summed)."""
        return self._matrices(
            array, (self.both, (*self.left_alone, *self.right_alone), self.summed), self.left_alone
        )

    def right(self, array: Array) -> Array:
        """Arrange the right array as (both, summed, right alone)."""
        return self._matrices(
            array, (self.both, self.summed, (*self.right_alone, *self.left_alone)), self.right_alone
        )

    def _matrices(
        self, array: Array, groups: Sequence[tuple[int, ...]], alone: tuple[int, ...]
    ) -> Array:
        keeps = {*self.both, *alone, *self.summed}
        wide = tuple(n if d in keeps else 1 for d, n in enumerate(self.full))
        order = [d for group in groups for d in group]
        sizes = [int(np.prod([wide[d] for d in group])) for group in groups]
        return np.broadcast_to(array, wide).transpose(order).reshape(sizes)

    def back(self, array: Array) -> Array:
        """Arrange a product (both, left alone, right alone) as the result."""
        axes = [*self.both, *self.left_alone, *self.right_alone]
        shape = [self.full[d] for d in axes] + [1] * len(self.summed)
        return array.reshape(shape).transpose(np.argsort([*axes, *self.summed]))


def contracted(a: Number, b: Number, layout: MatrixLayout) -> Number | None:
    """Sum products over axes, by products of float64 matrices that never round.

    Magnitudes are cut into limbs of w bits, with 2 w + log2(terms) <= 53: all partial sums are
    integers below 2**53, so a product of matrices is exact in whatever order it adds. Returns None
    if the numbers are too long for that to pay.
    """
    terms = int(np.prod([layout.full[d] for d in layout.summed]))
    width = (53 - max(1, terms).bit_length()) // 2
    counts = [-(-max(x.bits, 1) // width) for x in (a, b)]
    if counts[0] * counts[1] > MAX_LIMB_PRODUCTS:
        return None
    left = [layout.left(limb) for limb in _limbs(a.num, width, counts[0])]
    right = [layout.right(limb) for limb in _limbs(b.num, width, counts[1])]
    bits = a.bits + b.bits + terms.bit_length()
    num: Any = 0
    for level in range(sum(counts) - 1):
        pairs = ((i, level - i) for i in range(counts[0]) if 0 <= level - i < counts[1])
        part = sum(np.matmul(left[i], right[j]).astype(np.int64) for i, j in pairs)
        num = num + (_widened(np.asarray(part), bits) << (level * width))
    return Number(layout.back(np.asarray(num)), a.den * b.den, a.exp + b.exp, bits)


def _limbs(num: Integers, width: int, count: int) -> Iterator[NDArray[np.float64]]:
    sign, mask = np.sign(num), (1 << width) - 1
    size: Any = abs(num)
    for limb in range(count):
        yield (((size >> (limb * width)) & mask) * sign).astype(np.float64)


def lengths(ints: Integers) -> NDArray[np.int64]:
    """Return the bit lengths of non-negative integers."""
    return np.asarray(bit_length(np.asarray(ints)), np.int64)
