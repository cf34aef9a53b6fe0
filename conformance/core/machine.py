"""A simulated machine: the same tree computed step by step in floating point, with given habits.

What is computed is the operator's; how, is a :class:`Style`. Mutants of arithmetic are styles, of
any operator; an honest style stays within the accepted intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.evaluate import Evaluation
from conformance.core.exact import Number
from conformance.core.functions import FUNCTIONS
from conformance.core.index_space import COMPARISONS, IndexSpace, Part
from conformance.core.operator import Definition, Operator, Output
from conformance.core.real import Real
from conformance.core.tree import Node
from conformance.dtypes import DTYPES, Array, DType, converted

Floats = NDArray[np.float64]

WHOLE: Mapping[str, Callable[[Floats], Floats]] = {
    "": np.rint,
    "nearest": np.rint,
    "away": lambda values: np.copysign(np.floor(np.abs(values) + 0.5), values),
    "toward_zero": np.trunc,
    "down": np.floor,
}
"""How a machine makes whole numbers, by the rounding of a definition."""


@dataclass(frozen=True)
class Style:
    """The habits of a machine.

    ``computes`` is the format of every operation, ``sums`` that of sums, by default the same, and
    ``divides`` one that a division first rounds both numbers to, if it is another. Each may be
    :data:`OWN`; where ``computes`` is :data:`EXACT` nothing is rounded before the end.
    ``order`` is forward, backward or pairwise. ``reciprocal``: it multiplies by 1 / x for a
    division. ``rounding`` of the result is nearest, toward_zero, or up_from_odd: cut off where the
    last digit that is kept is even, else to nearest. ``converts`` is a format that inputs pass
    through; where it ``clamps``, what is too large becomes the largest number. ``skips_nan``: sums
    and searches pass over NaN. ``from_zero``: a search for the largest begins with 0. ``flushes``:
    subnormal results are 0. ``saturates``: results that are too large are the largest number.
    """

    computes: str = "f32"
    sums: str = ""
    order: str = "forward"
    reciprocal: bool = False
    rounding: str = "nearest"
    converts: str = ""
    skips_nan: bool = False
    from_zero: bool = False
    flushes: bool = False
    saturates: bool = False
    divides: str = ""
    clamps: bool = False


OWN = "own"
"""The format of the data."""

SEQUENTIAL = ("f16", "bf16", "f32", "f64")
"""Formats in which numpy combines one after the other, and rounds each result once."""

EXACT = "exact"
"""No format: numbers are exact."""


def settled(style: Style, dtype: DType) -> Style:
    """Return a style with the format of the data in the place of :data:`OWN`."""
    names = ("computes", "sums", "divides", "converts")
    changes: Any = {name: dtype.name for name in names if getattr(style, name) == OWN}
    return replace(style, **changes)


def fitted(values: Any, format_: DType, rounding: str = "nearest") -> Floats:
    """Round float64 values to a format; they stay float64."""
    values = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        if rounding == "nearest" and format_.numpy.kind == "f":
            # numpy's own types round once, to nearest.
            return values.astype(format_.numpy).astype(np.float64)
        exponent = np.frexp(values)[1]
        last = np.maximum(exponent - format_.digits, format_.quantum)
        whole = np.ldexp(values, -last)
        scaled = np.rint(whole) if rounding == "nearest" else np.trunc(whole)
        if rounding == "up_from_odd":
            scaled = np.where(scaled % 2 == 0, scaled, np.rint(whole))
        result = np.ldexp(scaled, last)
        limit = 2.0 ** (format_.emax + 1) if format_.emax < 1023 else np.inf
        result = np.where(np.abs(result) >= limit, np.copysign(np.inf, result), result)
        return np.where(np.isfinite(values), result, values)


class Simulation(Evaluation):
    """One case as a machine of some style computes it."""

    def __init__(
        self,
        operator: Operator,
        attributes: Mapping[str, Any],
        inputs: Mapping[str, Array | None],
        style: Style,
    ) -> None:
        super().__init__(operator, attributes, inputs)
        self.style = style

    def space(self, definition: Definition, part: Part | None = None) -> IndexSpace:
        """Return a definition over its index space, as the machine computes it."""
        return _MachineSpace(self, definition, self.style, part)

    def input(self, name: str) -> Real | Array:
        """Return an input as the machine reads it."""
        array = super().input(name)
        if not isinstance(array, Real):
            return array
        values = self.inputs[name].astype(np.float64)
        if not self.style.converts:
            return _floats(values)
        through = DTYPES[self.style.converts]
        if self.style.clamps:
            values = converted(values, through, saturates=True).astype(np.float64)
        return _floats(fitted(values, through))

    def _rounded(self, output: Output, dtype: DType) -> Array:
        value = self.value(output.name)
        if not isinstance(value, Real):
            return value.astype(dtype.numpy)
        if not dtype.is_float:
            return self._whole(WHOLE[self._rounding_of(output)](_held(value)), dtype)
        result = fitted(_held(value), dtype, self.style.rounding)
        if self.style.saturates:
            largest = float(np.finfo(np.float64).max) if dtype.emax == 1023 else _largest(dtype)
            result = np.where(np.isnan(result), result, np.clip(result, -largest, largest))
        if self.style.flushes:
            result = np.where(np.abs(result) < 2.0**dtype.emin, 0.0, result)
        return result.astype(dtype.numpy)

    def _whole(self, values: Floats, dtype: DType) -> Array:
        """Whole numbers in their type, in which those that are too large wrap around.

        A machine that saturates has the largest of its numbers that are in the type instead.
        """
        low, high = dtype.limits
        count = high - low + 1
        held = np.nan_to_num(values, posinf=0.0, neginf=0.0)
        integers: Any = np.frompyfunc(int, 1, 1)(held)
        if self.style.saturates:
            largest = float(high)
            if int(largest) > high:  # it has no number of its own in f64
                largest = float(np.nextafter(largest, 0))
            held_largest = fitted(largest, DTYPES[self.style.computes], "toward_zero")
            wrapped = np.clip(integers, low, int(held_largest))
        else:
            wrapped = (integers - low) % count + low
        return np.asarray(wrapped, object).astype(dtype.numpy)


def _largest(dtype: DType) -> float:
    return float((2 - 2.0 ** (1 - dtype.digits)) * 2.0**dtype.emax)


def _floats(values: Any) -> Real:
    """What a machine holds, in the place of exact numbers: it only passes through."""
    return Real(Number(np.asarray(values, np.float64)))


def _held(real: Real) -> Floats:
    assert isinstance(real.value, Number)
    return np.asarray(real.value.num)


class _MachineSpace(IndexSpace):
    """A definition over its index space, computed in floating point."""

    def __init__(
        self, evaluation: Simulation, definition: Definition, style: Style, part: Part | None
    ) -> None:
        super().__init__(evaluation, definition, part)
        self.style = style
        self.window = None  # a machine visits every term

    def without_unread(self) -> IndexSpace:
        return self

    def constant(self, value: Any) -> Real:
        return _floats(np.asarray(value).astype(np.float64))

    def given(self, value: Any, _dtype: DType) -> Real:
        return self.constant(value)

    def visit(self, node: Node) -> Any:
        asks = node.op in COMPARISONS or node.op == "is_nan"
        if asks and any(arg.kind.type == "real" for arg in node.args):
            return FUNCTIONS[node.op].plain(*(_held(self.real(arg)) for arg in node.args))
        return super().visit(node)

    def operation(self, node: Node) -> Real:
        computes = DTYPES[self.style.computes]
        if node.op == "where":
            condition = self._plain(node.args[0])
            if not isinstance(condition, np.ndarray):
                return self.real(node.args[1 if condition else 2])
            return _floats(np.where(condition, *(_held(self.real(arg)) for arg in node.args[1:])))
        if node.op == "flushed":
            held = _held(self.real(node.args[0]))
            tiny = 2.0 ** self._dtype_of(str(node.args[0].value)).emin
            return _floats(np.where(np.abs(held) < tiny, 0.0, held))
        row = FUNCTIONS[node.op]
        with np.errstate(all="ignore"):
            first = _held(self.real(node.args[0]))
            if node.op == "**" or row.real is not None:
                parameters = [
                    self._whole(arg) if arg.kind.type == "int" else _held(self.real(arg))
                    for arg in node.args[1:]
                ]
                run: Any = np.power if row.real is None else row.real.machine
                return _floats(fitted(run(first, *parameters), computes))
            values = [first, *(_held(self.real(arg)) for arg in node.args[1:])]
            if node.op == "/":
                if self.style.divides:
                    computes = DTYPES[self.style.divides]
                    values = [fitted(value, computes) for value in values]
                    first = values[0]
                inverse = fitted(1 / values[1], computes)
                quotient = first * inverse if self.style.reciprocal else first / values[1]
                return _floats(fitted(quotient, computes))
            return _floats(fitted(row.plain(*values), computes))

    def times(self, a: Real, b: Real) -> Real:
        return _floats(fitted(_held(a) * _held(b), DTYPES[self.style.computes]))

    def _outside(self, name: str, picked: Any, inside: NDArray[np.bool_]) -> Any:
        policy = self.definition.outside
        if isinstance(picked, Real) and isinstance(policy, Node):
            return _floats(np.where(inside, _held(picked), _held(self.real(policy))))
        return super()._outside(name, picked, inside)

    def _combined(self, term: Node) -> tuple[Real, NDArray[np.int64]]:
        definition = self.definition
        keep = [] if definition.keep is None else [np.asarray(self.visit(definition.keep))]
        values = self._over_all(_held(self.real(term)))
        mask = np.ones(np.shape(values), np.bool_)
        for part in keep + self.masks:
            mask = mask & part
        values = np.broadcast_to(values, mask.shape)
        if self.style.skips_nan:
            mask = mask & ~np.isnan(values)
        terms = self._count(self._stretched(mask))
        rows = (*mask.shape[: self.rows], prod(mask.shape[self.rows :]))
        shape = (*mask.shape[: self.rows], *[1] * len(self.summed))
        values, mask = values.reshape(rows), mask.reshape(rows)
        if definition.combine in ("sum", "product"):
            neutral = 0.0 if definition.combine == "sum" else 1.0
            return _floats(self._folded(np.where(mask, values, neutral)).reshape(shape)), terms
        return _floats(self._searched(values, mask).reshape(shape)), terms

    def _searched(self, values: Floats, mask: NDArray[np.bool_]) -> Floats:
        """The largest or smallest term of each row; of a choice, its indices too."""
        kind = self.definition.combine
        sign = -1 if "min" in kind else 1
        order = np.where(mask, np.where(np.isnan(values), np.inf, sign * values), -np.inf)
        # A term that is left out is never the best, not of minus infinities either.
        largest = mask & (order == order.max(-1, initial=-np.inf, keepdims=True))
        last = largest.shape[-1] - 1
        reverse = kind.startswith("last")
        best = last - largest[..., ::-1].argmax(-1) if reverse else largest.argmax(-1)
        if "_" in kind:
            self._choose_indices(best, (*best.shape, *[1] * len(self.summed)))
        chosen = np.take_along_axis(values, best[..., None], -1)[..., 0]
        chosen = np.where(mask.any(-1), chosen, -sign * np.inf)
        return np.maximum(chosen, 0) if self.style.from_zero else chosen

    def _refuse_nothing(self, unspecified: NDArray[np.bool_]) -> None:
        """Refuse nothing: a program has some value."""

    def _folded(self, terms: Floats) -> Floats:
        """The terms of each row, added or multiplied in the order of the style."""
        format_ = DTYPES[self.style.sums or self.style.computes]
        run = np.add if self.definition.combine == "sum" else np.multiply
        if not format_.is_float:  # it wraps around
            result = run.reduce(terms.astype(format_.numpy), -1, format_.numpy)
            return fitted(result, DTYPES[self.style.computes])
        if not terms.shape[-1]:
            return np.full(terms.shape[:-1], float(run.identity))
        with np.errstate(all="ignore"):
            terms = fitted(terms[..., ::-1] if self.style.order == "backward" else terms, format_)
            if self.style.order == "pairwise":
                while terms.shape[-1] > 1:
                    even = terms.shape[-1] // 2 * 2
                    pairs = fitted(run(terms[..., 0:even:2], terms[..., 1:even:2]), format_)
                    terms = np.concatenate([pairs, terms[..., even:]], -1)
                return terms[..., 0]
            if format_.name in SEQUENTIAL:
                return run.accumulate(terms.astype(format_.numpy), -1)[..., -1].astype(np.float64)
            total = terms[..., 0]
            for k in range(1, terms.shape[-1]):
                total = fitted(run(total, terms[..., k]), format_)
        return total
