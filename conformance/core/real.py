"""Exact numbers, and what an honest machine may have instead; rules are in ``core/bounds.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core import exact
from conformance.core.exact import Ball, Exact, Number
from conformance.core.magnitude import NOTHING, Magnitude, magnitude, power_of_two
from conformance.dtypes import Array, DType

ZERO_GRID = 1 << 30
"""The grid of zeros, which are multiples of anything."""

NO_GRID = -(1 << 30)

WITHOUT_ROUNDING = 1 << 12
"""Digits of a format in which nothing that is evaluated is rounded."""


@dataclass(frozen=True)
class Machine:
    """An honest implementation: every operation rounds once in ``format``.

    With ``flushes`` it takes subnormal numbers for zero. Where it ``leans``, -1 or 1, numbers that
    become whole are first as far off to that side as they may be, by divisions that round once, or
    with ``reciprocal`` by products with reciprocals.
    """

    format: DType
    flushes: bool = False
    reciprocal: bool = False
    leans: int = 0

    @property
    def unit(self) -> float:
        """The unit roundoff."""
        return 2.0**-self.format.digits

    @property
    def divides_once(self) -> bool:
        """Whether a division is none by a reciprocal."""
        return bool(self.leans) and not self.reciprocal

    @property
    def lost(self) -> int:
        """The exponent of what an operation that underflows may lose at most."""
        return self.format.emin if self.flushes else self.format.quantum


@dataclass(frozen=True, eq=False)
class Between:
    """What a result certainly lies between."""

    low: Exact
    high: Exact

    def each(self, change: Callable[[Array], Array]) -> Between:
        """Make a change to the arrays of both ends."""
        return Between(self.low.each(change), self.high.each(change))


@dataclass(frozen=True, eq=False)
class Real:
    """Exact numbers and, with a ``machine``, what it may have instead (see ``core/bounds.py``).

    ``mass`` and ``err`` are magnitudes, ``exact`` is bool, ``grid`` and ``adds`` are int64,
    ``positive`` is where no honest machine has a negative number, nor NaN unless the value is.
    ``endless`` is where a positive number may have become infinite; ``err`` is that of what has
    not. ``gone`` is what a machine may flush to 0, beside ``err`` and ``exact``, which are those of
    what is left. All have the shape of the value, or broadcast to it. ``between`` are ends that are
    closer than ``err`` says, if any are known.
    """

    value: Exact
    machine: Machine | None = None
    mass: Magnitude = NOTHING
    err: Magnitude = NOTHING
    exact: NDArray[np.bool_] = field(default_factory=lambda: np.asarray(True))
    grid: NDArray[np.int64] = field(default_factory=lambda: np.asarray(ZERO_GRID))
    adds: NDArray[np.int64] = field(default_factory=lambda: np.asarray(0))
    positive: NDArray[np.bool_] = field(default_factory=lambda: np.asarray(False))
    endless: NDArray[np.bool_] = field(default_factory=lambda: np.asarray(False))
    between: Between | None = None
    gone: Magnitude = NOTHING

    def each(self, change: Callable[[Array], Array]) -> Real:
        """Make a change to every array of the shape of the value; single values stay."""
        if self.machine is None:
            return Real(self.value.each(change))
        shape = np.shape(self.value.array)

        def part(array: Array) -> Array:
            if not np.ndim(array):
                return array
            return change(array if array.shape == shape else np.broadcast_to(array, shape))

        return self._map(self.value.each(change), part)

    def _map(self, value: Exact, change: Callable[[Array], Array]) -> Real:
        return Real(
            value,
            self.machine,
            self.mass.each(change),
            self.err.each(change),
            change(self.exact),
            change(self.grid),
            change(self.adds),
            change(self.positive),
            change(self.endless),
            None if self.between is None else self.between.each(change),
            self.gone.each(change),
        )

    def full(self) -> Real:
        """Return the same with every array in the shape of the value."""
        shape = np.shape(self.value.array)

        def fill(array: Array) -> Array:
            return array if np.shape(array) == shape else np.broadcast_to(array, shape)

        return self._map(self.value.each(fill), fill)

    @property
    def wrong(self) -> Magnitude:
        """The error of the number once it is computed; without what is gone, 0 where exact."""
        return self._with_gone(NOTHING.where(self.exact, self.err))

    @property
    def all_err(self) -> Magnitude:
        """The error of the number, with what may be gone."""
        return self._with_gone(self.err)

    def _with_gone(self, err: Magnitude) -> Magnitude:
        if not np.any(self.gone.is_positive):
            return err
        # A sum is rounded upward, which nothing needs that is alone.
        both = (err + self.gone).where(err.is_positive, self.gone)
        return err.where(~self.gone.is_positive, both)

    def plainly(self) -> Real:
        """Return the number with what may be gone as part of its error."""
        if not np.any(self.gone.is_positive):
            return self
        return replace(self, err=self.all_err, exact=self._is_kept, gone=NOTHING)

    @property
    def _is_kept(self) -> NDArray[np.bool_]:
        return np.asarray(self.exact & ~self.gone.is_positive)

    @property
    def ends(self) -> Between | None:
        """What the number lies between, if that is known better than by its error."""
        if self.between is None and not np.any(self.wrong.is_positive):
            return Between(self.value, self.value)
        return self.between

    def settled(self) -> Real:
        """Return the number as it is stored: nothing is moved across it."""
        if self.machine is None:
            return self
        kept = self._is_kept if np.any(self.gone.is_positive) else self.exact
        return replace(
            self,
            mass=magnitude(self.value),
            err=self.wrong,
            exact=kept,
            adds=np.asarray(0),
            gone=NOTHING,
        )

    def alone(self) -> Real:
        """Return the number as it is stored, with what may only be flushed apart.

        That is so of a single exact number: it is what it is, or 0.
        """
        vanishes = self.exact & (np.asarray(self.adds) == 0) & self.gone.is_positive
        if self.machine is None or not np.any(vanishes):
            return self.settled()
        kept = replace(self, gone=NOTHING.where(vanishes, self.gone)).settled()
        return replace(kept, gone=kept.mass.where(vanishes, NOTHING))

    def closed(self) -> Real:
        """Return the same with nothing known where it may have become infinite."""
        if self.machine is None or not self.endless.any():
            return self
        return replace(self.unknown(self.endless), endless=np.asarray(False), between=None)

    def unknown(self, mask: NDArray[np.bool_]) -> Real:
        """Return the same with nothing known where ``mask`` holds."""
        if self.machine is None or not np.any(mask):
            return self
        err = Magnitude(np.where(mask, np.inf, self.err.m), self.err.e)
        return replace(self, err=err, exact=self.exact & ~mask, positive=self.positive & ~mask)

    @property
    def special(self) -> NDArray[np.float64]:
        """Infinities and NaN; 0 where a number is finite."""
        return np.zeros(()) if self.value.special is None else self.value.special


def source(array: Array, dtype: DType, machine: Machine | None) -> Real:
    """Return a tensor that is given."""
    value = exact.decode(array, dtype)
    if machine is None:
        return Real(value)
    mass = magnitude(value)
    gone = NOTHING
    if machine.flushes:  # what is subnormal in either format may be read as zero
        smallest = max(machine.format.emin, dtype.emin) if dtype.is_float else machine.format.emin
        tiny = power_of_two(np.asarray(smallest)).exceeds(mass) & mass.is_positive
        gone = mass.where(tiny, NOTHING)
    grid, positive = grid_of(value), _not_negative(value)
    fits = needs_no_rounding(mass, grid, machine, machine.format.quantum)
    return _given(Real(value, machine, mass, NOTHING, fits, grid, positive=positive, gone=gone))


def constant(value: Any, machine: Machine | None) -> Real:
    """Return a plain value, which a machine rounds where its format does not have it."""
    numbers = exact.number(value)
    if machine is None:
        return Real(numbers)
    mass, grid = magnitude(numbers), grid_of(numbers)
    fits = needs_no_rounding(mass, grid, machine)
    # A normal number is not flushed: it is rounded, by no more than its units.
    normal = mass.exceeds(power_of_two(np.asarray(machine.format.emin + 1)))
    lost = power_of_two(np.where(normal, machine.format.quantum, machine.lost))
    units = mass * machine.unit + lost
    err = NOTHING.where(fits | ~mass.is_positive, units)
    return _given(Real(numbers, machine, mass, err, fits, grid, positive=_not_negative(numbers)))


def _given(real: Real) -> Real:
    """The same with nothing known where it overflows: a number that the format has does not."""
    return real if np.all(real.exact) else checked(real)


def _not_negative(value: Number) -> NDArray[np.bool_]:
    sign = np.asarray(np.asarray(value.num) >= 0, np.bool_)
    return sign if value.special is None else sign & (value.special == 0)


def grid_of(value: Exact) -> NDArray[np.int64]:
    """Return the exponent of the largest power of two that divides each number."""
    if isinstance(value, Ball):
        return np.asarray(NO_GRID)
    num = np.asarray(value.num)
    if num.dtype == object:
        lowest = exact.lengths(num & -num) - 1
    else:
        lowest = np.frexp((num & -num).astype(np.float64))[1].astype(np.int64) - 1
    grid = np.where(num == 0, ZERO_GRID, lowest + value.exp)
    if isinstance(value.den, int):
        return grid if value.den == 1 else np.where(num == 0, ZERO_GRID, NO_GRID)
    den = np.asarray(value.den)
    twos = exact.lengths(den & -den) - 1
    power = (den & (den - 1)) == 0
    return np.where(
        (num == 0) | np.asarray(power, bool), grid - np.where(num == 0, 0, twos), NO_GRID
    )


def needs_no_rounding(
    mass: Magnitude, grid: Any, machine: Machine, least: int | None = None
) -> NDArray[np.bool_]:
    """Return where multiples of 2**grid of some mass need no rounding, nor are lost.

    ``least`` is the exponent of the least number; where it is flushed it is counted as gone.
    """
    bounded = np.clip(grid, -(1 << 20), 1 << 20)
    return np.asarray(
        (bounded >= (machine.lost if least is None else least))
        & ~mass.exceeds(power_of_two(bounded + machine.format.digits))
    )


def checked(real: Real, *, to_infinity: bool = False) -> Real:
    """Return the same with nothing known where it may overflow; NaN stays what it is.

    Where ``to_infinity``, positive numbers that do are infinite.
    """
    machine = real.machine
    assert machine is not None
    top = Magnitude(np.asarray(1 - 2.0**-20), machine.format.emax + 1)
    over = (real.mass + real.err).exceeds(top) & ~np.isnan(real.special)
    if not over.any():
        return real
    endless = real.endless | (over & real.positive & to_infinity)
    return replace(real, exact=real.exact & ~over, endless=endless).unknown(over & ~endless)


def count_terms(real: Real) -> NDArray[np.int64]:
    """Count the terms of a number, multiplied out."""
    return np.where(real.mass.is_positive, real.adds + 1, 0)


def underflow(terms: Any, machine: Machine) -> Magnitude:
    """Bound what products of that many terms, and one, lose by underflow, flushed or not."""
    lost = denormal_loss(terms, machine)
    return lost + flushed_loss(terms, machine) if machine.flushes else lost


def denormal_loss(terms: Any, machine: Machine) -> Magnitude:
    """Bound what products of that many terms, and one, lose where subnormal numbers are kept."""
    return power_of_two(np.asarray(machine.format.quantum)) * (np.asarray(terms, np.float64) + 1)


def flushed_loss(terms: Any, machine: Machine) -> Magnitude:
    """Bound what is flushed of that many terms."""
    if not machine.flushes:
        return NOTHING
    return power_of_two(np.asarray(machine.format.emin)) * np.asarray(terms, np.float64)
