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
from conformance.report.drawing import SvgPicture
from conformance.report.element_picture import element_pictures, element_sentence
from conformance.report.elements import (
    Element,
    Plane,
    error_pattern,
    output_planes,
    wrong_elements,
)
from conformance.report.wording import error_text, shorten_numbers, split_command

SHOW = ["conformance", "show"]

MAX_EARLIER = 2
"""Earlier calls that are named at most."""

MAX_CASE = 240
"""Characters of a case that are shown, at most."""


@dataclass(frozen=True)
class FindingView:
    """A finding, with what the results say about its minimal reproducer.

    Attributes:
        dtype: the element type of the minimal reproducer.
        backend: the backend as it was named.
        known: True if every failure of the finding is a known failure.
    """

    finding: Finding
    dtype: str
    backend: str
    known: bool = False

    @cached_property
    def detail(self) -> Detail:
        """The other facts of the log about the minimal reproducer."""
        return parse_detail(self.finding.detail)

    @cached_property
    def worst_element(self) -> Witness | None:
        """The worst element of the minimal reproducer, its numbers in the fewest digits."""
        witness = self.finding.witness
        return None if witness is None else shorten_numbers(witness, self.dtype)

    @property
    def codes(self) -> Mapping[str, str]:
        """The codes of ``rounded`` and ``got``; empty if they are no floating-point numbers."""
        witness = self.worst_element
        row = DTYPES.get(self.dtype)
        if witness is None or witness.ulp is None or row is None or not row.is_float:
            return {}
        codes = {}
        for name in ("rounded", "got"):
            try:
                value = np.array(float(getattr(witness, name)))
            except ValueError:
                continue
            with np.errstate(over="ignore"):
                code = int(value.astype(row.numpy).view(row.code))
            codes[name] = f"0x{code:0{2 * row.numpy.itemsize}x}"
        return codes

    @property
    def show_command(self) -> str:
        """The command that shows the minimal reproducer; empty if the log has none."""
        return self.detail.show

    @property
    def fuzz_command(self) -> str:
        """The command that searches for smaller cases; empty if the log has none."""
        return self.detail.fuzz

    @property
    def earlier_calls_note(self) -> str:
        """A note if the minimal reproducer passes by itself; else empty."""
        if self.detail.after is None:
            return ""
        ids = self.detail.after[:MAX_EARLIER]
        examples = f", such as {' and '.join(ids)}" if ids else ""
        return (
            f"{self.finding.smallest} passes in a fresh process: "
            f"the failure depends on earlier calls{examples}."
        )

    @property
    def case(self) -> str:
        """The case of the minimal reproducer, in a line; empty if the log has none."""
        return self.detail.case[:MAX_CASE]

    @property
    def repro_command(self) -> str:
        """The command that writes a script for an issue; empty if none can name the backend.

        It tests the same suite in the same environment as ``show``, and judges as the run did.
        """
        words = split_command(self.show_command)
        names_backend = words[:3] == [*SHOW, self.finding.smallest] and "--backend" in words
        if not names_backend or not self.finding.reproduce or not self.backend:
            return ""
        return shlex.join(["conformance", "repro", *words[2:]])

    @cached_property
    def diagnosis(self) -> LoggedDiagnosis | None:
        """The mutants, region or conditions that explain the failures; None if there is none."""
        return parse_diagnosis(self.finding.diagnosis)

    @property
    def conditions(self) -> tuple[LoggedCondition, ...]:
        """The conditions under which vectors fail; empty if a mutant explains the failures."""
        return () if self.diagnosis is None else self.diagnosis.conditions

    @cached_property
    def error(self) -> str:
        """The error of wrong elements: a pattern if they share one, else the distance."""
        witness = self.finding.witness
        if witness is None:
            return ""
        pattern = error_pattern(self.detail.plane, witness.wrong, self.dtype)
        return pattern or error_text(witness, self.dtype)

    @cached_property
    def input_pictures(self) -> tuple[SvgPicture, ...]:
        """The inputs of the operator, with what the worst element reads."""
        return element_pictures(self.detail.reads)

    @property
    def terms_sentence(self) -> str:
        """The first terms of the worst element, if it is a sum of products."""
        return element_sentence(self.detail.reads)

    @cached_property
    def planes(self) -> tuple[Plane, ...]:
        """The output of the minimal reproducer around the worst element, expected and got."""
        return output_planes(self.detail.plane, self.dtype)

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """Wrong elements of the minimal reproducer, worst first."""
        return wrong_elements(self.detail.elements, self.dtype)


@dataclass(frozen=True)
class CauseView:
    """A cause with its findings, by operator, the largest first."""

    cause: Cause
    findings: tuple[FindingView, ...]

    @property
    def tag(self) -> str:
        """The worst effect of the cause, in a word."""
        mild = self.cause.severity is Severity.MILD
        return "should" if mild else facts_of(self.cause.kind).tag

    @property
    def link(self) -> str:
        """The address of the cause on the page of a run, the same for every run."""
        return f"cause={self.cause.id}"

    @cached_property
    def lead(self) -> FindingView:
        """The most instructive finding: of this cause only, with a picture, the largest."""
        return min(
            self.findings,
            key=lambda view: (
                view.diagnosis is not None and len(view.diagnosis.faults) > 1,
                not (view.input_pictures or view.planes),
                view.finding.witness is None,
                -len(view.finding.ids),
            ),
        )

    @property
    def operator_prefix(self) -> str:
        """The operator whose vectors a diagnosis counts; empty if the cause has only this one."""
        return f"{self.lead.finding.op}: " if len(self.cause.operators) > 1 else ""

    @property
    def advice(self) -> str:
        """Notes on earlier calls and on damaged memory; empty if neither applies."""
        memory = (
            on_memory(view.backend, view.finding.kind, view.finding.message)
            for view in self.findings
        )
        earlier_calls = (view.earlier_calls_note for view in self.findings)
        first_notes = (next(filter(None, notes), "") for notes in (earlier_calls, memory))
        return " ".join(filter(None, first_notes))

    @property
    def mutants(self) -> tuple[LoggedMutant, ...]:
        """The mutants behind the cause, each once."""
        diagnoses = [view.diagnosis for view in self.findings if view.diagnosis]
        mutants = {mutant.id: mutant for diagnosis in diagnoses for mutant in diagnosis.faults}
        return tuple(mutants.values())

    @cached_property
    def search_text(self) -> str:
        """The words that a search may look for: title, operators, mutants, targets, vectors."""
        findings = [view.finding for view in self.findings]
        words = [self.cause.title, self.tag, *self.cause.operators]
        words += [mutant.id for mutant in self.mutants]
        words += [target for finding in findings for target in finding.edges]
        words += [condition.name for view in self.findings for condition in view.conditions]
        words += [finding.smallest for finding in findings]
        return " ".join(dict.fromkeys(words)).lower()
