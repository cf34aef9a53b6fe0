"""Short names for tables: of a run, and of what is wrong in it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from conformance.log.diagnosis import diagnosis
from conformance.log.run_log import RunLog
from conformance.model import Finding

MAX_NAMES = 5
"""Faults that are named at most."""


def heading(run: RunLog, label: str = "") -> str:
    """The backend and its version, after the label where that says something else."""
    name, version = run.header["backend"]["name"], run.header["backend"]["version"]
    return f"{name} {version}" if label in ("", name) else f"{label}: {name} {version}"


def flaws(findings: Iterable[Finding], op: str) -> tuple[str, ...]:
    """The faults that findings of an operator were diagnosed as, by their ids, the worst first;
    then how many findings have no such name.
    """
    unnamed = 0
    found: dict[str, None] = {}
    for finding in findings:
        if finding.op != op:
            continue
        told = diagnosis(finding.diagnosis)
        ids = [fault.id for fault in told.faults if fault.id] if told else []
        unnamed += not ids
        found |= dict.fromkeys(ids)
    names = list(islice(found, MAX_NAMES))
    if len(found) > MAX_NAMES:
        names.append(f"and {len(found) - MAX_NAMES:,} more")
    if unnamed:
        names.append(f"findings not diagnosed: {unnamed:,}")
    return tuple(names)
