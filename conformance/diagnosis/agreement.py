"""Whether what a backend returned is what an implementation with some faults would return."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.diagnosis.elementwise import (
    equal_values,
    is_nan,
    ordinals,
    ungraded_elements,
    values_between,
)
from conformance.diagnosis.output_subset import OutputSubset, select_outputs
from conformance.grade.compare import accepts
from conformance.grade.match import asked
from conformance.model import Answer, Vector
from conformance.reference.subject import Altered, Subject
from conformance.spec.model import OpSpec, RuleChange
from conformance.spec.rule_change import find_cycle

Array = NDArray[Any]
Mask = NDArray[np.bool_]

NEAR = 64
"""Steps between representable values that do not yet speak against a fault at first sight."""

WIDTHS = 16
"""Widths of the accepted interval that do not, either."""

SHARE = 0.01
"""Nor does this share of what a fault gives."""


SMALL = 2_000
"""Elements of inputs and outputs of a vector whose reference is kept in memory."""


class Agreement(enum.IntEnum):
    """How far outputs agree with a fault: in the interval that it allows, or in every element."""

    NONE = 0
    WITHIN = 1
    EQUAL = 2


class ObservedVector:
    """A vector with what one backend made of it; ``outputs`` is None where it passed.

    ``level`` and ``precision`` are what was asked: at level should no reading is accepted.
    ``followed`` names the reading that outputs which passed follow, if one. With ``only`` nothing
    is looked at but the outputs with these numbers.
    """

    def __init__(
        self,
        spec: OpSpec,
        vector: Vector,
        outputs: tuple[Array, ...] | None,
        precision: Mapping[str, str],
        level: str,
        followed: str | None = None,
        only: Sequence[int] | None = None,
    ) -> None:
        if only is not None:
            told = {name: select_outputs(only, one) for name, one in vector.readings.items()}
            vector = replace(vector, answers=select_outputs(only, vector.answers), readings=told)
            outputs = None if outputs is None else select_outputs(only, outputs)
        self._only, self.followed = only, followed
        self.spec, self.vector, self.outputs, self.precision = spec, vector, outputs, precision
        self.level = level

    @property
    def _subject(self) -> Subject | OutputSubset:
        """The reference on this vector, which takes a multiple of its memory: of large ones only
        the last few are kept.
        """
        return self._small if self._size <= SMALL else _large(self)

    @property
    def _size(self) -> int:
        arrays = (*self.vector.inputs, *(answer.expected for answer in self.vector.answers))
        return sum(array.size for array in arrays)

    @cached_property
    def _small(self) -> Subject | OutputSubset:
        return self.subject()

    def subject(self) -> Subject | OutputSubset:
        """The reference on this vector, as far as it is looked at."""
        return self.whole() if self._only is None else OutputSubset(self.whole(), self._only)

    def whole(self) -> Subject:
        """The reference on this vector, ready to be asked under other rules."""
        # What has one of these shapes is worked out, however large; the rest is never compared.
        sets = (self.vector.answers, *self.vector.readings.values())
        shapes = {answer.expected.shape for answers in sets for answer in answers}
        shapes |= {output.shape for output in self.outputs or ()}
        return Subject(self.spec, self.vector.case, self.vector.inputs, shapes)

    @cached_property
    def wrong_outputs(self) -> frozenset[int]:
        """The numbers of the outputs that are not accepted, whatever the others are."""
        return frozenset(
            number
            for number, got in enumerate(self.outputs or ())
            if not any(accepts((one[number],), (got,), self._precision) for one in self._allowed)
        )

    @property
    def _allowed(self) -> tuple[tuple[Answer, ...], ...]:
        """The answers that are accepted, those of readings too where these are."""
        readings = () if self.level == "should" else self.vector.readings.values()
        return (self.vector.answers, *readings)

    @property
    def alone(self) -> ObservedVector | None:
        """The same with its wrong outputs alone; None where all are wrong, or none is by itself."""
        wrong = sorted(self.wrong_outputs)
        if not wrong or len(wrong) == len(self.vector.answers):
            return None
        return ObservedVector(
            self.spec, self.vector, self.outputs, self.precision, self.level, self.followed, wrong
        )

    def glance(self, altered: Altered, seen: dict[tuple[str | bytes, ...], Agreement]) -> Agreement:
        """How a failure agrees with an implementation; NONE where nothing of it looks alike.

        It is quick, since almost every fault is another than the one that is looked for. ``seen``
        keeps what was found for the same outputs before.
        """
        predicted = self._subject.under(altered)
        if predicted is self._subject.outputs:
            return Agreement.NONE
        # An accumulator allows more than its outputs tell.
        told: tuple[str | bytes, ...] = (
            *_adds(altered),
            *(np.ascontiguousarray(one).tobytes() for one in predicted),
        )
        if told not in seen:
            free = self._free(altered, predicted) if self._has_shapes_of(predicted) else []
            near = free and (
                self._resembles(altered, predicted, free) or self._may_overflow(predicted)
            )
            seen[told] = self._compared(altered, predicted) if near else Agreement.NONE
        return seen[told]

    def explained(self, altered: Altered) -> frozenset[int]:
        """The places of the outputs that are wrong, and in every element what an implementation
        gives."""
        predicted, right = self._subject.under(altered), self._subject.outputs
        if predicted is right or not self._has_shapes_of(predicted):
            return frozenset()
        assert self.outputs is not None
        shown = zip(self.outputs, predicted, right, self._free(altered, predicted), strict=True)
        return frozenset(
            number
            for number, (got, other, correct, free) in enumerate(shown)
            if (equal_values(got, other) | free).all()
            and not (got.shape == correct.shape and (equal_values(got, correct) | free).all())
        )

    def agreement(self, altered: Altered, readings: Mapping[str, RuleChange]) -> Agreement:
        """How a failure agrees with an implementation, also one that follows a reading besides.

        ``readings`` are the operator's interpretations by name.
        """
        predicted = self._subject.under(altered)
        if predicted is self._subject.outputs:
            return Agreement.NONE
        found = self._compared(altered, predicted)
        for name in self.vector.readings if found is Agreement.NONE else ():
            both = self._beside(altered, name, readings)
            if both is not None:
                found = found or self._compared(both, self._subject.under(both))
        return found

    def _beside(
        self, altered: Altered, name: str, readings: Mapping[str, RuleChange]
    ) -> Altered | None:
        """An implementation that follows readings, too; None where one rules out the other."""
        followed = [readings[one] for one in name.split("+") if one in readings]
        variants = (*altered.variants, *followed)
        if any(find_cycle(self.spec, *(one.replace for one in variants))):
            return None
        return Altered(self.spec, *variants)

    def consistency(self, altered: Altered) -> Agreement:
        """How well an implementation passes the vector.

        EQUAL where its outputs pass, WITHIN where only others do that it may give as well (added
        up in another order, say), NONE where it cannot pass. Where what passed follows a reading,
        the implementation may follow it besides.
        """
        found = self._passes(altered)
        if found is Agreement.NONE and self.followed and self.level != "should":
            readings = {one.name: one for one in self.spec.interpretations}
            both = self._beside(altered, self.followed, readings)
            return found if both is None else self._passes(both)
        return found

    def _passes(self, altered: Altered) -> Agreement:
        predicted = self._subject.under(altered)
        if predicted is self._subject.outputs:
            return Agreement.EQUAL
        if any(accepts(answers, predicted, self._precision) for answers in self._allowed):
            return Agreement.EQUAL
        lows, highs = zip(*self._subject.ends(altered, self._precision), strict=True)
        meets = any(self._meets(answers, lows, highs) for answers in self._allowed)
        return Agreement.WITHIN if meets else Agreement.NONE

    @property
    def _precision(self) -> str:
        """What is asked of the floating-point outputs, which share one type."""
        found = (asked(a, self.precision) for a in self.vector.answers if a.rounded is not None)
        return next(found, "standard")

    def _free(self, altered: Altered, predicted: list[Array]) -> list[Mask]:
        """For each returned output the elements that are not graded.

        Of an output in the right shape the vector says so, and of any the rules of the
        implementation do: a window that it moves or adds may well hold no data. Where all shapes
        are right that counts only if the rest shows the implementation.
        """
        assert self.outputs is not None
        free = [
            ungraded_elements(answer, got, self._precision)
            for answer, got in zip(self.vector.answers, self.outputs, strict=True)
        ]
        right = self._subject.outputs
        moved = any(a.shape != b.shape for a, b in zip(self.outputs, right, strict=True))
        alike = [] if moved else list(map(equal_values, self.outputs, predicted))
        # Most implementations end here: what they leave open takes longer to be worked out.
        if not moved and not self._is_in_question(alike, free):
            return free
        own = self._subject.unspecified(altered)
        if any(a.shape != b.shape for a, b in zip(own, self.outputs, strict=True)):
            return free
        freed = [a | b for a, b in zip(free, own, strict=True)]
        return freed if moved or self._shows(alike, free, freed) else free

    def _is_in_question(self, alike: list[Mask], free: list[Mask]) -> bool:
        """Whether outputs are somewhere wrong as those of an implementation, and not everywhere."""
        if all((one | ungraded).all() for one, ungraded in zip(alike, free, strict=True)):
            return False
        return any((one & wrong).any() for one, wrong in zip(alike, self._wrong, strict=True))

    def _shows(self, alike: list[Mask], free: list[Mask], freed: list[Mask]) -> bool:
        """Whether an element is wrong as an implementation has it, which does not leave it open,
        or a whole output is as the implementation has it, and wrong somewhere.
        """
        return any(
            bool((one & wrong & ~open_too).any() or ((one | ungraded).all() and wrong.any()))
            for one, wrong, ungraded, open_too in zip(alike, self._wrong, free, freed, strict=True)
        )

    @cached_property
    def _wrong(self) -> list[Mask]:
        """For each output, all in their right shapes, the elements that are graded and not right.

        What is near, but not the same, counts as wrong.
        """
        assert self.outputs is not None
        return [
            ~(equal_values(got, right) | ungraded_elements(answer, got, self._precision))
            for got, right, answer in zip(
                self.outputs, self._subject.outputs, self.vector.answers, strict=True
            )
        ]

    def _resembles(self, altered: Altered, predicted: list[Array], free: list[Mask]) -> bool:
        """Whether elements are near: all of them, or half where partial sums may overflow, or where
        nothing tells how far rounding errors reach.
        """
        assert self.outputs is not None
        near = total = 0
        shown = zip(self.outputs, predicted, self._room, free, strict=True)
        for got, other, room, ungraded in shown:
            close = np.abs(ordinals(got) - ordinals(other)) <= NEAR
            close |= ungraded
            if got.dtype.kind not in "iu":
                with np.errstate(all="ignore"):
                    seen, told = got.astype(np.float64), other.astype(np.float64)
                    off = np.abs(seen - told)
                    close |= (off <= SHARE * np.abs(told)) | (is_nan(seen) & is_nan(told))
                    close |= off <= room if room is not None else False
            near += int(np.count_nonzero(close))
            total += got.size
        if _adds(altered) or any(
            room is None and got.dtype.kind not in "iu"
            for got, room in zip(self.outputs, self._room, strict=True)
        ):
            return 2 * near >= total
        return near == total

    @cached_property
    def _room(self) -> list[Array | None]:
        """For each output how far rounding errors may reach: some widths of what is accepted, by
        the answer or by that of a reading which has the shape of what was returned.
        """
        assert self.outputs is not None
        found: list[Array | None] = []
        for number, got in enumerate(self.outputs):
            sets = (self.vector.answers, *self.vector.readings.values())
            alike = (one[number] for one in sets if one[number].expected.shape == got.shape)
            answer = next(alike, None)
            if answer is None or answer.rounded is None:
                found.append(None)
                continue
            with np.errstate(all="ignore"):
                lo, hi = (end.astype("f8") for end in answer.interval(self._precision))
                found.append(WIDTHS * (hi - lo))
        return found

    def _has_shapes_of(self, predicted: list[Array]) -> bool:
        """Whether each output has the shape and type of what an implementation gives."""
        assert self.outputs is not None
        pairs = zip(self.outputs, predicted, strict=True)
        return all(a.shape == b.shape and a.dtype == b.dtype for a, b in pairs)

    def _compared(self, altered: Altered, predicted: list[Array]) -> Agreement:
        assert self.outputs is not None
        if not self._has_shapes_of(predicted):
            return Agreement.NONE
        pairs = list(zip(self.outputs, predicted, strict=True))
        free = self._free(altered, predicted)
        alike = [
            equal_values(got, other) | ungraded
            for (got, other), ungraded in zip(pairs, free, strict=True)
        ]
        if all(one.all() for one in alike):
            return Agreement.EQUAL
        ends = self._subject.ends(altered, self._precision)
        if any(got.shape != lo.shape for got, (lo, _) in zip(self.outputs, ends, strict=True)):
            return Agreement.NONE  # too many taps for what is accepted to be worked out
        outside = [
            ~(values_between(got, lo, hi) | equal)
            for got, (lo, hi), equal in zip(self.outputs, ends, alike, strict=True)
        ]
        if not any(one.any() for one in outside):
            return Agreement.WITHIN
        # Of windows without data what is not finite shows that they are, and their indices nothing.
        valued = any(got.dtype.kind not in "iu" for got in self.outputs)
        if any(
            not valued if got.dtype.kind in "iu" else np.isfinite(got[one].astype("f8")).any()
            for got, one in zip(self.outputs, outside, strict=True)
            if one.any()
        ):
            return Agreement.NONE
        overflown = self._subject.unspecified(altered, self._precision)
        if any((one & ~may).any() for one, may in zip(outside, overflown, strict=True)):
            return Agreement.NONE
        every = all((one | may).all() for one, may in zip(alike, overflown, strict=True))
        return Agreement.EQUAL if every else Agreement.WITHIN

    def _may_overflow(self, predicted: list[Array]) -> bool:
        """Whether outputs are near but for some that are not finite.

        Where a fault makes partial sums larger they may overflow though the right ones do not.
        """
        assert self.outputs is not None
        for got, other, room in zip(self.outputs, predicted, self._room, strict=True):
            if got.dtype.kind in "iu":
                continue
            with np.errstate(all="ignore"):
                seen, told = got.astype(np.float64), other.astype(np.float64)
                off = np.abs(seen - told)
                near = off <= np.maximum(SHARE * np.abs(told), 0 if room is None else room)
            if not (near | ~np.isfinite(seen)).all():
                return False
        return True

    def _meets(self, answers: tuple[Answer, ...], lows: Any, highs: Any) -> bool:
        """Whether something is accepted both by answers and of an implementation."""
        for answer, low, high in zip(answers, lows, highs, strict=True):
            if answer.expected.shape != low.shape:
                return False
            if answer.rounded is None:
                if not accepts((answer,), (low,), self._precision):
                    return False
                continue
            lo, hi = answer.interval(self._precision)
            nan = is_nan(lo) & is_nan(low)
            meet = (ordinals(low) <= ordinals(hi)) & (ordinals(high) >= ordinals(lo))
            apart = ~nan & (~meet | is_nan(lo) | is_nan(low))
            if (apart & ~ungraded_elements(answer, low, self._precision)).any():
                return False
        return True


@lru_cache(maxsize=4)
def _large(asked: ObservedVector) -> Subject | OutputSubset:
    return asked.subject()


def _adds(altered: Altered) -> list[str]:
    """The variants that say in what sums are kept."""
    return [one.name for one in altered.variants if "accumulator" in one.replace]
