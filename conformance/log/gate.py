"""Checks that a log is consistent in its known failures, requirements and exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.model import FAILED, Result, Status


def gate_contradictions(
    header: Mapping[str, Any], footer: Mapping[str, Any], results: Sequence[Result]
) -> Iterator[str]:
    """Sentences that say where a log contradicts itself about its gate."""
    for option, key in (("known_failures", "known_failures"), ("require", "required")):
        if (header["options"].get(option) is None) != (key not in footer):
            yield f"The header and the footer differ on whether the run had {option}."
    sound = sum(r.known is not None and r.status not in FAILED for r in results)
    if sound:
        yield f"{sound} results that did not fail are marked as known failures."
    marks = Counter(r.known for r in results if r.known is not None)
    said = {entry["entry"]: entry for entry in footer.get("known_failures", ())}
    for name in marks.keys() - said.keys():
        yield f"Results are marked with a known failure that the footer does not list: {name}."
    for name, entry in said.items():
        if marks[name] != entry["failures"]:
            said_of_it = f"the footer counts {entry['failures']} failures"
            yield f"{name}: {said_of_it}, {marks[name]} results are marked."
        if marks[name] and entry["expired"]:
            yield f"{name}: expired, and excuses failures."
    if footer["exit_code"] == 0:
        yield from (f"The exit code is 0, but {why}." for why in _why_not(header, footer, results))


def _why_not(
    header: Mapping[str, Any], footer: Mapping[str, Any], results: Sequence[Result]
) -> Iterator[str]:
    """What speaks against the exit code 0."""
    if footer["interrupted"]:
        yield "the run was interrupted"
    if footer["verdict"] == "inconclusive":
        yield "the run is inconclusive"
    new = sum(r.new for r in results)
    if new:
        yield f"{new} failures are not known ones"
    if not any(r.status is Status.PASS and r.reject is None for r in results):
        yield "no vector with values passed"
    if any(entry["problems"] or entry["unsupported"] for entry in footer.get("required", ())):
        yield "something that is required is not supported"
    out_of_date = any(entry["problems"] for entry in footer.get("known_failures", ()))
    if header["options"].get("strict") and out_of_date:
        yield "known failures are out of date, which strict does not allow"
