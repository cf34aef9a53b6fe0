"""Two runs side by side, as text for a terminal or a pipe."""

from __future__ import annotations

from conformance.log.run_log import RunLog
from conformance.report.comparison import ORDER, Change, Comparison, Turn, words
from conformance.report.lines import vectors, wrap
from conformance.report.terminal import BOLD, GREEN, RED, RESET
from conformance.report.wording import when

MAX_DIFFERENCES = 30


def text(comparison: Comparison, *, width: int = 80, color: bool = False, limit: int = 20) -> str:
    """The comparison; at most ``limit`` vectors are shown of what became of each.

    No line is wider than ``width``.
    """
    blocks = [_heading(comparison, width), _differences(comparison, width)]
    blocks += [_turn(turn, comparison.of(turn), width, limit) for turn in ORDER]
    blocks.append(_verdict(comparison, width, color))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _heading(comparison: Comparison, width: int) -> list[str]:
    return [
        *wrap(_run(comparison.old), width, " " * 5, "old  "),
        *wrap(_run(comparison.new), width, " " * 5, "new  "),
    ]


def _run(run: RunLog) -> str:
    backend, suite = run.header["backend"], run.header["suite"]
    of = f"suite {suite['name']}, {vectors(len(run.results))}, {run.verdict}"
    return f"{backend['name']} {backend['version']}: {of}; {when(run.header['started'])}"


def _differences(comparison: Comparison, width: int) -> list[str]:
    found = comparison.differences
    if not found:
        return []
    lines = ["WARNING: the runs differ in more than their results"]
    for difference in found[:MAX_DIFFERENCES]:
        old, new = difference.old or "none", difference.new or "none"
        lines += wrap(f"{difference.name}: {old} -> {new}", width, "      ", "  ")[:4]
    if len(found) > MAX_DIFFERENCES:
        lines.append(f"  and {len(found) - MAX_DIFFERENCES} more")
    return lines


def _turn(turn: Turn, changes: tuple[Change, ...], width: int, limit: int) -> list[str]:
    if not changes:
        return []
    lines = [f"{turn.value[:1].upper()}{turn.value[1:]} ({vectors(len(changes))})"]
    for change in changes[:limit]:
        lines += wrap(" ".join(words(change)), width, "      ", "  ")[:4]
    if len(changes) > limit:
        lines.append(f"  and {len(changes) - limit:,} more")
    return lines


def _verdict(comparison: Comparison, width: int, color: bool) -> list[str]:
    counts = {turn: len(comparison.of(turn)) for turn in ORDER}
    told = ", ".join(f"{turn.value} {count:,}" for turn, count in counts.items() if count)
    word = "BROKEN" if comparison.worse else "NOTHING BROKEN"
    sentence = f"{word}. Of {vectors(comparison.common)} in both runs: {told or 'no change'}."
    paint = f"{BOLD}{RED if comparison.worse else GREEN}" if color else ""
    return [f"{paint}{line}{RESET if color else ''}" for line in wrap(sentence, width)]
