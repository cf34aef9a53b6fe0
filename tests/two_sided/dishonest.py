"""Kernels with one fault each, as backends: what accepted intervals must not be wide enough for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from arithmetic import TF32, Arithmetic, narrow
from honest import Evaluation, forward, mean
from numpy.typing import NDArray
from windows import Windows, windows_of

import conformance
from conformance.dtypes import DTYPES, DType
from conformance.specification import find_spec, outputs

Array = NDArray[Any]


@dataclass(frozen=True)
class Question:
    """What a backend is asked."""

    op: str
    inputs: list[Array]
    attributes: dict[str, Any]

    @property
    def windows(self) -> Windows:
        return windows_of(self.op, self.inputs, self.attributes)

    @property
    def means(self) -> Array:
        """The means, correctly rounded."""
        return outputs(find_spec(self.op), self.inputs, self.attributes)[0]

    @property
    def means_in_f64(self) -> Array:
        return conformance.reference(self.op, self.inputs, self.attributes)[0]


Answer = Callable[[Question], Array]

WIDEST = Evaluation(least=DTYPES["f64"])
"""The best that an ordinary kernel can do; faults elsewhere than in its sums start from it."""


@dataclass(frozen=True)
class Faulty:
    """A backend that answers every question by ``answer``."""

    answer: Answer

    def __call__(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        with np.errstate(all="ignore"):
            return [self.answer(Question(op, inputs, attributes))]


def on_windows(change: Callable[[Windows], Windows]) -> Answer:
    """Honest work on other windows."""
    return lambda question: WIDEST.answer(change(question.windows))


def on_values(change: Callable[[Array, Windows], Array]) -> Answer:
    """Correctly rounded means, then changed; the change sees the windows too."""

    return lambda question: change(question.means, question.windows)


# --- formats ----------------------------------------------------------------------------------


def accumulated_in(name: str) -> Answer:
    """Terms, sums and quotients in a narrower format."""

    def answer(question: Question) -> Array:
        windows = question.windows
        found = mean(windows, forward, "divided", Arithmetic(DTYPES[name]))
        return narrow(found.astype(np.float64), windows.dtype)

    return answer


def inputs_rounded_to(format_: DType) -> Answer:
    def change(windows: Windows) -> Windows:
        terms = windows.terms.astype(np.float64)
        return replace(windows, terms=narrow(terms, format_).astype(windows.dtype.numpy))

    return on_windows(change)


def truncated(question: Question) -> Array:
    """The exact mean cut off: the next value toward zero where rounding went away from it."""
    windows, rounded = question.windows, question.means
    dtype = windows.dtype
    ordinals = dtype.ordinals(rounded)
    rows = windows.terms.reshape(rounded.size, -1).astype(np.float64).tolist()
    divisors = np.broadcast_to(windows.divisor, rounded.shape).ravel().tolist()
    near = rounded.ravel().astype(np.float64).tolist()
    finite = np.isfinite(rounded).ravel().tolist()
    further = [
        found and abs(Fraction(value) * divisor) > abs(sum(map(Fraction, row)))
        for row, divisor, value, found in zip(rows, divisors, near, finite, strict=True)
    ]
    cut = np.where(np.reshape(further, rounded.shape), ordinals - np.sign(ordinals), ordinals)
    return np.where(np.isfinite(rounded), dtype.from_ordinals(cut), rounded)


def relative_error(units: int) -> Answer:
    """The exact mean, changed by a multiple of the unit roundoff, rounded."""

    def answer(question: Question) -> Array:
        dtype = question.windows.dtype
        return narrow(question.means_in_f64 * (1 + units * 2.0**-dtype.digits), dtype)

    return answer


# --- windows ----------------------------------------------------------------------------------

PLACES: dict[str, Callable[[Any], Any]] = {
    "first": lambda n: n * 0,
    "middle": lambda n: n // 2,
    "last": lambda n: n - 1,
}


def divisor_off(place: str, by: int) -> Answer:
    """A divisor off by one in one window of each channel: the first, middle or last."""

    def change(windows: Windows) -> Windows:
        divisor = windows.divisor.copy()
        at = (0, 0, *(PLACES[place](n) for n in divisor.shape[2:]))
        divisor[at] = max(1, divisor[at] + by)
        return replace(windows, divisor=divisor)

    return on_windows(change)


def tap_times(axis: int, place: str, times: int) -> Answer:
    """One of the taps on data of one axis left out (0) or taken twice (2) in every window.

    The axes are numbered from the first spatial one; with fewer of them nothing is changed.
    """

    def answer(question: Question) -> Array:
        windows = question.windows
        if axis >= windows.axes:
            return WIDEST.answer(windows)
        counted = windows.counted[axis]
        order = np.cumsum(counted, axis=1) - 1
        chosen = counted & (order == PLACES[place](counted.sum(axis=1))[:, None])
        shape = [1] * windows.terms.ndim
        shape[2 + axis], shape[2 + windows.axes + axis] = chosen.shape
        kind = windows.dtype.numpy.type
        changed = windows.terms * kind(2) if times else np.zeros_like(windows.terms)
        terms = np.where(chosen.reshape(shape), changed, windows.terms)
        return WIDEST.answer(replace(windows, terms=terms))

    return answer


# --- special values ---------------------------------------------------------------------------


def infinity_negated(found: Array, windows: Windows) -> Array:
    return np.where(np.isinf(found), -found, found)


def infinity_made_finite(found: Array, windows: Windows) -> Array:
    """The largest number instead, as a saturating conversion gives."""
    row = windows.dtype
    most = row.from_ordinals(np.array([row.infinity - 1]))
    return np.where(np.isinf(found), np.copysign(most, found), found)


def nan_dropped(windows: Windows) -> Windows:
    zero = windows.dtype.numpy.type(0)
    return replace(windows, terms=np.where(np.isnan(windows.terms), zero, windows.terms))


def nan_of_infinities_missed(found: Array, windows: Windows) -> Array:
    """Infinity where infinities of both signs make NaN."""
    terms = windows.terms.reshape(*found.shape, -1)
    both = (terms == np.inf).any(axis=-1) & (terms == -np.inf).any(axis=-1)
    both &= ~np.isnan(terms).any(axis=-1)
    return np.where(both, windows.dtype.numpy.type(np.inf), found)


ALL = ("f16", "bf16", "f32", "f64")

FAULTS: dict[str, tuple[tuple[str, ...], Answer]] = {
    "sums in f16": (("f16", "bf16", "f32"), accumulated_in("f16")),
    "sums in bf16": (("f16", "bf16", "f32"), accumulated_in("bf16")),
    "sums in f32": (("f64",), accumulated_in("f32")),
    "inputs rounded to bf16": (("f16", "f32", "f64"), inputs_rounded_to(DTYPES["bf16"])),
    "inputs rounded to TF32": (("f32", "f64"), inputs_rounded_to(TF32)),
    "inputs rounded to f32": (("f64",), inputs_rounded_to(DTYPES["f32"])),
    "outputs truncated": (("f16", "bf16"), truncated),
    "4 epsilon too large": (ALL, relative_error(8)),
    "4 epsilon too small": (ALL, relative_error(-8)),
    **{
        f"divisor of the {place} window {word} by one": (ALL, divisor_off(place, by))
        for place in PLACES
        for word, by in (("larger", 1), ("smaller", -1))
    },
    **{
        f"{place} tap of axis {axis} {word}": (ALL, tap_times(axis, place, times))
        for axis in range(3)
        for place in PLACES
        for word, times in (("missing", 0), ("doubled", 2))
    },
    "infinity of the wrong sign": (ALL, on_values(infinity_negated)),
    "infinity made finite": (ALL, on_values(infinity_made_finite)),
    "NaN dropped": (ALL, on_windows(nan_dropped)),
    "NaN of infinities missed": (ALL, on_values(nan_of_infinities_missed)),
}
"""Each fault with the element types in which a kernel can have it, and it can be told from honesty.

A single truncation in f32 or f64 cannot: it errs by less than one unit in the last place, as a
product with a rounded reciprocal may.
"""
