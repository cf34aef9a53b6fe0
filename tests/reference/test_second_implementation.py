"""The shipped vectors and the reference against a second implementation of the documents.

``second`` was written from the documents alone and shares no code with the package. What is
compared are values of the output's type, as ordinals, so that the two zeros are one.

Values, indices and what is open in the document must be equal. Of accepted intervals the second
implementation has a formula; the package looks closer, and must not accept more. Where a partial
sum may overflow, or comes near to it, the formula gives up; the package need not.

What flushing subnormals may add to a bound is stated generously (each partial sum may lose a
smallest normal number). The interval of a backend that flushes must hold the one without flushing,
zero where the result may be subnormal, and what a flushing backend computes; and it must not exceed
the generous one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import second
import tiers
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from second import EXACT, NATIVE, STANDARD, Element, Index, Interval, Number, Ordinal

import conformance
from conformance.core.answers import answers, readings
from conformance.dtypes import DTYPES, Array
from conformance.errors import InvalidCase
from conformance.model import Answer, Case, Vector
from conformance.specification import find_spec

OPS = ("AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8")
FLOATS = ("f16", "bf16", "f32", "f64")
FLUSHES = "flushes-subnormals"


# --- Vectors as the second implementation sees them ----------------------------------------------


@cache
def vectors(op: str, exhaustive: bool) -> tuple[Vector, ...]:
    """The vectors of an operator in smoke; with ``--exhaustive`` a third of the others too."""
    smoke = {entry.id for entry in tiers.smoke().manifest.of([op])}
    every = enumerate(tiers.core().manifest.of([op]))
    asked = (one for n, one in every if one.id in smoke or (exhaustive and n % 3 == 0))
    return tuple(map(tiers.core().read, asked))


def codes(array: Array) -> list[int]:
    """The bits of each element, in row-major order."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").ravel().tolist()


def ordinals(array: Array, dtype: str) -> list[Ordinal]:
    assert array.dtype == DTYPES[dtype].numpy
    return [second.ordinal_of_code(code, second.FORMATS[dtype]) for code in codes(array)]


class Second:
    """What the second implementation answers to a vector, each reading computed once."""

    def __init__(self, vector: Vector) -> None:
        self.vector = vector
        self._known: dict[frozenset[str], list[second.Output]] = {}

    def under(self, names: frozenset[str] = frozenset()) -> list[second.Output]:
        """The outputs under some readings."""
        if names not in self._known:
            case = self.vector.case
            self._known[names] = second.evaluate(
                case.op,
                case.types["T"],
                codes(self.vector.inputs[0]),
                case.shapes["data"],
                case.attributes,
                case.operands.get("output_size", ()),
                names,
            )
        return self._known[names]


def stored_opens(answer: Answer) -> list[int]:
    if answer.open is None:
        return [0] * answer.expected.size
    return answer.open.ravel().tolist()


def stored_elements(answer: Answer) -> list[Element]:
    """A floating-point answer of the package in the terms of the second implementation."""
    dtype = answer.dtype
    assert answer.rounded is not None
    assert answer.lo is not None
    assert answer.hi is not None
    native = [answer.lo_native, answer.hi_native]
    assert (native[0] is None) == (native[1] is None)
    standard = list(zip(ordinals(answer.lo, dtype), ordinals(answer.hi, dtype), strict=True))
    narrow = standard
    if native[0] is not None and native[1] is not None:
        narrow = list(zip(ordinals(native[0], dtype), ordinals(native[1], dtype), strict=True))
    columns = (
        ordinals(answer.expected, "f64"),
        ordinals(answer.rounded, dtype),
        standard,
        narrow,
        stored_opens(answer),
    )
    return [Element(*row) for row in zip(*columns, strict=True)]


def stored_indices(answer: Answer) -> list[Index]:
    expected = answer.expected.ravel().tolist()
    rows = [[x] for x in expected]
    if answer.choices is not None:
        rows = answer.choices.reshape(len(expected), -1).tolist()
    choices = [frozenset(row) - {-1} for row in rows]
    return [Index(*row) for row in zip(expected, choices, stored_opens(answer), strict=True)]


# --- Comparison ----------------------------------------------------------------------------------


def element_differences(got: Element, right: Element) -> Iterator[str]:
    """In what a checked element differs; nothing is asked of what no precision checks."""
    may_be_open = right.open | right.near
    if got.open & ~may_be_open or (got.open ^ right.open) & EXACT:
        yield f"open {got.open}, not {right.open}"
        return
    if not right.open & EXACT:
        if got.expected != right.expected:
            yield f"expected {got.expected}, not {right.expected}"
        if got.rounded != right.rounded:
            yield f"rounded {got.rounded}, not {right.rounded}"
    for bit, name in ((STANDARD, "standard"), (NATIVE, "native")):
        if got.open & bit:
            continue
        ours, formula = getattr(got, name), getattr(right, name)
        if not holds(ours, (got.rounded, got.rounded)):
            yield f"{name} {ours} lacks {got.rounded}"
        if not may_be_open & bit and not holds(formula, ours):
            yield f"{name} {ours} exceeds {formula}"


def index_differences(got: Index, right: Index) -> Iterator[str]:
    if got.open != right.open:
        yield f"open {got.open}, not {right.open}"
    elif not right.open:
        if got.expected != right.expected:
            yield f"expected {got.expected}, not {right.expected}"
        if got.choices != right.choices:
            yield f"choices {sorted(got.choices)}, not {sorted(right.choices)}"


def holds(outer: Interval, inner: Interval) -> bool:
    """Whether one interval lies in another; the NaN interval holds itself alone."""
    if outer == inner:
        return True
    (lo, hi), (low, high) = outer, inner
    if lo is None or hi is None or low is None or high is None:
        return False
    return lo <= low and high <= hi


def flushing_differences(got: Element, plain: Element, widest: Element) -> Iterator[str]:
    """As ``element_differences`` for a backend that flushes subnormals in an average.

    ``plain`` is the element without flushing, ``widest`` with all that it may add.
    """
    may_be_open = plain.open | plain.near
    if got.open & ~may_be_open or (got.open ^ plain.open) & EXACT:
        yield f"open {got.open}, not {plain.open}"
    elif not plain.open & EXACT and (got.expected, got.rounded) != (plain.expected, plain.rounded):
        yield f"{got.expected} {got.rounded}, not {plain.expected} {plain.rounded}"
    for bit, name in ((STANDARD, "standard"), (NATIVE, "native")):
        if may_be_open & bit or got.open & bit:
            continue
        middle, outer = getattr(got, name), getattr(widest, name)
        if not holds(middle, (got.rounded, got.rounded)):
            yield f"{name} {middle} lacks {got.rounded}"
        if widest.vanishes & bit and not holds(middle, (0, 0)):
            yield f"{name} {middle} lacks zero"
        lo, hi = outer
        hull = outer if lo is None or hi is None else (min(lo, 0), max(hi, 0))
        if not holds(hull, middle):
            yield f"{name} {middle} exceeds {hull}"


def differences(ours: Second, stored: Sequence[Answer], names: frozenset[str]) -> list[str]:
    """Where the answers of a vector under some readings differ from the second implementation."""
    vector = ours.vector
    plain = ours.under(names - {FLUSHES})
    found: list[str] = []
    for answer, output, unflushed in zip(stored, ours.under(names), plain, strict=True):
        where = f"{vector.id} {'+'.join(sorted(names))} {answer.name}"
        if answer.expected.shape != output.shape:
            found.append(f"{where}: shape {answer.expected.shape}, not {output.shape}")
            continue
        rows: list[Iterator[str]]
        if DTYPES[answer.dtype].is_float:
            got = stored_elements(answer)
            if FLUSHES in names and "Avg" in vector.case.op:
                triples = zip(got, unflushed.elements, output.elements, strict=True)
                rows = [flushing_differences(*triple) for triple in triples]
            else:
                rows = [
                    element_differences(*pair) for pair in zip(got, output.elements, strict=True)
                ]
        else:
            pairs = zip(stored_indices(answer), output.elements, strict=True)
            rows = [index_differences(*pair) for pair in pairs]
        found += [f"{where}[{i}]: {text}" for i, row in enumerate(rows) for text in row]
    return found


def all_differences(vector: Vector) -> list[str]:
    """Where a vector's answers differ, under each of its readings, and which readings it lacks."""
    ours = Second(vector)
    found = differences(ours, vector.answers, frozenset())
    for name, stored in vector.readings.items():
        found += differences(ours, stored, frozenset(name.split("+")))
    return found + missing_readings(ours)


def missing_readings(ours: Second) -> list[str]:
    """Combinations of readings that give answers which the vector has under no name.

    Whether flushing subnormals is missing shows in ``rejected_flushers``.
    """
    case = ours.vector.case
    known = [frozenset(name.split("+")) - {""} for name in ("", *ours.vector.readings)]
    have = [ours.under(names) for names in known if FLUSHES not in names]
    return [
        f"{ours.vector.id}: {'+'.join(sorted(names))} is missing"
        for names in second.reading_sets(case.op, case.attributes)
        if FLUSHES not in names and ours.under(names) not in have
    ]


# --- A backend that flushes subnormals -----------------------------------------------------------


@dataclass(frozen=True)
class Flusher:
    """A backend that adds the taps in order, with all or only the last result flushed."""

    precision: int
    everything: bool

    def mean(self, taps: Sequence[Number], divisor: int, dtype: str) -> int:
        """The ordinal of a finite mean."""
        fmt, acc = second.FORMATS[dtype], second.accumulator(dtype, self.precision)

        def kept(value: Fraction, to: second.Format) -> Fraction:
            x = second.number_of_ordinal(second.nearest(value, to), to)
            return Fraction(second.flushed(x, to) if self.everything else x)

        total = Fraction(0)
        for x in taps:
            tap = second.flushed(x, fmt) if self.everything else x
            total = kept(total + second.converted(Fraction(tap), fmt, acc), acc)
        quotient = kept(total / divisor, acc)
        result = second.nearest(second.converted(quotient, acc, fmt), fmt)
        return 0 if abs(result) < fmt.smallest_normal else result


FLUSHERS = [Flusher(p, everything) for p in (STANDARD, NATIVE) for everything in (True, False)]


def flushing_outputs(vector: Vector, names: frozenset[str], flusher: Flusher) -> list[Any]:
    """What a backend that follows some readings and flushes gives; None where all is right."""
    case = vector.case
    dtype, shape = case.types["T"], case.shapes["data"]
    fmt = second.FORMATS[dtype]
    data = [second.number_of_code(code, fmt) for code in codes(vector.inputs[0])]
    sizes = case.operands.get("output_size", ())
    _, windows = second.windows(case.op, shape[2:], case.attributes, sizes, names)
    outputs: list[Any] = [[], []]
    for plane in second.planes(data, shape):
        for window in windows:
            taps = tuple(plane[p] for p in window.taps)
            if case.op == "AdaptiveMaxPool-8":
                value, index = second.maximum(plane, window.taps, dtype, names)
                seen, _ = second.maximum(plane, window.taps, dtype, frozenset({FLUSHES}))
                outputs[0].append(None if value.open else seen.rounded)
                if flusher.everything and not value.open:
                    flat = [second.flushed(x, fmt) for x in taps]
                    outputs[1].append(window.taps[flat.index(max(flat))])
                else:
                    outputs[1].append(None if value.open else index.expected)
                continue
            special = any(isinstance(x, float) for x in taps)
            if special or window.divisor is None:
                outputs[0].append(None)
                continue
            open_ = second.mean(taps, window.divisor, dtype, False).open
            graded = not open_ & flusher.precision
            outputs[0].append(flusher.mean(taps, window.divisor, dtype) if graded else None)
    return outputs


def accepted(stored: Sequence[Answer], outputs: Sequence[Any], precision: int) -> bool:
    """Whether some answers accept outputs of their shape; elements that are None count as right."""
    for answer, got in zip(stored, outputs, strict=False):
        if answer.expected.size != len(got):
            return False
        if not DTYPES[answer.dtype].is_float:
            rows = zip(stored_indices(answer), got, strict=True)
            if not all(x is None or x in e.choices for e, x in rows):
                return False
            continue
        for element, x in zip(stored_elements(answer), got, strict=True):
            ends = element.standard if precision == STANDARD else element.native
            if x is not None and not element.open & precision and not holds(ends, (x, x)):
                return False
    return True


def may_flush(vector: Vector) -> bool:
    """Whether anything on the way can be subnormal: all is a multiple of the data's lowest bit."""
    fmt = second.FORMATS[vector.case.types["T"]]
    numbers = [second.number_of_code(code, fmt) for code in codes(vector.inputs[0])]
    lowest = min((x & -x for x in numbers if isinstance(x, int) and x), default=None)
    size = math.prod(vector.case.shapes["data"][2:])
    volume = max(size, math.prod(vector.case.attributes.get("kernel", [1])))
    return lowest is not None and Fraction(lowest, volume) < fmt.smallest_normal


def rejected_flushers(vector: Vector) -> list[str]:
    """Which backends that flush subnormals no reading of a vector accepts."""
    if not may_flush(vector):
        return []
    # Which of several maxima is chosen makes no difference to flushing.
    known = {
        frozenset(name.split("+")) - {"", FLUSHES, "any-maximum"} for name in ("", *vector.readings)
    }
    averages = vector.case.op != "AdaptiveMaxPool-8"
    stored = [vector.answers, *vector.readings.values()]
    found = []
    for names in known:
        for flusher in FLUSHERS:
            if flusher.precision == NATIVE and not averages:
                continue  # nothing is accumulated
            outputs = flushing_outputs(vector, names, flusher)
            if not any(accepted(one, outputs, flusher.precision) for one in stored):
                found.append(f"{vector.id}: {flusher} under {sorted(names)} is not accepted")
    return found


# --- The shipped suite ---------------------------------------------------------------------------


def report(lines: list[str]) -> None:
    assert not lines, f"{len(lines)} differences\n" + "\n".join(lines[:20])


def values_of(op: str, dtype: str, exhaustive: bool) -> list[Vector]:
    found = [
        v for v in vectors(op, exhaustive) if v.case.types["T"] == dtype and v.case.reject is None
    ]
    assert found
    return found


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", OPS)
class TestShipped:
    def test_answers(self, op: str, dtype: str, exhaustive: bool) -> None:
        vectors = values_of(op, dtype, exhaustive)
        report([line for vector in vectors for line in all_differences(vector)])

    def test_flushing_backends_are_accepted(self, op: str, dtype: str, exhaustive: bool) -> None:
        # Quarters, whole numbers and their means are far from subnormal: nothing to flush.
        vectors = values_of(op, dtype, exhaustive)
        small = [v for v in vectors if v.case.pattern not in ("steady", "ramp")]
        report([line for vector in small for line in rejected_flushers(vector)])


def faults(case: Case) -> list[tuple[str, str]]:
    output_size = case.operands.get("output_size", ())
    return second.faults(case.op, case.shapes["data"], case.attributes, output_size)


@pytest.mark.parametrize("op", OPS)
def test_rejects_have_one_fault_and_values_none(op: str, exhaustive: bool) -> None:
    rejects = 0
    for vector in vectors(op, exhaustive):
        found = faults(vector.case)
        if vector.case.reject is None:
            assert not found, (vector.id, found)
        else:
            rejects += 1
            assert len(found) == 1, (vector.id, found)
            assert found[0][0] == vector.level, (vector.id, found)
    assert rejects


# --- Other questions -----------------------------------------------------------------------------


def some_codes(dtype: str) -> st.SearchStrategy[int]:
    """Bits of any value, and more often of ones beside zero, the normal range and infinity."""
    fmt = second.FORMATS[dtype]
    borders = (0, fmt.smallest_normal, 2 * fmt.smallest_normal, fmt.infinity)
    magnitude = st.one_of(
        st.integers(0, fmt.sign_bit - 1),
        st.builds(
            lambda border, step: max(0, border + step),
            st.sampled_from(borders),
            st.integers(-4, 4),
        ),
        st.integers(0, 4 * fmt.smallest_normal),
    )
    return st.builds(lambda sign, m: sign * fmt.sign_bit + m, st.integers(0, 1), magnitude)


@st.composite
def questions(draw: st.DrawFn) -> tuple[Case, Array]:
    """A small question, valid or not, with data drawn from few values so that they tie and cancel.

    Nothing is drawn that the documents leave open: every size is at least 1.
    """
    op = draw(st.sampled_from(OPS))
    dtype = draw(st.sampled_from(FLOATS))
    axes = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(1, (13, 6, 4)[axes - 1]), min_size=axes, max_size=axes))
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 2)), *sizes)

    def per_axis(low: int, high: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.integers(low, high), min_size=axes, max_size=axes)

    types, operands = {"T": dtype}, {}
    attributes: dict[str, Any] = {}
    if op == "AvgPool-1":
        attributes = {
            "kernel": draw(per_axis(1, 4)),
            "strides": draw(per_axis(1, 5)),
            "pads_begin": draw(per_axis(0, 4)),
            "pads_end": draw(per_axis(0, 4)),
            "exclude-pad": draw(st.booleans()),
            "auto_pad": draw(st.sampled_from(("explicit", "valid", "same_upper", "same_lower"))),
            "rounding_type": draw(st.sampled_from(("ceil", "floor"))),
        }
    else:
        types["T_SHAPE"] = draw(st.sampled_from(("i32", "i64")))
        operands["output_size"] = tuple(draw(per_axis(1, 7)))
    if op == "AdaptiveMaxPool-8":
        attributes["index_element_type"] = draw(st.sampled_from(("i32", "i64")))
    pool = draw(st.lists(some_codes(dtype), min_size=1, max_size=6))
    sign = second.FORMATS[dtype].sign_bit
    pool += [code ^ sign for code in pool]
    size = math.prod(shape)
    drawn = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
    row = DTYPES[dtype]
    data = np.array(drawn, row.code).view(row.numpy).reshape(shape)
    case = Case(op, types, {"data": shape}, attributes, operands, pattern="given")
    return case, data


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        ("f16", (0x07FF, 0x0800, 0x8400)),
        ("bf16", (0x00FF, 0x0100, 0x8080)),
        ("f32", (0x00FFFFFF, 0x01000000, 0x80800000)),
        ("f64", (0x001FFFFFFFFFFFFF, 0x0020000000000000, 0x8010000000000000)),
    ],
)
def test_a_mean_just_below_the_smallest_normal_may_be_flushed(
    dtype: str, bits: tuple[int, ...]
) -> None:
    """It rounds to the smallest normal, but many processors flush before they round."""
    case = Case(
        "AdaptiveAvgPool-8",
        {"T": dtype, "T_SHAPE": "i64"},
        {"data": (1, 1, 3)},
        {},
        {"output_size": (1,)},
        pattern="given",
    )
    row = DTYPES[dtype]
    report(all_differences(vector_of(case, np.array([[bits]], row.code).view(row.numpy))))


def vector_of(case: Case, data: Array) -> Vector:
    """The vector that the package would make of a question."""
    spec = find_spec(case.op)
    inputs = [data, *(np.array(value, np.int64) for value in case.operands.values())]
    base = answers(spec, case, inputs)
    other = readings(spec, case, inputs, base)
    return Vector("drawn", case, "must", (), "", "", tuple(inputs), base, other)


CALM = settings(
    max_examples=tiers.examples(200, few=60), deadline=None, suppress_health_check=list(HealthCheck)
)


@CALM
@given(questions())
def test_reference_agrees_on_drawn_questions(question: tuple[Case, Array]) -> None:
    case, data = question
    inputs = [data]
    for value in case.operands.values():
        inputs.append(np.array(value, DTYPES[case.types["T_SHAPE"]].numpy))
    if faults(case):
        with pytest.raises(InvalidCase):
            conformance.reference(case.op, inputs, case.attributes)
        return
    outputs = conformance.reference(case.op, inputs, case.attributes)
    right = Second(Vector("drawn", case, "must", (), "", "", (data,), ())).under()
    for got, output in zip(outputs, right, strict=True):
        assert got.shape == output.shape
        flat = ordinals(got, "f64") if got.dtype.kind == "f" else got.ravel().tolist()
        for x, element in zip(flat, output.elements, strict=True):
            assert element.open & EXACT or x == element.expected


@CALM
@given(questions())
def test_answers_agree_on_drawn_questions(question: tuple[Case, Array]) -> None:
    case, data = question
    assume(not faults(case))
    vector = vector_of(case, data)
    report(all_differences(vector) + rejected_flushers(vector))
