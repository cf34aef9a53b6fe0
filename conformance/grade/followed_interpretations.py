"""Which interpretation the outputs of one vector follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from conformance.dtypes import DTYPES, Array
from conformance.grade.compare import compare
from conformance.grade.precision import DEFAULT_PRECISION
from conformance.model import ADOPTED, FOLLOWED, NEITHER, OPEN_BIT, Answer, Vector

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
    """For each interpretation that the outputs say something about, what they say.

    ``accepting`` names the readings that accept the outputs, :data:`BASE` among them; ``precision``
    is what each dtype was compared at; ``holds`` names for an interpretation those whose rules it
    has, too (:func:`~conformance.spec.rule_change.implied_changes`). An interpretation is
    ``ADOPTED`` where the outputs are right without it and would not be with it, or where it allows
    them and more; ``FOLLOWED`` where they are right only with it; ``NEITHER`` where a reading
    accepts them by its width alone. Without it means still with all that it holds: where the
    largest of minus infinity alone is kept, say, its index is a question of its own. Where readings
    that differ on it accept them alike, nothing is said; nor do outputs that no reading accepts say
    anything: wrong answers show no way to read a document.
    """

    def parts_of(name: str) -> frozenset[str]:
        names = _names_of(name)
        # One that it holds and that changes nothing here is no reading of the vector.
        held = (one for name in names for one in holds.get(name, ()) if one in vector.readings)
        return names.union(held)

    answers = {parts_of(name): under for name, under in vector.readings.items()}
    answers[frozenset()] = vector.answers
    right = {parts_of(name) for name in accepting}
    found = {}
    for name in (name for name in vector.readings if "+" not in name):
        said: set[str] = set()
        for with_it in (parts for parts in answers if name in parts):
            without = with_it - {name}
            if without not in answers:
                continue  # the combination is left out where it changes nothing
            base, other = answers[without], answers[with_it]
            if with_it in right and without not in right:
                taken = _takes_other_value(base, other, outputs, precision)
                said.add(FOLLOWED if taken else NEITHER)
            elif without in right and (
                with_it not in right or _allows_more(base, other, precision)
            ):
                said.add(ADOPTED)
        # What a reading without it accepts as well need not come from it.
        if said == {ADOPTED} or (len(said) == 1 and all(name in parts for parts in right)):
            found[name] = tuple(said)
    return found


def _names_of(name: str) -> frozenset[str]:
    return frozenset(name.split("+")) if name else frozenset()


def _allows_more(
    base: tuple[Answer, ...], other: tuple[Answer, ...], precision: Mapping[str, str]
) -> bool:
    """Whether ``other`` allows all that ``base`` does, and more, for the same value or none.

    What such a reading adds is a liberty, so outputs that take none of it answer as the base does.
    An interval around another value, wide enough to hold the base's by chance, is no liberty.
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
    for mine, theirs, got in zip(base, other, outputs, strict=True):
        if mine.expected.shape != got.shape:
            return True
        asked = precision.get(mine.dtype, DEFAULT_PRECISION)
        refused = compare(mine, got, asked).wrong
        if mine.rounded is not None and theirs.rounded is not None:
            ordinals = DTYPES[mine.dtype].ordinals
            another = ordinals(mine.rounded) != ordinals(theirs.rounded)
            refused &= another | (ordinals(got) == 0) | _unspecified(theirs, asked)
        if refused.any():
            return True
    return False


def _compare_floats(base: Answer, other: Answer, precision: str) -> tuple[Mask, Mask]:
    """Per element: whether ``other`` allows all that ``base`` does; whether it gives liberty.

    Around the same value, only the liberty to write zero for a subnormal one counts: an interval
    that is merely wider is taken up by rounding, not by a reading.
    """
    row = DTYPES[base.dtype]
    ordinals = row.ordinals
    low, high = (ordinals(end) for end in base.interval(precision))
    least, most = (ordinals(end) for end in other.interval(precision))
    assert base.rounded is not None
    assert other.rounded is not None
    value, another = ordinals(base.rounded), ordinals(other.rounded)
    open_base, open_other = (_unspecified(answer, precision) for answer in (base, other))
    holds = open_other | (~open_base & (least <= low) & (high <= most))
    wider = (least < low) | (high < most)
    by_chance = (low <= another) & (another <= high)
    subnormal = (value != 0) & (abs(value) < 1 << (row.digits - 1))
    may_vanish = subnormal & (least <= 0) & (most >= 0) & ((low > 0) | (high < 0))
    liberty = wider & np.where(another == value, may_vanish, ~by_chance)
    return holds, ~open_base & (open_other | liberty)


def _compare_integers(base: Answer, other: Answer) -> tuple[Mask, Mask]:
    """The same for allowed sets of integers."""
    mine, theirs = _allowed(base), _allowed(other)
    shared = (mine[..., :, np.newaxis] == theirs[..., np.newaxis, :]).any(axis=-1)
    holds = (shared | (mine == -1)).all(axis=-1)
    return holds, (theirs != -1).sum(axis=-1) > (mine != -1).sum(axis=-1)


def _allowed(answer: Answer) -> NDArray[np.int64]:
    allowed = answer.expected[..., np.newaxis] if answer.choices is None else answer.choices
    return allowed.astype(np.int64)


def _unspecified(answer: Answer, precision: str) -> Mask:
    if answer.open is None:
        return np.zeros(answer.expected.shape, np.bool_)
    return (answer.open & OPEN_BIT[precision]) != 0
