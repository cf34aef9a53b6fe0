"""Strength of the evidence by operator, for reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from conformance.evidence import Evidence, Measured
from conformance.log.run_log import RunLog


@dataclass(frozen=True)
class OperatorStrength:
    """The strength of an operator in each type and rank that the run claims."""

    op: str
    evidence: Evidence

    @cached_property
    def weakest(self) -> Measured | None:
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
    if run.evidence is None or run.verdict not in ("conformant", "inconclusive"):
        return ()
    by_op: dict[str, list[Measured]] = {}
    for one in run.evidence.parts:
        by_op.setdefault(one.op, []).append(one)
    return tuple(
        OperatorStrength(op, Evidence(tuple(parts), run.evidence.bar))
        for op, parts in by_op.items()
    )


def headline(run: RunLog) -> str:
    """The strength of a run in a few words; empty where the log does not say, or claims nothing."""
    if run.evidence is None or run.verdict not in ("conformant", "inconclusive"):
        return ""
    return run.evidence.headline


def styles(*runs: RunLog) -> tuple[str, ...]:
    """The styles that a page of some runs needs besides its own; the page of a log that does not
    say how strong its evidence is stays as it was.
    """
    return () if all(run.evidence is None for run in runs) else ("strength.css",)
