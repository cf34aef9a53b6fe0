"""Counts of results, computed from the results to check the footer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.model import GRADED, Result, Status


@dataclass(frozen=True)
class Tally:
    """How many vectors met which end.

    ``graded`` counts vectors with values that were judged; a vector that must be rejected is
    never among them, though it may pass or fail. ``by_reading`` is the part of ``passed`` that
    follows an allowed interpretation, ``known`` the part of ``failed`` and ``errors`` that the
    vendor's known failures name.
    """

    graded: int = 0
    passed: int = 0
    by_reading: int = 0
    failed: int = 0
    errors: int = 0
    known: int = 0
    unsupported: int = 0
    skipped: int = 0

    @property
    def total(self) -> int:
        """All vectors with a result."""
        return self.passed + self.failed + self.errors + self.unsupported + self.skipped

    @property
    def new(self) -> int:
        """Failures and errors that are not known ones."""
        return self.failed + self.errors - self.known

    @property
    def clean(self) -> bool:
        """Whether no vector failed or ended in an error."""
        return self.failed == 0 and self.errors == 0


def tally(results: Iterable[Result]) -> Tally:
    """The counts of some results."""
    statuses: Counter[Status] = Counter()
    graded = by_reading = known = 0
    for result in results:
        statuses[result.status] += 1
        graded += result.status in GRADED and result.reject is None
        known += result.known is not None
        by_reading += result.status is Status.PASS and result.reading is not None
    return Tally(
        graded=graded,
        passed=statuses[Status.PASS],
        by_reading=by_reading,
        failed=statuses[Status.FAIL],
        errors=statuses[Status.ERROR],
        known=known,
        unsupported=statuses[Status.UNSUPPORTED],
        skipped=statuses[Status.SKIPPED],
    )
