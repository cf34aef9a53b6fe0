"""The shipped suite: the recorded cases of all operators that have some.

It has no files. Its manifest is made from the recorded cases, and a vector is evaluated when it is
first needed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path

from conformance.data import directory
from conformance.spec import loader
from conformance.spec.catalogue import mutants_of
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of
from conformance.suite.lazy_mapping import LazyMapping
from conformance.suite.manifest import Manifest
from conformance.suite.origin import Origin
from conformance.suite.proofs import complete_proofs, proven_infeasible
from conformance.suite.recorded_cases import RecordedCases, committed_operators, recorded_cases_file
from conformance.suite.recordings import Recordings
from conformance.suite.unreachable import Unreachable

CORE = "core"


def shipped_folder() -> Path:
    """The folder that the shipped suite is made from, which stands for it."""
    return (directory("specs") / "cases").resolve()


def has_shipped_suite() -> bool:
    """Whether any operator has recorded cases here."""
    return bool(committed_operators())


def shipped_manifest() -> Manifest:
    """What the shipped suite holds.

    Raises SuiteError for a file of recorded cases that is damaged.
    """
    files = [recorded_cases_file(op) for op in committed_operators()]
    return _manifest(tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in files))


@lru_cache(maxsize=1)
def _manifest(files: tuple[tuple[Path, int, int], ...]) -> Manifest:
    """By what files there are, so that one that changes is read again."""
    listed = Recordings([file for file, *_ in files])
    heads = listed.heads.values()
    seeds = {head.seed for head in heads}
    return Manifest(
        name=CORE,
        seed=seeds.pop() if len(seeds) == 1 else 0,
        versions=dict(chain.from_iterable(head.versions.items() for head in heads)),
        listed=listed,
        strength=LazyMapping(listed.heads, partial(_strength, listed)),
        withdrawn=listed.withdrawn,
        specifications={op: Origin(digest=head.specification) for op, head in listed.heads.items()},
    )


def _strength(listed: Recordings, op: str) -> Unreachable:
    return recorded_unreachable(loader.find_spec(op), listed.cases(op))


def recorded_unreachable(spec: OpSpec, recorded: RecordedCases) -> Unreachable:
    """What nothing can kill or cover of an operator: proofs, the catalogue's word, measurements."""
    return replace(
        proven_unreachable(spec), indistinguishable=recorded.indistinguishable, parts=recorded.parts
    )


def proven_unreachable(spec: OpSpec) -> Unreachable:
    """What nothing can kill or cover of an operator, before any of its vectors is looked at."""
    return Unreachable(
        infeasible=proven_infeasible(spec),
        strata=strata_of(spec).meaning if complete_proofs(spec) else "",
        equivalent={fault.id: fault.equivalent for fault in mutants_of(spec) if fault.equivalent},
    )


def is_outdated(spec: OpSpec, recorded: RecordedCases) -> bool:
    """Whether the specification has changed since its cases were selected."""
    return recorded.specification != spec_digest(spec)
