"""Whether a name predicts what a backend gives on fresh cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from conformance.core.data import inputs_of
from conformance.core.operator import Operator
from conformance.diagnosis.code_path import CodePath, code_path_of
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.wording import candidates
from conformance.dtypes import Array
from conformance.generate.pool import drawn_pool
from conformance.implementations import EvaluatedCase, implementation_of, subject_of
from conformance.spec.catalogue import Mutant

if TYPE_CHECKING:
    from stored import Operator

CASES = 250
"""Fresh cases of each of the ranks that people run, about."""

RANKS = (3, 4, 5)

ROOT = 1_000_003
"""Another seed than that of any suite."""

ENOUGH = 3
"""Fresh cases that a name has to say something of, to be judged."""

RIGHT, FALSE = 0.9, 0.7


class Fresh:
    """Cases of one operator that nobody graded."""

    def __init__(self, spec: Operator) -> None:
        self.spec = spec
        self._subjects: list[tuple[CodePath, EvaluatedCase[Any]]] = []
        for rank in RANKS:
            for case in drawn_pool(spec, ROOT, CASES, rank):
                subject = subject_of(spec, case, inputs_of(spec, case))
                self._subjects.append((code_path_of(case), subject))

    def judged(self, true: Sequence[Mutant], found: Explanation, _: Operator) -> str:
        """What a finding's names are worth: those of the best candidate."""
        order = ("right", "symptom", "imprecise", "false", "unshown")
        several = (self._one(true, named, found) for named in candidates(found))
        return min(several, key=order.index)

    def _one(self, true: Sequence[Mutant], named: Sequence[Mutant], found: Explanation) -> str:
        backend = implementation_of(self.spec, *(fault.change for fault in true))
        told = implementation_of(self.spec, *(fault.change for fault in named))
        changed = wrong = as_told = 0
        for place, subject in self._subjects:
            if place not in found.code_paths:
                continue
            given, predicted = subject.under(backend), subject.under(told)
            free = subject.unspecified(told)
            is_changed = not _same(predicted, subject.outputs, free)
            is_wrong = not _same(given, subject.outputs, free)
            agrees = _same(given, predicted, free)
            changed += is_changed
            wrong += is_wrong
            as_told += is_changed and is_wrong and agrees
        if changed < ENOUGH:
            return "unshown"
        precision, recall = as_told / changed, as_told / max(1, wrong)
        if precision < FALSE:
            return "false"
        if precision < RIGHT:
            return "imprecise"
        return "right" if recall >= RIGHT else "symptom"


def _same(some: Sequence[Array], others: Sequence[Array], free: Sequence[Array]) -> bool:
    """Whether outputs are equal, but for elements that have no value to check."""
    for a, b, ungraded in zip(some, others, free, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        equal = (a == b) | ((a != a) & (b != b))
        if not (equal | ungraded if ungraded.shape == a.shape else equal).all():
            return False
    return True
