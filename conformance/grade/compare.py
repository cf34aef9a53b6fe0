"""Compares one output with one expected output: structure first, then elements.

Elements are compared as integers in the order of the values (:meth:`DType.ordinals`), so nothing
is lost to a conversion, and a backend that leaves the processor flushing subnormals cannot
change a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.choices import PRECISIONS
from conformance.dtypes import DTYPES, Array, DType
from conformance.failure_kind import FailureKind
from conformance.grade.outcome import describe_value
from conformance.model import INTERVAL_BINS, Answer, Witness

Mask = NDArray[np.bool_]

MAX_SHOWN_CHOICES = 8

BATCH_ELEMENTS = 1 << 20
"""Elements of several outputs that are compared at once, at most; or those of one."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An output that is not of the right structure."""

    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """The elements of one output, judged at every precision.

    ``wrong`` has the output's shape and holds for the precision that was asked;
    ``reached`` is the best precision at which no element is wrong, None if there is none.
    An output of integers is either right at every precision or at none.
    """

    wrong: Mask
    count: int
    reached: str | None


def structure_mismatch(answer: Answer, got: object) -> Mismatch | None:
    """Describe what is wrong with type, dtype or shape of an output; None if nothing."""
    if (
        type(got) is np.ndarray
        and got.dtype == DTYPES[answer.dtype].numpy
        and got.shape == answer.expected.shape
    ):
        return None
    name, value = answer.name, describe_value(got)
    if value.shape is None:
        type_text = "None" if value.type == "NoneType" else f"of type {value.type}"
        return Mismatch(
            FailureKind.OUTPUTS, f"{name}: the output is {type_text}, not a numpy.ndarray"
        )
    if value.dtype != answer.dtype:
        swapped = value.swapped == answer.dtype
        dtype_text = f"{answer.dtype} in foreign byte order" if swapped else value.dtype
        return Mismatch(FailureKind.DTYPE, f"{name}: dtype {dtype_text} instead of {answer.dtype}")
    if value.shape != answer.expected.shape:
        shape = f"shape {value.shape} instead of {answer.expected.shape}"
        return Mismatch(FailureKind.SHAPE, f"{name}: {shape}")
    return Mismatch(FailureKind.OUTPUTS, f"{name}: the output was not handed over")


def compare(answer: Answer, got: Array, precision: str) -> OutputComparison:
    """Judge every element of ``got``, whose structure is already known to be right."""
    if answer.rounded is None:
        return _compare_integers(answer, got, precision)
    dtype = DTYPES[answer.dtype]
    ordinals = dtype.ordinals(got).reshape(got.shape)
    nan = _is_nan(dtype, ordinals)
    if answer.bits:
        wrong = _other_bits(dtype, got, answer.rounded)
        if answer.choices is not None:
            others = _other_bits(dtype, got[..., np.newaxis], answer.choices)
            wrong &= (others | ~answer.allowed).all(axis=-1)
        unchecked = answer.unchecked(precision)
        wrong = wrong if unchecked is None else wrong & ~unchecked
        count = int(np.count_nonzero(wrong))
        return OutputComparison(wrong, count, None if count else PRECISIONS[0])
    wrong_at_precision: Mask | None = None
    reached: str | None = None
    for candidate in PRECISIONS:
        wrong = _wrong(answer, dtype, ordinals, nan, candidate)
        if reached is None and not wrong.any():
            reached = candidate
        if candidate == precision:
            wrong_at_precision = wrong
        if reached is not None and wrong_at_precision is not None:
            break
    assert wrong_at_precision is not None
    return OutputComparison(wrong_at_precision, int(np.count_nonzero(wrong_at_precision)), reached)


def _other_bits(dtype: DType, got: Array, moved: Array) -> Mask:
    """Where an output, or several, that is moved or whole has other bits than it should."""
    a, b = (np.ascontiguousarray(array).view(dtype.signed) for array in (got, moved))
    return np.asarray(a.reshape(got.shape) != b.reshape(moved.shape), np.bool_)


def accepts(answers: Sequence[Answer], outputs: Sequence[Array], precision: str) -> bool:
    """Return whether outputs are right in structure and in every element, at one precision.

    Computed ones have no signs of zeros, so here no output has to be the same to the last bit.
    """
    return bool(accepts_each(answers, [outputs], precision)[0])


def accepts_each(
    answers: Sequence[Answer], output_sets: Sequence[Sequence[Array]], precision: str
) -> Mask:
    """Return which of several outputs :func:`accepts` holds for, in less time than one by one."""
    right = np.ones(len(output_sets), np.bool_)
    for number, answer in enumerate(answers):
        batch_size = max(1, BATCH_ELEMENTS // max(1, answer.expected.size))
        fits = [structure_mismatch(answer, outputs[number]) is None for outputs in output_sets]
        remaining = np.flatnonzero(right & np.array(fits, np.bool_))
        right[:] = False
        for begin in range(0, len(remaining), batch_size):
            batch = remaining[begin : begin + batch_size]
            got = np.stack([output_sets[index][number] for index in batch])
            if answer.rounded is None:
                wrong = _wrong_integers(answer, got, precision)
            else:
                dtype = DTYPES[answer.dtype]
                ordinals = dtype.ordinals(got)
                wrong = _wrong(answer, dtype, ordinals, _is_nan(dtype, ordinals), precision)
            right[batch] = ~wrong.reshape(len(batch), -1).any(axis=1)
    return right


def _wrong(answer: Answer, dtype: DType, got: NDArray[np.int64], nan: Mask, precision: str) -> Mask:
    """Where an output misses what ``precision`` accepts; ``got`` holds its ordinals, or those of
    several outputs, with an axis before the others."""
    lo, hi = answer.interval(precision)
    low = dtype.ordinals(lo).reshape(lo.shape)
    high = low if hi is lo else dtype.ordinals(hi).reshape(lo.shape)
    # A NaN's ordinal lies beyond the infinities, so outside of every interval of numbers.
    wrong: Mask = np.where(_is_nan(dtype, low), ~nan, (got < low) | (got > high))
    if answer.choices is not None:
        choices = dtype.ordinals(answer.choices).reshape(answer.choices.shape)
        wrong &= ~((got[..., np.newaxis] == choices) & answer.allowed).any(axis=-1)
    unchecked = answer.unchecked(precision)
    return wrong if unchecked is None else wrong & ~unchecked


def interval_use(answer: Answer, got: Array, precision: str) -> NDArray[np.int64]:
    """Count the graded elements of a floating-point output in each of :data:`INTERVAL_BINS`."""
    assert answer.rounded is not None
    dtype = DTYPES[answer.dtype]
    interval = answer.interval(precision)
    lo, hi = (dtype.ordinals(end).reshape(got.shape) for end in interval)
    expected, got_ordinals = (
        dtype.ordinals(array).reshape(got.shape) for array in (answer.rounded, got)
    )
    nan, not_a_number = _is_nan(dtype, got_ordinals), _is_nan(dtype, expected)
    distance = dtype.ulp_distance(got, answer.rounded)
    available = dtype.ulp_distance(
        np.where(got_ordinals > expected, interval[1], interval[0]), answer.rounded
    )
    with np.errstate(invalid="ignore"):
        bins = np.clip(np.ceil(4 * distance / np.maximum(available, 1)), 1, 4)
    bins = np.nan_to_num(bins, nan=4)  # from one infinity to the other, where both are accepted
    bins = np.where((got_ordinals < lo) | (got_ordinals > hi) | nan, len(INTERVAL_BINS) - 1, bins)
    right = (got_ordinals == expected) | (nan & not_a_number)
    if answer.choices is not None:
        right |= ~compare(answer, got, precision).wrong
    bins = np.where(right, 0, bins).astype(np.int64)
    unchecked = answer.unchecked(precision)
    if unchecked is not None:
        bins = bins[~unchecked]
    return np.bincount(bins.ravel(), minlength=len(INTERVAL_BINS))


def _is_nan(dtype: DType, ordinals: NDArray[np.int64]) -> Mask:
    # NaN codes lie beyond those of the infinities, whose exponent field is all ones.
    infinity = (2 * dtype.emax + 1) << (dtype.digits - 1)
    return (ordinals > infinity) | (ordinals < -infinity)


def _compare_integers(answer: Answer, got: Array, precision: str) -> OutputComparison:
    wrong = _wrong_integers(answer, got, precision)
    count = int(np.count_nonzero(wrong))
    return OutputComparison(wrong, count, None if count else PRECISIONS[0])


def _wrong_integers(answer: Answer, got: Array, precision: str) -> Mask:
    """Where integers are not right, of one output or of several."""
    # A truth value is 0 or 1; to numpy all but 0 are equal.
    wrong = _other_bits(DTYPES[answer.dtype], got, answer.expected)
    if answer.choices is not None:
        wrong &= ~((got[..., np.newaxis] == answer.choices) & answer.allowed).any(axis=-1)
    unchecked = answer.unchecked(precision)
    return wrong if unchecked is None else wrong & ~unchecked


def worst_element(
    answer: Answer, got: Array, comparison: OutputComparison, precision: str
) -> Witness:
    """Describe the wrong element farthest from ``rounded``, the first of equals.

    A NaN in place of a number, or a number in place of NaN, is infinitely far.
    Of an output of integers it is the first wrong element.
    """
    indices = np.argwhere(comparison.wrong)
    worst = 0
    if answer.rounded is not None:
        wrong = comparison.wrong
        worst = int(np.argmax(DTYPES[answer.dtype].ulp_distance(got[wrong], answer.rounded[wrong])))
    index = tuple(int(i) for i in indices[worst])
    element = describe_element(answer, got, index, precision)
    return Witness(
        output=answer.name, index=index, **element, wrong=comparison.count, total=got.size
    )


def describe_element(
    answer: Answer, got: Array, index: tuple[int, ...], precision: str
) -> dict[str, Any]:
    """Describe one element beside what is accepted of it.

    Returns:
        ``exact``, ``rounded``, ``lo``, ``hi`` and ``got`` as text, and ``ulp``, its distance from
        ``rounded`` in ULP; None for an integer.
    """
    rounded, lo, hi = _accepted(answer, index, precision)
    distance = None
    if answer.rounded is not None:
        at = tuple(slice(i, i + 1) for i in index)
        distance = DTYPES[answer.dtype].ulp_distance(
            np.ascontiguousarray(got[at]), np.ascontiguousarray(answer.rounded[at])
        )
    return {
        "exact": repr(answer.expected[index].item()),
        "rounded": rounded,
        "lo": lo,
        "hi": hi,
        "got": str(got[index]),
        "ulp": None if distance is None else float(distance.item()),
    }


def _accepted(answer: Answer, index: tuple[int, ...], precision: str) -> tuple[str, str, str]:
    """The rounded value and both ends of what is accepted, as text."""
    right = answer.expected if answer.rounded is None else answer.rounded
    expected = str(right[index])
    if answer.choices is None:
        lo, hi = (right, right) if answer.rounded is None else answer.interval(precision)
        return expected, str(lo[index]), str(hi[index])
    counts = answer.allowed[index]
    allowed = [*dict.fromkeys(map(str, answer.choices[index][counts]))]
    surplus = (
        [f"{len(allowed) - MAX_SHOWN_CHOICES} more"] if len(allowed) > MAX_SHOWN_CHOICES else []
    )
    text = " or ".join(allowed[:MAX_SHOWN_CHOICES] + surplus)
    return expected, text, text
