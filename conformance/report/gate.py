"""What a gate in CI has to know of a run: whether it is green, and what no single vector says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.log.run_log import RunLog
from conformance.model import Finding, Result, Status
from conformance.report.view import View

FAILED = (Status.FAIL, Status.ERROR)


def green(shown: View) -> bool:
    """Whether a gate may let this run pass: conformant, and the check itself said so too."""
    footer = shown.run.footer
    return shown.good and footer is not None and footer["exit_code"] == 0


def alarm(shown: View) -> str | None:
    """What is wrong with the run as a whole, in a sentence; None where its vectors say it all.

    A run that was cut short, or graded nothing, may have no vector that failed. A format that
    shows vectors or findings has to show this beside them, or it would look like a success.
    """
    if green(shown):
        return None
    if shown.good:
        code = _footer(shown.run)["exit_code"]
        return f"The check ended with exit code {code}, though its vectors passed."
    told = any(failing(result) for result in shown.run.results)
    if shown.verdict == "not conformant" and told:
        return None
    return f"{shown.headline}: {shown.sentence}"


def known(result: Result) -> str | None:
    """Why a failure is known, where the vendor has listed it; None elsewhere."""
    return getattr(result, "known", None)


def failing(result: Result) -> bool:
    """Whether a vector failed or ended in an error, and that is not known."""
    return result.status in FAILED and known(result) is None


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

    def of(self, result: Result) -> Finding | None:
        """The finding that a result belongs to, if any."""
        return self._of.get((result.op, result.id))

    def results(self, finding: Finding) -> list[Result]:
        """The results of a finding that the log has."""
        found = (self._results.get((finding.op, name)) for name in finding.ids)
        return [result for result in found if result is not None]

    def mild(self, finding: Finding) -> bool:
        """Whether it breaks only what a document recommends."""
        results = self.results(finding)
        return bool(results) and all(r.level == "should" or r.kind == "reading" for r in results)

    def known(self, finding: Finding) -> str | None:
        """Why every result of a finding is known; None where one is new."""
        reasons = [known(result) for result in self.results(finding)]
        if len(reasons) < len(finding.ids) or not reasons or None in reasons:
            return None
        return "; ".join(dict.fromkeys(str(reason) for reason in reasons))


def _footer(run: RunLog) -> Mapping[str, Any]:
    assert run.footer is not None
    return run.footer
