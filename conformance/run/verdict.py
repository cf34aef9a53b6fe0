"""Computes the footer of a run: counts, verdict, sentence, claim and exit code.

The verdict speaks of the backend alone. The exit code also answers to what a gate expects: a run
whose failures are all known ones is not conformant, and ends with 0. Where nothing is wrong, a run
of a part of a suite, or of the smoke suite, makes no claim, and one whose vectors kill too few
mutants is inconclusive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.errors import (
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
    EXIT_NOT_CONFORMANT,
    EXIT_OK,
)
from conformance.evidence import Evidence
from conformance.grade.outcome import Ending
from conformance.grade.precision import spell
from conformance.model import GRADED, PRECISIONS, Result, Status
from conformance.run import statement
from conformance.run.expected import remarks, unmet

COUNT_OF = {
    Status.PASS: "passed",
    Status.FAIL: "failed",
    Status.ERROR: "errors",
    Status.UNSUPPORTED: "unsupported",
    Status.SKIPPED: "skipped",
}

SMOKE = "smoke"
"""The suite that is a first look, and proves nothing."""

MOST_NAMED = 4
"""How many operators of which nothing was graded the sentence names."""


@dataclass(frozen=True)
class Question:
    """What a run asks, as the claim states it.

    ``values`` counts the value vectors selected, ``in_suite`` all those of the operators asked
    that the suite has; ``whole`` says that nothing of these operators was left out, ``shard``
    which part of what was selected was asked, if only one was. ``digests`` are that of the suite;
    or that of the suite before it was completed, and that of what was added. ``spec`` is the
    backend as it was named.
    """

    backend: str
    suite: str
    digests: tuple[str, ...]
    level: str
    precision: Mapping[str, str]
    values: int
    in_suite: int
    whole: bool
    shard: str = ""
    spec: str = ""

    @property
    def sha256(self) -> str:
        """The digests, shortened."""
        return " + ".join(digest[:8] for digest in self.digests)

    @property
    def completing(self) -> str:
        """The command that tests what is missing; empty where that has been done."""
        return statement.completing(self.spec) if len(self.digests) == 1 else ""

    @property
    def no_claim(self) -> str:
        """Why a run of it can claim nothing, whatever its results; empty where it can."""
        if not self.whole:
            return f"shard {self.shard} alone" if self.shard else "a selection of vectors"
        return "the smoke suite" if self.suite == SMOKE else ""


@dataclass
class Score:
    """The results of a run so far, counted. Must-reject vectors count, but never as graded.

    ``right`` counts the graded vectors that passed. ``given_up`` is empty, or says why the backend
    was not asked any more.
    """

    counts: dict[str, dict[str, int]]
    by_reading: dict[str, int] = field(default_factory=dict)
    reached: dict[str, str | None] = field(default_factory=dict)
    right: int = 0
    given_up: str = ""

    @classmethod
    def of(cls, selected: Mapping[str, int]) -> Score:
        """The empty score of a run over ``selected`` vectors of each operator."""
        names = (
            *("graded", "passed", "by_reading", "failed", "errors", "known"),
            *("unsupported", "skipped"),
        )
        return cls({op: {"selected": n} | dict.fromkeys(names, 0) for op, n in selected.items()})

    def add(self, result: Result) -> None:
        """Count one result."""
        counts = self.counts[result.op]
        counts[COUNT_OF[result.status]] += 1
        counts["known"] += result.known is not None
        if result.kind == Ending.ABANDONED:
            self.given_up = self.given_up or result.message
        if result.status is Status.PASS and result.reading is not None:
            counts["by_reading"] += 1
            self.by_reading[result.reading] = self.by_reading.get(result.reading, 0) + 1
        if result.reject is None and result.status in GRADED:
            counts["graded"] += 1
            self.right += result.status is Status.PASS
            if result.status is not Status.ERROR:
                so_far = self.reached.get(result.dtype, PRECISIONS[0])
                self.reached[result.dtype] = _weaker(so_far, result.precision)

    def total(self, name: str) -> int:
        """One count over all operators."""
        return sum(counts[name] for counts in self.counts.values())

    @property
    def wrong(self) -> int:
        """Vectors that failed or ended in an error, known failures among them."""
        return self.total("failed") + self.total("errors")

    @property
    def graded_ops(self) -> list[str]:
        """Operators of which at least one value vector was graded."""
        return [op for op, counts in self.counts.items() if counts["graded"]]

    @property
    def asked_ops(self) -> list[str]:
        """Operators of which any vector was tested, negative tests included."""
        asked = ("graded", "passed", "failed", "errors")
        return [op for op, counts in self.counts.items() if any(counts[name] for name in asked)]


def conclude(
    score: Score,
    question: Question,
    *,
    interrupted: bool,
    evidence: Evidence | None = None,
    expected: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    strict: bool = False,
) -> dict[str, Any]:
    """The footer's facts that follow from the counts, and from how strong the evidence is.

    ``expected`` is what :meth:`conformance.grade.gate.Watch.summary` says; ``strict`` makes known
    failures that are out of date fail the run. ``precision_reached`` gives the best precision that
    every vector of a dtype reaches whose elements could be compared, None where some reach none.
    """
    evidence = evidence or Evidence()
    verdict = _verdict(score, question, evidence, interrupted)
    told = [f"Ended early: {score.given_up}."] if score.given_up else []
    if verdict == "no failures":
        told.append(f"This run makes no claim: {question.no_claim}.")
    elif verdict in ("conformant", "inconclusive"):
        told += statement.sentences(evidence, question.precision, question.completing)
    told += [] if interrupted else remarks(expected or {}, strict=strict)
    return {
        "counts": score.counts,
        "by_reading": score.by_reading,
        "precision_reached": score.reached,
        "verdict": verdict,
        "sentence": " ".join([_sentence(score, question, verdict), *told]),
        "claim": _claim(score, question, evidence, verdict),
        "strength": evidence.to_json(),
        "exit_code": _exit_code(score, verdict, met=not unmet(expected or {}, strict=strict)),
    }


def _verdict(score: Score, question: Question, evidence: Evidence, interrupted: bool) -> str:
    if interrupted:
        return "interrupted"
    if score.wrong:
        return "not conformant"
    if not score.total("graded"):
        return "nothing graded"
    if question.no_claim:
        return "no failures"
    return "inconclusive" if evidence.short else "conformant"


def _exit_code(score: Score, verdict: str, *, met: bool) -> int:
    """0 where nothing is wrong but what was known before, and something is right."""
    if verdict == "interrupted":
        return EXIT_INTERRUPTED
    nothing_new = score.wrong == score.total("known")
    if not (nothing_new and score.right and met):
        return EXIT_NOT_CONFORMANT
    return EXIT_INCONCLUSIVE if verdict == "inconclusive" else EXIT_OK


def _sentence(score: Score, question: Question, verdict: str) -> str:
    selected, graded = score.total("selected"), score.total("graded")
    done = sum(score.total(name) for name in COUNT_OF.values())
    if verdict == "interrupted":
        return f"Interrupted after {done} of {selected} vectors; {score.wrong} failed so far."
    parts = [f"{verdict.capitalize()}: {score.total('passed')} of {selected} vectors passed"]
    if verdict == "nothing graded":
        parts = [f"Nothing graded: {selected} vectors, none with values was graded"]
    readings = score.total("by_reading")
    if readings:
        names = ", ".join(sorted({n for joined in score.by_reading for n in joined.split("+")}))
        parts.append(f"{readings} by an allowed interpretation ({names})")
    for name, words in (
        ("failed", "failed"),
        ("errors", "ended in an error"),
        ("unsupported", "unsupported"),
        ("skipped", "not tested at this level"),
    ):
        if score.total(name):
            parts.append(f"{score.total(name)} {words}")
        if name == "errors" and score.total("known"):
            parts.append(_of_these(score))
    share = f"{graded} of {question.values} value vectors graded"
    missing = [op for op in score.counts if op not in score.graded_ops]
    if graded and missing:
        few = len(missing) <= MOST_NAMED
        share += f", none of {', '.join(missing) if few else f'{len(missing)} operators'}"
    return ", ".join(parts) + f"; {share}."


def _of_these(score: Score) -> str:
    """How many of the failures were known before."""
    known, new = score.total("known"), score.wrong - score.total("known")
    if new:
        return f"of these {known} known and {new} new"
    return "none of these new" if score.right else "none of these new, but no value vector passed"


def _claim(score: Score, question: Question, evidence: Evidence, verdict: str) -> str:
    """The line that a vendor may publish."""
    ops = score.asked_ops if score.wrong else score.graded_ops
    asked = f"{question.level}, {spell(question.precision)}"
    graded = f"{score.total('graded')} of {question.in_suite} graded"
    facts = f"suite {question.suite}, {graded}, sha256 {question.sha256}"
    nothing = verdict if verdict in ("interrupted", "nothing graded") else ""
    if question.no_claim or nothing:
        return f"{question.backend}: no claim ({question.no_claim or nothing}); {facts}"
    if score.total("known"):
        facts = f"{score.total('known')} known failures, {facts}"
    if score.wrong:
        return f"{question.backend}: NOT conformant with {', '.join(ops)} ({asked}), {facts}"
    facts = f"{statement.claimed(evidence, question.precision)}, {facts}"
    if verdict == "inconclusive":
        return f"{question.backend}: no claim (inconclusive); {facts}"
    return f"{question.backend}: conformant with {', '.join(ops)} ({asked}), {facts}"


def _weaker(a: str | None, b: str | None) -> str | None:
    if a is None or b is None:
        return None
    return max(a, b, key=PRECISIONS.index)
