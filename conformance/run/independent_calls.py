"""For kernels, in place of ``--repeat``: each of several calls has to be right by itself.

``--repeat`` of a check demands that all outcomes are the same, bit for bit. An honest kernel may
sum in the order in which its threads come, so here each outcome need only be right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.grade.determinism import merge_repeats
from conformance.grade.judge import judge
from conformance.grade.outcome import PROCESS_LOST, Ending, Outcome
from conformance.model import FAILED, Vector
from conformance.safe_text import number_of

TIMES = 2


class IndependentCalls:
    """A count of the vectors whose :data:`TIMES` calls differ in some bit though all are right."""

    def __init__(self, level: str, precision: Mapping[str, str]) -> None:
        self._level, self._precision = level, precision
        self.unsteady = 0

    @property
    def remark(self) -> str:
        """What a verdict has to say of repeats; empty if nothing."""
        if not self.unsteady:
            return ""
        return (
            f"Repeats: {number_of(self.unsteady, 'vector')} gave other bits in a second call, "
            "all within bounds."
        )

    def merge(self, vector: Vector, outcomes: Sequence[Outcome]) -> Outcome:
        """Merge the calls on a vector into the first wrong outcome, if any is wrong."""
        wrong = [n for n, outcome in enumerate(outcomes, 1) if self._is_wrong(vector, outcome)]
        if not wrong:
            self.unsteady += vector.case.reject is None and bool(merge_repeats(outcomes).unsteady)
            return outcomes[0]
        first = outcomes[wrong[0] - 1]
        if len(wrong) == TIMES:
            return first
        which = f"in call {wrong[0]} of {TIMES} on the same inputs"
        if first.ending in PROCESS_LOST or first.ending is Ending.RAISED:
            return replace(first, message=f"{first.message}\n{which}")
        return replace(first, note=which)

    def _is_wrong(self, vector: Vector, outcome: Outcome) -> bool:
        result = judge(vector, outcome, level=self._level, precision=self._precision)
        return result.status in FAILED
