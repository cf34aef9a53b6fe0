"""Agreement of a backend's outputs with those of an implementation with some mutants."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.core.operator import Operator
from conformance.diagnosis.elementwise import (
    equal_values,
    is_nan,
    ordinals,
    ungraded_elements,
    values_between,
)
from conformance.diagnosis.output_subset import OutputSubset, select_outputs
from conformance.dtypes import Array
from conformance.grade.compare import accepts, structure_mismatch
from conformance.grade.interpretation_match import required_precision
from conformance.implementations import EvaluatedCase, Implementation, subject_of
from conformance.model import Answer, Vector
from conformance.spec.catalogue import Change
from conformance.specification import interpretation_changes

Mask = NDArray[np.bool_]

NEAR = 64
"""Steps between representable values that do not yet speak against a mutant at first sight."""

WIDTHS = 16
"""Widths of the accepted interval that do not, either."""

SHARE = 0.01
"""Nor does this share of what a mutant gives."""


SMALL = 8_000
"""Elements of inputs and outputs of a vector whose reference is kept in memory."""


Prepare = Callable[[Vector, frozenset[tuple[int, ...]]], EvaluatedCase[Any]]
"""The oracle on a vector, with output shapes that are of interest."""


class Agreement(enum.IntEnum):
    """Agreement of outputs with a mutant: none, within its accepted interval, or equal
    everywhere."""

    NONE = 0
    WITHIN = 1
    EQUAL = 2


class ObservedVector:
    """A vector and one backend's outputs; ``outputs`` is None if it passed.

    ``level`` and ``precision`` are those of the run: at level should no interpretation is accepted.
    ``followed`` names the interpretation that passing outputs follow, if any. ``only`` restricts
    everything to the outputs with these numbers. ``prepare`` makes the oracle on the vector.
    """

    def __init__(
        self,
        spec: Operator,
        vector: Vector,
        outputs: tuple[Array, ...] | None,
        precision: Mapping[str, str],
        level: str,
        followed: str | None = None,
        only: Sequence[int] | None = None,
        prepare: Prepare | None = None,
    ) -> None:
        if only is not None:
            interpretations = {
                name: select_outputs(only, expected) for name, expected in vector.readings.items()
            }
            vector = replace(
                vector, answers=select_outputs(only, vector.answers), readings=interpretations
            )
            outputs = None if outputs is None else select_outputs(only, outputs)
        self._only, self.followed = only, followed
        self._prepare = prepare or partial(_prepare, spec)
        self.spec, self.vector, self.outputs, self.precision = spec, vector, outputs, precision
        self.level = level

    @property
    def _evaluator(self) -> EvaluatedCase[Any]:
        """The reference on this vector, which takes a multiple of its memory: of large ones only
        the last few are kept.
        """
        return self._small if is_small(self.vector) else _large(self)

    @cached_property
    def _small(self) -> EvaluatedCase[Any]:
        return self.evaluator()

    def evaluator(self) -> EvaluatedCase[Any]:
        """Prepare the oracle on this vector, restricted to the observed outputs."""
        return (
            self.full_evaluator()
            if self._only is None
            else OutputSubset(self.full_evaluator(), self._only)
        )

    def full_evaluator(self) -> EvaluatedCase[Any]:
        """Prepare the oracle on this vector, to be evaluated under changes."""
        # What has one of these shapes is worked out, however large; the rest is never compared.
        sets = (self.vector.answers, *self.vector.readings.values())
        shapes = {
            expected_output.expected.shape
            for expected_outputs in sets
            for expected_output in expected_outputs
        }
        shapes |= {output.shape for output in self.outputs or ()}
        return self._prepare(self.vector, frozenset(shapes))

    @cached_property
    def wrong_outputs(self) -> frozenset[int]:
        """Numbers of the outputs that are not accepted, whatever the others are."""
        return frozenset(
            number
            for number, got in enumerate(self.outputs or ())
            if not any(
                accepts((expected_outputs[number],), (got,), self._precision)
                for expected_outputs in self._allowed
            )
        )

    @property
    def _allowed(self) -> tuple[tuple[Answer, ...], ...]:
        """The answers that are accepted, those of interpretations too where these are."""
        interpretations = () if self.level == "should" else self.vector.readings.values()
        return (self.vector.answers, *interpretations)

    @property
    def wrong_outputs_only(self) -> ObservedVector | None:
        """The vector with its wrong outputs only.

        None if all outputs are wrong, or none is by itself.
        """
        wrong = sorted(self.wrong_outputs)
        if not wrong or len(wrong) == len(self.vector.answers):
            return None
        return ObservedVector(
            self.spec,
            self.vector,
            self.outputs,
            self.precision,
            self.level,
            self.followed,
            wrong,
            self._prepare,
        )

    def quick_agreement(
        self,
        implementation: Implementation,
        known_agreements: dict[tuple[str | bytes, ...], Agreement],
    ) -> Agreement:
        """Compare a failure with an implementation; NONE if nothing looks alike.

        It is quick, since almost every mutant differs from the one that is searched for.
        ``known_agreements`` keeps results for the same outputs.
        """
        predicted = self._evaluator.under(implementation)
        if predicted is self._evaluator.outputs or not self._has_shapes_of(predicted):
            return Agreement.NONE
        # An accumulator allows more than its outputs tell.
        fingerprint: tuple[str | bytes, ...] = (
            *implementation.accumulators,
            *(np.ascontiguousarray(output).tobytes() for output in predicted),
        )
        if fingerprint not in known_agreements:
            free = self._free(implementation, predicted)
            near = self._resembles(implementation, predicted, free) or self._may_overflow(predicted)
            known_agreements[fingerprint] = (
                self._compared(implementation, predicted) if near else Agreement.NONE
            )
        return known_agreements[fingerprint]

    def explained(self, implementation: Implementation) -> frozenset[int]:
        """Return the numbers of wrong outputs that equal an implementation's in every element."""
        predicted, right = self._evaluator.under(implementation), self._evaluator.outputs
        if predicted is right or not self._has_shapes_of(predicted):
            return frozenset()
        assert self.outputs is not None
        compared = zip(
            self.outputs, predicted, right, self._free(implementation, predicted), strict=True
        )
        return frozenset(
            number
            for number, (got, other, correct, free) in enumerate(compared)
            if (equal_values(got, other) | free).all()
            and not (got.shape == correct.shape and (equal_values(got, correct) | free).all())
        )

    def agreement(
        self, implementation: Implementation, interpretations: Mapping[str, Change]
    ) -> Agreement:
        """Compare a failure with an implementation, which may follow an interpretation, too.

        ``interpretations`` are the operator's, by name.
        """
        predicted = self._evaluator.under(implementation)
        if predicted is self._evaluator.outputs:
            return Agreement.NONE
        agreement = self._compared(implementation, predicted)
        for name in self.vector.readings if agreement is Agreement.NONE else ():
            both = self._beside(implementation, name, interpretations)
            if both is not None:
                agreement = agreement or self._compared(both, self._evaluator.under(both))
        return agreement

    def _beside(
        self, implementation: Implementation, name: str, interpretations: Mapping[str, Change]
    ) -> Implementation | None:
        """An implementation that follows interpretations, too; None where one rules out the
        other."""
        followed = [interpretations[part] for part in name.split("+") if part in interpretations]
        return implementation.beside(*followed)

    def consistency(self, implementation: Implementation) -> Agreement:
        """Return how well an implementation passes the vector.

        EQUAL where its outputs pass, WITHIN where only others do that it may give as well (added up
        in another order, say), NONE where it cannot pass. Where what passed follows an
        interpretation, the implementation may follow it besides.
        """
        agreement = self._passes(implementation)
        if agreement is Agreement.NONE and self.followed and self.level != "should":
            both = self._beside(implementation, self.followed, interpretation_changes(self.spec))
            return agreement if both is None else self._passes(both)
        return agreement

    def _passes(self, implementation: Implementation) -> Agreement:
        predicted = self._evaluator.under(implementation)
        if predicted is self._evaluator.outputs:
            return Agreement.EQUAL
        if any(
            accepts(expected_outputs, predicted, self._precision)
            for expected_outputs in self._allowed
        ):
            return Agreement.EQUAL
        # An accumulator reaches farther than its outputs tell.
        if not implementation.accumulators and all(
            self._is_far(expected_outputs, predicted) for expected_outputs in self._allowed
        ):
            return Agreement.NONE
        lows, highs = zip(*self._evaluator.ends(implementation, self._precision), strict=True)
        meets = any(
            self._meets(expected_outputs, lows, highs) for expected_outputs in self._allowed
        )
        return Agreement.WITHIN if meets else Agreement.NONE

    @property
    def _precision(self) -> str:
        """What is asked of the floating-point outputs, which share one type."""
        precisions = (
            required_precision(a, self.precision)
            for a in self.vector.answers
            if a.rounded is not None
        )
        return next(precisions, "standard")

    def _free(self, implementation: Implementation, predicted: list[Array]) -> list[Mask]:
        """For each returned output the elements that are not graded.

        Of an output in the right shape the vector says so, and of any the implementation does: a
        window that it moves or adds may well hold no data. Where all shapes are right that counts
        only if the rest shows the implementation.
        """
        assert self.outputs is not None
        free = [
            ungraded_elements(expected_output, got, self._precision)
            for expected_output, got in zip(self.vector.answers, self.outputs, strict=True)
        ]
        right = self._evaluator.outputs
        moved = any(a.shape != b.shape for a, b in zip(self.outputs, right, strict=True))
        alike = [] if moved else list(map(equal_values, self.outputs, predicted))
        # Most implementations end here: what they leave open takes longer to be worked out.
        if not moved and not self._is_in_question(alike, free):
            return free
        unspecified = self._evaluator.unspecified(implementation)
        if any(a.shape != b.shape for a, b in zip(unspecified, self.outputs, strict=True)):
            return free
        freed = [a | b for a, b in zip(free, unspecified, strict=True)]
        return freed if moved or self._shows(alike, free, freed) else free

    def _is_in_question(self, alike: list[Mask], free: list[Mask]) -> bool:
        """Whether outputs are somewhere wrong as those of an implementation, and not everywhere."""
        if all((matches | ungraded).all() for matches, ungraded in zip(alike, free, strict=True)):
            return False
        return any(
            (matches & wrong).any() for matches, wrong in zip(alike, self._wrong, strict=True)
        )

    def _shows(self, alike: list[Mask], free: list[Mask], freed: list[Mask]) -> bool:
        """Whether an element is wrong as an implementation has it, which does not leave it open,
        or a whole output is as the implementation has it, and wrong somewhere.
        """
        return any(
            bool(
                (matches & wrong & ~open_too).any() or ((matches | ungraded).all() and wrong.any())
            )
            for matches, wrong, ungraded, open_too in zip(
                alike, self._wrong, free, freed, strict=True
            )
        )

    @cached_property
    def _wrong(self) -> list[Mask]:
        """For each output, all in their right shapes, the elements that are graded and not right.

        What is near, but not the same, counts as wrong.
        """
        assert self.outputs is not None
        return [
            ~(equal_values(got, right) | ungraded_elements(expected_output, got, self._precision))
            for got, right, expected_output in zip(
                self.outputs, self._evaluator.outputs, self.vector.answers, strict=True
            )
        ]

    def _resembles(
        self, implementation: Implementation, predicted: list[Array], free: list[Mask]
    ) -> bool:
        """Whether elements are near: all of them, or half where partial sums may overflow, or where
        nothing tells how far rounding errors reach.
        """
        assert self.outputs is not None
        near = total = 0
        compared = zip(self.outputs, predicted, self._tolerances, free, strict=True)
        for got, other, room, ungraded in compared:
            close = np.abs(ordinals(got) - ordinals(other)) <= NEAR
            close |= ungraded
            if got.dtype.kind not in "iub":
                with np.errstate(all="ignore"):
                    actual, predicted_values = got.astype(np.float64), other.astype(np.float64)
                    off = np.abs(actual - predicted_values)
                    close |= (off <= SHARE * np.abs(predicted_values)) | (
                        is_nan(actual) & is_nan(predicted_values)
                    )
                    close |= off <= room if room is not None else False
            near += int(np.count_nonzero(close))
            total += got.size
        if implementation.accumulators or any(
            room is None and got.dtype.kind not in "iub"
            for got, room in zip(self.outputs, self._tolerances, strict=True)
        ):
            return 2 * near >= total
        return near == total

    @cached_property
    def _tolerances(self) -> list[Array | None]:
        """For each output how far rounding errors may reach: some widths of what is accepted, by
        the answer or by that of an interpretation which has the shape of what was returned.
        """
        assert self.outputs is not None
        rooms: list[Array | None] = []
        for number, got in enumerate(self.outputs):
            sets = (self.vector.answers, *self.vector.readings.values())
            alike = (
                outputs[number] for outputs in sets if outputs[number].expected.shape == got.shape
            )
            expected_output = next(alike, None)
            if expected_output is None or expected_output.rounded is None:
                rooms.append(None)
                continue
            with np.errstate(all="ignore"):
                lo, hi = (end.astype("f8") for end in expected_output.interval(self._precision))
                rooms.append(WIDTHS * (hi - lo))
        return rooms

    def _has_shapes_of(self, predicted: list[Array]) -> bool:
        """Whether each output has the shape and type of what an implementation gives."""
        assert self.outputs is not None
        pairs = zip(self.outputs, predicted, strict=True)
        return all(a.shape == b.shape and a.dtype == b.dtype for a, b in pairs)

    def _compared(self, implementation: Implementation, predicted: list[Array]) -> Agreement:
        assert self.outputs is not None
        if not self._has_shapes_of(predicted):
            return Agreement.NONE
        pairs = list(zip(self.outputs, predicted, strict=True))
        free = self._free(implementation, predicted)
        alike = [
            equal_values(got, other) | ungraded
            for (got, other), ungraded in zip(pairs, free, strict=True)
        ]
        if all(matches.all() for matches in alike):
            return Agreement.EQUAL
        ends = self._evaluator.ends(implementation, self._precision)
        if any(got.shape != lo.shape for got, (lo, _) in zip(self.outputs, ends, strict=True)):
            return Agreement.NONE  # too many taps for what is accepted to be worked out
        outside = [
            ~(values_between(got, lo, hi) | equal)
            for got, (lo, hi), equal in zip(self.outputs, ends, alike, strict=True)
        ]
        if not any(outliers.any() for outliers in outside):
            return Agreement.WITHIN
        # Of windows without data what is not finite shows that they are, and their indices nothing.
        valued = any(got.dtype.kind not in "iub" for got in self.outputs)
        if any(
            not valued if got.dtype.kind in "iub" else np.isfinite(got[outliers].astype("f8")).any()
            for got, outliers in zip(self.outputs, outside, strict=True)
            if outliers.any()
        ):
            return Agreement.NONE
        overflown = self._evaluator.unspecified(implementation, self._precision)
        if any((outliers & ~may).any() for outliers, may in zip(outside, overflown, strict=True)):
            return Agreement.NONE
        every = all((matches | may).all() for matches, may in zip(alike, overflown, strict=True))
        return Agreement.EQUAL if every else Agreement.WITHIN

    def _may_overflow(self, predicted: list[Array]) -> bool:
        """Whether outputs are near but for some that are not finite.

        Where a mutant makes partial sums larger they may overflow though the right ones do not.
        """
        assert self.outputs is not None
        for got, other, room in zip(self.outputs, predicted, self._tolerances, strict=True):
            if got.dtype.kind in "iub":
                continue
            with np.errstate(all="ignore"):
                actual, predicted_values = got.astype(np.float64), other.astype(np.float64)
                off = np.abs(actual - predicted_values)
                near = off <= np.maximum(
                    SHARE * np.abs(predicted_values), 0 if room is None else room
                )
            if not (near | ~np.isfinite(actual)).all():
                return False
        return True

    def _is_far(self, expected_outputs: tuple[Answer, ...], predicted: list[Array]) -> bool:
        """Whether an element is farther from what is accepted than rounding errors reach."""
        for expected_output, output in zip(expected_outputs, predicted, strict=True):
            if expected_output.rounded is None or structure_mismatch(expected_output, output):
                continue
            lo, hi = expected_output.interval(self._precision)
            steps = np.maximum(ordinals(lo) - ordinals(output), ordinals(output) - ordinals(hi))
            with np.errstate(all="ignore"):
                low, high, value = (array.astype("f8") for array in (lo, hi, output))
                room = np.maximum(WIDTHS * (high - low), SHARE * np.abs(value))
                far = (np.maximum(low - value, value - high) > room) & (steps > NEAR)
            if (far & ~ungraded_elements(expected_output, output, self._precision)).any():
                return True
        return False

    def _meets(self, expected_outputs: tuple[Answer, ...], lows: Any, highs: Any) -> bool:
        """Whether something is accepted both by answers and of an implementation."""
        for expected_output, low, high in zip(expected_outputs, lows, highs, strict=True):
            if structure_mismatch(expected_output, low) is not None:
                return False
            if expected_output.rounded is None:
                if not accepts((expected_output,), (low,), self._precision):
                    return False
                continue
            lo, hi = expected_output.interval(self._precision)
            nan = is_nan(lo) & is_nan(low)
            meet = (ordinals(low) <= ordinals(hi)) & (ordinals(high) >= ordinals(lo))
            apart = ~nan & (~meet | is_nan(lo) | is_nan(low))
            if (apart & ~ungraded_elements(expected_output, low, self._precision)).any():
                return False
        return True


def is_small(vector: Vector) -> bool:
    """Return whether what is computed of a vector may be kept in memory."""
    arrays = (*vector.inputs, *(output.expected for output in vector.answers))
    return sum(array.size for array in arrays) <= SMALL


def _prepare(spec: Operator, vector: Vector, shapes: frozenset[tuple[int, ...]]) -> Any:
    return subject_of(spec, vector.case, vector.arguments, shapes)


@lru_cache(maxsize=16)
def _large(observed: ObservedVector) -> EvaluatedCase[Any]:
    return observed.evaluator()
