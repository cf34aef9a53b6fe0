"""Resumes an interrupted run, if the log is of the same run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from conformance.errors import LogError
from conformance.log.question import differences
from conformance.log.run_log import RunLog

MOST_NAMED = 5


def check_continues(
    earlier: RunLog, header: Mapping[str, Any], asked: Collection[tuple[str, str]]
) -> None:
    """Raise :class:`LogError` unless a run with this header may go on where ``earlier`` ended.

    ``asked`` are the vectors that the run asks, by operator and id. Everything that a result may
    depend on has to be the same: tool, suite, backend, options and environment.
    """
    found = list(differences(earlier.header, header))
    if found:
        named = "".join(f"\n  {line}" for line in found[:MOST_NAMED])
        more = len(found) - MOST_NAMED
        rest = f"\n  and {more} more" if more > 0 else ""
        raise LogError(
            f"the run log is from a different run; it has{named}{rest}",
            hint="repeat the command that began the run, or leave --resume out to start a new run",
        )
    foreign = [result.id for result in earlier.results if (result.op, result.id) not in asked]
    if foreign:
        raise LogError(
            f"the run log has {len(foreign)} results of vectors that are not in the run, "
            f"{foreign[0][:80]!a} first",
            hint="the log is damaged; leave --resume out to start a new run",
        )
