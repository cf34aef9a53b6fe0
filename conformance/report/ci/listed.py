"""Failures and run-level problems, for CI formats, and where in a repository they point."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from conformance.log.causes import Cause
from conformance.log.run_log import RunLog
from conformance.model import Finding, Result
from conformance.report.view import Tone, View
from conformance.report.wording import why
from conformance.safe_text import visible
from conformance.verdict import Verdict


def alarm(shown: View) -> str | None:
    """What is wrong with the run as a whole, in a sentence; None where its vectors say it all.

    A run that was cut short, graded nothing or proves too little may have no vector that failed. A
    format that shows vectors or findings has to show this beside them, or it would look like a
    success.
    """
    if shown.tone not in (Tone.BAD, Tone.WEAK):
        return None
    run = shown.run
    lacking = any(entry.problems for entry in shown.required)
    told = any(result.new for result in run.results)
    if run.verdict is Verdict.NOT_CONFORMANT and told and not lacking:
        return None
    text = f"{shown.headline}: {shown.advised}"
    return f"{text} (exit code {run.end.exit_code})" if run.end and run.end.exit_code else text


class ListedFailures:
    """The failures of a run, with the finding and the cause that each belongs to."""

    def __init__(self, run: RunLog) -> None:
        self._results = {(result.op, result.id): result for result in run.results}
        self._of: Mapping[tuple[str, str], Finding] = {
            (finding.op, name): finding
            # The worst finding comes first, and is what a vector in two of them is told of.
            for finding in reversed(run.findings)
            for name in finding.ids
        }
        self._cause_of = {at: cause for cause in run.causes for at in cause.vectors}
        entries = run.end.known_failures if run.end else ()
        self._why = {entry.entry: why(entry) for entry in entries}

    def of(self, result: Result) -> Finding | None:
        """The finding that a result belongs to, if any."""
        return self._of.get((result.op, result.id))

    def cause_of(self, result: Result) -> Cause | None:
        """The cause that a result belongs to, if any."""
        return self._cause_of.get((result.op, result.id))

    def why_known(self, about: Result | Cause) -> str | None:
        """Why a failure, or each of a cause, is known to the vendor; None for a new one."""
        if isinstance(about, Result):
            entry = about.known
            return None if entry is None else self._why.get(entry, entry)
        found = [self._results[at] for at in sorted(about.vectors) if at in self._results]
        reasons = [self.why_known(result) for result in found]
        if len(found) < len(about.vectors) or not reasons or None in reasons:
            return None
        return " / ".join(dict.fromkeys(map(str, reasons)))


def backend_file(run: RunLog) -> str | None:
    """The backend's file, relative to where the check ran; None where it is not a file there.

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
