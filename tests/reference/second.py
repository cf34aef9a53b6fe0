"""A second implementation of the three seed operators, written from their documents alone.

It shares nothing with ``conformance``: plain loops over windows, Python integers, and
``fractions.Fraction``. It is slow, and meant to be read beside the documents. What those leave out
(elements that are open, readings that are allowed, accepted intervals) follows the rules that
``docs/semantics.md`` numbers W1.., A1.. and D1...

Numbers. Every finite value of a floating-point type is a whole number of its smallest subnormals
(*quanta*), so tensors are lists of integers, and sums are sums of integers; infinities and NaN
stay Python floats. Results are *ordinals*: the position of a value among all values of its type,
0 for both zeros, negative for negative values, None for NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import combinations, product
from typing import Any

Number = int | float  # quanta, or a float infinity or NaN
Ordinal = int | None  # None is NaN

EXACT, STANDARD, NATIVE = 1, 2, 4  # an element's ``open`` is a sum of these

ROOM = 44
"""The package rounds magnitudes upward, in float64: by less than one part in 2**ROOM."""


# --- Floating-point types ------------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """An IEEE 754 binary format: precision in bits and the exponent range of its normal values."""

    precision: int
    emin: int
    emax: int

    @cached_property
    def quantum(self) -> int:
        """The exponent of the smallest subnormal."""
        return self.emin - self.precision + 1

    @cached_property
    def smallest_normal(self) -> int:
        """In quanta."""
        return 1 << (self.precision - 1)

    @cached_property
    def largest(self) -> int:
        """The largest finite value, in quanta."""
        return ((1 << self.precision) - 1) << (self.emax - self.emin)

    @cached_property
    def infinity(self) -> int:
        """The ordinal of +infinity, which is also its code."""
        return (self.emax - self.emin + 2) << (self.precision - 1)

    @cached_property
    def sign_bit(self) -> int:
        return 1 << self.infinity.bit_length()

    @cached_property
    def unit_roundoff(self) -> Fraction:
        return Fraction(1, 2**self.precision)


FORMATS = {
    "f16": Format(11, -14, 15),
    "bf16": Format(8, -126, 127),
    "f32": Format(24, -126, 127),
    "f64": Format(53, -1022, 1023),
}


def accumulator(dtype: str, precision: int) -> Format:
    """The narrowest accumulator that a precision allows."""
    wide = "f64" if dtype == "f64" else "f32"
    return FORMATS[wide if precision == STANDARD else dtype]


def ordinal_of_code(code: int, fmt: Format) -> Ordinal:
    """The ordinal of the value with the bits ``code``."""
    magnitude = code % fmt.sign_bit
    if magnitude > fmt.infinity:
        return None
    return -magnitude if code >= fmt.sign_bit else magnitude


def number_of_code(code: int, fmt: Format) -> Number:
    """The value with the bits ``code``: quanta, or a float infinity or NaN."""
    return number_of_ordinal(ordinal_of_code(code, fmt), fmt)


def number_of_ordinal(ordinal: Ordinal, fmt: Format) -> Number:
    """The inverse of counting: quanta, or a float infinity or NaN."""
    if ordinal is None:
        return math.nan
    if abs(ordinal) == fmt.infinity:
        return math.copysign(math.inf, ordinal)
    exponent, fraction = divmod(abs(ordinal), fmt.smallest_normal)
    if exponent == 0:  # subnormal
        return ordinal
    quanta = (fmt.smallest_normal + fraction) << (exponent - 1)
    return quanta if ordinal > 0 else -quanta


def nearest(value: Fraction, fmt: Format, tie: str = "even") -> int:
    """The ordinal nearest to ``value`` quanta; ``tie`` is "even", "up" or "down".

    Values from the overflow threshold on (half a step above the largest) are infinite; the
    threshold itself is a tie like others, since the step to infinity has the usual width.
    """
    if value < 0:
        return -nearest(-value, fmt, {"even": "even", "up": "down", "down": "up"}[tie])
    whole = value.numerator // value.denominator
    shift = max(0, whole.bit_length() - fmt.precision)  # the step here is 2**shift quanta
    steps, rest = divmod(value.numerator, value.denominator << shift)
    half = 2 * rest - (value.denominator << shift)
    if half > 0 or (half == 0 and (tie == "up" or (tie == "even" and steps % 2))):
        steps += 1
    return min(shift * fmt.smallest_normal + steps, fmt.infinity)


def converted(value: Fraction, source: Format, target: Format) -> Fraction:
    """A value in quanta of ``source`` as quanta of ``target``."""
    return value * Fraction(2) ** (source.quantum - target.quantum)


def flushed(x: Number, fmt: Format) -> Number:
    """The value with subnormals replaced by zero."""
    return 0 if abs(x) < fmt.smallest_normal else x


# --- Answers -------------------------------------------------------------------------------------

Interval = tuple[Ordinal, Ordinal]


@dataclass(frozen=True)
class Element:
    """What one floating-point element must be.

    ``expected`` is an ordinal of f64; ``rounded`` and the ends of the intervals are ordinals of
    the output's type. ``vanishes`` is a sum of the precisions at which the result may be
    subnormal, so that a backend that flushes those may return zero, and ``near`` one of those at
    which partial sums come near to overflow.
    """

    expected: Ordinal
    rounded: Ordinal
    standard: Interval
    native: Interval
    open: int = 0
    vanishes: int = 0
    near: int = 0


@dataclass(frozen=True)
class Index:
    """What one integer element must be: one of ``choices``, by the reference ``expected``."""

    expected: int
    choices: frozenset[int]
    open: int = 0


@dataclass(frozen=True)
class Output:
    """One output: its shape, and each ``Element`` or ``Index`` in row-major order."""

    shape: tuple[int, ...]
    elements: list[Any]


ALL_OPEN = EXACT | STANDARD | NATIVE
UNCHECKED = Element(None, None, (None, None), (None, None), ALL_OPEN)
UNCHECKED_INDEX = Index(-1, frozenset(), ALL_OPEN)


def special(ordinal64: Ordinal, ordinal: Ordinal, open_: int = 0, near: int = 0) -> Element:
    """An element for which only one value is right: NaN or an infinity."""
    only = (ordinal, ordinal)
    return Element(ordinal64, ordinal, only, only, open_, near=near)


# --- Averages ------------------------------------------------------------------------------------


def sum_is_exact(taps: Sequence[int], divisor: int, fmt: Format, acc: Format) -> bool:
    """Whether no honest evaluation rounds anything, in any order, scaled before or after.

    All taps are multiples of some power of two, and so are their partial sums, none of which
    exceeds the sum of magnitudes. Dividing by a power of two is exact while no digit falls below
    the smallest subnormal. A sum of 2**precision units would be exact too, and one just below is;
    the package, which rounds magnitudes upward, does not see it.
    """
    if not taps:  # nothing is added; W8 says what the result is
        return True
    magnitudes = [abs(x) for x in taps if x]
    if not magnitudes:
        return True
    if divisor & (divisor - 1):
        return False
    common = min(x & -x for x in magnitudes)
    smallest = Fraction(2) ** (acc.quantum - fmt.quantum)
    s = sum(magnitudes)
    few_digits = s + (s >> ROOM) < common * 2**acc.precision
    return few_digits and Fraction(common, divisor) >= smallest


@cache
def relative_error(n: int, divisor: int, acc: Format) -> Fraction:
    """The factor of S/d in the bound: n-1 additions and a division or a rounded reciprocal."""
    u = acc.unit_roundoff
    odd = divisor // (divisor & -divisor)
    k = 2 if odd < 2**acc.precision and divisor < 2 ** (acc.emax + 1) else 3
    if odd == 1:  # dividing by a power of two, and its reciprocal, are not rounded
        k = 0
    return (n - 1) * u * (1 + u) ** k + (1 + u) ** k - 1


def error_bound(taps: Sequence[int], divisor: int, fmt: Format, acc: Format) -> Fraction:
    """E, in quanta of the output's type."""
    if sum_is_exact(taps, divisor, fmt, acc):
        return Fraction(0)
    n, s = len(taps), sum(abs(x) for x in taps)
    smallest = Fraction(2) ** (acc.quantum - fmt.quantum)
    return relative_error(n, divisor, acc) * Fraction(s, divisor) + (n + 1) * smallest


def flush_bound(taps: Sequence[int], divisor: int, fmt: Format, acc: Format) -> Fraction:
    """What flushing subnormal taps, products and partial sums to zero adds to E.

    Terms may be scaled before they are added, so what a product loses is not divided.
    """
    lost = sum(abs(x) for x in taps if abs(x) < fmt.smallest_normal)
    smallest_normal = Fraction(2) ** (acc.emin - fmt.quantum)
    return Fraction(lost) / divisor + (2 * len(taps) - 1) * smallest_normal


def may_be_subnormal(taps: Sequence[int], divisor: int, dtype: str, precision: int) -> bool:
    """Whether the result and its bound together stay below the smallest normal value."""
    fmt, acc = FORMATS[dtype], accumulator(dtype, precision)
    largest = abs(Fraction(sum(taps), divisor)) + error_bound(taps, divisor, fmt, acc)
    return largest < fmt.smallest_normal


def interval(
    taps: Sequence[int], divisor: int, dtype: str, precision: int, flush: bool
) -> Interval:
    """[r - E, r + E], each end rounded to the nearest value and a tie outward.

    E is larger by what the package adds to magnitudes.
    """
    fmt, acc = FORMATS[dtype], accumulator(dtype, precision)
    r = Fraction(sum(taps), divisor)
    bound = error_bound(taps, divisor, fmt, acc)
    if flush:
        bound += flush_bound(taps, divisor, fmt, acc)
        if abs(r) + bound < fmt.smallest_normal:
            bound += fmt.smallest_normal
    bound *= 1 + Fraction(1, 2**ROOM)
    return nearest(r - bound, fmt, "down"), nearest(r + bound, fmt, "up")


def overflows(taps: Sequence[Number], acc: Format, fmt: Format, roundings: int) -> bool:
    """A9: whether some order of evaluation may overflow the accumulator."""
    s = sum(abs(x) for x in taps if isinstance(x, int))
    bound = converted(s * (1 + roundings * acc.unit_roundoff), fmt, acc)
    return bound > acc.largest


@lru_cache(maxsize=200_000)
def mean(taps: tuple[Number, ...], divisor: int, dtype: str, flush: bool) -> Element:
    """The mean of one window."""
    fmt, f64 = FORMATS[dtype], FORMATS["f64"]
    infinities = {x for x in taps if isinstance(x, float) and math.isinf(x)}
    if len(infinities) == 2 or any(isinstance(x, float) and math.isnan(x) for x in taps):
        return special(None, None)
    open_ = near = 0
    for precision in (STANDARD, NATIVE):
        acc = accumulator(dtype, precision)
        if overflows(taps, acc, fmt, 2 * len(taps) + 6):
            near |= precision
        if overflows(taps, acc, fmt, len(taps)) or divisor > 2**-acc.emin:  # a subnormal reciprocal
            open_ |= precision
    if infinities:
        sign = 1 if infinities.pop() > 0 else -1
        return special(sign * f64.infinity, sign * fmt.infinity, open_, near)
    finite = [x for x in taps if isinstance(x, int)]
    r = Fraction(sum(finite), divisor)
    return Element(
        nearest(converted(r, fmt, f64), f64),
        nearest(r, fmt),
        interval(finite, divisor, dtype, STANDARD, flush),
        interval(finite, divisor, dtype, NATIVE, flush),
        open_,
        sum(p for p in (STANDARD, NATIVE) if flush and may_be_subnormal(finite, divisor, dtype, p)),
        near,
    )


# --- Windows -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """A window along one axis, in coordinates of the data; ``limit`` ends the padded input."""

    start: int
    stop: int
    size: int
    limit: int

    @property
    def taps(self) -> range:
        return range(max(self.start, 0), min(self.stop, self.size))

    @property
    def length(self) -> int:
        return self.stop - self.start

    @property
    def padded_length(self) -> int:
        return min(self.stop, self.limit) - self.start

    @property
    def overruns(self) -> bool:
        return self.stop > self.limit

    @property
    def starts_beyond(self) -> bool:
        return self.start >= self.limit


def ceil_div(a: int, b: int) -> int:
    return -((-a) // b)


def pads(size: int, kernel: int, stride: int, begin: int, end: int, auto: str) -> tuple[int, int]:
    """W2: what is added at the begin and the end of one axis."""
    if auto == "valid":
        return 0, 0
    if auto == "explicit":
        return begin, end
    total = max(0, (ceil_div(size, stride) - 1) * stride + kernel - size)
    small, large = total // 2, total - total // 2
    return (small, large) if auto == "same_upper" else (large, small)


def all_pads(sizes: Sequence[int], attributes: Mapping[str, Any]) -> list[tuple[int, int]]:
    """The pads of each axis after ``auto_pad``."""
    auto = attributes.get("auto_pad", "explicit")
    rows = zip(
        sizes,
        attributes["kernel"],
        attributes["strides"],
        attributes["pads_begin"],
        attributes["pads_end"],
        strict=True,
    )
    return [pads(*row, auto) for row in rows]


def average_spans(
    sizes: Sequence[int], attributes: Mapping[str, Any], readings: frozenset[str]
) -> list[list[Span]]:
    """The windows of AvgPool-1 along each axis (W3 to W6)."""
    auto = attributes.get("auto_pad", "explicit")
    ceil = attributes.get("rounding_type", "floor") == "ceil"
    if auto == "valid" and "valid-is-floor" in readings:
        ceil = False
    axes = []
    for size, kernel, stride, (begin, end) in zip(
        sizes, attributes["kernel"], attributes["strides"], all_pads(sizes, attributes), strict=True
    ):
        room = size + begin + end - kernel
        count = (ceil_div(room, stride) if ceil else room // stride) + 1
        if auto.startswith("same") and "same-ignores-rounding" in readings:
            count = ceil_div(size, stride)
        starts = [i * stride - begin for i in range(count)]
        axes.append([Span(start, start + kernel, size, size + end) for start in starts])
    return axes


def adaptive_spans(sizes: Sequence[int], counts: Sequence[int]) -> list[list[Span]]:
    """The windows of the adaptive operators along each axis (D1)."""
    return [
        [
            Span((i * size) // count, ceil_div((i + 1) * size, count), size, size)
            for i in range(count)
        ]
        for size, count in zip(sizes, counts, strict=True)
    ]


def positions(window: Sequence[Span], sizes: Sequence[int]) -> list[int]:
    """The flat positions of a window's taps among the spatial elements, in row-major order."""
    flat = [0]
    for span, size in zip(window, sizes, strict=True):
        flat = [base * size + i for base in flat for i in span.taps]
    return flat


def planes(data: Sequence[Number], shape: Sequence[int]) -> Iterator[Sequence[Number]]:
    """The spatial elements of each batch and channel."""
    size = math.prod(shape[2:])
    for start in range(0, len(data), size):
        yield data[start : start + size]


# --- Operators -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """The flat positions of a window's taps on data, and the number of all.

    ``divisor`` is None where the mean is open.
    """

    taps: list[int]
    length: int
    divisor: int | None


def divisor_of(
    window: Sequence[Span], exclude: bool, padded: bool, readings: frozenset[str]
) -> int | None:
    """What a sum is divided by (A2 to A5), or None where the result is open (W8)."""
    taps = math.prod(len(span.taps) for span in window)
    if taps == 0:
        if exclude or not padded or any(span.starts_beyond for span in window):
            return None
        overruns = any(span.overruns for span in window)
        if overruns and "empty-overrun-unspecified" in readings:
            return None
    if exclude:
        return taps
    if padded:
        clip = "clip-divisor" in readings
        return math.prod(span.padded_length if clip else span.length for span in window)
    if "full-kernel-divisor" in readings:
        return math.prod(span.length for span in window)
    return taps


def windows(
    op: str,
    sizes: Sequence[int],
    attributes: Mapping[str, Any],
    output_size: Sequence[int],
    readings: frozenset[str],
) -> tuple[tuple[int, ...], list[Window]]:
    """The spatial shape of the output, and its windows in row-major order."""
    if op == "AvgPool-1":
        axes = average_spans(sizes, attributes, readings)
        exclude = attributes["exclude-pad"]
        padded = any(pad for both in all_pads(sizes, attributes) for pad in both)
    else:
        axes = adaptive_spans(sizes, output_size)
        exclude = padded = False
    found = [
        Window(
            positions(window, sizes),
            math.prod(span.length for span in window),
            divisor_of(window, exclude, padded, readings),
        )
        for window in product(*axes)
    ]
    return tuple(map(len, axes)), found


def maximum(
    plane: Sequence[Number], taps: Sequence[int], dtype: str, readings: frozenset[str]
) -> tuple[Element, Index]:
    """The largest of a window's elements and its index (D6 to D11)."""
    fmt, f64 = FORMATS[dtype], FORMATS["f64"]
    values = [plane[p] for p in taps]
    if any(x != x for x in values):
        return UNCHECKED, UNCHECKED_INDEX
    best = max(values)
    ties = [p for p, x in zip(taps, values, strict=True) if x == best]
    allowed = set(ties if "any-maximum" in readings else ties[:1])
    ends = [best, best]
    # A window of zeros alone has nothing to flush; which of them is chosen is for any-maximum.
    vanishes = "flushes-subnormals" in readings and flushed(best, fmt) == 0
    if vanishes and any(x and flushed(x, fmt) == 0 for x in values):
        ties = [p for p in taps if flushed(plane[p], fmt) == 0]
        allowed.update(ties)
        ends = sorted([best, 0])
        best = 0
    both = (exactly(ends[0], fmt, fmt), exactly(ends[1], fmt, fmt))
    value = Element(exactly(best, fmt, f64), exactly(best, fmt, fmt), both, both)
    return value, Index(ties[0], frozenset(allowed))


@cache
def exactly(x: Number, source: Format, target: Format) -> int:
    """The ordinal in ``target`` of a value of ``source``, which ``target`` holds exactly."""
    if isinstance(x, float):
        return int(math.copysign(target.infinity, x))
    return nearest(converted(Fraction(x), source, target), target)


def evaluate(
    op: str,
    dtype: str,
    codes: Sequence[int],
    shape: Sequence[int],
    attributes: Mapping[str, Any],
    output_size: Sequence[int] = (),
    readings: frozenset[str] = frozenset(),
) -> list[Output]:
    """The outputs of an operator for data given by their bits, in row-major order."""
    data = [number_of_code(code, FORMATS[dtype]) for code in codes]
    spatial, found = windows(op, shape[2:], attributes, output_size, readings)
    out = (*shape[:2], *spatial)
    if op == "AdaptiveMaxPool-8":
        pairs = [
            maximum(plane, window.taps, dtype, readings)
            for plane in planes(data, shape)
            for window in found
        ]
        return [Output(out, [value for value, _ in pairs]), Output(out, [i for _, i in pairs])]
    flush = "flushes-subnormals" in readings
    means = [
        UNCHECKED
        if window.divisor is None
        else mean(tuple(plane[p] for p in window.taps), window.divisor, dtype, flush)
        for plane in planes(data, shape)
        for window in found
    ]
    return [Output(out, means)]


def reading_sets(op: str, attributes: Mapping[str, Any]) -> list[frozenset[str]]:
    """Every combination of readings that can apply to a question."""
    able = ["flushes-subnormals"]
    if op == "AdaptiveMaxPool-8":
        able.append("any-maximum")
    if op == "AvgPool-1" and attributes.get("rounding_type") == "ceil":
        able += ["clip-divisor", "full-kernel-divisor", "empty-overrun-unspecified"]
        auto = attributes.get("auto_pad", "explicit")
        able += {"valid": ["valid-is-floor"], "explicit": []}.get(auto, ["same-ignores-rounding"])
    return [frozenset(some) for n in range(1, len(able) + 1) for some in combinations(able, n)]


# --- Validity ------------------------------------------------------------------------------------


def faults(
    op: str,
    shape: Sequence[int],
    attributes: Mapping[str, Any],
    output_size: Sequence[int] = (),
) -> list[tuple[str, str]]:
    """What is wrong with a question: level and reason of each broken rule.

    Rules about several quantities are asked only where each of them is sound by itself.
    """
    found = [] if 3 <= len(shape) <= 5 else [("must", "rank is not 3, 4 or 5")]
    if op == "AvgPool-1":
        return found + average_faults(shape, attributes)
    if len(output_size) != len(shape) - 2:
        found.append(("must", "output_size does not have one length for each spatial axis"))
    if any(n < 0 for n in output_size):
        found.append(("must", "a negative output_size"))
    if op == "AdaptiveMaxPool-8" and attributes.get("index_element_type", "i64") not in (
        "i32",
        "i64",
    ):
        found.append(("must", "index_element_type is neither i32 nor i64"))
    return found


def average_faults(shape: Sequence[int], attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The broken rules of AvgPool-1, but for the rank."""
    sizes = shape[2:]
    auto = attributes.get("auto_pad", "explicit")
    # OpenVINO takes a question without these, though its document calls them required.
    lenient = ("pads_begin", "pads_end", "exclude-pad")
    found = [
        ("may" if name in lenient else "must", f"{name} is not given")
        for name in ("kernel", "strides", *lenient)
        if name not in attributes
    ]
    if found:
        return found
    for name in ("kernel", "strides", "pads_begin", "pads_end"):
        if len(attributes[name]) != len(sizes):
            found.append(("must", f"{name} does not have one value for each spatial axis"))
    for name in ("kernel", "strides"):
        if any(n < 1 for n in attributes[name]):
            found.append(("must", f"{name} is not positive"))
    for name in ("pads_begin", "pads_end"):
        if auto == "explicit" and any(n < 0 for n in attributes[name]):
            found.append(("must", f"{name} is negative"))
    if auto not in ("explicit", "valid", "same_upper", "same_lower"):
        found.append(("must", "unknown auto_pad"))
    if attributes.get("rounding_type", "floor") not in ("floor", "ceil"):
        found.append(("must", "unknown rounding_type"))
    if shape[0] == 0:
        found.append(("should", "no batch"))
    if shape[1] == 0:
        found.append(("should", "no channels"))
    if found:
        return found
    both = all_pads(sizes, attributes)
    kernel = attributes["kernel"]
    rows = list(zip(sizes, kernel, both, strict=True))
    if any(k > size + begin + end for size, k, (begin, end) in rows):
        found.append(("must", "the kernel exceeds the padded input"))
    if attributes["exclude-pad"]:
        if any(k <= begin for _, k, (begin, _) in rows):
            found.append(("should", "an excluded pad at the begin covers the kernel"))
        if any(k <= end for _, k, (_, end) in rows):
            found.append(("should", "an excluded pad at the end covers the kernel"))
    return found
