"""A run as all formats show it, computed once from its log."""

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
from conformance.report.wording import unexplained_groups
from conformance.strength import PartitionStrength, RunStrength
from conformance.verdict import Tally, Verdict, sum_tallies


class Tone(enum.StrEnum):
    """The look of a run, or of a part of it; every format maps each."""

    GOOD = "good"
    """Conformant, with a strength that is known (or a log too old to say), and the gate is met."""
    KNOWN = "known"
    """No failure but known ones, and the gate is met."""
    WEAK = "weak"
    """No failure, and too little evidence."""
    NEUTRAL = "neutral"
    """No failure, and no claim or a strength that nobody knows."""
    BAD = "bad"


FAULTLESS_TONES = {
    Verdict.CONFORMANT: Tone.GOOD,
    Verdict.INCONCLUSIVE: Tone.WEAK,
    Verdict.NO_FAILURES: Tone.NEUTRAL,
}
"""The tone of verdicts without a failure."""

NO_CLAIM = "No claim can be made from this run."
CHECK_COMMAND = "conformance check "
"""The beginning of a command that a sentence may end with."""


@dataclass(frozen=True)
class OperatorRow:
    """The counts of an operator, or of all operators."""

    op: str
    selected: int
    tally: Tally

    @property
    def missing(self) -> int:
        """Selected vectors that have no result."""
        return max(0, self.selected - self.tally.total)

    @property
    def is_unsupported(self) -> bool:
        """True if the backend supports nothing of the operator that the level requires."""
        t = self.tally
        return t.unsupported > 0 and t.unsupported + t.skipped == self.selected


@dataclass(frozen=True)
class UnsupportedGroup:
    """Vectors that the backend does not support for the same reason."""

    op: str
    reason: str
    dtypes: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class View:
    """A run, ready to be shown.

    Attributes:
        sentence: says what ``headline`` does not.
        command: what to run, if the sentence ends in a colon; else empty.
        rows: the counts of each operator.
        causes: worst first, known ones after new ones.
        questions: the open questions of each operator.
        known_failures: entries of the gate's file, as the footer has them.
        requirements: entries of the gate's file, as the footer has them.
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
    questions: Mapping[str, tuple[OpenQuestion, ...]]
    unsupported: tuple[UnsupportedGroup, ...]
    known_failures: tuple[KnownFailureUse, ...]
    requirements: tuple[RequirementUse, ...]

    @property
    def is_green(self) -> bool:
        """True if the run may be shown in green."""
        return self.tone is Tone.GOOD

    @property
    def full_sentence(self) -> str:
        """The sentence, and its command on a second line, if there is a command."""
        return "\n".join(filter(None, (self.sentence, self.command)))

    @property
    def strength(self) -> str:
        """The strength of the evidence, in words; empty if the run claims nothing."""
        evidence = _claimed_evidence(self.run)
        return evidence.headline if evidence else ""

    @property
    def table(self) -> tuple[OperatorRow, ...]:
        """The rows; those of unsupported operators are added up in a last row."""
        unsupported = [row for row in self.rows if row.is_unsupported]
        if len(unsupported) < 2 or len(unsupported) == len(self.rows):
            return self.rows
        sums = OperatorRow(
            f"{len(unsupported)} others",
            sum(row.selected for row in unsupported),
            sum_tallies(row.tally for row in unsupported),
        )
        return (*(row for row in self.rows if not row.is_unsupported), sums)

    @property
    def new_causes(self) -> tuple[CauseView, ...]:
        """The causes of failures that are not known failures."""
        return tuple(view for view in self.causes if not view.cause.known)

    @property
    def key_figures(self) -> tuple[tuple[str, str, bool], ...]:
        """Key figures of the run: number, label, whether it is bad."""
        explained = sum(view.cause.explained for view in self.new_causes)
        unexplained = len(self.new_causes) - explained
        kinds = (result.kind for result in self.run.results if result.status in FAILED)
        lost = sum(facts_of(kind).loses_process for kind in kinds)
        new = "new " if self.known_failures else ""
        count, label = explained, f"{new}cause{'s' * (explained != 1)}"
        if unexplained and explained:
            label += f", and {unexplained:,} {unexplained_groups(unexplained)}"
        elif unexplained:
            count, label = unexplained, unexplained_groups(unexplained)
        return (
            (f"{count:,}", label, bool(self.new_causes)),
            (f"{self.total.tally.passed:,}", f"of {self.total.selected:,} vectors passed", False),
            (f"{lost:,}", "crashed or hung", lost > 0),
        )


def run_view(run: RunLog) -> View:
    """Return what formats show of a run; the same log gives the same view."""
    rows = tuple(OperatorRow(op, run.selected(op), tally) for op, tally in run.tallies.items())
    total = OperatorRow("all", sum(row.selected for row in rows), run.score.total)
    reproducers = {finding.smallest for finding in run.findings}
    dtypes = {result.id: result.dtype for result in run.results if result.id in reproducers}
    tone, headline = _tone(run)
    backend = run.start.backend.spec
    sentence, command = _split_command(_sentence(run, total))
    return View(
        run=run,
        verdict=run.verdict,
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
        questions=answered_questions(run),
        unsupported=_unsupported(run),
        known_failures=run.end.known_failures if run.end else (),
        requirements=run.end.required if run.end else (),
    )


def _tone(run: RunLog) -> tuple[Tone, str]:
    """Return the tone and the headline of a run, which depend on its verdict and its gate."""
    headline = run.verdict.headline
    exit_code = run.end.exit_code if run.end else None
    if run.verdict is Verdict.INCONCLUSIVE and exit_code == EXIT_INCONCLUSIVE:
        return Tone.WEAK, headline
    if run.end and run.end.endings and run.verdict in FAULTLESS_TONES:
        return Tone.BAD, "Ended badly"
    if not run.gate_met:
        return Tone.BAD, "Gate not met" if run.verdict in FAULTLESS_TONES else headline
    if run.verdict is Verdict.CONFORMANT and run.evidence.weakest is None:
        return Tone.NEUTRAL, headline  # green would claim a strength that nobody knows
    if run.verdict in FAULTLESS_TONES:
        return FAULTLESS_TONES[run.verdict], headline
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
    reason = sentence.removeprefix(f"{run.verdict.headline}: ")
    return reason[:1].upper() + reason[1:]


def _split_command(text: str) -> tuple[str, str]:
    """Split a text into a sentence and the command on its last line; empty if there is none."""
    sentence, line_break, command = text.rpartition("\n")
    has_command = line_break and command.startswith(CHECK_COMMAND)
    return (sentence, command) if has_command else (text, "")


def _claim(run: RunLog) -> str:
    if run.verdict.is_of_readers:
        return NO_CLAIM
    return _end(run).claim or NO_CLAIM


def _end(run: RunLog) -> Footer:
    assert run.end is not None
    return run.end


def _unsupported(run: RunLog) -> tuple[UnsupportedGroup, ...]:
    counts_by_reason: dict[str, Counter[tuple[str, str]]] = {}
    first_messages: dict[str, str] = {}
    for result in run.results:
        if result.status is Status.UNSUPPORTED:
            # A reason that names its operator is the same for several operators.
            reason = result.message.replace(result.op, "the operator")
            counts_by_reason.setdefault(reason, Counter())[result.op, result.dtype] += 1
            first_messages.setdefault(reason, result.message)
    groups = []
    for reason, counts in counts_by_reason.items():
        ops = sorted({op for op, _ in counts})
        dtypes = tuple(sorted({dtype for _, dtype in counts if dtype}))
        text = first_messages[reason] if len(ops) == 1 else reason
        groups.append(UnsupportedGroup(", ".join(ops), text, dtypes, counts.total()))
    return tuple(sorted(groups, key=lambda group: (-group.count, group.op, group.reason)))


@dataclass(frozen=True)
class AnswerRow:
    """An answer of the backend to a question, with the number and the types of its vectors.

    Attributes:
        is_unexpected: the specification expects another answer; never true of an open question.
    """

    answer: str
    is_unexpected: bool
    vectors: int
    dtypes: str
    example: str


@dataclass(frozen=True)
class OpenQuestion:
    """An open question, with every answer that vectors show."""

    text: str
    answers: tuple[AnswerRow, ...]

    @property
    def is_mixed(self) -> bool:
        """True if different vectors show different answers."""
        return len(self.answers) > 1


def answered_questions(run: RunLog) -> Mapping[str, tuple[OpenQuestion, ...]]:
    """Return the questions of each operator that was graded, in the order of the log."""
    graded_dtypes: dict[str, set[str]] = {}
    for result in run.results:
        if result.status in GRADED and result.reject is None:
            graded_dtypes.setdefault(result.op, set()).add(result.dtype)
    questions: dict[str, list[OpenQuestion]] = {}
    for reading in run.readings:
        if reading.op not in graded_dtypes:
            continue  # not supported, say: no vector could show an answer
        answers = tuple(
            AnswerRow(
                answer=answer.answer,
                is_unexpected=reading.level != "open" and not answer.adopted,
                vectors=answer.vectors,
                dtypes=_dtypes(answer.dtypes, graded_dtypes[reading.op]),
                example=answer.example,
            )
            for answer in reading.answers
        )
        question = OpenQuestion(reading.question, answers)
        questions.setdefault(reading.op, []).append(question)
    return {op: tuple(op_questions) for op, op_questions in questions.items()}


def _dtypes(dtypes: Sequence[str], graded: set[str]) -> str:
    """Return the names of element types, or ``all`` for all graded types, if several."""
    return "all" if len(graded) > 1 and set(dtypes) == graded else " ".join(dtypes)


@dataclass(frozen=True)
class OperatorStrength:
    """The strength of an operator in each type and rank that the run claims."""

    op: str
    evidence: RunStrength

    @cached_property
    def weakest(self) -> PartitionStrength | None:
        """The weakest partition whose strength is known."""
        return self.evidence.weakest

    @property
    def note(self) -> str:
        """A warning beside the counts; empty if the evidence is strong enough."""
        if not self.evidence.short or self.weakest is None:
            return ""
        return f"too few mutants killed: {self.weakest.share} in {self.weakest.part}"


def operator_strengths(run: RunLog) -> tuple[OperatorStrength, ...]:
    """Return the strength of each operator that the run claims, in log order."""
    evidence = _claimed_evidence(run)
    partitions_by_op: dict[str, list[PartitionStrength]] = {}
    for partition in evidence.parts if evidence else ():
        partitions_by_op.setdefault(partition.op, []).append(partition)
    return tuple(
        OperatorStrength(op, replace(evidence, parts=tuple(partitions)))
        for op, partitions in partitions_by_op.items()
        if evidence
    )


def _claimed_evidence(run: RunLog) -> RunStrength | None:
    """Return the evidence of a run that makes a claim, or would with more evidence."""
    return run.evidence if run.verdict.is_claimable else None
