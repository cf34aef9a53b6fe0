"""The end of a run: findings and footer, from the results in any order."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from conformance.backends.capabilities import Capabilities
from conformance.choices import SuiteName
from conformance.diagnosis.diagnose import RunDiagnosis
from conformance.grade.findings import group_failures
from conformance.grade.outcome import describe_exception
from conformance.model import FAILED, Finding, Result
from conformance.run.claim_text import RunScope, conclude
from conformance.run.illustrate import Illustrator
from conformance.run.interpretations import readings
from conformance.run.mutant_outputs import with_given
from conformance.run.partition_strength import measured
from conformance.run.selection import Selection, untested
from conformance.specification import case_in_a_line, shipped_operators
from conformance.strength import DEFAULT_MIN_STRENGTH, RunStrength
from conformance.suite.store import Suite
from conformance.verdict import ResultCounts


def in_suite_order(results: Sequence[Result], suite: Suite) -> Sequence[Result]:
    """Sort results by the order of the suite, whatever the order in which they came."""
    entries = suite.manifest.of({result.op for result in results})
    listed = ((entry.op, entry.id) for entry in entries)
    if all((result.op, result.id) in listed for result in results):
        return results  # each was found after the one before it
    place = {(entry.op, entry.id): i for i, entry in enumerate(entries)}
    return sorted(results, key=lambda result: place[result.op, result.id])


def diagnosed_findings(
    results: Sequence[Result],
    suite: Suite,
    *,
    level: str,
    precision: Mapping[str, str],
    command: Sequence[str],
    show: Sequence[str],
    spec: str = "",
    declared: Capabilities | None = None,
) -> Iterator[Finding]:
    """Group failures into findings, worst first, with diagnosis and pictures.

    See :func:`conformance.grade.findings.group_failures`.

    Args:
        results: in the order of the suite.
        spec: the name of the backend.
        declared: what the backend declared.
    """
    narrow = {op for op in suite.manifest.ops if declared is not None and declared.narrows(op)}
    advised = dict.fromkeys(narrow, spec)
    diagnosis = RunDiagnosis(results, suite, level=level, precision=precision, backends=advised)
    illustrator = Illustrator(suite, level, precision)
    by_id = {(result.op, result.id): result for result in results if result.status in FAILED}
    for finding in group_failures(results, command=command, show=show, causes=diagnosis.causes):
        smallest = by_id[finding.op, finding.smallest]
        detailed, defect = finding, diagnosis.defects.get(finding.op, "")
        facts: dict[str, str] = {}
        try:  # a defect of this tool costs a picture or a name, never the run
            facts = _case(smallest, suite)
            detailed = replace(detailed, diagnosis=diagnosis.diagnose(finding))
            detailed = illustrator.illustrated(detailed, smallest)
            detailed = with_given(detailed, suite, diagnosis.changes(finding))
        except Exception as error:
            defect = describe_exception(error)
        also = {"defect": defect} if defect else {}
        also |= _search(detailed, suite, command)
        yield replace(detailed, detail={**detailed.detail, **facts, **also})


SEARCHED = ("--backend", "--env", "--level", "--precision")
"""What a search is asked as the check was."""


def _search(finding: Finding, suite: Suite, command: Sequence[str]) -> dict[str, str]:
    """The command that searches for smaller cases of a finding that nobody can explain."""
    known = finding.diagnosis or {}
    if known.get("faults") or known.get("conditions") or suite.name == SuiteName.FUZZ:
        return {}
    if not command or finding.op not in shipped_operators():
        return {}
    options = [word for pair in pairwise(command) if pair[0] in SEARCHED for word in pair]
    return {"fuzz": shlex.join(["conformance", "fuzz", *options, "--op", finding.op])}


def _case(smallest: Result, suite: Suite) -> dict[str, str]:
    """What the smallest vector of a finding asks, for people."""
    spec = suite.specs.get(smallest.op)
    if spec is None or smallest.asked is None:
        return {}
    return {"case": case_in_a_line(spec, smallest.asked)}


def make_footer(
    results: Sequence[Result],
    suite: Suite,
    selection: Selection,
    *,
    backend: str,
    level: str,
    precision: Mapping[str, str],
    command: Sequence[str] = (),
    ops: Sequence[str] | None = None,
    declared: Capabilities | None = None,
    min_strength: float | None = None,
    interrupted: bool = False,
    expected: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    strict: bool = False,
) -> dict[str, Any]:
    """Make the footer of a run, without times and memory.

    Args:
        backend: name and version.
        command: the command line of the check without its operators, which are ``ops``.
        declared: what the backend declared.
        min_strength: the percentage of mutants to be killed; None means the default.
        expected: as in :func:`conformance.run.claim_text.conclude`, like ``strict``.
    """
    score = ResultCounts.of(
        {op: sum(counts.values()) for op, counts in selection.by_op.items()}, results
    )
    scope = RunScope(
        backend=backend,
        suite=suite.name,
        digests=suite.manifest.digests,
        level=level,
        precision=precision,
        values=sum(counts["value"] for counts in selection.by_op.values()),
        in_suite=selection.in_suite,
        whole=selection.whole,
        shard="" if selection.shard is None else str(selection.shard),
        partitions=selection.partitions,
        command=command,
        ops=ops or (),
        excluded=() if declared is None else declared.reasons(selection.by_op),
        untested=untested(None if declared is None else declared.operators, ops, suite.manifest),
    )
    claimed = not interrupted and not scope.no_claim
    within = None if declared is None else selection.partitions.narrowed(declared)
    evidence = RunStrength(
        measured(results, suite.manifest, level=level, declared=within) if claimed else (),
        DEFAULT_MIN_STRENGTH if min_strength is None else min_strength,
    )
    return {
        "event": "footer",
        "interrupted": interrupted,
        **conclude(
            score,
            scope,
            interrupted=interrupted,
            evidence=evidence,
            expected=expected,
            strict=strict,
        ),
        **(expected or {}),
        "readings": readings(selection.by_op, results, suite.specs),
    }
