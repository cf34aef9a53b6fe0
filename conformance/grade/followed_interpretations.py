"""Which interpretation the outputs of one vector follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array
from conformance.grade.compare import compare
from conformance.grade.precision import DEFAULT_PRECISION
from conformance.model import ADOPTED, FOLLOWED, NEITHER, Answer, Vector

Mask = NDArray[np.bool_]

NO_IMPLIED_CHANGES: Mapping[str, frozenset[str]] = MappingProxyType({})

EXPECTED_INTERPRETATION = ""
"""The name of the expected interpretation among those that accept some outputs."""


def followed_interpretations(
    vector: Vector,
    outputs: Sequence[Array],
    accepting: Collection[str],
    precision: Mapping[str, str],
    holds: Mapping[str, frozenset[str]] = NO_IMPLIED_CHANGES,
) -> dict[str, tuple[str, ...]]:
    """Return which interpretations the outputs follow, by name, and in which way.

    An interpretation is ``ADOPTED`` if the outputs are right without it and would not be with it,
    or if it allows them and more; ``FOLLOWED`` if they are right only with it; ``NEITHER`` if an
    interpretation accepts them by its width alone. "Without it" still means with all that it
    implies: whether the largest of minus infinity alone is kept, say, its index is a question by
    itself. If interpretations that differ on it accept the outputs alike, it is left out; so are
    all if no interpretation accepts the outputs: wrong outputs show no way to read a document.

    Args:
        accepting: interpretations that accept the outputs, and :data:`EXPECTED_INTERPRETATION` if
            the expected outputs do.
        precision: what each dtype was compared at.
        holds: for an interpretation those that it includes; see
            :func:`~conformance.specification.implied_interpretations`.
    """

    def implied_names(name: str) -> frozenset[str]:
        names = _names_of(name)
        # One that it holds and that changes nothing here is no interpretation of the vector.
        implied = (
            other_name
            for name in names
            for other_name in holds.get(name, ())
            if other_name in vector.readings
        )
        return names.union(implied)

    outputs_by_names = {implied_names(name): under for name, under in vector.readings.items()}
    outputs_by_names[frozenset()] = vector.answers
    right = {implied_names(name) for name in accepting}
    followed = {}
    for name in (name for name in vector.readings if "+" not in name):
        ways: set[str] = set()
        for with_it in (names for names in outputs_by_names if name in names):
            without = with_it - {name}
            if without not in outputs_by_names:
                continue  # the combination is left out where it changes nothing
            base, other = outputs_by_names[without], outputs_by_names[with_it]
            if with_it in right and without not in right:
                taken = _takes_other_value(base, other, outputs, precision)
                ways.add(FOLLOWED if taken else NEITHER)
            elif without in right and (
                with_it not in right or _allows_more(base, other, precision)
            ):
                ways.add(ADOPTED)
        # What an interpretation without it accepts too need not come from it.
        if ways == {ADOPTED} or (len(ways) == 1 and all(name in names for names in right)):
            followed[name] = tuple(ways)
    return followed


def _names_of(name: str) -> frozenset[str]:
    return frozenset(name.split("+")) if name else frozenset()


def _allows_more(
    base: tuple[Answer, ...], other: tuple[Answer, ...], precision: Mapping[str, str]
) -> bool:
    """Whether ``other`` allows all that ``base`` does, and more, for the same value or none.

    What such an interpretation adds is a liberty, so outputs that take none of it answer as the
    base does. An interval around another value, wide enough to hold the base's by chance, is no
    liberty.
    """
    pairs = [
        _compare_integers(a, b)
        if a.rounded is None
        else _compare_floats(a, b, precision.get(a.dtype, DEFAULT_PRECISION))
        for a, b in zip(base, other, strict=True)
    ]
    return all(bool(holds.all()) for holds, _ in pairs) and any(bool(m.any()) for _, m in pairs)


def _takes_other_value(
    base: tuple[Answer, ...],
    other: tuple[Answer, ...],
    outputs: Sequence[Array],
    precision: Mapping[str, str],
) -> bool:
    """Whether outputs that ``base`` refuses are what ``other`` is about, not just within its width.

    A wider interval around the same value comes from subnormals that may vanish; it holds sloppy
    results too, and only a zero says that they did.
    """
    for base_output, other_output, got in zip(base, other, outputs, strict=True):
        if base_output.expected.shape != got.shape:
            return True
        required = precision.get(base_output.dtype, DEFAULT_PRECISION)
        refused = compare(base_output, got, required).wrong
        if base_output.rounded is not None and other_output.rounded is not None:
            ordinals = DTYPES[base_output.dtype].ordinals
            another = ordinals(base_output.rounded) != ordinals(other_output.rounded)
            refused &= another | (ordinals(got) == 0) | _unspecified(other_output, required)
        if refused.any():
            return True
    return False


def _compare_floats(base: Answer, other: Answer, precision: str) -> tuple[Mask, Mask]:
    """Per element: whether ``other`` allows all that ``base`` does; whether it gives liberty.

    Around the same value, only the liberty to write zero for a subnormal one counts: an interval
    that is merely wider is taken up by rounding, not by an interpretation.
    """
    row = DTYPES[base.dtype]
    ordinals = row.ordinals
    low, high = (ordinals(end) for end in base.interval(precision))
    least, most = (ordinals(end) for end in other.interval(precision))
    assert base.rounded is not None
    assert other.rounded is not None
    value, another = ordinals(base.rounded), ordinals(other.rounded)
    base_unspecified, other_unspecified = (
        _unspecified(answer, precision) for answer in (base, other)
    )
    holds = other_unspecified | (~base_unspecified & (least <= low) & (high <= most))
    wider = (least < low) | (high < most)
    by_chance = (low <= another) & (another <= high)
    subnormal = (value != 0) & (abs(value) < 1 << (row.digits - 1))
    may_vanish = subnormal & (least <= 0) & (most >= 0) & ((low > 0) | (high < 0))
    liberty = wider & np.where(another == value, may_vanish, ~by_chance)
    return holds, ~base_unspecified & (other_unspecified | liberty)


def _compare_integers(base: Answer, other: Answer) -> tuple[Mask, Mask]:
    """The same for allowed sets of integers."""
    base_allowed, other_allowed = _allowed(base), _allowed(other)
    shared = (base_allowed[..., :, np.newaxis] == other_allowed[..., np.newaxis, :]).any(axis=-1)
    holds = (shared | (base_allowed == -1)).all(axis=-1)
    return holds, (other_allowed != -1).sum(axis=-1) > (base_allowed != -1).sum(axis=-1)


def _allowed(answer: Answer) -> NDArray[np.int64]:
    allowed = answer.expected[..., np.newaxis] if answer.choices is None else answer.choices
    return allowed.astype(np.int64)


def _unspecified(answer: Answer, precision: str) -> Mask:
    unchecked = answer.unchecked(precision)
    return np.zeros(answer.expected.shape, np.bool_) if unchecked is None else unchecked
