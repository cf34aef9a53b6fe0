r"""Means to measure intervals by: shipped and generated windows, honest evaluations, TOSA's bound.

**Honest evaluations.** Forward, backward, pairwise and three shuffled orders, each with a division
at the end, a rounded reciprocal at the end, and terms scaled by it first; in the narrowest
accumulator that the precision allows, then rounded to T.

**Windows.** Every graded mean of a suite, and generated ones of 1 to 4096 taps: four patterns of
`conformance.core.patterns` with fixed seeds, and *stalled* ones that are made to be hard: a 1
followed by numbers of half its last place in the accumulator, each of which a forward sum loses.
Where the windows lie is computed by the second implementation, ``tests/reference/second.py``.

**TOSA** (specification 1.0.2: "Dot product accuracy requirements" under 1.10.3, AVG_POOL2D in
2.3.2, test data in Appendix A), in our words. Let m be the smallest normal number of T, b the mean
of max(|x|, m), and f the number of fraction bits that a type stores. A result is accepted if its
distance from the exact one is at most

    2 ksb max(b 2**(-1 - f(T)), m)    with    ksb = ceil(KS / 2**((f(A) - f(T)) / 2)),

where A is the accumulator's type and KS the size of the kernel, also where part of it is off the
data. There is no limit where b + 2 ksb b 2**(-1 - f(T)) is infinite in T. We take the halved
exponent as it stands; rounded down to a whole number, as in C, it makes ksb larger. TOSA bounds
the mean and the variance of the errors over whole tensors too, which says nothing of one element,
and it has no f64 and no accumulation in bf16.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import count, product
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.answers import accumulator, answers
from conformance.core.data import inputs_of
from conformance.core.integers import as_wide, decode, round_ratio
from conformance.dtypes import DTYPES, Array, DType
from conformance.model import OPEN_BIT, Answer, Case
from conformance.specification import find_spec
from conformance.suite.store import Suite

sys.path.append(str(Path(__file__).parents[1] / "reference"))
import second

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 96, 256, 384, 1024, 4096)
PATTERNS = ("normal", "cancel", "steady", "wide")
WINDOWS = 12  # of each pattern and size

_ARRAYS = ("taps", "divisor", "kernel", "lo", "hi")

Room = list[tuple[Fraction, Fraction]]
"""For each mean how far something goes below and above the exact one."""


@dataclass(frozen=True)
class Means:
    """Graded means of n taps each: ``taps`` is (means, n) in T, all else (means,).

    ``kernel`` is the number of taps of the whole window, also of those off the data.
    """

    dtype: DType
    precision: str
    taps: Array
    divisor: NDArray[np.int64]
    kernel: NDArray[np.int64]
    lo: Array
    hi: Array

    def chosen(self, which: NDArray[np.bool_]) -> Means:
        """Some of the means."""
        return replace(self, **{name: getattr(self, name)[which] for name in _ARRAYS})

    @cached_property
    def exact(self) -> list[Fraction]:
        rows = self.taps.astype(np.float64).tolist()
        return [
            sum(map(Fraction, row), Fraction(0)) / divisor
            for row, divisor in zip(rows, self.divisor.tolist(), strict=True)
        ]

    @property
    def at_border(self) -> NDArray[np.bool_]:
        """Where part of the window is off the data."""
        return np.asarray(self.kernel > self.taps.shape[1])

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """How many values of T are accepted."""
        return self.dtype.ulp_distance(self.lo, self.hi) + 1

    @cached_property
    def accepted(self) -> Room:
        return self._around(self.lo, self.hi)

    @cached_property
    def reached(self) -> Room:
        """How far honest evaluations go; negative where they stay on the other side."""
        got = np.stack([values.astype(np.float64) for _, values in honest(self)])
        return self._around(got.min(axis=0), got.max(axis=0))

    def _around(self, low: Array, high: Array) -> Room:
        ends = (end.astype(np.float64).tolist() for end in (low, high))
        return [
            (exact - Fraction(a), Fraction(b) - exact)
            for exact, a, b in zip(self.exact, *ends, strict=True)
        ]


# --- Windows --------------------------------------------------------------------------------------


def means_of(case: Case, data: Array, answer: Answer, precision: str) -> Iterator[Means]:
    """The graded means of one case with finite taps and ends, by their number of taps."""
    sizes = case.operands.get("output_size", ())
    _, found = second.windows(case.op, data.shape[2:], case.attributes, sizes, frozenset())
    native = precision == "native" and answer.lo_native is not None
    ends = (answer.lo_native, answer.hi_native) if native else (answer.lo, answer.hi)
    lo, hi = (np.asarray(end).reshape(-1, len(found)) for end in ends)
    graded = np.isfinite(lo) & np.isfinite(hi)
    if answer.open is not None:
        graded &= (answer.open.reshape(graded.shape) & OPEN_BIT[precision]) == 0
    planes = data.reshape(len(lo), -1)
    kernel = np.array([window.length for window in found])
    divisor = np.array([window.divisor or 0 for window in found])  # 0 where nothing is graded
    on_data = np.array([len(window.taps) for window in found])
    for n in sorted(set(on_data.tolist()) - {0}):
        (windows,) = np.nonzero(on_data == n)
        taps = planes[:, [found[window].taps for window in windows]]
        kept = graded[:, windows] & np.isfinite(taps).all(axis=-1)
        window = np.broadcast_to(windows, kept.shape)[kept]
        yield Means(
            dtype=DTYPES[answer.dtype],
            precision=precision,
            taps=taps[kept],
            divisor=divisor[window],
            kernel=kernel[window],
            lo=lo[:, windows][kept],
            hi=hi[:, windows][kept],
        )


OPERATORS = ("AvgPool-1", "AdaptiveAvgPool-8")
"""Those whose means are set beside TOSA's."""


def suite_means(suite: Suite, dtype: str, precision: str) -> list[Means]:
    """All graded means of a suite in one element type, one entry for each number of taps."""
    return _by_taps(
        means
        for vector in suite.vectors(OPERATORS)
        if vector.case.reject is None and vector.case.types["T"] == dtype
        for means in means_of(vector.case, vector.inputs[0], vector.answers[0], precision)
    )


def generated_means(dtype: str, precision: str, sizes: Iterable[int] = SIZES) -> list[Means]:
    """Graded means of generated windows, one entry for each number of taps."""
    found: list[Means] = []
    for seed, (n, pattern) in enumerate(product(sizes, PATTERNS)):
        case = one_window(dtype, (1, WINDOWS, n), pattern, seed)
        found += answered(case, inputs_of(find_spec(case.op), case)[0], precision)
    for n in sizes:
        found += answered(
            one_window(dtype, (1, 1, n)), stalled(n, DTYPES[dtype], precision), precision
        )
    return _by_taps(found)


def stalled(n: int, dtype: DType, precision: str) -> Array:
    """A 1 and n - 1 numbers of half its last place in the accumulator: (1, 1, n) in T."""
    data = np.full((1, 1, n), 2.0 ** -accumulator(dtype, precision).digits)
    data[..., 0] = 1
    return data.astype(dtype.numpy)


def one_window(dtype: str, shape: tuple[int, ...], pattern: str = "stalled", seed: int = 0) -> Case:
    """The case in which each row is one window."""
    types = {"T": dtype, "T_SHAPE": "i64"}
    operands = {"output_size": (1,)}
    return Case("AdaptiveAvgPool-8", types, {"data": shape}, {}, operands, pattern, seed)


def answered(case: Case, data: Array, precision: str) -> Iterator[Means]:
    return means_of(
        case, data, answers(find_spec(case.op), case, [data, np.ones(1, np.int64)])[0], precision
    )


def _by_taps(found: Iterable[Means]) -> list[Means]:
    some: dict[int, list[Means]] = {}
    for means in found:
        some.setdefault(means.taps.shape[1], []).append(means)
    return [_joined(parts) for _, parts in sorted(some.items())]


def _joined(parts: list[Means]) -> Means:
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS
    }
    return replace(parts[0], **arrays)


# --- Honest evaluations ---------------------------------------------------------------------------


def _forward(terms: Array) -> Array:
    total = terms[:, 0]
    for i in range(1, terms.shape[1]):
        total = total + terms[:, i]
    return total


def _pairwise(terms: Array) -> Array:
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        pairs = terms[:, :half] + terms[:, half : 2 * half]
        terms = np.concatenate([pairs, terms[:, 2 * half :]], axis=1)
    return terms[:, 0]


def _shuffled(seed: int) -> Callable[[Array], Array]:
    def run(terms: Array) -> Array:
        words = np.random.Philox(key=seed).random_raw(terms.shape[1])
        return _forward(terms[:, np.argsort(words, kind="stable")])

    return run


ORDERS: dict[str, Callable[[Array], Array]] = {
    "forward": _forward,
    "backward": lambda terms: _forward(terms[:, ::-1]),
    "pairwise": _pairwise,
    **{f"shuffled {seed}": _shuffled(seed) for seed in (1, 2, 3)},
}


def honest(means: Means) -> Iterator[tuple[str, Array]]:
    """The name of each honest evaluation, and what it gives: (means,) in T."""
    kind, own = accumulator(means.dtype, means.precision).numpy, means.dtype.numpy
    terms, divisor = means.taps.astype(kind), means.divisor.astype(kind)
    with np.errstate(under="ignore"):
        reciprocal = (kind.type(1) / divisor).astype(kind)
        for name, order in ORDERS.items():
            total = order(terms)
            yield f"{name}, divided", (total / divisor).astype(own)
            yield f"{name}, times the reciprocal", (total * reciprocal).astype(own)
            yield f"{name}, scaled first", order(terms * reciprocal[:, None]).astype(own)


# --- TOSA -----------------------------------------------------------------------------------------


def tosa_distance(means: Means) -> list[Fraction | None]:
    """How far from each exact mean TOSA accepts a result; None where it sets no limit."""
    dtype = means.dtype
    narrower = accumulator(dtype, means.precision).digits - dtype.digits
    # f(T) + 1 is the number of digits; on this scale b 2**(-digits) times d is a whole number.
    decoded = decode(means.taps, dtype)
    exponent = min(decoded.exponent, dtype.emin) - dtype.digits
    smallest = 1 << (dtype.emin - exponent)
    sizes = np.abs(as_wide(decoded.significand)) << (decoded.exponent - exponent)
    bound = np.maximum(sizes, smallest).sum(axis=1)
    unit, divisor = bound >> dtype.digits, as_wide(means.divisor)
    twice = 2 * np.array([_ksb(kernel, narrower) for kernel in means.kernel.tolist()], object)
    unlimited = np.isinf(round_ratio(bound + twice * unit, divisor, exponent, dtype))
    return [
        None if free else Fraction(distance, d) * Fraction(2) ** exponent
        for distance, d, free in zip(
            twice * np.maximum(unit, smallest * divisor), divisor, unlimited, strict=True
        )
    ]


def _ksb(kernel: int, narrower: int) -> int:
    """``ceil(kernel / 2**(narrower / 2))`` in whole numbers."""
    least = isqrt((kernel * kernel) >> narrower)
    return next(k for k in count(least) if (k * k) << narrower >= kernel * kernel)


def tosa_count(exact: Fraction, distance: Fraction, dtype: DType) -> int:
    """How many values of T lie within ``distance`` of the exact mean."""
    low = _ordinal(exact - distance, dtype, up=True)
    return max(0, _ordinal(exact + distance, dtype, up=False) - low + 1)


def _ordinal(end: Fraction, dtype: DType, *, up: bool) -> int:
    """The ordinal of the first value of T at or above ``end``, or the last at or below it."""
    numerator, denominator = (np.array([n], object) for n in end.as_integer_ratio())
    near = round_ratio(numerator, denominator, 0, dtype)
    value = Fraction(float(near[0]))
    return int(dtype.ordinals(near)[0]) + (up and value < end) - (not up and value > end)


def wider_than_tosa(means: Means) -> list[int]:
    """Which means accept a value that TOSA refuses, by their place."""
    return [
        i
        for i, (room, distance) in enumerate(zip(means.accepted, tosa_distance(means), strict=True))
        if distance is not None and max(room) > distance
    ]
