"""A run as its log describes it, and whether the log is consistent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec.structs import asdict

from conformance.codec import convert
from conformance.log.causes import Cause, causes
from conformance.log.events import Footer, Header, Question
from conformance.model import Finding, Result
from conformance.strength import PartitionStrength, RunStrength
from conformance.verdict import NO_CLAIM, GateSummary, ResultCounts, Tally, Verdict, exit_objections


@dataclass(frozen=True)
class RunLog:
    """A run as its log describes it.

    ``header`` and ``footer`` are the events of that name as JSON data, ``start`` and ``end`` as
    records; ``footer`` and ``end`` are None where the log was cut short. ``problems`` says, in
    sentences, why a log that could be read is not to be trusted.
    """

    header: Mapping[str, Any]
    results: Sequence[Result] = ()
    findings: tuple[Finding, ...] = ()
    footer: Mapping[str, Any] | None = None
    problems: tuple[str, ...] = ()

    @cached_property
    def start(self) -> Header:
        """The header as a record."""
        return convert(self.header, Header)

    @cached_property
    def end(self) -> Footer | None:
        """The footer as a record."""
        return None if self.footer is None else convert(self.footer, Footer)

    @property
    def complete(self) -> bool:
        """Whether the run reached its end and the log has all of it."""
        return self.end is not None and not self.end.interrupted and not self.problems

    @property
    def verdict(self) -> Verdict:
        """The footer's verdict where it can be trusted, else ``cut short`` or ``inconsistent``.

        Only a complete log, without problems, whose own results agree, is ever ``conformant``.
        """
        if self.end is None:
            return Verdict.CUT_SHORT
        return Verdict.INCONSISTENT if self.problems else Verdict(self.end.verdict)

    @property
    def gate_met(self) -> bool:
        """Whether a gate may let the run pass.

        It has to be whole and to end with exit code 0, and its own results have to bear that out.
        """
        if self.end is None or self.problems or self.end.exit_code != 0:
            return False
        return not any(self.objections(self.verdict))

    def objections(self, verdict: Verdict) -> Iterator[str]:
        """Yield what speaks against the exit code 0 of a run with this verdict."""
        expected: GateSummary = self.footer or {}
        strict = self.start.options.strict
        return exit_objections(self.score, verdict, expected, strict=strict)

    @cached_property
    def score(self) -> ResultCounts:
        """The results, counted."""
        by_op = self.start.suite.by_op
        return ResultCounts.of({op: self.selected(op) for op in by_op}, self.results)

    @cached_property
    def evidence(self) -> RunStrength:
        """How strong the evidence is; none of any part where the log was cut short."""
        if self.end is None:
            return RunStrength()
        strength = self.end.strength
        partitions = tuple(PartitionStrength(**asdict(part)) for part in strength.parts)
        return RunStrength(partitions, strength.bar)

    @cached_property
    def causes(self) -> tuple[Cause, ...]:
        """What is wrong, the worst first; see :func:`conformance.log.causes.causes`."""
        return causes(self.findings, self.results)

    @property
    def partial(self) -> bool:
        """Whether only some vectors of the operators were selected."""
        options = self.start.options
        return bool(options.only) or options.shard is not None

    @property
    def no_claim(self) -> bool:
        """Whether it can claim nothing, whatever its results."""
        return self.partial or self.start.suite.name in NO_CLAIM

    @property
    def readings(self) -> tuple[Question, ...]:
        """Implementation-defined behaviour of the backend; none where the log was cut short."""
        return () if self.end is None else self.end.readings

    @property
    def tallies(self) -> Mapping[str, Tally]:
        """The counts of each operator, from the results; operators in the header's order."""
        return self.score.tallies

    def selected(self, op: str) -> int:
        """Count the vectors of an operator that the run was to grade, by the header."""
        counts = self.start.suite.by_op.get(op)
        return 0 if counts is None else counts.value + counts.reject
