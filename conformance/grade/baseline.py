"""Writes a file of known failures from the failures of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from conformance.errors import UsageError
from conformance.exception_text import without_numbers
from conformance.failure_kind import facts_of
from conformance.grade.findings import normalised
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
    whole: bool,
) -> str:
    """The YAML text of known failures that name every failure of a run, and nothing else.

    A finding that is what mutants give becomes one entry that names these. Others become entries of
    what is wrong in each vector, or of what the backend says: by what the finding's title names (an
    edge, a type or a must-reject condition) where exactly its vectors have that, otherwise by their
    ids; so does a run that was not ``whole``, whose other vectors might have it too.

    ``reason`` is what each entry says; where it is None, what the finding comes from, or
    ``otherwise`` where nobody knows. Entries whose failures were known already keep the reason,
    link and expiry of ``earlier``, which holds entries by the name that results are marked with.

    Raises UsageError for more failures than such a file can hold.
    """
    failed = {(r.op, r.id): r for r in results if r.status in FAILED}
    entries = []
    for finding in findings:
        # A log is read from a file: what its findings name need not have failed.
        told = [failed[key] for key in ((finding.op, i) for i in finding.ids) if key in failed]
        cause = _sentence(finding) or otherwise
        for known in sorted({r.known or "" for r in told}):
            alike = [r for r in told if (r.known or "") == known]
            why = _why(earlier.get(known), reason or cause)
            for named in _named(finding, alike, results, whole=whole):
                entries.append((finding, {"op": finding.op, **named, **why}))
    entries.sort(key=lambda pair: (pair[0].op, pair[1].get("kind", ""), _dump(pair[1])))
    listed = "\n".join(_comments(finding) + _dump(entry) for finding, entry in entries)
    text = f"{HEAD}\nformat: 1\nknown:\n{listed}" if entries else f"{HEAD}\nformat: 1\nknown: []\n"
    if len(text.encode()) > MAX_BYTES:
        raise UsageError(
            f"the known failures take more than {MAX_BYTES:,} bytes",
            hint="known failures are for a backend that mostly works; fix the largest finding, "
            "or check one operator at a time with --op",
        )
    return text


def _named(
    finding: Finding, failures: Sequence[Result], results: Sequence[Result], *, whole: bool
) -> Iterator[dict[str, Any]]:
    """What names the failures of a finding, an entry at a time."""
    mutants = _mutants(finding)
    excused = {r.kind for r in failures if mutants and facts_of(r.kind).excused_by_default}
    given = [r for r in failures if r.returned is not None and r.kind in excused]
    if given:
        yield {"mutants": mutants}
    others = [r for r in failures if r not in given]
    for kind in sorted({r.kind for r in others}):
        of_kind = [r for r in others if r.kind == kind]
        compared = {r.id: r.wrong for r in sorted(of_kind, key=lambda r: r.id) if r.wrong}
        if compared:
            yield {"wrong": compared, "kind": kind}
        rest = [r for r in of_kind if not r.wrong]
        for message in sorted({_message(r) for r in rest}):
            alike = [r for r in rest if _message(r) == message]
            narrowing = _narrowing(finding, alike, results) if whole else None
            ids = {"vectors": sorted(r.id for r in alike)}
            says = {"message": message} if message else {}
            yield {**(narrowing or ids), **says, "kind": kind}


def _mutants(finding: Finding) -> list[str]:
    """The ids of the mutants that a finding was diagnosed as; a log may say anything."""
    faults = (finding.diagnosis or {}).get("faults")
    if not isinstance(faults, list | tuple):
        return []
    ids = [one.get("id") if isinstance(one, Mapping) else None for one in faults]
    named = [one for one in ids if isinstance(one, str) and one]
    return named if len(named) == len(ids) else []


def _sentence(finding: Finding) -> str:
    """What a finding comes from, on one line that can be seen; empty where nobody knows.

    How to find out more is left out.
    """
    said = (finding.diagnosis or {}).get("sentence")
    line = " ".join(said.split()) if isinstance(said, str) else ""
    return printable(line)


def _message(failure: Result) -> str:
    """What distinguishes an exception or a crash; empty where the words are our own."""
    return "" if facts_of(failure.kind).message_is_ours else without_numbers(failure.message)


def _narrowing(
    finding: Finding, failures: Sequence[Result], results: Sequence[Result]
) -> dict[str, Any] | None:
    """What all of some failures have, and no other vector that passes or fails in their way."""
    first = failures[0]
    wanted = {failure.id for failure in failures}
    of_op = [result for result in results if result.op == finding.op]
    asked = [result for result in of_op if result.reject is None] or of_op
    for narrowing in _candidates(finding, first):
        selector = Selector(
            place="",
            op=finding.op,
            edges=tuple(narrowing.get("edges", ())),
            dtypes=tuple(narrowing.get("dtypes", ())),
            reject=narrowing.get("reject"),
        )
        listed = [result for result in of_op if selector.lists(result)]
        met = {r.id for r in listed if r.status is Status.PASS or _alike(r, first)}
        # One that lists every vector of an operator would be refused.
        if met == wanted and not all(map(selector.lists, asked)):
            return narrowing
    return None


def _alike(result: Result, failure: Result) -> bool:
    """Whether a vector fails as another does."""
    same = result.kind == failure.kind and _message(result) == _message(failure)
    return result.status in FAILED and same


def _candidates(finding: Finding, first: Result) -> Iterator[dict[str, Any]]:
    """What tells a finding apart by its title, and says of it more than chance would."""
    named = finding.title.partition(": ")[0]
    if named == first.reject:
        yield {"reject": named}
    if named in first.edges:
        yield {"edges": [named]}
    if named == first.dtype:
        yield {"dtypes": [named]}


def _why(known: Mapping[str, Any] | None, reason: str) -> dict[str, Any]:
    if known is None:
        return {"reason": reason}
    kept = {key: known[key] for key in ("link", "expires") if known[key] is not None}
    return {"reason": known["reason"], **kept}


def _dump(entry: Mapping[str, Any]) -> str:
    """An entry as an item of the list; YAML quotes what needs it."""
    text = yaml.safe_dump([dict(entry)], sort_keys=False, allow_unicode=True, width=96)
    return "".join(f"  {line}\n" for line in text.splitlines())


def _comments(finding: Finding) -> str:
    """What a finding says of itself: its title, and the message where it has no wrong element."""
    said = [finding.title] if finding.witness else [finding.title, normalised(finding.message)]
    return "".join(f"  # {_comment(text)}\n" for text in said if text)


def _comment(text: str) -> str:
    """Text on one line of bounded length, without what YAML does not allow in a comment."""
    line = " ".join(text.split())
    short = line if len(line) <= MAX_COMMENT else line[: MAX_COMMENT - 3] + "..."
    return "".join(c if c.isprintable() and c.isascii() else "?" for c in short)
