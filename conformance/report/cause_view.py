"""A cause, with everything that a page shows of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from conformance.log.causes import Cause, Severity
from conformance.log.diagnosis import Fault
from conformance.report.finding_view import FindingView

TAGS = {
    Severity.LOST: "crash",
    Severity.SHAPE: "wrong shape",
    Severity.VALUE: "wrong values",
    Severity.RAISED: "exception",
    Severity.ACCEPTED: "accepted",
    Severity.MILD: "should",
}
"""What a cause leads to at its worst, in a word or two."""

KINDS = {
    "hung": "hang",
    "memory": "out of memory",
    "aborted": "abnormal end",
    "abandoned": "not tested",
    "dtype": "wrong type",
    "outputs": "no usable outputs",
    "unsteady": "unsteady results",
    "input-changed": "input written",
    "undeclared-unsupported": "unsupported",
}
"""The same of kinds of failure that are not what others of their severity are."""


@dataclass(frozen=True)
class CauseView:
    """A cause with its ``findings``, an operator's at a time, the largest first."""

    cause: Cause
    findings: tuple[FindingView, ...]

    @property
    def tag(self) -> str:
        """What it leads to at its worst."""
        tag, severity = TAGS[self.cause.severity], self.cause.severity
        return tag if severity is Severity.MILD else KINDS.get(self.cause.kind, tag)

    @property
    def link(self) -> str:
        """The address of the cause on the page of a run, the same for every run."""
        return f"cause={self.cause.id}"

    @cached_property
    def lead(self) -> FindingView:
        """The finding that shows it best: of this cause alone, with a picture, the largest."""
        found = sorted(
            self.findings,
            key=lambda one: (
                one.diagnosis is not None and len(one.diagnosis.faults) > 1,
                one.picture is None and not one.planes,
                one.finding.witness is None,
                -len(one.finding.ids),
            ),
        )
        return found[0]

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The mutants behind it, each once."""
        told = (one.diagnosis for one in self.findings)
        found = {fault.id: fault for one in told if one for fault in one.faults}
        return tuple(found.values())

    @cached_property
    def words(self) -> str:
        """What a reader may look for: title, operators, mutants, edges and vectors."""
        findings = [one.finding for one in self.findings]
        parts = [self.cause.title, self.tag, *self.cause.operators]
        parts += [fault.id for fault in self.faults]
        parts += [edge for one in findings for edge in one.edges]
        parts += [condition.name for one in self.findings for condition in one.conditions]
        parts += [one.smallest for one in findings]
        return " ".join(dict.fromkeys(parts)).lower()
