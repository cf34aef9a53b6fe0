"""Failures and run-level problems, for CI formats, and where in a repository they point."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.model import Finding, Result
from conformance.report.view import Tone, View
from conformance.report.wording import known_failure_text
from conformance.safe_text import visible
from conformance.verdict import Verdict


def run_problem(view: View) -> str | None:
    """Return what is wrong with the run itself; None if its vectors show everything.

    A run that was cut short, graded nothing or proves too little may have no vector that failed. A
    format that shows vectors or findings has to show this beside them, or it would look like a
    success.
    """
    if view.tone not in (Tone.BAD, Tone.WEAK):
        return None
    run = view.run
    lacks_support = any(entry.problems for entry in view.requirements)
    has_new_failures = any(result.new for result in run.results)
    if run.verdict is Verdict.NOT_CONFORMANT and has_new_failures and not lacks_support:
        return None
    text = f"{view.headline}: {view.full_sentence}"
    return f"{text} (exit code {run.end.exit_code})" if run.end and run.end.exit_code else text


class RunFailures:
    """The failures of a run, with the finding and the cause that each belongs to."""

    def __init__(self, run: RunLog) -> None:
        self._results = {(result.op, result.id): result for result in run.results}
        self._findings: Mapping[tuple[str, str], Finding] = {
            (finding.op, vector_id): finding
            # The worst finding comes first, and is the one that a vector of two of them belongs to.
            for finding in reversed(run.findings)
            for vector_id in finding.ids
        }
        self._causes = {vector: cause for cause in run.causes for vector in cause.vectors}
        entries = run.end.known_failures if run.end else ()
        self._reasons = {entry.entry: known_failure_text(entry) for entry in entries}

    def finding_of(self, result: Result) -> Finding | None:
        """Return the finding that a result belongs to, if any."""
        return self._findings.get((result.op, result.id))

    def cause_of(self, result: Result) -> Cause | None:
        """Return the cause that a result belongs to, if any."""
        return self._causes.get((result.op, result.id))

    def known_reason(self, failure: Result | Cause) -> str | None:
        """Return why a failure, or all of a cause, is tolerated; None if new."""
        if isinstance(failure, Result):
            entry = failure.known
            return None if entry is None else self._reasons.get(entry, entry)
        vectors = sorted(failure.vectors)
        results = [self._results[vector] for vector in vectors if vector in self._results]
        reasons = [self.known_reason(result) for result in results]
        if len(results) < len(vectors) or not reasons or None in reasons:
            return None
        return " / ".join(dict.fromkeys(map(str, reasons)))


def backend_file(run: RunLog) -> str | None:
    """Return the backend's file, relative to the folder of the check; None if outside it.

    A run log knows the backend as the user named it, and nothing of a repository. A relative
    ``path/to/file.py:object`` is taken to lie in one; a name, a module and an absolute path are
    not.
    """
    path, _, _ = run.start.backend.spec.rpartition(":")
    file = PurePosixPath(path.replace("\\", "/"))
    drive = len(path) > 1 and path[1] == ":"
    if file.suffix != ".py" or file.is_absolute() or drive or ".." in file.parts:
        return None
    return visible(str(file)).replace("\n", " ")
