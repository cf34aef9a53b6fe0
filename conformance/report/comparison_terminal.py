"""The comparison of two runs as text for a terminal."""

from __future__ import annotations

from conformance.log.run_log import RunLog
from conformance.report.comparison import (
    ORDER,
    CauseChangeKind,
    Change,
    ChangeKind,
    Comparison,
    describe_change,
)
from conformance.report.terminal import BOLD, GREEN, RED, RESET
from conformance.report.wording import utc_time, vectors
from conformance.safe_text import one_line, wrap

MAX_DIFFERENCES = 30

OF_BACKENDS = ("backend, ", "environment, backend")
"""The beginning of the names of facts in which any two backends differ."""


def comparison_text(
    comparison: Comparison, *, width: int = 80, color: bool = False, limit: int = 20
) -> str:
    """Return the comparison, with at most ``limit`` vectors of each kind of change.

    No line is wider than ``width``.
    """
    blocks = [_heading(comparison, width), _differences(comparison, width)]
    blocks.append(_causes(comparison, width))
    blocks += [_changes(comparison, kind, width, limit) for kind in ORDER]
    blocks.append(_verdict(comparison, width, color))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _heading(comparison: Comparison, width: int) -> list[str]:
    first, second = ("old  ", "new  ") if comparison.is_one_backend else ("one  ", "two  ")
    return [
        *wrap(_run(comparison.old, comparison.labels[0]), width, " " * 5, first),
        *wrap(_run(comparison.new, comparison.labels[1]), width, " " * 5, second),
    ]


def _run(run: RunLog, label: str) -> str:
    backend, suite = run.start.backend, run.start.suite
    subject = f"suite {suite.name}, {vectors(len(run.results))}, {run.verdict}"
    name = f"{backend.name} {backend.version}"
    time = utc_time(run.start.started)
    suffix = "" if label in (name, time, "old", "new") else f"; {label}"
    return f"{name}: {subject}; {time}{suffix}"


def _differences(comparison: Comparison, width: int) -> list[str]:
    differences = comparison.differences
    if not comparison.is_one_backend:
        differences = tuple(row for row in differences if not row.name.startswith(OF_BACKENDS))
    if not differences:
        return []
    lines = ["WARNING: the runs differ in more than their results"]
    for row in differences[:MAX_DIFFERENCES]:
        old, new = (value or "none" for value in row.values)
        lines += wrap(f"{row.name}: {old} -> {new}", width, "      ", "  ")[:4]
    if len(differences) > MAX_DIFFERENCES:
        lines.append(f"  and {len(differences) - MAX_DIFFERENCES} more")
    return lines


def _causes(comparison: Comparison, width: int) -> list[str]:
    lines = []
    for kind in CauseChangeKind:
        for cause in comparison.causes_of(kind):
            counts = f"{cause.old:,}"
            if cause.old != cause.new:
                counts += f" -> {cause.new:,}"
            text = f"{comparison.phrase(kind)}: {cause.title} (vectors: {counts})"
            lines += wrap(text, width, "      ", "  ")[:4]
    return ["Causes", *lines] if lines else []


def _changes(comparison: Comparison, kind: ChangeKind, width: int, limit: int) -> list[str]:
    changes: tuple[Change, ...] = comparison.changes_of(kind)
    if not changes:
        return []
    phrase = one_line(comparison.phrase(kind))
    lines = wrap(f"{phrase[:1].upper()}{phrase[1:]} ({vectors(len(changes))})", width)
    for change in changes[:limit]:
        lines += wrap(describe_change(change), width, "      ", "  ")[:4]
    if len(changes) > limit:
        lines.append(f"  and {len(changes) - limit:,} more")
    return lines


def _verdict(comparison: Comparison, width: int, color: bool) -> list[str]:
    counts = {kind: len(comparison.changes_of(kind)) for kind in ORDER}
    changes = ", ".join(f"{comparison.phrase(kind)} {n:,}" for kind, n in counts.items() if n)
    headline = "BROKEN" if comparison.is_worse else "NOTHING BROKEN"
    if not comparison.is_one_backend:
        headline = "TWO BACKENDS"
    causes = "; ".join(
        f"{comparison.phrase(kind)}: {', '.join(cause.title for cause in cause_changes)}"
        for kind in (CauseChangeKind.FIXED, CauseChangeKind.NEW)
        if (cause_changes := comparison.causes_of(kind))
    )
    causes = f" {causes[:1].upper()}{causes[1:]}." if causes else ""
    changes = changes or ("no change" if comparison.is_one_backend else "no difference")
    sentence = f"{headline}.{causes} Of {vectors(comparison.common_count)} in both runs: {changes}."
    paint = f"{BOLD}{RED if comparison.is_worse else GREEN}" if color else ""
    return [f"{paint}{line}{RESET if color else ''}" for line in wrap(sentence, width)]
