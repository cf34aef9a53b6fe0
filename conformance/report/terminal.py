"""A run as text for a terminal or a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from conformance.log.events import GateEntry
from conformance.log.run_log import RunLog
from conformance.model import Finding
from conformance.report.cause_view import CauseView
from conformance.report.view import OperatorRow, Tone, View, strengths, view
from conformance.report.wording import (
    apart,
    counted,
    duration,
    evidence,
    options,
    precision,
    vectors,
    when,
    why,
)
from conformance.safe_text import one_line, shortened, wrap

FILE = "summary.txt"

COLUMNS = ("vectors", "passed", "failed", "errors", "unsup.", "skipped", "reading", "graded")

PARTS = (
    "vectors = passed + failed + errors + unsup. + skipped; errors: an exception, a crash, a wrong "
    "shape or type; reading: passed by an allowed interpretation; graded: tested value vectors, so "
    "no negative tests"
)
"""What the columns count."""

MAX_MESSAGE = 6
"""Lines of a message shown at most."""

MAX_THREADS = 3
"""Public threads about a fault shown at most."""

MAX_OPERATORS = 8
"""Operators of a cause shown at most."""

MAX_EDGES = 8
"""Edges of a finding shown at most."""

MAX_WEAK, MAX_PARTS = 5, 3
"""Operators whose evidence is too weak shown at most, and parts of each."""

MAX_ENTRIES = 10
"""Entries of a gate shown at most, of each kind; a log and its page have all."""

BOLD, RED, GREEN, YELLOW, RESET = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
TONES = {Tone.GOOD: GREEN, Tone.KNOWN: YELLOW, Tone.WEAK: YELLOW, Tone.NEUTRAL: "", Tone.BAD: RED}


def render(run: RunLog) -> str:
    """The whole summary, every new cause in it, 80 columns wide and without colour."""
    return summary(run, limit=len(run.causes)) + "\n"


def summary(run: RunLog, *, width: int = 80, color: bool = False, limit: int = 10) -> str:
    """The summary of a run; its last line is the claim. New causes are shown, known ones told.

    No line is wider than ``width`` except those made to be copied: the claim, and a command with
    a word that is wider. At most ``limit`` causes are shown, the rest counted.
    """
    shown = view(run)
    paint = _Paint(color)
    blocks = [
        _heading(shown, width, paint),
        _table(shown, width),
        _unsupported(shown, width),
        _causes(shown, width, limit, paint),
        _known(shown, width),
        _out_of_date(shown, width),
        _required(shown, width),
        _readings(shown, width, paint),
        _weak(shown, width),
        _verdict(shown, width, paint),
        [one_line(shown.claim)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


class _Paint:
    """Colours, or nothing."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, *codes: str) -> str:
        return "".join(codes) + text + RESET if self.on else text


def _heading(shown: View, width: int, paint: _Paint) -> list[str]:
    start, end = shown.run.start, shown.run.end
    backend, suite, options = start.backend, start.suite, start.options
    tested = f"level {options.level}, precision {precision(options.precision)}"
    for values, noun in ((options.dtypes, "types"), (options.ranks, "ranks")):
        if values:
            tested += f", {noun} {', '.join(map(str, values))} only"
    if options.shard is not None:
        tested += f", shard {options.shard}"
    if options.shuffle is not None:
        tested += f", order {options.shuffle}"
    seconds = "" if end is None else f", {duration(end.seconds)}"
    first = wrap(f"{backend.name} {backend.version}: {tested}", width)
    return [
        *(paint(line, BOLD) for line in first),
        *wrap(
            f"suite {suite.name} ({suite.digest.removeprefix('sha256:')[:12]}), "
            f"{vectors(shown.total.selected)}; {when(start.started)}{seconds}",
            width,
        ),
    ]


def _table(shown: View, width: int) -> list[str]:
    rows = [(one_line(row.op), _counts(row)) for row in shown.table]
    if len(rows) != 1:
        rows.append(("all", _counts(shown.total)))
    numbers = [[f"{count:,}" for count in counts] for _, counts in rows]
    columns = [
        max(len(name), *(len(line[i]) for line in numbers)) for i, name in enumerate(COLUMNS)
    ]
    room = max(0, width - sum(columns) - len(columns))
    label = min(room, max(len(name) for name, _ in [*rows, ("operator", ())]))
    heading = "operator" if label >= len("operator") else ""
    lines = [_row(heading.ljust(label), COLUMNS, columns)]
    for (name, _), line in zip(rows, numbers, strict=True):
        # A long name stands on a line of its own, so that numbers stay under their heading.
        if len(name) > label:
            lines.extend(textwrap.wrap(name, width))
            name = ""
        lines.append(_row(name.ljust(label), line, columns))
    lines += wrap(PARTS, width, "    ", "  ")
    if shown.total.missing:
        lines += ["", f"{shown.total.missing:,} selected vectors have no result."]
    return lines


def _counts(row: OperatorRow) -> tuple[int, ...]:
    t = row.tally
    return (
        *(row.selected, t.passed, t.failed, t.errors, t.unsupported, t.skipped),
        *(t.by_reading, t.graded),
    )


def _row(label: str, cells: Iterable[str], columns: Iterable[int]) -> str:
    numbers = " ".join(cell.rjust(width) for cell, width in zip(cells, columns, strict=True))
    return f"{label} {numbers}"


def _unsupported(shown: View, width: int) -> list[str]:
    if not shown.unsupported:
        return []
    lines = ["Unsupported"]
    reasons = [one_line(group.reason) for group in shown.unsupported]
    for group, reason in zip(shown.unsupported[:5], reasons, strict=False):
        told = apart(reason, reasons, 2 * width) or "no reason given"
        whose = f"{shortened(group.op, width)}, {vectors(group.count)}"
        lines += wrap(f"{whose}: {told}", width, "    ", "  ")[:6]
    if len(shown.unsupported) > 5:
        lines.append(f"  and {vectors(sum(g.count for g in shown.unsupported[5:]))} more")
    return lines


def _causes(shown: View, width: int, limit: int, paint: _Paint) -> list[str]:
    if not shown.new:
        return []
    heading = "New causes" if shown.known else "Causes"
    count = counted(one.cause for one in shown.new)
    lines = wrap(f"{heading} ({count}), worst first", width)
    for number, one in enumerate(shown.new[:limit], 1):
        lines += ["", *_cause(number, one, width, paint)]
    if len(shown.new) > limit:
        lines += ["", f"and {len(shown.new) - limit} more; see the log."]
    return lines


def _cause(number: int, one: CauseView, width: int, paint: _Paint) -> Iterator[str]:
    cause, finding = one.cause, one.lead.finding
    label = f"{number:>3}. "
    title = wrap(cause.headline, width, " " * len(label), label)
    yield from (paint(line, BOLD) for line in title)
    fixed = f"; fixed in {', '.join(cause.fixed)}" if cause.fixed else ""
    yield from _field("effect", f"{one.tag}{fixed}", width)
    yield from _diagnosis(one, width)
    if cause.common:
        told = "; ".join(f"{edge} ({why})" for edge, why in cause.common.items())
        yield from _field("common", told, width)
    if len(one.findings) > 1:
        for found in one.findings[:MAX_OPERATORS]:
            other = found.finding
            yield from _field("in", f"{other.op}: {other.title}, {other.smallest}", width)
        if len(one.findings) > MAX_OPERATORS:
            yield from _field("in", f"{len(one.findings) - MAX_OPERATORS} more", width)
    else:
        yield from _field("in", f"{finding.op}: {finding.title}", width)
    yield from _field("reproducer", finding.smallest, width)
    yield from _field("case", one.lead.case, width)
    edges = ", ".join(finding.edges[:MAX_EDGES])
    if len(finding.edges) > MAX_EDGES:
        edges += f" and {len(finding.edges) - MAX_EDGES} more"
    yield from _field("targets", edges, width)
    for label, text in evidence(finding.witness, one.lead.off):
        yield from _field(label, text, width)
    yield from _message(finding, width)
    yield from _field("advice", one.advice, width)
    yield from _command("reproduce", finding.reproduce, width)
    if not cause.explained:
        yield from _command("search for smaller cases", one.lead.fuzz, width)


def _diagnosis(one: CauseView, width: int) -> Iterator[str]:
    """What it comes from, how sure that is, and where to read on."""
    found = one.lead.diagnosis
    if found is None:
        return
    # What the title says is not said again.
    same = found.sentence.rstrip(". ") == one.cause.title
    told = found.more if same else found.text
    yield from _field("because", told and f"{one.of}{told}", width)
    others = [", ".join(other.ids) for other in found.alternatives]
    yield from _field("or", "; ".join(others), width)
    for look in dict.fromkeys(fault.look for fault in one.faults):
        yield from _field("look at", look, width)
    for fault in one.faults:
        threads = [thread.text for thread in fault.threads if thread.link]
        for thread in threads[:MAX_THREADS]:
            yield from _field("see", thread, width)


def _field(label: str, text: str, width: int) -> list[str]:
    return wrap(text, width, " " * 16, f"     {label:<10} ") if text else []


def _message(finding: Finding, width: int) -> Iterator[str]:
    lines = [
        wrapped for line in finding.message.splitlines() for wrapped in wrap(line, width, " " * 16)
    ]
    if len(lines) > MAX_MESSAGE:
        lines = [*lines[:MAX_MESSAGE], f"{'':16}and {len(lines) - MAX_MESSAGE} more lines"]
    for i, line in enumerate(lines):
        yield f"     {'message':<10} {line[16:]}" if i == 0 else line


def _command(label: str, command: str, width: int) -> Iterator[str]:
    """A command to be copied: continued with backslashes, broken before options only."""
    if not command:
        return
    lines: list[str] = []
    for option in options(one_line(command)):
        fits = lines and len(lines[-1]) + len(option) + len("        ") + len(" \\") <= width
        lines[-1:] = [f"{lines[-1]} {option}"] if fits else [*lines[-1:], option]
    yield f"     {label}"
    for i, line in enumerate(lines):
        indent = "       " if i else "     "
        yield f"{indent}{line}" + (" \\" if i < len(lines) - 1 else "")


def _readings(shown: View, width: int, paint: _Paint) -> list[str]:
    if not shown.readings:
        return []
    lines = wrap("Implementation-defined behaviour (* not the expected interpretation)", width)
    for op, questions in shown.readings.items():
        lines += ["", *(paint(line, BOLD) for line in wrap(op, width))]
        for question in questions:
            if question.answers:
                text = f"{question.text} (mixed)" if question.mixed else question.text
                lines += wrap(text, width, "    ", "  ")
            for a in question.answers:
                said = f"{a.answer}: {vectors(a.vectors)} ({a.dtypes}), {a.example}"
                lines += wrap(said, width, " " * 8, "    * " if a.other else "      ")
        silent = "; ".join(question.text for question in questions if not question.answers)
        if silent:
            lines += wrap(f"not observed: {silent}", width, "    ", "  ")
    return lines


def _weak(shown: View, width: int) -> list[str]:
    """The operators whose vectors kill too few mutants, the weakest first."""
    found = [one for one in strengths(shown.run) if one.evidence.short]
    if not found:
        return []
    found.sort(key=lambda one: one.weakest.ratio if one.weakest else 1.0)
    lines = ["Mutation score of the passing vectors, where it is too low"]
    for one in found[:MAX_WEAK]:
        parts = sorted(one.evidence.short, key=lambda part: part.ratio)
        told = [f"{part.part} {part.done}/{part.of}" for part in parts[:MAX_PARTS]]
        if len(parts) > MAX_PARTS:
            told.append(f"and {len(parts) - MAX_PARTS} more")
        lines += wrap(f"{one.op}: {'; '.join(told)}", width, "    ", "  ")
    if len(found) > MAX_WEAK:
        lines.append(f"  and {len(found) - MAX_WEAK} more operators")
    return lines


def _verdict(shown: View, width: int, paint: _Paint) -> list[str]:
    colour = TONES[shown.tone]
    sentence = f"{shown.headline.upper()}. {shown.sentence}"
    lines = [paint(line, BOLD, colour) for line in wrap(sentence, width)]
    # Neither broken nor indented: it is to be pasted.
    return [*lines, *([one_line(shown.command)] if shown.command else [])]


def _known(shown: View, width: int) -> list[str]:
    used = [entry for entry in shown.known if entry.failures]
    if not used:
        return []
    lines = wrap(f"Known failures ({vectors(shown.total.tally.known)})", width)
    for entry in sorted(used, key=lambda entry: -entry.failures)[:MAX_ENTRIES]:
        lines += wrap(f"{_entry(entry)} ({vectors(entry.failures)})", width, "      ", "  ")
        lines += wrap(why(entry), width, "      ")[:3]
    return lines + _more(used)


def _out_of_date(shown: View, width: int) -> list[str]:
    stale = [entry for entry in shown.known if entry.problems]
    return _with_problems(f"Known failures out of date ({len(stale)})", stale, width)


def _required(shown: View, width: int) -> list[str]:
    if not shown.required:
        return []
    unmet = [entry for entry in shown.required if entry.problems]
    if not unmet:
        return wrap(f"Required: all supported ({len(shown.required)}).", width)
    heading = f"Required, but not supported ({len(unmet)} of {len(shown.required)})"
    return _with_problems(heading, unmet, width)


def _with_problems(heading: str, entries: Sequence[GateEntry], width: int) -> list[str]:
    if not entries:
        return []
    lines = wrap(heading, width)
    for entry in entries[:MAX_ENTRIES]:
        lines += wrap(_entry(entry), width, "      ", "  ")
        for problem in entry.problems:
            lines += wrap(problem, width, "      ")[:3]
    return lines + _more(entries)


def _entry(entry: GateEntry) -> str:
    return f"{entry.entry}  {entry.about}"


def _more(entries: Sequence[GateEntry]) -> list[str]:
    return [f"  and {len(entries) - MAX_ENTRIES} more"] if len(entries) > MAX_ENTRIES else []
