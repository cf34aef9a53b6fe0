"""Computes the footer of a log again from its results, and says where the two differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import msgspec
import numpy as np

from conformance.log.events import Footer
from conformance.log.run_log import RunLog
from conformance.model import FAILED, Result
from conformance.safe_text import number_of
from conformance.verdict import exit_code, run_verdict


def contradictions(run: RunLog) -> Iterator[str]:
    """Yield sentences that say where a log contradicts itself."""
    repeated = _repeated(run.results)
    if repeated:
        yield f"{number_of(repeated, 'result')} repeating a vector."
    if run.end is None or run.footer is None:
        return
    yield from _in_counts(run, run.end)
    yield from _in_interpretations(run, run.end)
    yield from _in_verdict(run, run.end, run.footer)
    yield from _in_gate(run, run.end, run.footer)


def _repeated(results: Sequence[Result]) -> int:
    """Return how many results are of a vector that another is of."""
    # Numbers take a tenth of the memory of the names; only names decide.
    numbers = np.fromiter((hash((r.op, r.id)) for r in results), np.int64, len(results))
    distinct, times = np.unique(numbers, return_counts=True)
    twice = {*distinct[times > 1].tolist()}
    names = [name for r in results if hash(name := (r.op, r.id)) in twice] if twice else []
    return len(names) - len({*names})


def _in_counts(run: RunLog, end: Footer) -> Iterator[str]:
    """Yield where the footer counts otherwise than its results, or the header."""
    for op, tally in run.tallies.items():
        counts = msgspec.structs.asdict(end.counts[op]) if op in end.counts else {}
        for name, count in asdict(tally).items():
            if counts.get(name, 0) != count:
                counted = f"the footer counts {counts.get(name, 0)} {name}"
                yield f"{op}: {counted}, the results show {count}."
        selected = run.selected(op)
        if counts.get("selected", 0) != selected:
            yield f"{op}: the footer and the header differ on how many vectors were selected."
        if not end.interrupted and tally.total != selected:
            yield f"{op}: {selected} vectors were selected, {tally.total} have a result."
    if end.precision_reached != run.score.reached:
        yield "The footer has another precision reached than the results show."


def _in_interpretations(run: RunLog, end: Footer) -> Iterator[str]:
    """Yield where what the footer has of interpretations is not in the results."""
    if end.by_reading != run.score.by_reading:
        yield "The footer counts other interpretations than the results show."
    answers = [(question, answer) for question in end.readings for answer in question.answers]
    named = {(question.op, answer.example) for question, answer in answers}
    shows = {
        (result.op, result.id, point)
        for result in run.results
        if (result.op, result.id) in named
        for point in result.shows
    }
    for question, answer in answers:
        if (question.op, answer.example, question.point) not in shows:
            yield f"{question.op}: {answer.example} does not show {question.point}."


def _in_verdict(run: RunLog, end: Footer, footer: Mapping[str, Any]) -> Iterator[str]:
    """Yield where the footer's verdict or exit code does not follow from its results."""
    parts = run.evidence.parts
    if any(part.killed > part.mutants or part.covered > part.targets for part in parts):
        yield "The footer counts more mutants killed or targets covered than there are."
    verdict = run_verdict(
        run.score,
        run.evidence,
        interrupted=end.interrupted,
        no_claim=run.no_claim,
    )
    if end.verdict != verdict:
        yield f"The footer calls {verdict.phrase.format(end.verdict)}."
    if end.exit_code == 0:
        yield from (f"The exit code is 0, but {why}." for why in run.objections(verdict))
    elif not end.interrupted:  # else it tells the signal
        code = exit_code(run.score, verdict, footer, strict=run.start.options.strict)
        if end.exit_code != code:
            yield f"The exit code is {end.exit_code}, and that of its results is {code}."


def _in_gate(run: RunLog, end: Footer, footer: Mapping[str, Any]) -> Iterator[str]:
    """Yield where the gate of the footer is not that of the header, or of the results."""
    for option, key in (("known_failures", "known_failures"), ("require", "required")):
        if (getattr(run.start.options, option) is None) != (key not in footer):
            yield f"The header and the footer differ on whether the run had {option}."
    sound = sum(r.known is not None and r.status not in FAILED for r in run.results)
    if sound:
        yield f"Marked as known failures: {number_of(sound, 'result')} that did not fail."
    marks = Counter(r.known for r in run.results if r.known is not None)
    entries = {entry.entry: entry for entry in end.known_failures}
    for name in marks.keys() - entries.keys():
        yield f"Results are marked with a known failure that the footer does not list: {name}."
    for name, entry in entries.items():
        if marks[name] != entry.failures:
            counted = f"the footer counts {number_of(entry.failures, 'failure')}"
            yield f"{name}: {counted}, {marks[name]:,} marked."
        if marks[name] and entry.expired:
            yield f"{name}: expired, and excuses failures."
