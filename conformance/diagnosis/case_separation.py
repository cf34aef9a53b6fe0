"""Conditions over the names of an operator that tell vectors that fail from those that pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from conformance.core.case_conditions import CaseConditions
from conformance.core.operator import Operator
from conformance.diagnosis.condition_choice import Bools, likeliest_choice
from conformance.diagnosis.conditions import Condition, Separation
from conformance.diagnosis.numbers import ENOUGH
from conformance.diagnosis.operator_results import case_from_request
from conformance.model import Result
from conformance.specification import binding_of

HIDING = 0.25
"""Passing vectors that meet conditions, at most, of each failure: data such as NaN hide a bug."""


class CaseSeparations:
    """The cases of one operator that failed and passed, and what separates some from others."""

    def __init__(self, spec: Operator, failed: Sequence[Result], passed: Sequence[Result]) -> None:
        requests = {r.id: r.asked for r in (*failed, *passed) if r.asked is not None}
        self._ids = list(requests)
        self._passed = self._marks([result.id for result in passed])
        bindings = [
            binding_of(spec, case_from_request(spec.op, request), tolerant=True)
            for request in requests.values()
        ]
        self._conditions = CaseConditions(spec, bindings)

    def find(self, failed: Sequence[Result], alike: Sequence[Result]) -> Separation | None:
        """Find conditions that all of some failures meet, and hardly any passing vector.

        ``alike`` are all that fail alike, also those that other conditions describe. None of a few
        failures, and where as much may be chance.
        """
        shared = self._marks([result.id for result in failed])
        if not ENOUGH <= len(failed) == int(shared.sum()):
            return None
        tolerated = int(HIDING * len(failed))
        choice = likeliest_choice(self._conditions.of(shared), shared, self._passed, tolerated)
        if choice is None:
            return None
        conditions = tuple(map(Condition, sorted(c.wording or c.text for c in choice.conditions)))
        separation = Separation(conditions, choice.shared, choice.met, choice.others)
        others = self._marks([result.id for result in alike])
        holding = np.logical_and.reduce([others, *(c.holds for c in choice.conditions)])
        met_count = int(holding.sum())
        is_chance = separation.is_chance(choice.tried, met_count, int(others.sum()))
        return None if is_chance else separation

    def _marks(self, ids: Collection[str]) -> Bools:
        marked = frozenset(ids)
        return np.array([id in marked for id in self._ids], np.bool_)
