"""The shipped suite: the recorded cases of all operators that have some.

It has no files. Its manifest is made from the recorded cases, and a vector is evaluated when it is
first needed.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

from conformance.core.operator import Operator
from conformance.resources import directory
from conformance.specification import spec_digest
from conformance.suite.lazy_mapping import LazyMapping
from conformance.suite.manifest import Manifest
from conformance.suite.origin import Origin
from conformance.suite.recorded_cases import RecordedCases, committed_operators, recorded_cases_file
from conformance.suite.recordings import Recordings
from conformance.suite.survivors import survivors_from_data
from conformance.suite.unreachable import Unreachable

CORE = "core"


def shipped_folder() -> Path:
    """Return the folder that the shipped suite is made from, which stands for it."""
    return (directory("specs") / "cases").resolve()


def has_shipped_suite() -> bool:
    """Return whether any operator has recorded cases here."""
    return bool(committed_operators())


def shipped_manifest() -> Manifest:
    """Return the manifest of the shipped suite.

    Raises SuiteError for a file of recorded cases that is damaged.
    """
    files = [recorded_cases_file(op) for op in committed_operators()]
    return _manifest(tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in files))


@lru_cache(maxsize=1)
def _manifest(files: tuple[tuple[Path, int, int], ...]) -> Manifest:
    """Make the manifest; a file that changes is read again."""
    recordings = Recordings([file for file, *_ in files])
    heads = recordings.heads.values()
    seeds = {head.seed for head in heads}
    return Manifest(
        name=CORE,
        seed=seeds.pop() if len(seeds) == 1 else 0,
        versions=dict(chain.from_iterable(head.versions.items() for head in heads)),
        listed=recordings,
        strength=LazyMapping(recordings.heads, partial(_strength, recordings)),
        withdrawn=recordings.withdrawn,
        specifications={
            op: Origin(digest=head.specification) for op, head in recordings.heads.items()
        },
    )


def _strength(listed: Recordings, op: str) -> Unreachable:
    """Return what a file states in its first line: its cases are not needed."""
    head = listed.heads[op]
    parts = survivors_from_data(head.parts, head.faults)
    return Unreachable(indistinguishable=head.indistinguishable, parts=parts)


def recorded_unreachable(recorded: RecordedCases) -> Unreachable:
    """Return what no recorded case of an operator reaches, as it was measured."""
    return Unreachable(indistinguishable=recorded.indistinguishable, parts=recorded.parts)


def is_outdated(spec: Operator, recorded: RecordedCases) -> bool:
    """Return whether the specification has changed since its cases were selected."""
    return recorded.specification != spec_digest(spec)
