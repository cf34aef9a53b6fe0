"""The verdict of a run and its thresholds: a pure function of its results.

A run writes it into the footer of its log; a reader computes it again from the results, and
trusts no log in which the two differ. The verdict speaks of the backend alone. The exit code also
depends on the gate: a run whose failures are all known ones is not conformant, and ends with 0.
Where nothing is wrong, a run of a part of a suite, or of the smoke suite, makes no claim, and a run
is inconclusive if its vectors kill too few mutants, or an unknown number.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from conformance.choices import PRECISIONS, SuiteName
from conformance.errors import (
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_NOT_CONFORMANT,
    EXIT_OK,
)
from conformance.failure_kind import FailureKind
from conformance.model import GRADED, Result, Status
from conformance.safe_text import number_of
from conformance.strength import RunStrength

NO_CLAIM: Mapping[str, str] = {name: name.no_claim for name in SuiteName if name.no_claim}
"""Suites on which a run can claim nothing, by name, and why."""

FEWEST_GRADED = 50
"""Graded vectors below which a run that a declaration narrowed proves little by itself."""

ENDED = "ended in an error or a wrong shape or type"
"""A phrase for ``errors``: vectors whose outputs, if any, could not be compared."""


class Verdict(enum.StrEnum):
    """The verdict of a run.

    ``phrase`` says which runs have it, with ``{}`` for a verb; ``headline`` begins a report.
    Readers alone give the last two, which have no phrase: the log's own verdict cannot be trusted.
    """

    phrase: str
    headline: str

    def __new__(cls, text: str, phrase: str = "", headline: str = "") -> Verdict:
        """Make a member whose value is the text, and whose headline begins a sentence."""
        member = str.__new__(cls, text)
        member._value_, member.phrase = text, phrase
        member.headline = headline or text.capitalize()
        return member

    CONFORMANT = (
        "conformant",
        "a run {} whose evidence is as strong as required, and in which nothing failed",
    )
    NOT_CONFORMANT = "not conformant", "a run {} that has failures"
    INCONCLUSIVE = "inconclusive", "a run {} whose evidence is weaker than required"
    NO_FAILURES = "no failures", "a run {} that tested only a part of the suite"
    NOTHING_GRADED = "nothing graded", "a run {} that graded nothing", "No values graded"
    INTERRUPTED = "interrupted", "an interrupted run {}"
    CUT_SHORT = "cut short"
    INCONSISTENT = "inconsistent", "", "Inconsistent log"

    @property
    def is_claimable(self) -> bool:
        """True if the run makes a claim, or would with more evidence."""
        return self in (Verdict.CONFORMANT, Verdict.INCONCLUSIVE)

    @property
    def is_of_readers(self) -> bool:
        """True if the run itself came to no verdict that can be trusted."""
        return not self.phrase


GateSummary = Mapping[str, Sequence[Mapping[str, Any]]]
"""``known_failures`` and ``required`` as in the footer of a log, each if the run had it;
``endings`` if processes did not end as they should."""


@dataclass(frozen=True)
class Tally:
    """Counts of vectors by result.

    ``graded`` counts vectors with values that were compared, so no negative tests, though these may
    pass or fail. ``by_reading`` is the part of ``passed`` that
    follows an allowed interpretation, ``known`` the part of ``failed`` and ``errors`` that the
    vendor's known failures name. The other counts add up to ``total``.
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
        return self.tested + self.unsupported + self.skipped

    @property
    def tested(self) -> int:
        """Supported vectors that were tested, negative tests included."""
        return self.passed + self.wrong

    @property
    def wrong(self) -> int:
        """Vectors that failed or ended in an error, known failures among them."""
        return self.failed + self.errors

    @property
    def clean(self) -> bool:
        """Whether no vector failed or ended in an error."""
        return self.wrong == 0

    @property
    def new(self) -> int:
        """Failures and errors that are not known."""
        return self.wrong - self.known


def tally(results: Iterable[Result]) -> Tally:
    """Count results."""
    return _count_by(lambda _: "", results).get("", Tally())


def _count_by(key: Callable[[Result], str], results: Iterable[Result]) -> dict[str, Tally]:
    """Count results by key."""
    counts_by_key: dict[str, Counter[str]] = {}
    for result in results:
        counts = counts_by_key.setdefault(key(result), Counter())
        counts[result.status.counter] += 1
        counts["graded"] += result.status in GRADED and result.reject is None
        counts["known"] += result.known is not None
        counts["by_reading"] += result.status is Status.PASS and result.reading is not None
    return {name: Tally(**counts) for name, counts in counts_by_key.items()}


def sum_tallies(tallies: Iterable[Tally]) -> Tally:
    """Add tallies."""
    counts: Counter[str] = Counter()
    for tally in tallies:
        counts.update(asdict(tally))
    return Tally(**counts)


@dataclass(frozen=True)
class ResultCounts:
    """The results of a run, counted.

    ``selected`` counts the selected vectors of each operator. ``by_reading`` counts the vectors
    that pass by each interpretation; ``reached`` gives, by element type, the best precision that
    every vector with compared elements reaches, None where some reach none. ``right`` says whether
    any graded vector passed. ``given_up`` is empty, or says why the backend was not called any
    more.
    """

    selected: Mapping[str, int]
    tallies: Mapping[str, Tally]
    total: Tally
    by_reading: Mapping[str, int]
    reached: Mapping[str, str | None]
    right: bool
    given_up: str

    @classmethod
    def of(cls, selected: Mapping[str, int], results: Collection[Result]) -> ResultCounts:
        """Count the results of a run over ``selected`` vectors of each operator."""
        reached: dict[str, str | None] = {}
        by_interpretation: Counter[str] = Counter()
        right, given_up = False, ""
        for result in results:
            if result.kind == FailureKind.ABANDONED:
                given_up = given_up or result.message
            passed = result.status is Status.PASS
            if passed and result.reading is not None:
                by_interpretation[result.reading] += 1
            right = right or (passed and result.reject is None)
            if result.reject is None and result.status in (Status.PASS, Status.FAIL):
                before = reached.get(result.dtype, PRECISIONS[0])
                reached[result.dtype] = _weaker(before, result.precision)
        tallies = dict.fromkeys(selected, Tally()) | _count_by(lambda result: result.op, results)
        return cls(
            selected,
            tallies,
            sum_tallies(tallies.values()),
            dict(by_interpretation),
            reached,
            right,
            given_up,
        )

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The counts of each operator, as the footer has them."""
        return {
            op: {"selected": self.selected.get(op, 0), **asdict(tally)}
            for op, tally in self.tallies.items()
        }


def has_few_graded(counts: ResultCounts, strength: RunStrength) -> bool:
    """Return whether a declaration left few graded vectors, not measured to be enough."""
    total = counts.total
    return (
        total.graded < FEWEST_GRADED
        and total.unsupported > 0
        and strength.bar > 0
        and not strength.measured
    )


def is_too_weak(counts: ResultCounts, strength: RunStrength) -> bool:
    """Return whether a run's strength is too low, unknown, or of too few vectors."""
    unknown = strength.bar > 0 and bool(strength.unknown)
    return bool(strength.short) or unknown or has_few_graded(counts, strength)


def run_verdict(
    counts: ResultCounts, strength: RunStrength, *, interrupted: bool, no_claim: bool
) -> Verdict:
    """Return the verdict; ``no_claim`` if a run can claim nothing, whatever its results."""
    if interrupted:
        return Verdict.INTERRUPTED
    if counts.total.wrong:
        return Verdict.NOT_CONFORMANT
    if not counts.total.graded:
        return Verdict.NOTHING_GRADED
    if no_claim:
        return Verdict.NO_FAILURES
    return Verdict.INCONCLUSIVE if is_too_weak(counts, strength) else Verdict.CONFORMANT


def exit_objections(
    counts: ResultCounts, verdict: Verdict, gate: GateSummary, *, strict: bool
) -> Iterator[str]:
    """Yield each reason why a run may not end with exit code 0.

    None if all that is wrong is known, and something is right. ``strict`` allows no known failures
    that are out of date.
    """
    if verdict is Verdict.INTERRUPTED:
        yield "the run was interrupted"
    if verdict is Verdict.INCONCLUSIVE:
        yield "the run is inconclusive"
    if counts.total.new:
        yield f"{number_of(counts.total.new, 'new failure')}"
    if gate.get("endings"):
        yield "a process of the backend did not end as it should"
    if not counts.right:
        yield "no vector with values passed"
    if any(entry["problems"] or entry.get("unsupported") for entry in gate.get("required", ())):
        yield "something that is required is not supported"
    if strict and out_of_date(gate):
        yield "known failures are out of date, which strict does not allow"


def out_of_date(gate: GateSummary) -> int:
    """Count the entries of the known failures that are out of date."""
    return sum(bool(entry["problems"]) for entry in gate.get("known_failures", ()))


def exit_code(counts: ResultCounts, verdict: Verdict, gate: GateSummary, *, strict: bool) -> int:
    """Return the exit code of a run that no signal ended."""
    if verdict is Verdict.INTERRUPTED:
        return EXIT_INTERRUPTED
    objections = list(exit_objections(counts, verdict, gate, strict=strict))
    if verdict is Verdict.INCONCLUSIVE and len(objections) == 1:
        return EXIT_INCONCLUSIVE
    return EXIT_NOT_CONFORMANT if objections else EXIT_OK


def _weaker(a: str | None, b: str | None) -> str | None:
    # What sums in its own type, and what sums by tiles: none of both accepts the other.
    if a is None or b is None or {a, b} == {"native", "tiled"}:
        return None
    return max(a, b, key=PRECISIONS.index)
