"""A cause and its findings, with everything that a page shows of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conformance.dtypes import DTYPES
from conformance.failure_kind import Severity, facts_of
from conformance.log.causes import Cause
from conformance.log.detail import Detail, parse_detail
from conformance.log.diagnosis import (
    LoggedCondition,
    LoggedDiagnosis,
    LoggedMutant,
    parse_diagnosis,
)
from conformance.log.memory import on_memory
from conformance.model import Finding, Witness
from conformance.report.elements import Element, Plane, elements, planes, relation
from conformance.report.picture import SvgPicture, picture, picture_under
from conformance.report.wording import in_short, off, words

SHOW = ["conformance", "show"]

MAX_EARLIER = 2
"""Earlier calls that are named."""

MAX_CASE = 240
"""Characters of a case that are shown, at most."""


@dataclass(frozen=True)
class FindingView:
    """A finding with what the results say about its smallest vector.

    ``known`` where every failure in it is a known one. ``backend`` is the backend as it was named.
    """

    finding: Finding
    dtype: str
    backend: str
    known: bool = False

    @cached_property
    def detail(self) -> Detail:
        """What the log says of it besides."""
        return parse_detail(self.finding.detail)

    @cached_property
    def witness(self) -> Witness | None:
        """The worst element of the smallest vector, its numbers in the fewest digits."""
        witness = self.finding.witness
        return None if witness is None else in_short(witness, self.dtype)

    @property
    def bits(self) -> Mapping[str, str]:
        """The codes of ``rounded`` and ``got``, where they are floating-point numbers."""
        witness = self.witness
        row = DTYPES.get(self.dtype)
        if witness is None or witness.ulp is None or row is None or not row.is_float:
            return {}
        found = {}
        for name in ("rounded", "got"):
            try:
                value = np.array(float(getattr(witness, name)))
            except ValueError:
                continue
            with np.errstate(over="ignore"):
                code = int(value.astype(row.numpy).view(row.code))
            found[name] = f"0x{code:0{2 * row.numpy.itemsize}x}"
        return found

    @property
    def show(self) -> str:
        """The command that shows the smallest vector; empty where the log has none."""
        return self.detail.show

    @property
    def fuzz(self) -> str:
        """The command that searches for smaller cases; empty where the log has none."""
        return self.detail.fuzz

    @property
    def earlier(self) -> str:
        """What is to be known of a smallest vector that passes by itself; else empty."""
        if self.detail.after is None:
            return ""
        ids = self.detail.after[:MAX_EARLIER]
        such = f", such as {' and '.join(ids)}" if ids else ""
        return (
            f"{self.finding.smallest} passes in a fresh process: "
            f"the failure depends on earlier calls{such}."
        )

    @property
    def case(self) -> str:
        """What the smallest vector asks, in a line; empty where the log does not say."""
        return self.detail.case[:MAX_CASE]

    @property
    def repro(self) -> str:
        """The command that writes a script for an issue; empty where none can name the backend.

        It tests the same suite in the same environment as ``show``, and judges as the run did.
        """
        shown = words(self.show)
        named = shown[:3] == [*SHOW, self.finding.smallest] and "--backend" in shown
        if not named or not self.finding.reproduce or not self.backend:
            return ""
        return shlex.join(["conformance", "repro", *shown[2:]])

    @cached_property
    def diagnosis(self) -> LoggedDiagnosis | None:
        """What is wrong in the backend, as far as its failures tell."""
        return parse_diagnosis(self.finding.diagnosis)

    @property
    def conditions(self) -> tuple[LoggedCondition, ...]:
        """The conditions under which it fails; none where it is what a mutant gives."""
        return () if self.diagnosis is None else self.diagnosis.conditions

    @cached_property
    def off(self) -> str:
        """How wrong elements are off: in words where that says more than a distance."""
        witness = self.finding.witness
        if witness is None:
            return ""
        said = relation(self.detail.plane, witness.wrong, self.dtype)
        return said or off(witness, self.dtype)

    @cached_property
    def picture(self) -> SvgPicture | None:
        """The window of the worst element."""
        return picture(self.detail.window)

    @cached_property
    def picture_under(self) -> SvgPicture | None:
        """The window as the diagnosed fault has it."""
        return picture_under(self.detail.window)

    @cached_property
    def planes(self) -> tuple[Plane, ...]:
        """The output of the smallest vector around the worst element, expected and got."""
        return planes(self.detail.plane, self.dtype)

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """Wrong elements of the smallest vector, worst first."""
        return elements(self.detail.elements, self.dtype)


@dataclass(frozen=True)
class CauseView:
    """A cause with its ``findings``, an operator's at a time, the largest first."""

    cause: Cause
    findings: tuple[FindingView, ...]

    @property
    def tag(self) -> str:
        """What it leads to at its worst."""
        mild = self.cause.severity is Severity.MILD
        return "should" if mild else facts_of(self.cause.kind).tag

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
    def of(self) -> str:
        """Of which operator counts of vectors are, before these; empty if there is one alone."""
        return f"{self.lead.finding.op}: " if len(self.cause.operators) > 1 else ""

    @property
    def advice(self) -> str:
        """What to know where memory may be damaged or a failure needs earlier calls; else empty."""
        memory = (
            on_memory(one.backend, one.finding.kind, one.finding.message) for one in self.findings
        )
        earlier = (finding.earlier for finding in self.findings)
        return " ".join(filter(None, (next(filter(None, some), "") for some in (earlier, memory))))

    @property
    def faults(self) -> tuple[LoggedMutant, ...]:
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
