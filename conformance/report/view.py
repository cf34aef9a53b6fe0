"""What all formats show of a run, computed once from its log."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from conformance.errors import EXIT_INCONCLUSIVE
from conformance.failure_kind import facts_of
from conformance.log.events import Footer, KnownFailureUse, RequirementUse
from conformance.log.run_log import RunLog
from conformance.model import FAILED, GRADED, Status
from conformance.report.cause_view import CauseView, FindingView
from conformance.report.wording import unexplained
from conformance.strength import PartitionStrength, RunStrength
from conformance.verdict import Tally, Verdict, sum_tallies


class Tone(enum.StrEnum):
    """How a run, or a part of it, is to look; every format maps each."""

    GOOD = "good"
    """Conformant, with a strength that is known (or a log too old to say), and the gate is met."""
    KNOWN = "known"
    """No failure but known ones, and the gate is met."""
    WEAK = "weak"
    """No failure, and too little evidence."""
    NEUTRAL = "neutral"
    """No failure, and no claim or a strength that nobody knows."""
    BAD = "bad"


FAULTLESS = {
    Verdict.CONFORMANT: Tone.GOOD,
    Verdict.INCONCLUSIVE: Tone.WEAK,
    Verdict.NO_FAILURES: Tone.NEUTRAL,
}
"""The tone of verdicts without a failure."""

NO_CLAIM = "No claim can be made from this run."
COMMAND = "conformance check "
"""How a command begins that a sentence may end with."""


@dataclass(frozen=True)
class OperatorRow:
    """The counts of one operator, or of all; ``missing`` vectors were selected, never reached."""

    op: str
    selected: int
    tally: Tally

    @property
    def missing(self) -> int:
        return max(0, self.selected - self.tally.total)

    @property
    def unclaimed(self) -> bool:
        """Whether nothing was asked that the level asks, as the backend supports none of it."""
        t = self.tally
        return t.unsupported > 0 and t.unsupported + t.skipped == self.selected


@dataclass(frozen=True)
class UnsupportedGroup:
    """Vectors that the backend does not support for one reason, of one operator or several."""

    op: str
    reason: str
    dtypes: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class View:
    """A run, ready to be shown.

    ``sentence`` says what ``headline`` does not, and where it ends in a colon ``command`` is what
    to run. Causes are in their order, worst first, known ones after the new. ``readings`` has the
    questions of each operator, ``known`` and ``required`` the entries of the gate's files as the
    footer has them.
    """

    run: RunLog
    verdict: Verdict
    tone: Tone
    headline: str
    sentence: str
    command: str
    claim: str
    rows: tuple[OperatorRow, ...]
    total: OperatorRow
    causes: tuple[CauseView, ...]
    readings: Mapping[str, tuple[OpenQuestion, ...]]
    unsupported: tuple[UnsupportedGroup, ...]
    known: tuple[KnownFailureUse, ...]
    required: tuple[RequirementUse, ...]

    @property
    def good(self) -> bool:
        """Whether the run may be shown in green."""
        return self.tone is Tone.GOOD

    @property
    def advised(self) -> str:
        """The sentence, and on a line of its own the command that it ends with, if any."""
        return "\n".join(filter(None, (self.sentence, self.command)))

    @property
    def strength(self) -> str:
        """How strong the evidence is; empty where the run claims nothing."""
        evidence = _claimed(self.run)
        return evidence.headline if evidence else ""

    @property
    def table(self) -> tuple[OperatorRow, ...]:
        """The rows, those of operators that the backend does not claim folded into one."""
        unclaimed = [row for row in self.rows if row.unclaimed]
        if len(unclaimed) < 2 or len(unclaimed) == len(self.rows):
            return self.rows
        folded = OperatorRow(
            f"{len(unclaimed)} others",
            sum(row.selected for row in unclaimed),
            sum_tallies(row.tally for row in unclaimed),
        )
        return (*(row for row in self.rows if not row.unclaimed), folded)

    @property
    def new(self) -> tuple[CauseView, ...]:
        """Causes of failures that are not known ones."""
        return tuple(one for one in self.causes if not one.cause.known)

    @property
    def glance(self) -> tuple[tuple[str, str, bool], ...]:
        """What a reader wants first: numbers with their words, and whether that is bad."""
        t = self.total.tally
        explained = sum(one.cause.explained for one in self.new)
        kinds = (result.kind for result in self.run.results if result.status in FAILED)
        lost = sum(facts_of(kind).loses_process for kind in kinds)
        count, causes = explained, f"{'new ' if self.known else ''}cause{'s' * (explained != 1)}"
        rest = len(self.new) - explained
        if rest and explained:
            causes += f", and {rest:,} {unexplained(rest)}"
        elif rest:
            count, causes = rest, unexplained(rest)
        return (
            (f"{count:,}", causes, bool(self.new)),
            (f"{t.passed:,}", f"of {self.total.selected:,} vectors passed", False),
            (f"{lost:,}", "crashed or hung", lost > 0),
        )


def view(run: RunLog) -> View:
    """What is shown of a run; the same log gives the same view."""
    verdict = run.verdict
    rows = tuple(OperatorRow(op, run.selected(op), tally) for op, tally in run.tallies.items())
    total = OperatorRow("all", sum(row.selected for row in rows), run.score.total)
    named = {one.smallest for one in run.findings}
    dtypes = {result.id: result.dtype for result in run.results if result.id in named}
    tone, headline = _tone(run)
    backend = run.start.backend.spec
    sentence, command = _parted(_sentence(run, total))
    return View(
        run=run,
        verdict=verdict,
        tone=tone,
        headline=headline,
        sentence=sentence,
        command=command,
        claim=_claim(run),
        rows=rows,
        total=total,
        causes=tuple(
            CauseView(
                cause,
                tuple(
                    FindingView(finding, dtypes.get(finding.smallest, ""), backend, cause.known)
                    for finding in cause.findings
                ),
            )
            for cause in run.causes
        ),
        readings=readings(run),
        unsupported=_unsupported(run),
        known=run.end.known_failures if run.end else (),
        required=run.end.required if run.end else (),
    )


def _tone(run: RunLog) -> tuple[Tone, str]:
    """The colour and the headline of a run, which answer to its gate as well as its verdict."""
    headline = run.verdict.headline
    exit_code = run.end.exit_code if run.end else None
    if run.verdict is Verdict.INCONCLUSIVE and exit_code == EXIT_INCONCLUSIVE:
        return Tone.WEAK, headline
    if run.end and run.end.endings and run.verdict in FAULTLESS:
        return Tone.BAD, "Ended badly"
    if not run.gate_met:
        return Tone.BAD, "Gate not met" if run.verdict in FAULTLESS else headline
    if run.verdict is Verdict.CONFORMANT and run.evidence.weakest is None:
        return Tone.NEUTRAL, headline  # green would claim a strength that nobody knows
    if run.verdict in FAULTLESS:
        return FAULTLESS[run.verdict], headline
    return Tone.KNOWN, "No new failures"


def _sentence(run: RunLog, total: OperatorRow) -> str:
    if run.verdict is Verdict.CUT_SHORT:
        return (
            f"The log ends after {total.tally.total:,} of {total.selected:,} vectors, without a "
            "verdict: the run was killed, or part of its log is missing."
        )
    if run.verdict is Verdict.INCONSISTENT:
        return "The log contradicts itself, so its verdict is void: " + run.problems[0]
    sentence = _end(run).sentence
    if _tone(run)[1] != run.verdict.headline:
        return sentence
    rest = sentence.removeprefix(f"{run.verdict.headline}: ")
    return rest[:1].upper() + rest[1:]


def _parted(text: str) -> tuple[str, str]:
    """A sentence, and the command that stands on its last line; empty where there is none."""
    sentence, line, command = text.rpartition("\n")
    return (sentence, command) if line and command.startswith(COMMAND) else (text, "")


def _claim(run: RunLog) -> str:
    if run.verdict.is_of_readers:
        return NO_CLAIM
    return _end(run).claim or NO_CLAIM


def _end(run: RunLog) -> Footer:
    assert run.end is not None
    return run.end


def _unsupported(run: RunLog) -> tuple[UnsupportedGroup, ...]:
    grouped: dict[str, Counter[tuple[str, str]]] = {}
    first: dict[str, str] = {}
    for result in run.results:
        if result.status is Status.UNSUPPORTED:
            # The same reason of several operators, each of which it names.
            reason = result.message.replace(result.op, "the operator")
            grouped.setdefault(reason, Counter())[result.op, result.dtype] += 1
            first.setdefault(reason, result.message)
    groups = []
    for reason, counts in grouped.items():
        ops = sorted({op for op, _ in counts})
        dtypes = tuple(sorted({dtype for _, dtype in counts if dtype}))
        said = first[reason] if len(ops) == 1 else reason
        groups.append(UnsupportedGroup(", ".join(ops), said, dtypes, counts.total()))
    return tuple(sorted(groups, key=lambda g: (-g.count, g.op, g.reason)))


@dataclass(frozen=True)
class AnswerRow:
    """One answer of the backend to a question: how many vectors show it, of which types.

    ``other`` where the specification adopts another answer; to an open question none is adopted.
    """

    answer: str
    other: bool
    vectors: int
    dtypes: str
    example: str


@dataclass(frozen=True)
class OpenQuestion:
    """A question that the document leaves open, with every answer that vectors show."""

    text: str
    answers: tuple[AnswerRow, ...]

    @property
    def mixed(self) -> bool:
        """Whether different vectors show different answers."""
        return len(self.answers) > 1


def readings(run: RunLog) -> Mapping[str, tuple[OpenQuestion, ...]]:
    """The questions of each operator that the backend was graded on, in the order of the log."""
    run_on: dict[str, set[str]] = {}
    for result in run.results:
        if result.status in GRADED and result.reject is None:
            run_on.setdefault(result.op, set()).add(result.dtype)
    questions: dict[str, list[OpenQuestion]] = {}
    for reading in run.readings:
        if reading.op not in run_on:
            continue  # not claimed, say: there is nothing that it could have shown
        answers = tuple(
            AnswerRow(
                answer=answer.answer,
                other=reading.level != "open" and not answer.adopted,
                vectors=answer.vectors,
                dtypes=_dtypes(answer.dtypes, run_on[reading.op]),
                example=answer.example,
            )
            for answer in reading.answers
        )
        question = OpenQuestion(reading.question, answers)
        questions.setdefault(reading.op, []).append(question)
    return {op: tuple(asked) for op, asked in questions.items()}


def _dtypes(dtypes: Sequence[str], run_on: set[str]) -> str:
    """Element types by name; ``all`` for those that the operator was run on, if several."""
    return "all" if len(run_on) > 1 and set(dtypes) == run_on else " ".join(dtypes)


@dataclass(frozen=True)
class OperatorStrength:
    """The strength of an operator in each type and rank that the run claims."""

    op: str
    evidence: RunStrength

    @cached_property
    def weakest(self) -> PartitionStrength | None:
        """Its weakest part of those that are known."""
        return self.evidence.weakest

    @property
    def note(self) -> str:
        """What has to be said beside the counts; empty where its evidence is not too weak."""
        if not self.evidence.short or self.weakest is None:
            return ""
        return f"too few mutants killed: {self.weakest.share} in {self.weakest.part}"


def strengths(run: RunLog) -> tuple[OperatorStrength, ...]:
    """Each operator that the run claims, in the order of the log; none where it claims nothing."""
    evidence = _claimed(run)
    by_op: dict[str, list[PartitionStrength]] = {}
    for one in evidence.parts if evidence else ():
        by_op.setdefault(one.op, []).append(one)
    return tuple(
        OperatorStrength(op, replace(evidence, parts=tuple(parts)))
        for op, parts in by_op.items()
        if evidence
    )


def _claimed(run: RunLog) -> RunStrength | None:
    """The evidence of a run that makes a claim, or would with more of it."""
    return run.evidence if run.verdict.is_claimable else None
