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
from conformance.report.ci.failures import RunFailures, backend_file, run_problem
from conformance.report.view import Tone, View, run_view
from conformance.report.wording import worst_element_rows
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
    """Return the document, with as many causes as GitHub takes, worst first."""
    results = _results(run)
    limit = min(len(results), MAX_RESULTS)
    text = _document(run, results[:limit], len(results))
    while len(text) > MAX_COMPRESSED and len(gzip.compress(text.encode())) > MAX_COMPRESSED:
        limit //= 2
        text = _document(run, results[:limit], len(results))
    return text


def _document(run: RunLog, results: list[Json], total: int) -> str:
    view = run_view(run)
    rules = {name: i for i, name in enumerate(dict.fromkeys(r["ruleId"] for r in results))}
    for result in results:
        result["ruleIndex"] = rules[result["ruleId"]]
    causes = {_name(cause.id.removeprefix("known-")): cause for cause in run.causes}
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
                "invocations": [_invocation(view, len(results), total)],
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _results(run: RunLog) -> list[Json]:
    """Return every result, the worst first, each with a unique fingerprint."""
    failures = RunFailures(run)
    view = run_view(run)
    problem = run_problem(view)
    results = [] if problem is None else [_run_result(run, problem)]
    results += [_result(run, cause_view, failures) for cause_view in view.causes]
    counts: Counter[str] = Counter()
    for result in results:
        identity = result["partialFingerprints"]["conformance/v1"]
        counts[identity] += 1
        # GitHub compares this fingerprint: a hash, and a number among the results that share it.
        result["partialFingerprints"]["primaryLocationLineHash"] = (
            f"{identity[:16]}:{counts[identity]}"
        )
    return results


def _result(run: RunLog, cause_view: CauseView, failures: RunFailures) -> Json:
    cause, lead = cause_view.cause, cause_view.lead
    finding = lead.finding
    lines = [
        f"{cause.headline}.",
        diagnosis_text(finding),
        f"Fixed in {', '.join(cause.fixed)}." if cause.fixed else "",
        f"Operators: {', '.join(cause.operators)}" if len(cause.operators) > 1 else "",
        f"Minimal reproducer: {finding.smallest}",
        *(f"{label}: {text}" for label, text in worst_element_rows(finding.witness, lead.error)),
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
    reason = failures.known_reason(cause)
    if reason is not None:
        # Without a status it is accepted; drafts and the standard spell that differently.
        result["suppressions"] = [{"kind": "external", "justification": _text(reason)}]
    return result


def _run_result(run: RunLog, problem: str) -> Json:
    return {
        "ruleId": THE_RUN,
        "level": "error",
        "message": {"text": _message(problem)},
        "locations": [_location(run, "run")],
        "partialFingerprints": {"conformance/v1": digest("run")},
    }


def _rule(rule_id: str, causes: Mapping[str, Cause]) -> Json:
    """Return a cause as a rule: it is the same in every run, however many vectors fail."""
    description = "Something is wrong with the run itself, and its results do not count."
    if rule_id in causes:
        description = f"{_name(causes[rule_id].title)}."
    return {
        "id": rule_id,
        "shortDescription": {"text": _message(description)},
        "fullDescription": {"text": _message(description)},
        "help": {
            "text": "Each result is one cause, with a minimal reproducer. "
            "Its command runs it again. 'conformance show' with the id of a vector shows how "
            "the expected values are computed."
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {"precision": "very-high", "tags": ["conformance"]},
    }


def digest(*parts: str) -> str:
    """Return the SHA-256 digest of texts, in hexadecimal."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _location(run: RunLog, op: str) -> Json:
    """Return the backend's file, else a path for the operator: GitHub wants a location."""
    path = backend_file(run) or f"conformance/{_name(op)}"
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(path)},
            "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2},
        },
        "logicalLocations": [{"name": _name(op), "kind": "function"}],
    }


def _invocation(view: View, result_count: int, total: int) -> Json:
    run = view.run
    successful = run.complete and run.verdict is not Verdict.NOTHING_GRADED
    notes = []
    if view.tone in (Tone.BAD, Tone.WEAK):
        notes.append(("error", f"{view.headline}. {view.full_sentence}"))
    if result_count < total:
        notes.append(
            (
                "warning",
                f"{number_of(total - result_count, 'result')} left out; the run log has all.",
            )
        )
    invocation: Json = {
        "executionSuccessful": successful,
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
    """Return a message as SARIF spells it: braces doubled, and nothing that becomes a link."""
    text = _text(text).replace("](", "] (")
    return text.replace("{", "{{").replace("}", "}}")


def _text(text: str) -> str:
    return shortened(visible(text), MAX_TEXT) or "-"


def _name(text: str) -> str:
    return shortened(visible(" ".join(text.split())), MAX_NAME) or "-"
