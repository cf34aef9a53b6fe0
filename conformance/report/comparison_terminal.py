"""The comparison of two runs as text for a terminal."""

from __future__ import annotations

from conformance.log.run_log import RunLog
from conformance.report.comparison import ORDER, CauseTurn, Change, Comparison, Turn, words
from conformance.report.terminal import BOLD, GREEN, RED, RESET
from conformance.report.wording import vectors, when
from conformance.safe_text import one_line, wrap

MAX_DIFFERENCES = 30

OF_BACKENDS = ("backend, ", "environment, backend")
"""The beginning of facts in which any two backends differ."""


def text(comparison: Comparison, *, width: int = 80, color: bool = False, limit: int = 20) -> str:
    """The comparison; at most ``limit`` vectors are shown of what became of each.

    No line is wider than ``width``.
    """
    blocks = [_heading(comparison, width), _differences(comparison, width)]
    blocks.append(_causes(comparison, width))
    blocks += [_turn(comparison, turn, width, limit) for turn in ORDER]
    blocks.append(_verdict(comparison, width, color))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _heading(comparison: Comparison, width: int) -> list[str]:
    first, second = ("old  ", "new  ") if comparison.one_backend else ("one  ", "two  ")
    return [
        *wrap(_run(comparison.old, comparison.labels[0]), width, " " * 5, first),
        *wrap(_run(comparison.new, comparison.labels[1]), width, " " * 5, second),
    ]


def _run(run: RunLog, label: str) -> str:
    backend, suite = run.start.backend, run.start.suite
    of = f"suite {suite.name}, {vectors(len(run.results))}, {run.verdict}"
    name = f"{backend.name} {backend.version}"
    time = when(run.start.started)
    told = "" if label in (name, time, "old", "new") else f"; {label}"
    return f"{name}: {of}; {time}{told}"


def _differences(comparison: Comparison, width: int) -> list[str]:
    found = comparison.differences
    if not comparison.one_backend:
        found = tuple(one for one in found if not one.name.startswith(OF_BACKENDS))
    if not found:
        return []
    lines = ["WARNING: the runs differ in more than their results"]
    for difference in found[:MAX_DIFFERENCES]:
        old, new = (value or "none" for value in difference.values)
        lines += wrap(f"{difference.name}: {old} -> {new}", width, "      ", "  ")[:4]
    if len(found) > MAX_DIFFERENCES:
        lines.append(f"  and {len(found) - MAX_DIFFERENCES} more")
    return lines


def _causes(comparison: Comparison, width: int) -> list[str]:
    lines = []
    for turn in CauseTurn:
        for one in comparison.told(turn):
            counts = f"{one.old:,}" if one.old == one.new else f"{one.old:,} -> {one.new:,}"
            told = f"{comparison.said(turn)}: {one.title} (vectors: {counts})"
            lines += wrap(told, width, "      ", "  ")[:4]
    return ["Causes", *lines] if lines else []


def _turn(comparison: Comparison, turn: Turn, width: int, limit: int) -> list[str]:
    changes: tuple[Change, ...] = comparison.of(turn)
    if not changes:
        return []
    said = one_line(comparison.said(turn))
    lines = wrap(f"{said[:1].upper()}{said[1:]} ({vectors(len(changes))})", width)
    for change in changes[:limit]:
        lines += wrap(" ".join(words(change)), width, "      ", "  ")[:4]
    if len(changes) > limit:
        lines.append(f"  and {len(changes) - limit:,} more")
    return lines


def _verdict(comparison: Comparison, width: int, color: bool) -> list[str]:
    counts = {turn: len(comparison.of(turn)) for turn in ORDER}
    told = ", ".join(f"{comparison.said(turn)} {n:,}" for turn, n in counts.items() if n)
    word = "BROKEN" if comparison.worse else "NOTHING BROKEN"
    if not comparison.one_backend:
        word = "TWO BACKENDS"
    causes = "; ".join(
        f"{comparison.said(turn)}: {', '.join(one.title for one in comparison.told(turn))}"
        for turn in (CauseTurn.FIXED, CauseTurn.NEW)
        if comparison.told(turn)
    )
    causes = f" {causes[:1].upper()}{causes[1:]}." if causes else ""
    same = "no change" if comparison.one_backend else "no difference"
    sentence = f"{word}.{causes} Of {vectors(comparison.common)} in both runs: {told or same}."
    paint = f"{BOLD}{RED if comparison.worse else GREEN}" if color else ""
    return [f"{paint}{line}{RESET if color else ''}" for line in wrap(sentence, width)]
