"""Completes a suite for one backend, or for mutants added since it was made.

A check of the shipped suite that fails nowhere and proves too little does so by itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.progress import Progress
from conformance.errors import ConformanceError, UsageError
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.api import Run
    from conformance.generate.lacking import Added
    from conformance.model import Vector
    from conformance.run.partition_filter import PartitionFilter
    from conformance.spec.model import OpSpec
    from conformance.suite.store import Suite
    from conformance.suite.survivors import SurvivorTable
    from conformance.suite.unreachable import Unreachable


PATIENCE = 60.0
"""Seconds that a check takes to complete the shipped suite by itself."""

KEPT = "completed"
"""Where the cache keeps what a check completed."""


def completed_in_time(run: Run, backend: str, env: str | None, processes: int) -> Path | None:
    """The shipped suite with what it lacks for the backend of an inconclusive run.

    It is made in a process of its own, in at most :data:`PATIENCE` seconds, or taken from the cache
    of an earlier check. None where it is not ready in time, lacks nothing, or cannot be written.
    """
    from conformance.suite.vector_cache import cache_folder

    folder = cache_folder() / KEPT / _key(run)
    if _whole(folder):
        click.echo("the suite was completed for this backend before", err=True)
        return folder
    click.echo(
        f"inconclusive so far: completing the suite for what {backend} declares, "
        f"in at most {PATIENCE:.0f} s (--no-complete: do not)",
        err=True,
    )
    new = folder.with_name(f".{folder.name}-{os.getpid()}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not _made(run, backend, env, processes, new):
            return None
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    except OSError as error:
        click.echo(f"the completed suite cannot be kept: {error.strerror or error}", err=True)
        return None
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _key(run: Run) -> str:
    """What a completed suite depends on: the suite, its operators, what is declared, the tool."""
    header = run.log.header
    suite, declared = header["suite"], header["backend"]["capabilities"]
    partitions = _partitions(run).options
    parts = suite["digest"], sorted(suite["by_op"]), declared, partitions, header["tool"]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _partitions(run: Run) -> PartitionFilter:
    """The element types and ranks that a run is about."""
    from conformance.run.partition_filter import PartitionFilter

    options = run.log.header["options"]
    return PartitionFilter.of(options.get("dtypes") or (), options.get("ranks") or ())


def _whole(folder: Path) -> bool:
    """Whether a completed suite is there, and none of its files is damaged or gone."""
    from conformance.suite.store import open_suite

    try:
        return folder.is_dir() and not open_suite(folder).verify()
    except ConformanceError:
        return False


def _made(run: Run, backend: str, env: str | None, processes: int, out: Path) -> bool:
    """Whether ``conformance suite complete`` makes the suite in time; what it began is ended."""
    ops = (word for op in run.log.header["suite"]["by_op"] for word in ("--op", op))
    there = () if env is None else ("--env", env)
    part = (*there, *ops, *_partitions(run).options)
    words = ["suite", "complete", "--for", backend, *part, "--out", str(out)]
    process = subprocess.Popen(  # noqa: S603 - this package
        [sys.executable, "-m", "conformance", *words, "-j", str(processes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(PATIENCE) == 0 and out.is_dir()
    except subprocess.TimeoutExpired:
        click.echo(f"the suite is not complete after {PATIENCE:.0f} s", err=True)
        return False
    except KeyboardInterrupt:
        click.echo("the suite is not completed: interrupted", err=True)
        return False
    finally:
        if process.poll() is None:  # its number is nobody else's yet
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def completed(
    base: Suite,
    ops: Sequence[str],
    backend: str | None,
    out: Path,
    *,
    processes: int,
    seed: int,
    smaller: bool = False,
    env: str | None = None,
    partitions: PartitionFilter | None = None,
) -> Suite:
    """The suite ``base`` with the vectors that it lacks of some operators (none: of all), and with
    what can show in what is declared, in the folder ``out``; or as it is where it lacks nothing.

    What a backend declares, in the environment ``env`` if that is given, is completed, or without
    one every part; of these, those of the element types and ranks in ``partitions``. With
    ``smaller`` smaller relatives of large vectors are added. Raises UsageError for a suite that
    cannot be completed, and what :func:`supported_subsets_of` raises.
    """
    from conformance.audit.audit_suite import select_operators
    from conformance.choices import SuiteName
    from conformance.cli.checking import evaluate
    from conformance.cli.partition_options import supported_subsets_of
    from conformance.generate import lacking
    from conformance.generate.suites import versions
    from conformance.suite.writer import check_target, write_suite

    specs = {op: _sound(base, op) for op in select_operators(base, ops)}
    asked = None
    if backend is not None or partitions:
        asked = supported_subsets_of(backend, specs, env, partitions)
    if asked is not None:
        specs = {op: spec for op, spec in specs.items() if op in asked.by_op}
    whole, base = base, base.only(specs) if base.is_shipped else base
    evaluate(base, base.manifest.of(specs))
    bases = base.specs.bases()
    check_target(out, bases)
    there = {}
    for op, spec in specs.items():
        known = lacking.known(base, op)
        own = (one for one in known.vectors if asked is None or asked.includes(spec, one.case))
        there[op] = replace(known, vectors=tuple(own))
    with Progress(1, "completing") as progress:
        added = list(
            lacking.complete(
                [*specs.values()],
                there,
                root=seed,
                processes=processes,
                progress=progress.at,
                claims=None if asked is None else asked.by_op,
                smaller=smaller,
            )
        )
    new = [
        vector
        for one in added
        for vector in one.vectors
        if asked is None or asked.includes(specs[one.op], vector.case)
    ]
    _tell(base, new, backend)
    manifest = base.manifest
    strength = {one.op: _strength(manifest.strength[one.op], one) for one in added}
    if not new and all(manifest.strength[op] == known for op, known in strength.items()):
        return whole
    told = {one.op for one in added if one.strata}
    gaps = [gap for gap in manifest.uncovered if gap.op not in told]
    old = {entry.id: entry for entry in manifest.listed}
    return write_suite(
        out,
        [(vector, (SuiteName.COMPLEMENT,)) for vector in new if vector.id not in old],
        name=manifest.name,
        seed=manifest.seed,
        versions={**versions(), **manifest.versions},
        kills={name: found for one in added for name, found in one.kills.items()},
        excused={name: found for one in added for name, found in one.excused.items()},
        strength={**manifest.strength, **strength},
        uncovered=[*gaps, *(gap for one in added for gap in one.uncovered)],
        withdrawn=manifest.withdrawn,
        bases=bases,
        beside=base,
    )


def _sound(base: Suite, op: str) -> OpSpec:
    """The specification of an operator whose mutants are those of this version."""
    from conformance.spec.catalogue import mutants_of

    spec = base.specs[op]
    if {one.id for one in base.specs.faults(op)} != {one.id for one in mutants_of(spec)}:
        raise UsageError(
            f"{base.path}: the mutants of {op} are not those of this version",
            hint="generate the suite again, or complete it with the version that made it",
        )
    return spec


def _strength(before: Unreachable, added: Added) -> Unreachable:
    """What a suite tells of an operator with what was added."""
    found = replace(before, parts=_both(before.parts, added.parts))
    if added.strata:
        found = replace(found, infeasible=added.infeasible, strata=added.strata)
    return found


def _both(before: SurvivorTable, now: SurvivorTable) -> SurvivorTable:
    """The parts of a suite, of which some are known anew; a profile that is another now is gone."""
    from conformance.suite.survivors import SurvivorTable

    profiles = {**before.profiles, **now.profiles}
    kept = {
        part: one
        for part, one in before.survivors.items()
        if not part.profile or before.profiles[part.profile] == profiles[part.profile]
    }
    return SurvivorTable({**kept, **now.survivors}, profiles)


def _tell(base: Suite, new: Sequence[Vector], backend: str | None) -> None:
    whom = "for this version" if backend is None else f"for {backend}"
    if not new:
        click.echo(f"{base.name} is already complete {whom}", err=True)
        return
    counts = Counter(vector.case.op for vector in new)
    of = ", ".join(f"{op} {count}" for op, count in counts.items())
    click.echo(f"added {number_of(len(new), 'vector')} {whom} to {base.name}: {of}", err=True)
