"""What a verdict says of the strength of its evidence, and what to do where it is too weak."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from conformance.evidence import Evidence

STANDARD = "standard"
"""The precision at which it is known what vectors kill."""

MOST_REASONS = 2


def completing(backend: str) -> str:
    """The command that makes a suite of all that a backend declares; ``backend`` is as it was
    named."""
    named = shlex.quote(backend) if backend else "BACKEND"
    return f"conformance generate --for {named} --out its-suite"


def sentences(evidence: Evidence, precision: Mapping[str, str], backend: str) -> Iterator[str]:
    """How strong the weakest part is, what is not known, and the command that helps."""
    weakest, short = evidence.weakest, evidence.short
    if weakest is not None:
        asked = f", where {evidence.bar:g} % are asked" if short else ""
        more = f"; {len(short)} of {len(evidence.parts)} parts have less" if len(short) > 1 else ""
        yield (
            f"Weakest evidence: {weakest.op} in {weakest.part}, {weakest.killed} of "
            f"{weakest.mutants} mutants killed ({weakest.share}{_at(precision)}){asked}{more}."
        )
    if evidence.unknown:
        where = f" in {len(evidence.unknown)} of {len(evidence.parts)} parts" if weakest else ""
        reasons = list(dict.fromkeys(one.why for one in evidence.unknown))
        more = "; and other reasons" if len(reasons) > MOST_REASONS else ""
        yield f"Strength unknown{where}: {'; '.join(reasons[:MOST_REASONS])}{more}."
    if short:
        yield f"To ask what is missing: {completing(backend)}"


def claimed(evidence: Evidence, precision: Mapping[str, str]) -> str:
    """The strength of a run in its claim."""
    return f"{evidence.headline}{_at(precision) if evidence.weakest else ''}"


def _at(precision: Mapping[str, str]) -> str:
    """What has to be said of a share where another precision was asked."""
    return "" if set(precision.values()) <= {STANDARD} else ", measured at standard"
