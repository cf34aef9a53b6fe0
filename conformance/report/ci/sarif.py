"""A run as SARIF 2.1.0: one result per cause, within GitHub's limits."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from conformance.failure_kind import Severity
from conformance.log.causes import Cause
from conformance.log.diagnosis import diagnosis_text
from conformance.log.run_log import RunLog
from conformance.report.cause_view import CauseView
from conformance.report.ci.listed import ListedFailures, alarm, backend_file
from conformance.report.view import Tone, View, view
from conformance.report.wording import evidence
from conformance.safe_text import number_of, shortened, visible
from conformance.verdict import Verdict

FILE = "conformance.sarif"

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

MAX_RESULTS = 25_000
"""Results of a run; GitHub refuses a file with more, and shows the worst 5,000."""

MAX_COMPRESSED = 10_000_000
"""Bytes of a file that was compressed by gzip; GitHub refuses a larger one."""

MAX_TEXT = 1000
"""Characters of a text; GitHub allows 1,024 in the descriptions of a rule."""

MAX_NAME = 200
"""Characters of the id of a rule."""

MAX_LISTED = 10
"""Vectors, operators and edges of a cause that are listed."""

THE_RUN = "conformance/run"
"""The rule of what is wrong with the run as a whole."""

Json = dict[str, Any]


def render(run: RunLog) -> str:
    """The document, with as many causes as GitHub takes, worst first."""
    results = _results(run)
    kept = min(len(results), MAX_RESULTS)
    text = _document(run, results[:kept], len(results))
    while len(text) > MAX_COMPRESSED and len(gzip.compress(text.encode())) > MAX_COMPRESSED:
        kept //= 2
        text = _document(run, results[:kept], len(results))
    return text


def _document(run: RunLog, results: list[Json], total: int) -> str:
    shown = view(run)
    rules = {name: i for i, name in enumerate(dict.fromkeys(r["ruleId"] for r in results))}
    for result in results:
        result["ruleIndex"] = rules[result["ruleId"]]
    causes = {_name(one.id.removeprefix("known-")): one for one in run.causes}
    start = run.start
    names = (start.backend.name, start.suite.name)
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": _name(start.tool.name),
                        "version": _name(start.tool.version),
                        "rules": [_rule(name, causes) for name in rules],
                    }
                },
                "automationDetails": {"id": f"conformance/{'/'.join(map(_name, names))}/"},
                "invocations": [_invocation(shown, len(results), total)],
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _results(run: RunLog) -> list[Json]:
    """Every result, the worst first, each with a fingerprint of its own."""
    failures = ListedFailures(run)
    shown = view(run)
    trouble = alarm(shown)
    results = [] if trouble is None else [_run_result(run, trouble)]
    results += [_result(run, one, failures) for one in shown.causes]
    seen: Counter[str] = Counter()
    for result in results:
        identity = result["partialFingerprints"]["conformance/v1"]
        seen[identity] += 1
        # The one that GitHub looks at, of its shape: a hash, and which of those that have it.
        result["partialFingerprints"]["primaryLocationLineHash"] = (
            f"{identity[:16]}:{seen[identity]}"
        )
    return results


def _result(run: RunLog, one: CauseView, failures: ListedFailures) -> Json:
    cause, finding = one.cause, one.lead.finding
    lines = [
        f"{cause.headline}.",
        diagnosis_text(finding),
        f"Fixed in {', '.join(cause.fixed)}." if cause.fixed else "",
        f"Operators: {', '.join(cause.operators)}" if len(cause.operators) > 1 else "",
        f"Minimal reproducer: {finding.smallest}",
        *(f"{label}: {text}" for label, text in evidence(finding.witness, one.lead.off)),
        finding.message,
        f"Reproduce: {finding.reproduce}" if finding.reproduce else "",
    ]
    vectors = sorted(cause.vectors)
    result: Json = {
        "ruleId": _name(cause.id.removeprefix("known-")),
        "level": "warning" if cause.severity is Severity.MILD else "error",
        "message": {"text": _message("\n".join(line for line in lines if line))},
        "locations": [_location(run, finding.op)],
        "partialFingerprints": {"conformance/v1": digest(cause.id.removeprefix("known-"))},
        "properties": {
            "vectors": len(vectors),
            "ids": [_text(name) for _, name in vectors[:MAX_LISTED]],
            "operators": [_text(op) for op in cause.operators[:MAX_LISTED]],
            "edges": [_text(edge) for edge in finding.edges[:MAX_LISTED]],
        },
    }
    reason = failures.why_known(cause)
    if reason is not None:
        # Without a status it is accepted; drafts and the standard spell that differently.
        result["suppressions"] = [{"kind": "external", "justification": _text(reason)}]
    return result


def _run_result(run: RunLog, trouble: str) -> Json:
    return {
        "ruleId": THE_RUN,
        "level": "error",
        "message": {"text": _message(trouble)},
        "locations": [_location(run, "run")],
        "partialFingerprints": {"conformance/v1": digest("run")},
    }


def _rule(rule_id: str, causes: Mapping[str, Cause]) -> Json:
    """A cause as a rule: it is the same in every run, however many vectors show it."""
    what = "Something is wrong with the run itself, and its results do not count."
    if rule_id in causes:
        what = f"{_name(causes[rule_id].title)}."
    return {
        "id": rule_id,
        "shortDescription": {"text": _message(what)},
        "fullDescription": {"text": _message(what)},
        "help": {
            "text": "Each result is one cause, with a minimal reproducer. "
            "Its command runs it again. 'conformance show' with the id of a vector shows how "
            "the expected values are computed."
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {"precision": "very-high", "tags": ["conformance"]},
    }


def digest(*parts: str) -> str:
    """SHA-256 of some texts, in hexadecimal."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _location(run: RunLog, op: str) -> Json:
    """The backend's file, else a path that stands for the operator: GitHub wants a location."""
    path = backend_file(run) or f"conformance/{_name(op)}"
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(path)},
            "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2},
        },
        "logicalLocations": [{"name": _name(op), "kind": "function"}],
    }


def _invocation(shown: View, kept: int, total: int) -> Json:
    run = shown.run
    sound = run.complete and run.verdict is not Verdict.NOTHING_GRADED
    notes = []
    if shown.tone in (Tone.BAD, Tone.WEAK):
        notes.append(("error", f"{shown.headline}. {shown.advised}"))
    if kept < total:
        notes.append(
            ("warning", f"{number_of(total - kept, 'result')} left out; the run log has all.")
        )
    invocation: Json = {
        "executionSuccessful": sound,
        "startTimeUtc": _utc(run.start.started),
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": _message(text)}} for level, text in notes
        ],
    }
    if run.end is not None:
        invocation["exitCode"] = run.end.exit_code
        invocation["endTimeUtc"] = _utc(run.end.finished)
    return {key: value for key, value in invocation.items() if value is not None}


def _utc(timestamp: str) -> str | None:
    try:
        moment = datetime.fromisoformat(timestamp).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _message(text: str) -> str:
    """A message as SARIF spells it: braces are doubled, and no text turns into a link."""
    text = _text(text).replace("](", "] (")
    return text.replace("{", "{{").replace("}", "}}")


def _text(text: str) -> str:
    return shortened(visible(text), MAX_TEXT) or "-"


def _name(text: str) -> str:
    return shortened(visible(" ".join(text.split())), MAX_NAME) or "-"
