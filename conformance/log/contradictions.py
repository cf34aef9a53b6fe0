"""Computes the footer of a log again from its results, and says where the two differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from conformance.log.run_log import RunLog
from conformance.model import FAILED, Result
from conformance.safe_text import number_of
from conformance.verdict import exit_code, run_verdict


def contradictions(run: RunLog) -> Iterator[str]:
    """Sentences that say where a log contradicts itself."""
    repeated = _repeated(run.results)
    if repeated:
        yield f"{number_of(repeated, 'result')} repeating a vector."
    if run.footer is None:
        return
    yield from _of_counts(run, run.footer)
    yield from _of_readings(run, run.footer)
    yield from _of_verdict(run, run.footer)
    yield from _of_gate(run, run.footer)


def _repeated(results: Sequence[Result]) -> int:
    """How many results are of a vector that another is of."""
    # Numbers take a tenth of the memory of the names; only names decide.
    numbers = np.fromiter((hash((one.op, one.id)) for one in results), np.int64, len(results))
    found, times = np.unique(numbers, return_counts=True)
    twice = {*found[times > 1].tolist()}
    names = [at for one in results if hash(at := (one.op, one.id)) in twice] if twice else []
    return len(names) - len({*names})


def _of_counts(run: RunLog, footer: Mapping[str, Any]) -> Iterator[str]:
    """Where the footer counts otherwise than its results, or the header."""
    for op, shown in run.tallies.items():
        said = footer["counts"].get(op, {})
        for name, count in asdict(shown).items():
            if said.get(name, 0) != count:
                counted = f"the footer counts {said.get(name, 0)} {name}"
                yield f"{op}: {counted}, the results show {count}."
        selected = run.selected(op)
        if said.get("selected", 0) != selected:
            yield f"{op}: the footer and the header differ on how many vectors were selected."
        if not footer["interrupted"] and shown.total != selected:
            yield f"{op}: {selected} vectors were selected, {shown.total} have a result."
    if footer["precision_reached"] != run.score.reached:
        yield "The footer has another precision reached than the results show."


def _of_readings(run: RunLog, footer: Mapping[str, Any]) -> Iterator[str]:
    """Where what the footer says of interpretations is not in the results."""
    if footer["by_reading"] != run.score.by_reading:
        yield "The footer counts other interpretations than the results show."
    named = {(one["op"], answer["example"]) for one in run.readings for answer in one["answers"]}
    shows = {
        (result.op, result.id, point)
        for result in run.results
        if (result.op, result.id) in named
        for point in result.shows
    }
    for reading in run.readings:
        for answer in reading["answers"]:
            if (reading["op"], answer["example"], reading["point"]) not in shows:
                yield f"{reading['op']}: {answer['example']} does not show {reading['point']}."


def _of_verdict(run: RunLog, footer: Mapping[str, Any]) -> Iterator[str]:
    """Where the footer's verdict or exit code is not what follows from its results."""
    parts = run.evidence.parts
    if any(part.killed > part.mutants or part.covered > part.targets for part in parts):
        yield "The footer counts more mutants killed or targets covered than there are."
    verdict = run_verdict(
        run.score,
        run.evidence,
        interrupted=footer["interrupted"],
        no_claim=run.no_claim,
    )
    if footer["verdict"] != verdict:
        yield f"The footer calls {verdict.phrase.format(footer['verdict'])}."
    why = list(run.objections(verdict))
    if footer["exit_code"] == 0:
        yield from (f"The exit code is 0, but {one}." for one in why)
    elif not footer["interrupted"]:  # else it tells the signal
        strict = bool(run.header["options"].get("strict"))
        code = exit_code(run.score, verdict, footer, strict=strict)
        if footer["exit_code"] != code:
            yield f"The exit code is {footer['exit_code']}, and that of its results is {code}."


def _of_gate(run: RunLog, footer: Mapping[str, Any]) -> Iterator[str]:
    """Where the gate of the footer is not that of the header, or of the results."""
    for option, key in (("known_failures", "known_failures"), ("require", "required")):
        if (run.header["options"].get(option) is None) != (key not in footer):
            yield f"The header and the footer differ on whether the run had {option}."
    sound = sum(r.known is not None and r.status not in FAILED for r in run.results)
    if sound:
        yield f"Marked as known failures: {number_of(sound, 'result')} that did not fail."
    marks = Counter(r.known for r in run.results if r.known is not None)
    said = {entry["entry"]: entry for entry in footer.get("known_failures", ())}
    for name in marks.keys() - said.keys():
        yield f"Results are marked with a known failure that the footer does not list: {name}."
    for name, entry in said.items():
        if marks[name] != entry["failures"]:
            said_of_it = f"the footer counts {number_of(entry['failures'], 'failure')}"
            yield f"{name}: {said_of_it}, {marks[name]:,} marked."
        if marks[name] and entry["expired"]:
            yield f"{name}: expired, and excuses failures."
