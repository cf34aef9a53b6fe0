"""The verdict of a run and its thresholds: a pure function of its results.

A run writes it into the footer of its log; a reader computes it again from the results, and
trusts no log in which the two differ. The verdict speaks of the backend alone. The exit code also
answers to what a gate expects: a run whose failures are all known ones is not conformant, and ends
with 0. Where nothing is wrong, a run of a part of a suite, or of the smoke suite, makes no claim,
and one whose vectors kill too few mutants, or nobody knows how many, is inconclusive.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
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
"""Suites that a run of can claim nothing, by name, and why."""

FEWEST_GRADED = 50
"""Value vectors below which a run that was narrowed by a declaration says little by itself."""

ENDED = "ended in an error or a wrong shape or type"
"""What is said of vectors whose outputs, if any, could not be compared: the ``errors``."""


class Verdict(enum.StrEnum):
    """What a run came to.

    ``phrase`` says which runs come to it, with ``{}`` for a verb; ``headline`` begins a report.
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


Expected = Mapping[str, Sequence[Mapping[str, Any]]]
"""``known_failures`` and ``required`` as in the footer of a log, each if it was given; ``endings``
if processes did not end as they should."""


@dataclass(frozen=True)
class Tally:
    """How many vectors met which end.

    ``graded`` counts vectors with values that were judged; a vector that must be rejected is
    never among them, though it may pass or fail. ``by_reading`` is the part of ``passed`` that
    follows an allowed interpretation, ``known`` the part of ``failed`` and ``errors`` that the
    vendor's known failures name. What is left adds up to ``total``.
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
        return self.asked + self.unsupported + self.skipped

    @property
    def asked(self) -> int:
        """Those that were tested, negative tests included, and are supported."""
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
        """Failures and errors that are not known ones."""
        return self.wrong - self.known


def tally(results: Iterable[Result]) -> Tally:
    """The counts of some results."""
    return _counted(results).get("", Tally())


def _counted(
    results: Iterable[Result], of: Callable[[Result], str] = lambda _: ""
) -> dict[str, Tally]:
    """The counts of results by what they are ``of``."""
    found: dict[str, Counter[str]] = {}
    for result in results:
        counts = found.setdefault(of(result), Counter())
        counts[result.status.counter] += 1
        counts["graded"] += result.status in GRADED and result.reject is None
        counts["known"] += result.known is not None
        counts["by_reading"] += result.status is Status.PASS and result.reading is not None
    return {name: Tally(**counts) for name, counts in found.items()}


def summed(tallies: Iterable[Tally]) -> Tally:
    """The counts of several tallies together."""
    some = list(tallies)
    return Tally(**{f.name: sum(getattr(one, f.name) for one in some) for f in fields(Tally)})


@dataclass(frozen=True)
class ResultCounts:
    """The results of a run, counted.

    ``selected`` counts the vectors that each operator was to have. ``by_reading`` counts the
    vectors that pass by each interpretation; ``reached`` gives the best precision that every vector
    of a dtype reaches whose elements could be compared, None where some reach none. ``right`` says
    whether any graded vector passed. ``given_up`` is empty, or says why the backend was not asked
    any more.
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
        """The score of a run over ``selected`` vectors of each operator."""
        reached: dict[str, str | None] = {}
        readings: Counter[str] = Counter()
        right, given_up = False, ""
        for result in results:
            if result.kind == FailureKind.ABANDONED:
                given_up = given_up or result.message
            passed = result.status is Status.PASS
            if passed and result.reading is not None:
                readings[result.reading] += 1
            right = right or (passed and result.reject is None)
            if result.reject is None and result.status in (Status.PASS, Status.FAIL):
                so_far = reached.get(result.dtype, PRECISIONS[0])
                reached[result.dtype] = _weaker(so_far, result.precision)
        counted = _counted(results, lambda result: result.op)
        tallies = dict.fromkeys(selected, Tally()) | counted
        return cls(
            selected, tallies, summed(tallies.values()), dict(readings), reached, right, given_up
        )

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The counts of each operator, as the footer has them."""
        return {
            op: {"selected": self.selected.get(op, 0), **asdict(one)}
            for op, one in self.tallies.items()
        }


def few(score: ResultCounts, evidence: RunStrength) -> bool:
    """Whether few vectors were graded because of what is declared, and it is not measured that they
    suffice for just that."""
    total = score.total
    return (
        total.graded < FEWEST_GRADED
        and total.unsupported > 0
        and evidence.bar > 0
        and not evidence.measured
    )


def lacking(score: ResultCounts, evidence: RunStrength) -> bool:
    """Whether the evidence of a run without failures is too weak, unknown, or on too little."""
    unknown = evidence.bar > 0 and bool(evidence.unknown)
    return bool(evidence.short) or unknown or few(score, evidence)


def judged(
    score: ResultCounts, evidence: RunStrength, *, interrupted: bool, no_claim: bool
) -> Verdict:
    """The verdict. ``no_claim`` of a run that can claim nothing, whatever its results."""
    if interrupted:
        return Verdict.INTERRUPTED
    if score.total.wrong:
        return Verdict.NOT_CONFORMANT
    if not score.total.graded:
        return Verdict.NOTHING_GRADED
    if no_claim:
        return Verdict.NO_FAILURES
    return Verdict.INCONCLUSIVE if lacking(score, evidence) else Verdict.CONFORMANT


def objections(
    score: ResultCounts, verdict: Verdict, expected: Expected, *, strict: bool
) -> Iterator[str]:
    """Why a run may not end with exit code 0; none where nothing is wrong but what was known
    before, and something is right. ``strict`` allows no known failures that are out of date.
    """
    if verdict is Verdict.INTERRUPTED:
        yield "the run was interrupted"
    if verdict is Verdict.INCONCLUSIVE:
        yield "the run is inconclusive"
    if score.total.new:
        yield f"{number_of(score.total.new, 'new failure')}"
    if expected.get("endings"):
        yield "a process of the backend did not end as it should"
    if not score.right:
        yield "no vector with values passed"
    if any(entry["problems"] or entry.get("unsupported") for entry in expected.get("required", ())):
        yield "something that is required is not supported"
    if strict and out_of_date(expected):
        yield "known failures are out of date, which strict does not allow"


def out_of_date(expected: Expected) -> int:
    """How many entries of the known failures are out of date."""
    return sum(bool(entry["problems"]) for entry in expected.get("known_failures", ()))


def exit_code(score: ResultCounts, verdict: Verdict, expected: Expected, *, strict: bool) -> int:
    """The exit code of a run that no signal ended."""
    if verdict is Verdict.INTERRUPTED:
        return EXIT_INTERRUPTED
    found = len(list(objections(score, verdict, expected, strict=strict)))
    if verdict is Verdict.INCONCLUSIVE and found == 1:
        return EXIT_INCONCLUSIVE
    return EXIT_NOT_CONFORMANT if found else EXIT_OK


def _weaker(a: str | None, b: str | None) -> str | None:
    if a is None or b is None:
        return None
    return max(a, b, key=PRECISIONS.index)
