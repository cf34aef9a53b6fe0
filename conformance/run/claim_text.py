"""The words of a verdict: the sentence and the claim that the footer of a log holds."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.choices import SuiteName
from conformance.grade.precision import format_precision
from conformance.log.memory import PROGRAM, on_memory
from conformance.log.results import without_outputs
from conformance.replacement import unused
from conformance.run.partition_filter import ALL_PARTITIONS, PartitionFilter
from conformance.safe_text import number_of
from conformance.strength import RunStrength
from conformance.verdict import (
    ENDED,
    FEWEST_GRADED,
    NO_CLAIM,
    GateSummary,
    ResultCounts,
    Verdict,
    exit_code,
    has_few_graded,
    out_of_date,
    run_verdict,
)

MOST_NAMED = 4
"""How many operators of which nothing was graded the sentence names."""


@dataclass(frozen=True)
class RunScope:
    """What a run asks, as the claim states it.

    ``values`` counts the value vectors selected, ``in_suite`` all those of the operators asked
    that the suite has; ``whole`` says that nothing of these operators was left out, ``shard``
    which part of what was selected was asked, if only one was. ``partitions`` are the element types
    and ranks that all of this is about. ``untested`` are operators that the
    backend declares and the suite has no vectors of. ``digests`` are that of the suite;
    or that of the suite before it was completed, and that of what was added. ``command`` is the
    command line of the check, but for its operators ``ops``, as they were named. ``excluded`` are
    the reasons for which the backend leaves out cases.
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
    partitions: PartitionFilter = ALL_PARTITIONS
    command: Sequence[str] = ()
    ops: Sequence[str] = ()
    untested: Sequence[str] = ()
    excluded: Sequence[str] = ()

    @property
    def sha256(self) -> str:
        """The digests, shortened."""
        return " + ".join(digest[:8] for digest in self.digests)

    @property
    def completing(self) -> str:
        """The command that tests what is missing; empty where that has been done."""
        if len(self.digests) > 1:
            return ""
        return completing(self.command, self.ops, self.partitions)

    @property
    def no_claim(self) -> str:
        """Why a run of it can claim nothing, whatever its results; empty where it can."""
        if not self.whole:
            return f"shard {self.shard} alone" if self.shard else "a selection of vectors"
        return NO_CLAIM.get(self.suite, "")


MOST_REQUIRED = 3
"""Requirements that a sentence names."""

UNTOLD = "the suite does not say which mutants can show"
"""Why strength is unknown where completing the suite tells it."""

KERNEL_ADVICE = (
    "For a claim, the kernel has to support more cases, with fewer exclusions in its CAPABILITIES; "
    "or limit the claim to types and ranks that it supports: --dtypes, --ranks."
)
"""The advice for a kernel that is graded on fresh data: nobody can complete that suite."""

STANDARD = "standard"
"""The precision at which it is known what vectors kill."""

TILED = "tiled"
TILED_REMARK = (
    "Precision tiled accepts errors relative to the largest products of a tile, as Winograd's "
    "algorithms have; it is no claim at standard."
)

MOST_REASONS = 2

MOST_EXCLUDED = 5
"""Exclusions that a claim names."""


def completing(
    command: Sequence[str], ops: Sequence[str], partitions: PartitionFilter = ALL_PARTITIONS
) -> str:
    """Return the command that tests all that a backend declares of the requested operators.

    The parameters are as in :class:`RunScope`; they are empty if they are unknown.
    """
    check = command or ("conformance", "check", "--backend", "BACKEND")
    options = [word for op in ops for word in ("--op", op)] + [*partitions.options]
    return shlex.join([*check, *options, "--complete", "--out", "its-report"])


def sentences(evidence: RunStrength, precision: Mapping[str, str]) -> Iterator[str]:
    """Describe the strength of the weakest partition, and what is undetermined."""
    weakest, short, unknown = evidence.weakest, evidence.short, evidence.unknown
    if weakest is not None:
        required = f"; {evidence.bar:g} % are required" if short else ""
        more = (
            f"; {len(short)} of {len(evidence.parts)} parts have too few" if len(short) > 1 else ""
        )
        yield (
            f"Weakest evidence: {weakest.op} in {weakest.part}, {weakest.counted} "
            f"({weakest.share}{_at(precision)}){required}{more}."
        )
    if unknown:
        where = f" in {len(unknown)} of {len(evidence.parts)} parts" if weakest else ""
        reasons = list(dict.fromkeys(partition.why for partition in unknown))
        more = "; and other reasons" if len(reasons) > MOST_REASONS else ""
        yield f"Strength unknown{where}: {'; '.join(reasons[:MOST_REASONS])}{more}."


def advice(evidence: RunStrength, command: str) -> str:
    """Tell how to add missing vectors, with the command on a line of its own.

    Returns:
        Empty if no vectors can be added.
    """
    helps = evidence.short or evidence.unknown
    return f"To add the missing vectors:\n{command}" if command and helps else ""


def claimed(evidence: RunStrength, precision: Mapping[str, str]) -> str:
    """Write the strength of a run for its claim."""
    return f"{evidence.headline}{_at(precision) if evidence.weakest else ''}"


def _at(precision: Mapping[str, str]) -> str:
    """What has to be said of a share that was measured at another precision."""
    return "" if set(precision.values()) <= {STANDARD} else ", measured at standard"


def conclude(
    score: ResultCounts,
    scope: RunScope,
    *,
    interrupted: bool,
    evidence: RunStrength | None = None,
    expected: GateSummary | None = None,
    strict: bool = False,
) -> dict[str, Any]:
    """Return the footer's facts that follow from the counts and from the strength.

    Args:
        expected: the summary by :meth:`conformance.grade.gate.GateRun.summary`.
        strict: known failures that are out of date fail the run.
    """
    evidence, expected = evidence or RunStrength(), expected or {}
    verdict = run_verdict(
        score,
        evidence,
        interrupted=interrupted,
        no_claim=bool(scope.no_claim),
    )
    remarks = [f"Ended early: {score.given_up}."] if score.given_up else []
    if scope.partitions:
        remarks.append(f"Tested only: {scope.partitions}.")
    if verdict is Verdict.NO_FAILURES:
        remarks.append(f"This run makes no claim: {scope.no_claim}.")
    last = ""
    if verdict.is_claimable:
        remarks += [TILED_REMARK] if TILED in scope.precision.values() else []
        remarks += sentences(evidence, scope.precision)
        if has_few_graded(score, evidence):
            remarks.append(f"Fewer than {FEWEST_GRADED} value vectors prove little.")
        is_kernel = scope.suite == SuiteName.FRESH
        last = "" if is_kernel else advice(evidence, scope.completing)
        if is_kernel and verdict is Verdict.INCONCLUSIVE:
            last = KERNEL_ADVICE
    if not interrupted and not scope.no_claim:
        remarks += _untested(scope.untested)
    remarks += [] if interrupted else _remarks(expected, strict=strict)
    # The advice ends in a command to be pasted, so nothing comes after it.
    dropped = without_outputs(tally.wrong for tally in score.tallies.values())
    remarks += filter(None, [dropped, last])
    return {
        "counts": score.counts,
        "by_reading": score.by_reading,
        "precision_reached": score.reached,
        "verdict": str(verdict),
        "sentence": " ".join([_sentence(score, scope, verdict), *remarks]),
        "claim": _claim(score, scope, evidence, verdict, ended_badly=bool(expected.get("endings"))),
        "strength": evidence.to_json(),
        "exit_code": exit_code(score, verdict, expected, strict=strict),
    }


def _sentence(score: ResultCounts, scope: RunScope, verdict: Verdict) -> str:
    selected, total = sum(score.selected.values()), score.total
    if verdict is Verdict.INTERRUPTED:
        return (
            f"Interrupted after {total.total} of {selected} vectors; {total.wrong} failed so far."
        )
    none = verdict is Verdict.NOTHING_GRADED
    # What stands between commas adds up to all vectors; what is part of it is between parentheses.
    passed = f"{total.passed:,} of {selected:,} vectors passed"
    if total.by_reading:
        names = ", ".join(sorted({n for joined in score.by_reading for n in joined.split("+")}))
        passed += f" ({total.by_reading:,} by an allowed interpretation: {names})"
    wrong = [(total.failed, "failed"), (total.errors, ENDED)]
    left = [(total.unsupported, "unsupported"), (total.skipped, "not tested at this level")]
    failures, others = ([f"{n:,} {words}" for n, words in some if n] for some in (wrong, left))
    if total.known:
        failures[-1] += f" ({_of_these(score)})"
    parts = [*([] if none and not total.passed else [passed]), *failures, *others]
    if none:
        return f"No values graded: {', '.join(parts) or number_of(selected, 'vector')}."
    share = f"{total.graded:,} of {scope.values:,} value vectors graded (negative tests apart)"
    missing = [op for op, tally in score.tallies.items() if not tally.graded]
    if total.graded and missing:
        few = len(missing) <= MOST_NAMED
        share += f", none of {', '.join(missing) if few else f'{len(missing)} operators'}"
    return f"{verdict.headline}: {', '.join(parts)}; {share}."


def _of_these(score: ResultCounts) -> str:
    """How many of the failures were known before."""
    if score.total.new:
        return f"of these {score.total.known:,} known and {score.total.new:,} new"
    return "none of these new" if score.right else "none of these new, but no value vector passed"


def _claim(
    score: ResultCounts,
    scope: RunScope,
    evidence: RunStrength,
    verdict: Verdict,
    *,
    ended_badly: bool = False,
) -> str:
    """The line that a vendor may publish."""
    total = score.total
    ops = [op for op, n in score.tallies.items() if (n.tested if total.wrong else n.graded)]
    terms = f"{scope.level}, {format_precision(scope.precision)}"
    graded = f"{total.graded} of {scope.in_suite} graded"
    within = f" in {scope.partitions} only" if scope.partitions else ""
    facts = f"suite {scope.suite}{within}, {graded}, sha256 {scope.sha256}"
    nothing = verdict if verdict in (Verdict.INTERRUPTED, Verdict.NOTHING_GRADED) else ""
    why = scope.no_claim or nothing
    if ended_badly:
        why = "a process did not end as it should"
    if nothing or (why and not total.wrong):
        return f"{scope.backend}: no claim ({why}); {facts}"
    if total.known:
        facts = f"{total.known} known failures, {facts}"
    if total.wrong:  # one failure is enough, whatever else was tested
        part = "" if scope.whole else f", {scope.no_claim}"
        return f"{scope.backend}: NOT conformant with {', '.join(ops)} ({terms}{part}), {facts}"
    facts = f"{claimed(evidence, scope.precision)}, {facts}"
    if verdict is Verdict.INCONCLUSIVE:
        return f"{scope.backend}: no claim (inconclusive); {facts}"
    what = ", ".join(ops) + _extent(evidence, scope)
    return f"{scope.backend}: conformant with {what} ({terms}), {facts}"


def _extent(evidence: RunStrength, scope: RunScope) -> str:
    """The element types and ranks that are claimed, and what is excluded, in words."""
    dtypes = dict.fromkeys(partition.dtype for partition in evidence.parts)
    ranks = sorted({partition.rank for partition in evidence.parts})
    said = f" in {', '.join(dtypes)} of rank {', '.join(map(str, ranks))}" if dtypes else ""
    left = scope.excluded
    if left:
        more = f"; and {len(left) - MOST_EXCLUDED} more" if len(left) > MOST_EXCLUDED else ""
        said += f", but for what is declared as excluded: {'; '.join(left[:MOST_EXCLUDED])}{more}"
    return said


def _untested(ops: Sequence[str]) -> list[str]:
    """What is declared and was not tested, and how that is changed."""
    if not ops:
        return []
    few, single, out = len(ops) <= MOST_NAMED, len(ops) == 1, unused("mine")
    return [
        f"Declared, but without vectors in this suite: "
        f"{', '.join(ops) if few else f'{len(ops)} operators ({ops[0]}, ...)'}; make them: "
        f"conformance generate --op {ops[0] if single else 'NAME'} --out {out}; then --suite {out}."
    ]


def _remarks(expected: GateSummary, *, strict: bool) -> list[str]:
    """Sentences for the verdict; none where all is as expected."""
    said = []
    endings = ["; ".join(entry["message"].split("\n")[:2]) for entry in expected.get("endings", ())]
    if endings:
        more = f" (and {len(endings) - 1} other endings)" if len(endings) > 1 else ""
        said.append(f"A process of the backend did not end as it should: {endings[0]}{more}.")
        said += filter(None, [on_memory(PROGRAM, "", endings[0])])
    lacking = [entry["about"] for entry in expected.get("required", ()) if entry["problems"]]
    if lacking:
        more = f" and {len(lacking) - MOST_REQUIRED} more" if len(lacking) > MOST_REQUIRED else ""
        said.append(f"Required, but not supported: {'; '.join(lacking[:MOST_REQUIRED])}{more}.")
    stale = out_of_date(expected)
    if stale:
        entries = "1 entry" if stale == 1 else f"{stale} entries"
        why = ", which strict does not allow" if strict else ""
        said.append(f"{entries} of the known failures out of date{why}.")
    return said
