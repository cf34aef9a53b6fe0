"""Sentences of the verdict on the strength of the evidence."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from conformance.evidence import Evidence

UNTOLD = "the suite does not say which mutants can show"
"""Why strength is unknown where completing the suite tells it."""

STANDARD = "standard"
"""The precision at which it is known what vectors kill."""

MOST_REASONS = 2


def completing(backend: str) -> str:
    """The command that tests all that a backend declares; ``backend`` is as it was named."""
    named = shlex.quote(backend) if backend else "BACKEND"
    return f"conformance check --backend {named} --complete --report its-report"


def sentences(evidence: Evidence, precision: Mapping[str, str], command: str) -> Iterator[str]:
    """How strong the weakest part is, what is not known, and the command that helps, if any."""
    weakest, short, unknown = evidence.weakest, evidence.short, evidence.unknown
    if weakest is not None:
        asked = f"; {evidence.bar:g} % are required" if short else ""
        more = (
            f"; {len(short)} of {len(evidence.parts)} parts have too few" if len(short) > 1 else ""
        )
        yield (
            f"Weakest evidence: {weakest.op} in {weakest.part}, {weakest.killed} of "
            f"{weakest.mutants} mutants killed ({weakest.share}{_at(precision)}){asked}{more}."
        )
    if unknown:
        where = f" in {len(unknown)} of {len(evidence.parts)} parts" if weakest else ""
        reasons = list(dict.fromkeys(one.why for one in unknown))
        more = "; and other reasons" if len(reasons) > MOST_REASONS else ""
        yield f"Strength unknown{where}: {'; '.join(reasons[:MOST_REASONS])}{more}."
    # Where few mutants can show, no vector helps.
    if command and (short or any(one.why.startswith(UNTOLD) for one in unknown)):
        yield f"To add the missing vectors: {command}"


def claimed(evidence: Evidence, precision: Mapping[str, str]) -> str:
    """The strength of a run in its claim."""
    return f"{evidence.headline}{_at(precision) if evidence.weakest else ''}"


def _at(precision: Mapping[str, str]) -> str:
    """What has to be said of a share that was measured at another precision."""
    return "" if set(precision.values()) <= {STANDARD} else ", measured at standard"
