"""What a run went wrong in, for formats that show failures one by one: findings, and an alarm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.log.run_log import RunLog
from conformance.model import Finding, Result
from conformance.report.view import View
from conformance.report.wording import why


def alarm(shown: View) -> str | None:
    """What is wrong with the run as a whole, in a sentence; None where its vectors say it all.

    A run that was cut short, graded nothing or proves too little may have no vector that failed. A
    format that shows vectors or findings has to show this beside them, or it would look like a
    success.
    """
    if shown.tone not in ("bad", "weak"):
        return None
    run = shown.run
    footer: Mapping[str, Any] = run.footer or {}
    lacking = any(entry["problems"] for entry in footer.get("required", ()))
    told = any(result.new for result in run.results)
    if run.verdict == "not conformant" and told and not lacking:
        return None
    text = f"{shown.headline}: {shown.sentence}"
    return f"{text} (exit code {footer['exit_code']})" if footer.get("exit_code") else text


class Findings:
    """The findings of a run, beside the results that they are about."""

    def __init__(self, run: RunLog) -> None:
        self._results = {(result.op, result.id): result for result in run.results}
        self._of: Mapping[tuple[str, str], Finding] = {
            (finding.op, name): finding
            # The worst finding comes first, and is what a vector in two of them is told of.
            for finding in reversed(run.findings)
            for name in finding.ids
        }
        entries = (run.footer or {}).get("known_failures", ())
        self._why = {entry["entry"]: why(entry) for entry in entries}

    def of(self, result: Result) -> Finding | None:
        """The finding that a result belongs to, if any."""
        return self._of.get((result.op, result.id))

    def mild(self, finding: Finding) -> bool:
        """Whether it breaks only what a document recommends."""
        found = self._found(finding)
        return bool(found) and all(r.level == "should" or r.kind == "reading" for r in found)

    def why_known(self, about: Result | Finding) -> str | None:
        """Why a failure, or each in a finding, is known to the vendor; None for a new one."""
        if isinstance(about, Result):
            entry = about.known
            return None if entry is None else self._why.get(entry, entry)
        found = self._found(about)
        reasons = [self.why_known(result) for result in found]
        if len(found) < len(about.ids) or not reasons or None in reasons:
            return None
        return " / ".join(dict.fromkeys(str(reason) for reason in reasons))

    def _found(self, finding: Finding) -> list[Result]:
        found = (self._results.get((finding.op, name)) for name in finding.ids)
        return [result for result in found if result is not None]
