"""A run as its log describes it, and whether the log is consistent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from conformance.evidence import Evidence
from conformance.log.causes import Cause, causes
from conformance.log.gate import gate_contradictions
from conformance.log.tally import Tally, tally
from conformance.model import Finding, Result, Status


@dataclass(frozen=True)
class RunLog:
    """A run as its log tells it.

    ``header`` and ``footer`` are the events of that name; ``footer`` is None where the log was
    cut short. ``problems`` says, in sentences, why a log that could be read is not to be trusted.
    """

    header: Mapping[str, Any]
    results: tuple[Result, ...] = ()
    findings: tuple[Finding, ...] = ()
    footer: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the run reached its end and the log has all of it."""
        return self.footer is not None and not self.footer["interrupted"] and not self.problems

    @property
    def verdict(self) -> str:
        """The footer's verdict where it can be trusted, else ``cut short`` or ``inconsistent``.

        Only a complete log, without problems, whose own results agree, is ever ``conformant``.
        """
        if self.footer is None:
            return "cut short"
        return "inconsistent" if self.problems else str(self.footer["verdict"])

    @property
    def gate_met(self) -> bool:
        """Whether a gate may let the run pass.

        It has to be whole and to end with exit code 0, and its own results have to bear that out:
        some vector with values passed, and none failed but those that are known to.
        """
        if self.footer is None or self.problems or self.footer["exit_code"] != 0:
            return False
        right = any(one.status is Status.PASS and one.reject is None for one in self.results)
        graded = self.verdict in ("conformant", "not conformant", "no failures")
        return graded and right and not any(one.new for one in self.results)

    @cached_property
    def evidence(self) -> Evidence | None:
        """How strong the evidence is; None where the log does not say, as those of the first
        releases.
        """
        told = None if self.footer is None else self.footer.get("strength")
        return None if told is None else Evidence.from_json(told)

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """What is wrong, the worst first; see :func:`conformance.log.causes.causes`."""
        return causes(self.findings, self.results)

    @property
    def partial(self) -> bool:
        """Whether only some vectors of the operators were selected."""
        options = self.header["options"]
        return bool(options["only"]) or options.get("shard") is not None

    @property
    def readings(self) -> Sequence[Mapping[str, Any]]:
        """Implementation-defined behaviour of the backend; none where the log was cut short."""
        return () if self.footer is None else self.footer.get("readings", ())

    @cached_property
    def tallies(self) -> Mapping[str, Tally]:
        """The counts of each operator, from the results; operators in the header's order."""
        grouped: dict[str, list[Result]] = {op: [] for op in self.header["suite"]["by_op"]}
        for result in self.results:
            grouped.setdefault(result.op, []).append(result)
        return {op: tally(results) for op, results in grouped.items()}

    def selected(self, op: str) -> int:
        """How many vectors of an operator the run was to grade, by the header."""
        counts = self.header["suite"]["by_op"].get(op, {"value": 0, "reject": 0})
        return int(counts["value"]) + int(counts["reject"])


def contradictions(run: RunLog) -> Iterator[str]:
    """Sentences that say where a log contradicts itself."""
    repeated = len(run.results) - len({(result.op, result.id) for result in run.results})
    if repeated:
        yield f"{repeated} results repeat a vector."
    footer = run.footer
    if footer is None:
        return
    for op, shown in run.tallies.items():
        said = footer["counts"].get(op, {})
        for name in (field.name for field in fields(Tally)):
            if said.get(name, 0) != getattr(shown, name):
                yield (
                    f"{op}: the footer counts {said.get(name, 0)} {name}, "
                    f"the results show {getattr(shown, name)}."
                )
        selected = run.selected(op)
        if said.get("selected", 0) != selected:
            yield f"{op}: the footer and the header differ on how many vectors were selected."
        if not footer["interrupted"] and shown.total != selected:
            yield f"{op}: {selected} vectors were selected, {shown.total} have a result."
    shows = {(result.op, result.id, point) for result in run.results for point in result.shows}
    for reading in run.readings:
        for answer in reading["answers"]:
            if (reading["op"], answer["example"], reading["point"]) not in shows:
                yield f"{reading['op']}: {answer['example']} does not show {reading['point']}."
    yield from _of_verdict(run, footer)
    yield from gate_contradictions(run.header, footer, run.results)


def _of_verdict(run: RunLog, footer: Mapping[str, Any]) -> Iterator[str]:
    """Where the footer's verdict is not that of its results, or of its own numbers."""
    verdict = footer["verdict"]
    if verdict not in ("conformant", "inconclusive", "no failures"):
        return
    if footer["interrupted"]:
        yield f"The footer calls an interrupted run {verdict}."
    if not any(shown.graded for shown in run.tallies.values()):
        yield f"The footer calls a run {verdict} that graded nothing."
    if not all(shown.clean for shown in run.tallies.values()):
        yield f"The footer calls a run {verdict} that has failures."
    if run.evidence is not None:
        yield from _of_evidence(run, verdict, run.evidence)


def _of_evidence(run: RunLog, verdict: str, evidence: Evidence) -> Iterator[str]:
    """Where the verdict is not what the strength of the evidence makes it."""
    if any(one.killed > one.mutants for one in evidence.parts):
        yield "The footer counts more mutants killed than there are."
    if evidence.short and verdict == "conformant":
        yield "The footer calls a run conformant whose evidence is weaker than required."
    if not evidence.short and verdict == "inconclusive":
        yield "The footer calls a run inconclusive whose evidence is as strong as required."
    if run.partial and verdict == "conformant":
        yield "The footer calls a run conformant that tested only a part of the suite."
