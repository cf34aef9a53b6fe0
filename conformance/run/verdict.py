"""From results to the footer of a run: counts, verdict, sentence, claim and exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.errors import EXIT_NOT_CONFORMANT, EXIT_OK
from conformance.grade.precision import spell
from conformance.model import PRECISIONS, Result, Status

EXIT_INTERRUPTED = 130
"""What a shell reports for a command that SIGINT ended."""

COUNT_OF = {
    Status.PASS: "passed",
    Status.FAIL: "failed",
    Status.ERROR: "errors",
    Status.UNSUPPORTED: "unsupported",
    Status.SKIPPED: "skipped",
}
GRADED = (Status.PASS, Status.FAIL, Status.ERROR)


@dataclass(frozen=True)
class Question:
    """What a run asks, as the claim states it.

    ``values`` counts the value vectors selected, ``in_suite`` all those of the operators asked
    that the suite has; ``whole`` says that nothing of these operators was left out, ``shard``
    which part of what was selected was asked, if only one was.
    """

    backend: str
    suite: str
    digest: str
    level: str
    precision: Mapping[str, str]
    values: int
    in_suite: int
    whole: bool
    shard: str = ""


@dataclass
class Score:
    """The results of a run so far, counted. Must-reject vectors count, but never as graded."""

    counts: dict[str, dict[str, int]]
    by_reading: dict[str, int] = field(default_factory=dict)
    reached: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, selected: Mapping[str, int]) -> Score:
        """The empty score of a run over ``selected`` vectors of each operator."""
        names = ("graded", "passed", "by_reading", "failed", "errors", "unsupported", "skipped")
        return cls({op: {"selected": n} | dict.fromkeys(names, 0) for op, n in selected.items()})

    def add(self, result: Result) -> None:
        """Count one result."""
        counts = self.counts[result.op]
        counts[COUNT_OF[result.status]] += 1
        if result.status is Status.PASS and result.reading is not None:
            counts["by_reading"] += 1
            self.by_reading[result.reading] = self.by_reading.get(result.reading, 0) + 1
        if result.reject is None and result.status in GRADED:
            counts["graded"] += 1
            if result.status is not Status.ERROR:
                so_far = self.reached.get(result.dtype, PRECISIONS[0])
                self.reached[result.dtype] = _weaker(so_far, result.precision)

    def total(self, name: str) -> int:
        """One count over all operators."""
        return sum(counts[name] for counts in self.counts.values())

    @property
    def graded_ops(self) -> list[str]:
        """Operators of which at least one value vector was graded."""
        return [op for op, counts in self.counts.items() if counts["graded"]]


def conclude(score: Score, question: Question, *, interrupted: bool) -> dict[str, Any]:
    """The footer's facts that follow from the counts.

    ``precision_reached`` gives the best precision that every vector of a dtype reaches whose
    elements could be compared, None where some reach none.
    """
    verdict, exit_code = _verdict(score, interrupted)
    return {
        "counts": score.counts,
        "by_reading": score.by_reading,
        "precision_reached": score.reached,
        "verdict": verdict,
        "sentence": _sentence(score, question, verdict),
        "claim": _claim(score, question, verdict),
        "exit_code": exit_code,
    }


def _verdict(score: Score, interrupted: bool) -> tuple[str, int]:
    if interrupted:
        return "interrupted", EXIT_INTERRUPTED
    if score.total("failed") or score.total("errors"):
        return "not conformant", EXIT_NOT_CONFORMANT
    if not score.total("graded"):
        return "nothing graded", EXIT_NOT_CONFORMANT
    return "conformant", EXIT_OK


def _sentence(score: Score, question: Question, verdict: str) -> str:
    selected, graded = score.total("selected"), score.total("graded")
    done = sum(score.total(name) for name in COUNT_OF.values())
    if verdict == "interrupted":
        bad = score.total("failed") + score.total("errors")
        return f"Interrupted after {done} of {selected} vectors; {bad} went wrong so far."
    parts = [f"{verdict.capitalize()}: {score.total('passed')} of {selected} vectors passed"]
    if verdict == "nothing graded":
        parts = [f"Nothing graded: {selected} vectors, none with values was judged"]
    readings = score.total("by_reading")
    if readings:
        names = ", ".join(sorted({n for joined in score.by_reading for n in joined.split("+")}))
        parts.append(f"{readings} by an allowed reading ({names})")
    for name, words in (
        ("failed", "failed"),
        ("errors", "ended in an error"),
        ("unsupported", "unsupported"),
        ("skipped", "not asked at this level"),
    ):
        if score.total(name):
            parts.append(f"{score.total(name)} {words}")
    share = f"{graded} of {question.values} value vectors graded"
    missing = [op for op in score.counts if op not in score.graded_ops]
    if graded and missing:
        share += f", none of {', '.join(missing)}"
    return ", ".join(parts) + f"; {share}."


def _claim(score: Score, question: Question, verdict: str) -> str:
    """The line that a vendor may publish."""
    ops = score.graded_ops if verdict == "conformant" else list(score.counts)
    asked = f"{question.level}, {spell(question.precision)}"
    graded = f"{score.total('graded')} of {question.in_suite} graded"
    facts = f"suite {question.suite}, {graded}, sha256 {question.digest[:8]}"
    if not question.whole or verdict in ("interrupted", "nothing graded"):
        part = f"shard {question.shard} alone" if question.shard else "a selection of vectors"
        why = verdict if question.whole else part
        return f"{question.backend}: no claim ({why}); {facts}"
    word = "conformant" if verdict == "conformant" else "NOT conformant"
    return f"{question.backend}: {word} with {', '.join(ops)} ({asked}), {facts}"


def _weaker(a: str | None, b: str | None) -> str | None:
    if a is None or b is None:
        return None
    return max(a, b, key=PRECISIONS.index)
