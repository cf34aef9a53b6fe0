"""Writes a file of known failures from the failures of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from conformance.errors import UsageError
from conformance.exception_text import without_numbers
from conformance.failure_kind import facts_of
from conformance.grade.findings import normalise_message
from conformance.grade.selector import Selector
from conformance.model import FAILED, Finding, Result, Status
from conformance.safe_text import printable
from conformance.spec.yaml_reader import MAX_BYTES

HEAD = """\
# Known failures of a backend: conformance check --known-failures THIS_FILE
#
# Each entry names failures that are tolerated, and says why. Say it in your own words, add a
# link to the issue, and a day on which it expires (expires: 2027-03-31). docs/ci.md explains more.
"""

MAX_COMMENT = 110
"""Characters of a comment at most."""


def baseline(
    results: Sequence[Result],
    findings: Iterable[Finding],
    *,
    reason: str | None,
    otherwise: str,
    earlier: Mapping[str, Mapping[str, Any]],
    is_complete: bool,
) -> str:
    """Write the YAML text of known failures that name every failure of a run.

    A finding that is what mutants give becomes one entry that names these. Others become entries of
    what is wrong in each vector, or of what the backend reports: by what the finding's title names
    (a target, a type or a condition of a negative test) if exactly its vectors have that, otherwise
    by their ids.

    Args:
        reason: the reason of each entry; None means the diagnosis of its finding.
        otherwise: the reason of findings without a diagnosis.
        earlier: entries by the name that results are marked with. Failures that were known already
            keep the reason, link and expiry of theirs.
        is_complete: True if the run tested all of its suite. If not, vectors that it left out might
            have a finding's feature too, so ids are listed.

    Raises:
        UsageError: there are more failures than such a file can hold.
    """
    failed = {(r.op, r.id): r for r in results if r.status in FAILED}
    entries = []
    for finding in findings:
        # A log is read from a file: what its findings name need not have failed.
        failures = [failed[key] for key in ((finding.op, i) for i in finding.ids) if key in failed]
        cause = _sentence(finding) or otherwise
        for entry_name in sorted({r.known or "" for r in failures}):
            marked_alike = [r for r in failures if (r.known or "") == entry_name]
            reason_facts = _reason(earlier.get(entry_name), reason or cause)
            for selection in _selections(finding, marked_alike, results, is_complete=is_complete):
                entries.append((finding, {"op": finding.op, **selection, **reason_facts}))
    entries.sort(key=lambda pair: (pair[0].op, pair[1].get("kind", ""), _dump(pair[1])))
    list_text = "\n".join(_comments(finding) + _dump(entry) for finding, entry in entries)
    text = (
        f"{HEAD}\nformat: 1\nknown:\n{list_text}" if entries else f"{HEAD}\nformat: 1\nknown: []\n"
    )
    if len(text.encode()) > MAX_BYTES:
        raise UsageError(
            f"the known failures take more than {MAX_BYTES:,} bytes",
            hint="known failures are for a backend that mostly works; fix the largest finding, "
            "or check one operator at a time with --op",
        )
    return text


def _selections(
    finding: Finding, failures: Sequence[Result], results: Sequence[Result], *, is_complete: bool
) -> Iterator[dict[str, Any]]:
    """What names the failures of a finding, an entry at a time."""
    mutants = _mutants(finding)
    excused = {r.kind for r in failures if mutants and facts_of(r.kind).excused_by_default}
    explained = [r for r in failures if r.returned is not None and r.kind in excused]
    if explained:
        yield {"mutants": mutants}
    remaining = [r for r in failures if r not in explained]
    for kind in sorted({r.kind for r in remaining}):
        of_kind = [r for r in remaining if r.kind == kind]
        compared = {r.id: r.wrong for r in sorted(of_kind, key=lambda r: r.id) if r.wrong}
        if compared:
            yield {"wrong": compared, "kind": kind}
        unequal = [r for r in of_kind if not r.wrong]
        for message in sorted({_message(r) for r in unequal}):
            message_failures = [r for r in unequal if _message(r) == message]
            narrowing = _shared_feature(finding, message_failures, results) if is_complete else None
            ids = {"vectors": sorted(r.id for r in message_failures)}
            message_fact = {"message": message} if message else {}
            yield {**(narrowing or ids), **message_fact, "kind": kind}


def _mutants(finding: Finding) -> list[str]:
    """The ids of the mutants that a finding was diagnosed as; a log may say anything."""
    faults = (finding.diagnosis or {}).get("faults")
    if not isinstance(faults, list | tuple):
        return []
    ids = [mutant.get("id") if isinstance(mutant, Mapping) else None for mutant in faults]
    names = [mutant for mutant in ids if isinstance(mutant, str) and mutant]
    return names if len(names) == len(ids) else []


def _sentence(finding: Finding) -> str:
    """What a finding comes from, on one line that can be seen; empty where nobody knows.

    How to find out more is left out.
    """
    sentence = (finding.diagnosis or {}).get("sentence")
    line = " ".join(sentence.split()) if isinstance(sentence, str) else ""
    return printable(line)


def _message(failure: Result) -> str:
    """What distinguishes an exception or a crash; empty where the words are our own."""
    return "" if facts_of(failure.kind).message_is_ours else without_numbers(failure.message)


def _shared_feature(
    finding: Finding, failures: Sequence[Result], results: Sequence[Result]
) -> dict[str, Any] | None:
    """What all of some failures have, and no other vector that passes or fails in their way."""
    first = failures[0]
    failure_ids = {failure.id for failure in failures}
    of_op = [result for result in results if result.op == finding.op]
    population = [result for result in of_op if result.reject is None] or of_op
    for feature in _features(finding, first):
        selector = Selector(
            location="",
            op=finding.op,
            edges=tuple(feature.get("edges", ())),
            dtypes=tuple(feature.get("dtypes", ())),
            reject=feature.get("reject"),
        )
        selected = [result for result in of_op if selector.matches_entry(result)]
        met_ids = {r.id for r in selected if r.status is Status.PASS or _fails_alike(r, first)}
        # One that lists every vector of an operator would be refused.
        if met_ids == failure_ids and not all(map(selector.matches_entry, population)):
            return feature
    return None


def _fails_alike(result: Result, failure: Result) -> bool:
    """Whether a vector fails as another does."""
    same = result.kind == failure.kind and _message(result) == _message(failure)
    return result.status in FAILED and same


def _features(finding: Finding, first: Result) -> Iterator[dict[str, Any]]:
    """What tells a finding apart by its title, and says of it more than chance would."""
    feature = finding.title.partition(": ")[0]
    if feature == first.reject:
        yield {"reject": feature}
    if feature in first.edges:
        yield {"edges": [feature]}
    if feature == first.dtype:
        yield {"dtypes": [feature]}


def _reason(entry: Mapping[str, Any] | None, reason: str) -> dict[str, Any]:
    if entry is None:
        return {"reason": reason}
    facts = {key: entry[key] for key in ("link", "expires") if entry[key] is not None}
    return {"reason": entry["reason"], **facts}


def _dump(entry: Mapping[str, Any]) -> str:
    """An entry as an item of the list; YAML quotes what needs it."""
    text = yaml.safe_dump([dict(entry)], sort_keys=False, allow_unicode=True, width=96)
    return "".join(f"  {line}\n" for line in text.splitlines())


def _comments(finding: Finding) -> str:
    """What a finding says of itself: its title, and the message where it has no wrong element."""
    texts = (
        [finding.title] if finding.witness else [finding.title, normalise_message(finding.message)]
    )
    return "".join(f"  # {_comment(text)}\n" for text in texts if text)


def _comment(text: str) -> str:
    """Text on one line of bounded length, without what YAML does not allow in a comment."""
    line = " ".join(text.split())
    short = line if len(line) <= MAX_COMMENT else line[: MAX_COMMENT - 3] + "..."
    return "".join(c if c.isprintable() and c.isascii() else "?" for c in short)
