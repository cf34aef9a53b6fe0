r"""Forward error analysis along with exact evaluation: how far an honest machine may be off.

**Honest machines.** A definition is an expression over stored numbers. Honest is whatever computes
an expression that is equal to it by the laws of a field: terms are added in any order and grouping,
products are distributed over sums, factors are applied to a term or to a sum, a division is one by
a rounded reciprocal, an addition and a multiplication may be fused. Each operation rounds once, in
a format of unit roundoff u = 2**-digits and smallest subnormal eta. A stored result, or ``step``,
is a number that is computed before it is used: nothing moves across it.

**What is traced.** With each exact value v: its ``mass`` M, which is v with every term of its sums
made positive, which none of those laws changes; ``err`` E with \|v' - v\| <= E for whatever v' an
honest machine may have; n = ``adds`` + 1, the number of terms that a sum, multiplied out, may have;
``exact``, where nothing on the way to v can round, since all of it are multiples of 2**``grid`` and
at most 2**(digits + grid). Exactness is a matter of the whole: a sum whose partial sums are exact
is not if its terms are scaled or interleaved with others first. So E is always that of a machine
for which nothing is exact, and only what is stored, or given to a function, has E = 0 where
``exact``.

**Rules.** u is charged to masses, and each rule holds for the multiplied-out form as for the other.

- *Sum* of terms with n_i each and N = sum n_i: all N are added in any order, with an error of at
  most (N - 1) u times the sum of their magnitudes (Jeannerod and Rump, "Improved error bounds for
  inner products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013). E_i has (n_i -
  1) u M_i of it already: sum E_i + sum (N - n_i) u (M_i + E_i). A term of mass 0 is none: adding 0
  rounds nothing. An addition that underflows is exact.
- *Product*: E_a X_b + E_b X_a + E_a E_b + (1 + (n_a - 1)(n_b - 1)) u (M_a M_b + ...). X is the mass
  of a sum that may be multiplied out while the other factor is one too, else the magnitude: a
  number that is computed once has one error, however the sum beside it is taken apart. The last
  part is what the n_a n_b - 1 additions and the rounding of each product have beyond that.
- *Division* by b, which is not taken apart: (E_a + \|a\| E_b / \|b\|) / (\|b\| - E_b), and 2 u +
  u**2 of M_a / \|b\| for the reciprocal and a product; nothing where b is a power of two. Where the
  reciprocal is subnormal it has no relative error, and where it overflows none at all: there any
  value passes.
- *Powers* of x, which is not taken apart: (\|x\| + E)**p - \|x\|**p <= p E (\|x\| + E)**(p - 1),
  and max(p - 1, 4) u: products, or a function right to two units. What underflows on the way is a
  power of a number below 1, so no later product enlarges max((p - 1) / 2, 2) eta.
- *Roots*, which are monotone, of x with an error of E: between those of x - E and x + E, each moved
  by its own error. They are not smaller than the root of eta, which is normal: none underflows.
- *Functions*: the function over [v - E, v + E], and the units in the last place that its row
  states. Of a power by any number only those, where both numbers are exact; else any value passes.
- *Whole numbers* made of v: those of v - E and of v + E, and none where E is 0. An output of whole
  numbers is computed from both, and from v: what lies between is accepted. There E is that of the
  type of the data, whatever the precision, and a division is no product with a reciprocal: u, and
  nothing where the format has the quotient.
- *Rests* of divisions, of exact numbers: they are multiples of 2**``grid``, and computed exactly
  but for a last rounding, u of their mass, where they are too long. Of others any value passes.
- *Underflow*: eta for each of the n products of a sum that is scaled term by term, and one more.
  A number that is no sum is divided once, and rounded to the nearest: eta / 2. A product with a
  whole number is a multiple of eta where the other factor is: it loses nothing.
- *Flushing* subnormal numbers to zero: lambda, the smallest normal number, for each term of a sum
  that is scaled term by term, and for each addition of one that is not. A flushed term is 0, and
  adding 0 flushes nothing. So m terms added in any order flush at most m times: a partial sum that
  is not 0 came of at most one less than it has terms; two of them that add up to a subnormal number
  flush once more, and give 0. Nothing is flushed where all on the way are multiples of lambda: sums
  of multiples of 2**``grid``, which rounding keeps, and these divided, of which the smallest is not
  below 2**grid / \|b\|, and all are multiples of its last digit. An input that is subnormal, in
  its type or in the machine's format, may be read as 0, and then it has no power. What is left has
  no larger mass, so it is rounded as before, and exact where all was: what is ``gone`` is counted
  apart in sums, divisions and powers. What is flushed at the end is decided before the last
  rounding.
- *Overflow*: where M + E reaches the largest number, a partial result may: there any value passes.
  Where terms are powers, magnitudes or exponentials that add up to infinity, what overflows is
  infinite, and what does not is no further off than E; a quotient by it is 0, or that near.
- *Decisions* between reals that E leaves open: there any value passes, too.
- *Coordinates* (``computed``) have the E of f32, whatever the type of elements is, and are stored.
  A function of one with the Lipschitz constant L is off by L E, as the rules above say of sums and
  extremes: a mean with weights that add up to 1, written as a value and weighted differences from
  it, is off by E times these. A decision at whole numbers has one outcome for all coordinates
  within E if no whole number is within E. Else (E is below 1/2) it has those of x - E and x + E, of
  which one is that of x. On several axes each is off by itself, so outcomes are those of every
  combination of signs. An output that is moved may be any of them; in one that is computed any
  value passes where they are outside of what is accepted.

Two mistakes are tests: a sum of 49 sevens, which is exact, is not when its terms are scaled first;
the error of a mean multiplies the value of what stands beside it, not its mass, or a normalisation
of offset data accepts 55 times as much as it should.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb, fmpz
from numpy.typing import NDArray

from conformance.core import exact
from conformance.core.exact import Ball, Exact, Number, as_ball
from conformance.core.functions import FUNCTIONS
from conformance.core.integers import as_wide
from conformance.core.magnitude import NOTHING, Magnitude, magnitude, power_of_two
from conformance.core.real import (
    NO_GRID,
    WITHOUT_ROUNDING,
    ZERO_GRID,
    Between,
    Machine,
    Real,
    checked,
    constant,
    count_terms,
    denormal_loss,
    flushed_loss,
    grid_of,
    needs_no_rounding,
    underflow,
)
from conformance.dtypes import Array, DType

ROOTS = ("sqrt", "root", "signed_root")
"""Functions whose results are never too small for a format."""

NEVER_NEGATIVE = ("exp", "cosh")
"""Functions that are positive everywhere, and too large for a format in the end."""

SIGNED = "signed_root"
"""The one of them that negative numbers have a value of."""


def add(a: Real, b: Real) -> Real:
    """Add two numbers; see the rule of sums."""
    value = exact.add(a.value, b.value)
    a, b = a.plainly(), b.plainly()
    machine = a.machine
    if machine is None:
        return Real(value)
    endless = (a.endless | b.endless) & a.positive & b.positive
    a, b = (replace(each, endless=each.endless & ~endless).closed() for each in (a, b))
    mass = a.mass + b.mass
    n, m = count_terms(a), count_terms(b)
    new = (a.mass + a.err) * m + (b.mass + b.err) * n
    err = a.err + b.err + new * machine.unit
    grid = np.minimum(a.grid, b.grid)
    fits = a.exact & b.exact & needs_no_rounding(mass, grid, machine)
    if machine.flushes:
        err = err + power_of_two(np.asarray(machine.lost)).where((n > 0) & (m > 0), NOTHING)
    adds, positive = np.maximum(n + m - 1, 0), a.positive & b.positive
    return checked(
        Real(value, machine, mass, err, fits, grid, adds, positive, endless),
        to_infinity=bool(np.any(endless)),
    )


def negative(a: Real) -> Real:
    """Negate numbers."""
    a = a.closed()
    positive = np.asarray(a.positive & ~a.mass.is_positive)
    return replace(a, value=exact.negative(a.value), positive=positive, between=None)


def absolute(a: Real) -> Real:
    """Return magnitudes of numbers."""
    value = exact.absolute(a.value)
    if a.machine is None:
        return Real(value)
    a = a.alone()
    return replace(a, value=value, positive=np.asarray(~np.isinf(a.err.m)), between=None)


def subtract(a: Real, b: Real) -> Real:
    """Subtract numbers."""
    return add(a, negative(b))


def multiply(a: Real, b: Real) -> Real:
    """Multiply numbers; see the rule of products."""
    value = exact.multiply(a.value, b.value)
    a, b = a.plainly(), b.plainly()
    machine = a.machine
    if machine is None:
        return Real(value)
    for scalar, other in ((a, b), (b, a)):
        if _is_power_of_two(scalar):
            return _scaled(other, scalar, value)
    endless = a.endless | b.endless
    grows = bool(endless.any()) and any(bool((x.value.scalar or 0) > 0) for x in (a, b))
    if not grows:
        a, b, endless = a.closed(), b.closed(), np.asarray(False)
    mass = a.mass * b.mass
    brought = a.err * _beside(b, a) + b.err * _beside(a, b) + a.err * b.err
    units = (1.0 + np.asarray(a.adds) * np.asarray(b.adds)) * machine.unit
    terms = count_terms(a) * count_terms(b)
    whole = _is_whole(a) or _is_whole(b)
    lost = flushed_loss(terms, machine) if whole else underflow(terms, machine)
    new = (mass + brought) * units + lost.where(terms > 0, NOTHING)
    grid = np.clip(np.asarray(a.grid) + b.grid, NO_GRID, ZERO_GRID)
    fits = a.exact & b.exact & needs_no_rounding(mass, grid, machine)
    return checked(
        Real(
            value,
            machine,
            mass,
            brought + new,
            fits,
            grid,
            np.maximum(terms - 1, 0),
            a.positive & b.positive & ~np.isinf(brought.m),
            endless,
        ),
        to_infinity=grows,
    )


def in_any_order(product: Real, factors: Real) -> Real:
    """Return products with nothing known where a partial one may leave the range.

    In any order there are as many roundings, each by the unit, so the error of one order is that of
    all, as long as no partial product overflows or is subnormal. Each lies between the product of
    the factors below 1 and that of those above. The factors are along the last axis.
    """
    machine = product.machine
    if machine is None:
        return product
    factors = factors.full()
    logs, err = _log2(factors.mass), factors.all_err
    ratio = np.exp2(np.clip(_log2(err) - logs, -1000, 1))
    ratio = np.where(factors.mass.is_positive, ratio, 1.0)
    # log2(1 + r) is below 2 r, for r up to a quarter; the rest is for the logarithms' own rounding.
    slack = 2 * np.where(err.is_positive, ratio, 0.0) + 1e-9
    vague = (slack > 0.5).any(axis=-1, keepdims=True)
    above = np.maximum(logs + slack, 0).sum(axis=-1, keepdims=True)
    below = np.minimum(logs - slack, 0).sum(axis=-1, keepdims=True)
    leaves = (above >= machine.format.emax + 1 - 1e-6) | (below <= machine.format.emin)
    return product.unknown((leaves | vague) & ~np.isnan(product.special))


def _log2(size: Magnitude) -> NDArray[np.float64]:
    """The logarithms of numbers; 0 of those that are 0, which leave no range."""
    return np.where(size.is_positive, np.log2(np.where(size.is_positive, size.m, 1.0)) + size.e, 0)


def _beside(a: Real, b: Real) -> Magnitude:
    """What the error of ``b`` is multiplied by in a product with ``a``."""
    both = (np.asarray(a.adds) > 0) & (np.asarray(b.adds) > 0)
    if np.all(both):
        return a.mass
    return a.mass.where(both, magnitude(a.value)) if np.any(both) else magnitude(a.value)


def _is_power_of_two(real: Real) -> bool:
    scalar = real.value.scalar
    if not scalar or not np.all(real.exact):
        return False
    num, den = abs(scalar.numerator), scalar.denominator
    return num & (num - 1) == 0 and den & (den - 1) == 0


def _is_whole(real: Real) -> bool:
    """Whether a number is a single whole one."""
    scalar = real.value.scalar
    return scalar is not None and scalar.denominator == 1


def _scaled(real: Real, scalar: Real, value: Exact) -> Real:
    """Numbers by a power of two, which rounds nothing but what underflows."""
    machine = real.machine
    assert machine is not None
    assert scalar.value.scalar is not None
    factor = abs(scalar.value.scalar)
    real = real if scalar.value.scalar > 0 else real.closed()
    mass, err = real.mass * scalar.mass, real.err * scalar.mass
    if factor < 1:
        terms = count_terms(real)
        err = err + underflow(terms, machine).where(terms > 0, NOTHING)
    shift = factor.numerator.bit_length() - factor.denominator.bit_length()
    grid = np.where(np.abs(real.grid) < ZERO_GRID, np.asarray(real.grid) + shift, real.grid)
    fits = real.exact & needs_no_rounding(mass, grid, machine)
    positive = real.positive & (scalar.positive | ~real.mass.is_positive)
    scaled = Real(value, machine, mass, err, fits, grid, real.adds, positive, real.endless)
    return checked(scaled, to_infinity=bool(real.endless.any()))


BEYOND = power_of_two(np.asarray(1 << 20))
"""A number beyond those of all formats."""


def divide(a: Real, b: Real) -> Real:
    """Divide numbers; see the rule of divisions."""
    value = exact.divide(a.value, b.value)
    machine = a.machine
    if machine is None:
        return Real(value)
    # By what may have become infinite a finite number is 0 at the least, as it is by more.
    vanishing = b.endless & b.positive & ~a.endless & (np.asarray(a.special) == 0)
    b = replace(b, endless=b.endless & ~vanishing).closed()
    wrong = b.wrong
    right = ~np.asarray(wrong.is_positive)
    if not np.all(right & b.positive):
        a = a.closed()
    size = magnitude(b.value)
    low, least = size.less(wrong), size.less(NOTHING)
    if _has_exact_size(b.value):
        # What is computed from bounds below is a bit too small, and here need not be.
        low, least = low.where(wrong.is_positive, size), size
    # A quotient by an infinity is 0, as by a number beyond all; by NaN it is NaN.
    known = (b.special != 0) & ~np.isinf(wrong.m)
    low, least = BEYOND.where(known, low), BEYOND.where(known, least)
    power = _powers_of_two(b.value) & right
    shift = np.where(power, size.e - 1, 0)
    mass = Magnitude.pair(a.mass.m, a.mass.e - shift).where(power, a.mass / low)
    brought = a.err / low + magnitude(a.value) * wrong / low / least
    units = np.where(power, 0.0, 1.0 if machine.divides_once else 2 + machine.unit) * machine.unit
    terms = count_terms(a)
    grid = np.where(np.abs(a.grid) < ZERO_GRID, np.asarray(a.grid) - shift, a.grid)
    grid = np.where(power | (a.grid == ZERO_GRID), grid, NO_GRID)
    lost = power_of_two(np.asarray(machine.format.quantum - 1))
    lost = denormal_loss(terms, machine).where(terms > 1, lost)
    new = (mass + brought) * units + lost.where(terms > 0, NOTHING)
    # A subnormal reciprocal is off by its last digit, or flushed.
    gap = new + magnitude(value) + a.mass * power_of_two(np.asarray(machine.lost))
    new = gap.where(vanishing, NOTHING.where(known, new))
    fits = a.exact & power & needs_no_rounding(mass, grid, machine, machine.format.quantum)
    if machine.divides_once and isinstance(value, Number):
        held = exact.decode(exact.rounded(value, machine.format), machine.format)
        has = a.exact & right & ~exact.differ(value, held)
        fits, grid = fits | has, np.where(has, grid_of(held), grid)
    positive = a.positive & b.positive & low.is_positive & ~np.isinf(wrong.m)
    gone = NOTHING
    if machine.flushes:
        # A multiple of 2**grid by b, rounded, is not below the last digit of the smallest.
        scaled = np.asarray(a.grid) - size.e - machine.format.digits
        finest = np.where(power | (a.grid == ZERO_GRID), grid, scaled)
        flushed = flushed_loss(terms, machine).where(finest < machine.format.emin, NOTHING)
        gone = a.gone / low + flushed
    quotient = Real(value, machine, mass, brought + new, fits, grid, a.adds, positive, a.endless)
    lost_all = _has_no_reciprocal(b, low, machine) & ~vanishing
    if machine.divides_once:
        lost_all = lost_all & ~right
    return checked(replace(quotient, gone=gone).unknown(lost_all))


def _has_no_reciprocal(b: Real, low: Magnitude, machine: Machine) -> NDArray[np.bool_]:
    """Where the reciprocal of a number may be subnormal, or infinite though the number is not 0.

    ``low`` is what the number is not smaller than.
    """
    size = magnitude(b.value)
    subnormal = size.exceeds(power_of_two(np.asarray(-machine.format.emin)))
    infinite = power_of_two(np.asarray(-machine.format.emax)).exceeds(low)
    return subnormal | (infinite & (size.is_positive | b.wrong.is_positive))


def _has_exact_size(value: Exact) -> bool:
    """Whether magnitudes are those of the numbers, and not a bit larger."""
    if not isinstance(value, Number) or not isinstance(value.den, int):
        return False
    return value.den == 1 and value.bits <= 53


def _powers_of_two(value: Exact) -> NDArray[np.bool_]:
    if isinstance(value, Ball):
        return np.zeros(np.shape(value.mid), np.bool_)
    num, den = abs(np.asarray(value.num)), np.asarray(value.den)
    return np.asarray((num != 0) & _has_one_bit(num) & _has_one_bit(den), np.bool_)


def _has_one_bit(ints: Any) -> Any:
    return np.asarray(ints & (ints - 1) == 0, np.bool_)


def power(a: Real, exponent: int) -> Real:
    """Raise numbers to a power of at least 0; see the rule of powers."""
    if exponent == 1:
        return a
    value = exact.power(a.value, exponent)
    machine = a.machine
    if machine is None or exponent == 0:
        return Real(value) if machine is None else constant(1, machine)
    a = a.alone()
    mass, brought = a.mass, a.err * exponent
    for _ in range(exponent - 1):
        mass, brought = mass * a.mass, brought * (a.mass + a.err)
    lost = power_of_two(np.asarray(machine.format.quantum)) * max((exponent - 1) / 2, 2)
    if machine.flushes:
        lost = lost + power_of_two(np.asarray(machine.format.emin))
    new = (mass + brought) * (max(exponent - 1, 4) * machine.unit)
    new = new + lost.where(mass.is_positive, NOTHING)
    grid = np.clip(np.asarray(a.grid) * exponent, NO_GRID, ZERO_GRID)
    # Only a machine that rounds nothing has powers without an error: a function may have one.
    fits = (
        a.exact
        & needs_no_rounding(mass, grid, machine)
        & (machine.format.digits >= WITHOUT_ROUNDING)
    )
    positive = a.positive | ((exponent % 2 == 0) & ~np.isinf(a.err.m))
    positive = np.asarray(positive)
    endless = a.endless if exponent % 2 == 0 or np.all(a.positive) else np.asarray(False)
    raised = Real(value, machine, mass, brought + new, fits, grid, a.adds, positive, endless)
    # What is flushed before has no power, either.
    raised = replace(raised, gone=mass.where(a.gone.is_positive, NOTHING))
    return checked(raised, to_infinity=True)


def function(name: str, a: Real, *parameters: int) -> Real:
    """Apply a function of reals; see the rule of functions."""
    if parameters == (1,):
        return a
    if name in ROOTS and a.machine is not None:
        return _root(name, a, parameters[0] if parameters else 2)
    a = a.closed()
    value = exact.function(name, a.value, *parameters)
    machine = a.machine
    if machine is None:
        return Real(value)
    row = FUNCTIONS[name].real
    assert row is not None
    assert isinstance(value, Ball)
    mass, wrong = magnitude(value), a.wrong
    brought = NOTHING
    if np.any(wrong.is_positive):
        # Infinities and NaN stay what they are, unless others may have become so, too.
        settled = (a.special != 0) & ~np.isinf(wrong.m)
        settled |= (Real(value).special != 0) & ~wrong.is_positive
        brought = NOTHING.where(settled, _spread(row.exact, a, value, parameters))
    units = max(1.0, 2 * row.ulps) * machine.unit
    new = (mass + brought) * units + power_of_two(np.asarray(machine.lost)).where(
        mass.is_positive, NOTHING
    )
    never = np.asarray(False)
    positive = np.asarray(~np.isinf(wrong.m) & (row.exact in NEVER_NEGATIVE))
    if row.exact == "sinh":
        positive = np.asarray(~np.isinf(wrong.m) & a.positive)
    result = Real(
        value, machine, mass, brought + new, never, np.asarray(NO_GRID), positive=positive
    )
    return checked(result, to_infinity=True)


def real_power(a: Real, b: Real) -> Real:
    """Raise numbers to powers that are numbers; see the rule of functions."""
    a, b = a.closed(), b.closed()
    value = exact.real_power(a.value, b.value)
    machine = a.machine
    if machine is None:
        return Real(value)
    row = FUNCTIONS["pow"].real
    assert row is not None
    mass = magnitude(value)
    lost = power_of_two(np.asarray(machine.lost)).where(mass.is_positive, NOTHING)
    err, never = mass * (2 * row.ulps * machine.unit) + lost, np.asarray(False)
    power = Real(value, machine, mass, err, never, np.asarray(NO_GRID), positive=a.positive)
    off = a.wrong.is_positive | b.wrong.is_positive
    return checked(power, to_infinity=True).unknown(np.asarray(off))


def whole(a: Real, rounding: str) -> Real:
    """Round to whole numbers; see the rule of whole numbers."""
    a = a.closed().settled()
    value = exact.whole(leaned(a), rounding)
    machine = a.machine
    if machine is None:
        return Real(value)
    result = Real(value, machine, magnitude(value), positive=a.positive, grid=np.asarray(0))
    wrong = _that_matters(a)
    if not np.any(wrong.is_positive):
        return replace(result, exact=a.exact)
    bound, unknown = wrong.number()
    if machine.leans:
        return result.unknown(np.asarray(unknown))
    low, high = exact.ends(a.value)
    between = Between(
        exact.whole(exact.add(low, exact.negative(bound)), rounding),
        exact.whole(exact.add(high, bound), rounding),
    )
    gaps = [magnitude(exact.add(x, exact.negative(value))) for x in (between.low, between.high)]
    err = gaps[0].where(gaps[0].exceeds(gaps[1]), gaps[1])
    result = replace(result, err=err, exact=a.exact & ~err.is_positive, between=between)
    return result.unknown(np.asarray(unknown))


def leaned(a: Real) -> Exact:
    """Return numbers as far off to one side as their machine leans."""
    if a.machine is None or not a.machine.leans or not np.any(a.wrong.is_positive):
        return a.value
    bound, _ = a.wrong.number()
    low, high = exact.ends(a.value)
    return exact.add(high, bound) if a.machine.leans > 0 else exact.add(low, exact.negative(bound))


def remainder(a: Real, b: Real) -> Real:
    """Return what divisions leave; see the rule of rests."""
    a, b = a.closed().settled(), b.closed().settled()
    value = exact.remainder(a.value, b.value)
    machine = a.machine
    if machine is None:
        return Real(value)
    mass, grid = magnitude(value), np.minimum(a.grid, b.grid)
    fits = needs_no_rounding(mass, grid, machine)
    positive, err = np.asarray(a.positive & b.positive), mass * machine.unit
    rest = Real(value, machine, mass, err, fits, grid, positive=positive)
    return rest.unknown(np.asarray(a.wrong.is_positive | b.wrong.is_positive))


def _that_matters(a: Real) -> Magnitude:
    """The error of numbers; where nothing is rounded it is too small to matter, and too long."""
    assert a.machine is not None
    if a.machine.format.digits < WITHOUT_ROUNDING:
        return a.wrong
    return a.wrong.where(np.isinf(a.wrong.m), NOTHING)


def _root(name: str, a: Real, degree: int) -> Real:
    """The root of numbers; see the rule of roots.

    A negative number has none, unless the root has its sign: where only some of what it may be are
    negative, nothing is known.
    """
    machine = a.machine
    assert machine is not None
    parameters = () if name == "sqrt" else (degree,)
    value = exact.function(name, a.value, *parameters)
    bound, unknown = _that_matters(a).number()
    low, high = (
        exact.add(end, off)
        for end, off in zip(exact.ends(a.value), (exact.negative(bound), bound), strict=True)
    )
    assert isinstance(low, Number)
    assert isinstance(high, Number)
    # A single number may be longer than those of numpy.
    num = np.asarray(low.num, object if isinstance(low.num, int) else None)
    low = replace(low, num=np.where(a.positive, np.maximum(num, 0), num))
    if name != SIGNED:
        unknown = unknown | ((low.num < 0) & (high.num >= 0))
    between = Between(
        *(
            _moved(name, exact.function(name, end, *parameters), end, degree, machine, up=up)
            for end, up in ((low, False), (high, True))
        )
    )
    gaps = [magnitude(exact.add(x, exact.negative(value))) for x in (between.low, between.high)]
    err = gaps[0].where(gaps[0].exceeds(gaps[1]), gaps[1])
    # An infinity of the data stays one, unless others may have become infinite, too.
    settled = (a.special != 0) & (~np.isinf(a.err.m) | a.positive)
    never = np.asarray(False)
    return Real(
        value,
        machine,
        magnitude(value),
        NOTHING.where(settled, err),
        never,
        np.asarray(NO_GRID),
        positive=a.positive,
        endless=a.endless,
        between=between,
    ).unknown(np.asarray(unknown & ~settled))


def _moved(
    name: str, end: Exact, argument: Number, degree: int, machine: Machine, *, up: bool
) -> Ball:
    """A root, further off by its own error: the units in the last place that its row states.

    A power function gets the reciprocal of the degree, rounded: x**(d/q) with \\|d\\| <= u is a
    factor between exp(-z) and exp(z), z = u \\|log x\\| / q, and exp(z) <= 1 + z + z**2 if z <= 1.
    """
    row = FUNCTIONS[name].real
    assert row is not None
    units, z = max(1.0, 2 * row.ulps) * machine.unit, np.zeros(())
    if degree & (degree - 1):
        places = _places(argument).astype(np.float64)
        length = np.maximum(np.abs(places), np.abs(places - 1))
        # The natural logarithm of 2 is below 7/10.
        z = np.minimum(machine.unit * length * 0.7 / degree, 1.0)
    off = magnitude(end) * (units + (1 + units) * (z + z * z))
    number, _ = off.where(off.is_positive, NOTHING).number()
    moved = exact.add(end, number if up else exact.negative(number))
    assert isinstance(moved, Ball)
    return moved


def _places(number: Number) -> NDArray[np.int64]:
    """The exponent of the next power of two above the magnitude of each number."""
    quotient = abs(as_wide(np.asarray(number.num))) // number.den
    return np.where(
        quotient > 0, exact.lengths(np.asarray(quotient)) + number.exp, magnitude(number).e
    )


def _spread(name: str, a: Real, result: Ball, parameters: tuple[int, ...]) -> Magnitude:
    """How far a function may be off over everything that its argument may be."""

    def off(x: arb, m: float, e: int, y: arb) -> arb:
        if not np.isfinite(m):
            return arb("inf")
        radius = arb((fmpz(int(m * 2**53)), int(e) - 53)) if m else arb(0)
        around = arb(x.mid(), radius + x.rad())
        spread = getattr(around, name)(*parameters)
        return (spread - y).abs_upper() if spread.is_finite() else arb("inf")

    wrong = a.wrong
    inputs = np.broadcast_arrays(as_ball(a.value).mid, wrong.m, wrong.e, result.mid)
    widths = np.asarray(np.frompyfunc(off, 4, 1)(*inputs), object)
    endless = np.frompyfunc(lambda ball: not ball.is_finite(), 1, 1)(widths)
    size = magnitude(Ball(widths))
    return Magnitude(np.where(np.asarray(endless, bool), np.inf, size.m), size.e)


def summed(a: Real, axes: tuple[int, ...], most: int = 0) -> Real:
    """Sum over axes, which stay with an extent of 1; see the rule of sums.

    Room is left for ``most`` terms, if those are more.
    """
    value = exact.total(a.value, axes, most)
    machine = a.machine
    if machine is None:
        return Real(value)
    a = a.full()
    n = count_terms(a)
    count = n.sum(axis=axes, keepdims=True)
    largest = np.iinfo(np.int64).max
    fewest = np.where(n > 0, n, largest).min(axis=axes, keepdims=True, initial=largest)
    mass, brought = a.mass.total(axes, most), a.err.total(axes, most)
    rounds = np.where(count > 0, count - np.minimum(fewest, count), 0)
    err = brought + (mass + brought) * (rounds * machine.unit)
    grid = a.grid.min(axis=axes, keepdims=True, initial=ZERO_GRID)
    fits = a.exact.all(axis=axes, keepdims=True)
    fits = fits & needs_no_rounding(mass, grid, machine, machine.format.quantum)
    adds = np.maximum(count - 1, 0)
    positive = np.asarray(a.positive.all(axis=axes, keepdims=True))
    endless = np.asarray(a.endless.any(axis=axes, keepdims=True))
    gone = NOTHING
    if machine.flushes:
        flushed = flushed_loss(np.maximum(count - 1, 0), machine)
        gone = a.gone.total(axes, most) + flushed.where(grid < machine.format.emin, NOTHING)
    total = Real(value, machine, mass, err, fits, grid, adds, positive, endless, gone=gone)
    return checked(total.unknown(endless & ~positive), to_infinity=True)


def summed_products(
    value: Exact,
    mass: Magnitude,
    count: NDArray[np.int64],
    grid: NDArray[np.int64],
    whole: bool,
    machine: Machine,
) -> Real:
    """Sum ``count`` products of exact numbers: the rules of products and sums at once.

    ``mass`` is the sum of their magnitudes, ``grid`` what they are multiples of, ``whole`` whether
    their factors are exact. Each product rounds by u, and count - 1 additions follow.
    """
    unit = machine.unit
    count = np.asarray(count, np.int64)
    rounds = np.where(count > 0, count + unit * np.maximum(count - 1, 0), 0.0)
    err = mass * (rounds * unit) + underflow(2 * count, machine).where(count > 0, NOTHING)
    fits = np.asarray(whole) & needs_no_rounding(mass, grid, machine)
    return checked(Real(value, machine, mass, err, fits, grid, np.maximum(count - 1, 0)))


def choose(condition: Any, a: Real, b: Real) -> Real:
    """Return ``a`` where a condition holds, else ``b``."""
    value = exact.choose(condition, a.value, b.value)
    if a.machine is None:
        return Real(value)
    return Real(
        value,
        a.machine,
        a.mass.where(condition, b.mass),
        a.err.where(condition, b.err),
        np.where(condition, a.exact, b.exact),
        np.where(condition, a.grid, b.grid),
        np.where(condition, a.adds, b.adds),
        np.where(condition, a.positive, b.positive),
        np.where(condition, a.endless, b.endless),
        _between(lambda x, y: exact.choose(condition, x, y), a, b),
        a.gone.where(condition, b.gone),
    )


def _between(join: Callable[..., Exact], *reals: Real) -> Between | None:
    """What is made of the ends of numbers; None where no ends are known, or those of only some."""
    if all(real.between is None for real in reals):
        return None
    ends = [real.ends for real in reals]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return None
    return Between(join(*(end.low for end in known)), join(*(end.high for end in known)))


def concatenated(parts: Sequence[Real], axis: int) -> Real:
    """Join arrays of numbers along an axis."""
    value = exact.concatenated([part.value for part in parts], axis)
    machine = parts[0].machine
    if machine is None or len(parts) == 1:
        return parts[0] if len(parts) == 1 else Real(value)
    full = [part.full() for part in parts]

    def join(arrays: Iterable[Array]) -> Array:
        return np.concatenate([*arrays], axis)

    masses, errors, gone = (
        Magnitude.pair(join(x.m for x in sizes), join(x.e for x in sizes))
        for sizes in ([x.mass for x in full], [x.err for x in full], [x.gone for x in full])
    )
    return Real(
        value,
        machine,
        masses,
        errors,
        join(x.exact for x in full),
        join(x.grid for x in full),
        join(x.adds for x in full),
        join(x.positive for x in full),
        join(x.endless for x in full),
        _between(lambda *ends: exact.concatenated(ends, axis), *full),
        gone,
    )


def extreme(a: Real, b: Real, *, largest: bool) -> Real:
    """Return the larger or the smaller of two numbers; NaN where either is."""
    a, b = a.closed().settled(), b.closed().settled()
    chosen = choose(_precedes(a.value, b.value, largest), a, b)
    if a.machine is None:
        return chosen
    between = _between(lambda x, y: exact.choose(_precedes(x, y, largest), x, y), a, b)
    # Whichever a machine takes, it is no further off than the worse of both.
    worse = a.wrong.where(a.wrong.exceeds(b.wrong), b.wrong)
    both = np.asarray(a.positive & b.positive)
    exactly = a.exact & b.exact
    return replace(chosen, err=worse, exact=exactly, positive=both, between=between)


def _precedes(a: Exact, b: Exact, largest: bool) -> NDArray[np.bool_]:
    """Where the extreme of two numbers is the first: NaN where either is."""
    order = exact.compared(a, b)
    missing = False if a.special is None else np.isnan(a.special)
    return np.asarray(np.where(np.isnan(order), missing, (order > 0) == largest), np.bool_)


def flushed(a: Real, dtype: DType) -> Real:
    """Take the subnormal numbers of a type for 0, as an honest machine may do."""
    if not dtype.is_float:
        return a
    assert isinstance(a.value, Number)
    size = magnitude(a.value)
    tiny = power_of_two(np.asarray(dtype.emin)).exceeds(size) & size.is_positive
    if not tiny.any():
        return a
    value = exact.choose(tiny, exact.number(0), a.value)
    if a.machine is None:
        return Real(value)
    negative = np.asarray(a.value.num) < 0
    between = Between(
        exact.choose(negative, a.value, value), exact.choose(negative, value, a.value)
    )
    err, gone = size.where(tiny, a.err), NOTHING.where(tiny, a.gone)
    return replace(a, value=value, err=err, exact=a.exact & ~tiny, between=between, gone=gone)


def is_nan(a: Real) -> NDArray[np.bool_]:
    """Return where numbers are NaN."""
    return np.asarray(False) if a.value.special is None else np.isnan(a.value.special)


def compared(a: Real, b: Real) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Compare numbers: -1, 0, 1 or NaN, and where a machine may decide otherwise."""
    order = exact.compared(a.value, b.value)
    if a.machine is None:
        return order, np.zeros(np.shape(order), np.bool_)
    slack = a.closed().wrong + b.closed().wrong
    gap = magnitude(exact.add(a.value, exact.negative(b.value)))
    # From an infinity, and from NaN, a finite number is far whatever its error.
    far = ((a.special != 0) | (b.special != 0)) & ~np.isinf(slack.m)
    return order, np.asarray(slack.is_positive & ~far & ~gap.less(NOTHING).exceeds(slack))


def widened(real: Real, further: Magnitude) -> Real:
    """Return numbers that may be off by more; nothing is known where that overflows."""
    real, never = real.closed(), np.asarray(False)
    err = real.wrong + further
    return checked(replace(real, err=err, exact=never, between=None, gone=NOTHING))


def interval(real: Real, dtype: DType) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return the least and the greatest value that an honest machine may give, in ``dtype``.

    The third is where any value passes. Rounding is monotone, so the ends are rounded; where one is
    halfway between two values, either is accepted.
    """
    assert real.machine is not None
    wrong = real.wrong
    unknown = np.isinf(wrong.m)
    lo: Exact = real.value
    hi: Exact = real.value
    if real.between is not None:
        lo, hi = real.between.low, real.between.high
    elif np.any(wrong.is_positive):
        bound = wrong.balls() if isinstance(real.value, Ball) else wrong.number()[0]
        lo, hi = exact.add(lo, exact.negative(bound)), exact.add(hi, bound)
    least = exact.rounded_end(lo, "lower", dtype, "down")
    greatest = exact.rounded_end(hi, "upper", dtype, "up")
    unknown = unknown & ~(real.positive & (real.special != 0))
    infinity, zero = dtype.numpy.type(np.inf), dtype.numpy.type(0)
    # A sum of positive numbers may become infinite, but not NaN.
    least = np.where(unknown, np.where(real.positive, zero, -infinity), least)
    greatest = np.where(unknown | (real.endless & (real.special == 0)), infinity, greatest)
    if real.machine.flushes:  # a result that may be subnormal, before it is rounded, may be zero
        tiny = exact.number(Fraction(2) ** dtype.emin)
        outer = exact.end(lo, "lower"), exact.negative(exact.end(hi, "upper"))
        vanishes = (exact.compared(outer[0], tiny) < 0) & (exact.compared(outer[1], tiny) < 0)
        least = np.where(vanishes, np.minimum(least, zero), least)
        greatest = np.where(vanishes, np.maximum(greatest, zero), greatest)
    with np.errstate(invalid="ignore"):  # NaN is not below zero
        least = np.where(real.positive & (least < zero), zero, least)
    shape = np.broadcast_shapes(least.shape, real.value.array.shape)  # ends may be single values
    ends = np.broadcast_to(least, shape), np.broadcast_to(greatest, shape)
    return *ends, np.broadcast_to(unknown & ~real.positive, shape)


def unspecified(real: Real) -> NDArray[np.bool_]:
    """Return where any value passes: the third of :func:`interval`, without its ends."""
    unknown = np.isinf(real.wrong.m) & ~real.positive
    return np.broadcast_to(unknown, np.broadcast_shapes(unknown.shape, real.value.array.shape))


def _of_bits(name: str, a: Real, b: Real) -> Real:
    return Real(exact.bitwise(FUNCTIONS[name].plain, a.value, b.value), a.machine)


RULES: dict[str, Callable[..., Real]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "negative": negative,
    "abs": absolute,
    "step": Real.settled,
    "max": lambda *values: _fold(values, largest=True),
    "min": lambda *values: _fold(values, largest=False),
    "floor": lambda a: whole(a, "down"),
    "ceil": lambda a: negative(whole(negative(a), "down")),
    "round": lambda a: whole(a, "nearest"),
    "%": remainder,
    "pow": real_power,
    **{name: partial(_of_bits, name) for name in ("bit_and", "bit_or", "bit_xor")},
}
"""What becomes of reals, by operation; powers, choices and functions besides."""


def _fold(values: tuple[Real, ...], *, largest: bool) -> Real:
    result = values[0]
    for value in values[1:]:
        result = extreme(result, value, largest=largest)
    return result
