"""A run as text for a terminal or a pipe."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from conformance.log.events import GateEntry
from conformance.log.run_log import RunLog
from conformance.model import Finding
from conformance.report.cause_view import CauseView
from conformance.report.view import OperatorRow, Tone, View, operator_strengths, run_view
from conformance.report.wording import (
    cause_counts,
    duration,
    known_failure_text,
    option_groups,
    precision_text,
    shorten_distinctly,
    utc_time,
    vectors,
    worst_element_rows,
)
from conformance.safe_text import one_line, shortened, wrap

FILE = "summary.txt"

COLUMNS = ("vectors", "passed", "failed", "errors", "unsup.", "skipped", "reading", "graded")

COLUMNS_NOTE = (
    "vectors = passed + failed + errors + unsup. + skipped; errors: an exception, a crash, a wrong "
    "shape or type; reading: passed by an allowed interpretation; graded: tested value vectors, so "
    "no negative tests"
)
"""The meaning of the columns."""

MAX_MESSAGE = 6
"""Lines of a message shown at most."""

MAX_THREADS = 3
"""Public threads about a mutant shown at most."""

MAX_OPERATORS = 8
"""Operators of a cause shown at most."""

MAX_TARGETS = 8
"""Coverage targets of a finding shown at most."""

MAX_WEAK, MAX_PARTITIONS = 5, 3
"""Operators whose evidence is too weak shown at most, and partitions of each."""

MAX_ENTRIES = 10
"""Entries of a gate shown at most, of each kind; a log and its page have all."""

BOLD, RED, GREEN, YELLOW, RESET = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
TONES = {Tone.GOOD: GREEN, Tone.KNOWN: YELLOW, Tone.WEAK: YELLOW, Tone.NEUTRAL: "", Tone.BAD: RED}


def render(run: RunLog) -> str:
    """Return the summary with every new cause, 80 columns wide and without colour."""
    return summary(run, limit=len(run.causes)) + "\n"


def summary(run: RunLog, *, width: int = 80, color: bool = False, limit: int = 10) -> str:
    """Return the summary of a run; its last line is the claim.

    New causes are shown in full, known failures as entries of the gate's file. No line is wider
    than ``width`` except those made to be copied: the claim, and a command with a wider word. At
    most ``limit`` causes are shown, the others counted.
    """
    view = run_view(run)
    paint = _Paint(color)
    blocks = [
        _heading(view, width, paint),
        _table(view, width),
        _unsupported(view, width),
        _causes(view, width, limit, paint),
        _known_failures(view, width),
        _out_of_date(view, width),
        _requirements(view, width),
        _questions(view, width, paint),
        _weak(view, width),
        _verdict(view, width, paint),
        [one_line(view.claim)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


class _Paint:
    """Adds colours to text, if they are on."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, *codes: str) -> str:
        return "".join(codes) + text + RESET if self.on else text


def _heading(view: View, width: int, paint: _Paint) -> list[str]:
    start, end = view.run.start, view.run.end
    backend, suite, options = start.backend, start.suite, start.options
    settings = f"level {options.level}, precision {precision_text(options.precision)}"
    for values, noun in ((options.dtypes, "types"), (options.ranks, "ranks")):
        if values:
            settings += f", {noun} {', '.join(map(str, values))} only"
    if options.shard is not None:
        settings += f", shard {options.shard}"
    if options.shuffle is not None:
        settings += f", order {options.shuffle}"
    seconds = "" if end is None else f", {duration(end.seconds)}"
    title = wrap(f"{backend.name} {backend.version}: {settings}", width)
    return [
        *(paint(line, BOLD) for line in title),
        *wrap(
            f"suite {suite.name} ({suite.digest.removeprefix('sha256:')[:12]}), "
            f"{vectors(view.total.selected)}; {utc_time(start.started)}{seconds}",
            width,
        ),
    ]


def _table(view: View, width: int) -> list[str]:
    rows = [(one_line(row.op), _counts(row)) for row in view.table]
    if len(rows) != 1:
        rows.append(("all", _counts(view.total)))
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
    lines += wrap(COLUMNS_NOTE, width, "    ", "  ")
    if view.total.missing:
        lines += ["", f"{view.total.missing:,} selected vectors have no result."]
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


def _unsupported(view: View, width: int) -> list[str]:
    if not view.unsupported:
        return []
    lines = ["Unsupported"]
    reasons = [one_line(group.reason) for group in view.unsupported]
    for group, reason in zip(view.unsupported[:5], reasons, strict=False):
        text = shorten_distinctly(reason, reasons, 2 * width) or "no reason given"
        subject = f"{shortened(group.op, width)}, {vectors(group.count)}"
        lines += wrap(f"{subject}: {text}", width, "    ", "  ")[:6]
    if len(view.unsupported) > 5:
        lines.append(f"  and {vectors(sum(g.count for g in view.unsupported[5:]))} more")
    return lines


def _causes(view: View, width: int, limit: int, paint: _Paint) -> list[str]:
    if not view.new_causes:
        return []
    heading = "New causes" if view.known_failures else "Causes"
    count = cause_counts(cause_view.cause for cause_view in view.new_causes)
    lines = wrap(f"{heading} ({count}), worst first", width)
    for number, cause_view in enumerate(view.new_causes[:limit], 1):
        lines += ["", *_cause(number, cause_view, width, paint)]
    if len(view.new_causes) > limit:
        lines += ["", f"and {len(view.new_causes) - limit} more; see the log."]
    return lines


def _cause(number: int, cause_view: CauseView, width: int, paint: _Paint) -> Iterator[str]:
    cause, lead = cause_view.cause, cause_view.lead
    finding = lead.finding
    label = f"{number:>3}. "
    title = wrap(cause.headline, width, " " * len(label), label)
    yield from (paint(line, BOLD) for line in title)
    fixed = f"; fixed in {', '.join(cause.fixed)}" if cause.fixed else ""
    yield from _field("effect", f"{cause_view.tag}{fixed}", width)
    yield from _diagnosis(cause_view, width)
    if len(cause.findings) > 1:
        for listed in cause.findings[:MAX_OPERATORS]:
            yield from _field("in", f"{listed.op}: {listed.title}, {listed.smallest}", width)
        if len(cause.findings) > MAX_OPERATORS:
            yield from _field("in", f"{len(cause.findings) - MAX_OPERATORS} more", width)
    else:
        yield from _field("in", f"{finding.op}: {finding.title}", width)
    yield from _field("reproducer", finding.smallest, width)
    yield from _field("case", lead.case, width)
    targets = ", ".join(finding.edges[:MAX_TARGETS])
    if len(finding.edges) > MAX_TARGETS:
        targets += f" and {len(finding.edges) - MAX_TARGETS} more"
    yield from _field("targets", targets, width)
    for label, text in worst_element_rows(finding.witness, lead.error):
        yield from _field(label, text, width)
    yield from _message(finding, width)
    yield from _field("advice", cause_view.advice, width)
    yield from _command("reproduce", finding.reproduce, width)
    if not cause.explained:
        yield from _command("search for smaller cases", lead.fuzz_command, width)


def _diagnosis(cause_view: CauseView, width: int) -> Iterator[str]:
    """Yield the explanation, how sure it is, and where to read on."""
    diagnosis = cause_view.lead.diagnosis
    if diagnosis is None:
        return
    # The title is not repeated.
    is_title = diagnosis.sentence.rstrip(". ") == cause_view.cause.title
    text = diagnosis.more if is_title else diagnosis.text
    yield from _field("because", text and f"{cause_view.operator_prefix}{text}", width)
    alternatives = [", ".join(alternative.ids) for alternative in diagnosis.alternatives]
    yield from _field("or", "; ".join(alternatives), width)
    for look in dict.fromkeys(mutant.look for mutant in cause_view.mutants):
        yield from _field("look at", look, width)
    for mutant in cause_view.mutants:
        threads = [thread.text for thread in mutant.threads if thread.link]
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
    """Yield a command to be copied, broken before options, continued with backslashes."""
    if not command:
        return
    lines: list[str] = []
    for option in option_groups(one_line(command)):
        fits = lines and len(lines[-1]) + len(option) + len("        ") + len(" \\") <= width
        lines[-1:] = [f"{lines[-1]} {option}"] if fits else [*lines[-1:], option]
    yield f"     {label}"
    for i, line in enumerate(lines):
        indent = "       " if i else "     "
        yield f"{indent}{line}" + (" \\" if i < len(lines) - 1 else "")


def _questions(view: View, width: int, paint: _Paint) -> list[str]:
    if not view.questions:
        return []
    lines = wrap("Implementation-defined behaviour (* not the expected interpretation)", width)
    for op, questions in view.questions.items():
        lines += ["", *(paint(line, BOLD) for line in wrap(op, width))]
        for question in questions:
            if question.answers:
                text = f"{question.text} (mixed)" if question.is_mixed else question.text
                lines += wrap(text, width, "    ", "  ")
            for answer in question.answers:
                count = vectors(answer.vectors)
                text = f"{answer.answer}: {count} ({answer.dtypes}), {answer.example}"
                lines += wrap(text, width, " " * 8, "    * " if answer.is_unexpected else "      ")
        unanswered = "; ".join(question.text for question in questions if not question.answers)
        if unanswered:
            lines += wrap(f"not observed: {unanswered}", width, "    ", "  ")
    return lines


def _weak(view: View, width: int) -> list[str]:
    """Return the operators whose vectors kill too few mutants, the weakest first."""
    weak = [strength for strength in operator_strengths(view.run) if strength.evidence.short]
    if not weak:
        return []
    weak.sort(key=lambda strength: strength.weakest.ratio if strength.weakest else 1.0)
    lines = ["Mutation score of the passing vectors, where it is too low"]
    for strength in weak[:MAX_WEAK]:
        partitions = sorted(strength.evidence.short, key=lambda partition: partition.ratio)
        scores = [
            f"{partition.part} {partition.done}/{partition.of}"
            for partition in partitions[:MAX_PARTITIONS]
        ]
        if len(partitions) > MAX_PARTITIONS:
            scores.append(f"and {len(partitions) - MAX_PARTITIONS} more")
        lines += wrap(f"{strength.op}: {'; '.join(scores)}", width, "    ", "  ")
    if len(weak) > MAX_WEAK:
        lines.append(f"  and {len(weak) - MAX_WEAK} more operators")
    return lines


def _verdict(view: View, width: int, paint: _Paint) -> list[str]:
    colour = TONES[view.tone]
    sentence = f"{view.headline.upper()}. {view.sentence}"
    lines = [paint(line, BOLD, colour) for line in wrap(sentence, width)]
    # The command is neither broken nor indented: it is to be pasted.
    return [*lines, *([one_line(view.command)] if view.command else [])]


def _known_failures(view: View, width: int) -> list[str]:
    used = [entry for entry in view.known_failures if entry.failures]
    if not used:
        return []
    lines = wrap(f"Known failures ({vectors(view.total.tally.known)})", width)
    for entry in sorted(used, key=lambda entry: -entry.failures)[:MAX_ENTRIES]:
        lines += wrap(f"{_entry(entry)} ({vectors(entry.failures)})", width, "      ", "  ")
        lines += wrap(known_failure_text(entry), width, "      ")[:3]
    return lines + _count_left_out(used)


def _out_of_date(view: View, width: int) -> list[str]:
    out_of_date = [entry for entry in view.known_failures if entry.problems]
    return _with_problems(f"Known failures out of date ({len(out_of_date)})", out_of_date, width)


def _requirements(view: View, width: int) -> list[str]:
    if not view.requirements:
        return []
    unmet = [entry for entry in view.requirements if entry.problems]
    if not unmet:
        return wrap(f"Required: all supported ({len(view.requirements)}).", width)
    heading = f"Required, but not supported ({len(unmet)} of {len(view.requirements)})"
    return _with_problems(heading, unmet, width)


def _with_problems(heading: str, entries: Sequence[GateEntry], width: int) -> list[str]:
    if not entries:
        return []
    lines = wrap(heading, width)
    for entry in entries[:MAX_ENTRIES]:
        lines += wrap(_entry(entry), width, "      ", "  ")
        for problem in entry.problems:
            lines += wrap(problem, width, "      ")[:3]
    return lines + _count_left_out(entries)


def _entry(entry: GateEntry) -> str:
    return f"{entry.entry}  {entry.about}"


def _count_left_out(entries: Sequence[GateEntry]) -> list[str]:
    return [f"  and {len(entries) - MAX_ENTRIES} more"] if len(entries) > MAX_ENTRIES else []
