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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.progress import Progress
from conformance.errors import ConformanceError
from conformance.safe_text import number_of

if TYPE_CHECKING:
    from conformance.api import Run
    from conformance.check_options import CheckOptions
    from conformance.generate.completion import Added
    from conformance.model import Vector
    from conformance.run.partition_filter import PartitionFilter
    from conformance.suite.store import Suite
    from conformance.suite.survivors import SurvivorTable
    from conformance.suite.unreachable import Unreachable


MAX_SECONDS = 60.0
"""Seconds that a check takes to complete the shipped suite by itself."""

KEPT = "completed"
"""The folder of the cache for the suites that checks completed."""


def complete_in_time(run: Run, backend: str, options: CheckOptions) -> Path | None:
    """Complete the shipped suite for the backend of an inconclusive run.

    A process of its own makes it in at most :data:`MAX_SECONDS` seconds, or an earlier check has
    left it in the cache.

    Returns:
        None if it is not ready in time, lacks nothing, or cannot be written.
    """
    from conformance.suite.vector_cache import cache_folder

    folder = cache_folder() / KEPT / _cache_key(run)
    if _is_intact(folder):
        click.echo("the suite was completed for this backend before", err=True)
        return folder
    click.echo(
        f"inconclusive so far: completing the suite for what {backend} declares, "
        f"in at most {MAX_SECONDS:.0f} s (--no-complete: do not)",
        err=True,
    )
    new = folder.with_name(f".{folder.name}-{os.getpid()}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not _run_completion(run, backend, options, new):
            return None
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
    except OSError as error:
        click.echo(f"the completed suite cannot be kept: {error.strerror or error}", err=True)
        return None
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _cache_key(run: Run) -> str:
    """Hash what a completed suite depends on: suite, operators, declaration, options, tool."""
    header = run.log.header
    suite, declared = header["suite"], header["backend"]["capabilities"]
    partitions = _partitions(run).options
    facts = suite["digest"], sorted(suite["by_op"]), declared, partitions, header["tool"]
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _partitions(run: Run) -> PartitionFilter:
    """The element types and ranks that a run is about."""
    from conformance.run.partition_filter import PartitionFilter

    options = run.log.header["options"]
    return PartitionFilter.of(options.get("dtypes") or (), options.get("ranks") or ())


def _is_intact(folder: Path) -> bool:
    """Whether a folder holds a completed suite, and none of its files is damaged or missing."""
    from conformance.suite.store import open_suite

    try:
        return folder.is_dir() and not open_suite(folder).verify()
    except ConformanceError:
        return False


def _run_completion(run: Run, backend: str, options: CheckOptions, out: Path) -> bool:
    """Run ``conformance suite complete``; say whether it made the suite in time.

    What it began is ended.
    """
    ops = (word for op in run.log.header["suite"]["by_op"] for word in ("--op", op))
    env = () if options.env_name is None else ("--env", options.env_name)
    selection = (*env, *ops, *_partitions(run).options)
    words = ["suite", "complete", "--for", backend, *selection, "--out", str(out)]
    process = subprocess.Popen(  # noqa: S603 - this package
        [sys.executable, "-m", "conformance", *words, "-j", str(options.jobs or 1)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(MAX_SECONDS) == 0 and out.is_dir()
    except subprocess.TimeoutExpired:
        click.echo(f"the suite is not complete after {MAX_SECONDS:.0f} s", err=True)
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


def complete_suite(
    base: Suite,
    ops: Sequence[str],
    backend: str | None,
    out: Path,
    *,
    processes: int,
    seed: int,
    env: str | None = None,
    partitions: PartitionFilter | None = None,
) -> Suite:
    """Write a suite with the vectors that it lacks into a folder.

    It also states what was not seen to show in what is declared.

    Args:
        ops: the operators that are completed; empty for all.
        backend: whose declaration is completed; None for all partitions.
        env: the environment of the backend.
        partitions: narrows it to element types and ranks.

    Returns:
        The suite ``base`` as it is if it lacks nothing.

    Raises:
        UsageError: a suite that cannot be completed.
        BackendError: the backend cannot be loaded, or does not fit.
    """
    from conformance.audit.audit_suite import select_operators
    from conformance.choices import SuiteName
    from conformance.cli.partition_options import supported_subsets_of
    from conformance.cli.run_check import evaluate
    from conformance.generate.completion import complete_definitions
    from conformance.generate.versions import versions
    from conformance.suite.writer import check_target, write_suite

    specs = {op: base.specs[op] for op in select_operators(base, ops)}
    subsets = None
    if backend is not None or partitions:
        subsets = supported_subsets_of(backend, specs, env, partitions)
    if subsets is not None:
        specs = {op: spec for op, spec in specs.items() if op in subsets.by_op}
    whole, base = base, base.only(specs) if base.is_shipped else base
    evaluate(base, base.manifest.of(specs))
    bases = base.specs.bases()
    check_target(out, bases)
    with Progress(1, "completing") as progress:
        completions = list(
            complete_definitions(
                base,
                [*specs.values()],
                root=seed,
                processes=processes,
                progress=progress.at,
                claims=None if subsets is None else subsets.by_op,
            )
        )
    new = [
        vector
        for completion in completions
        for vector in completion.vectors
        if subsets is None or subsets.includes(specs[completion.op], vector.case)
    ]
    _print_added(base, new, backend)
    manifest = base.manifest
    strength = {
        completion.op: _strength(manifest.strength[completion.op], completion)
        for completion in completions
    }
    if not new and all(manifest.strength[op] == known for op, known in strength.items()):
        return whole
    listed_ids = {entry.id for entry in manifest.listed}
    return write_suite(
        out,
        [(vector, (SuiteName.COMPLEMENT,)) for vector in new if vector.id not in listed_ids],
        name=manifest.name,
        seed=manifest.seed,
        versions={**versions(), **manifest.versions},
        kills=_by_vector(completion.kills for completion in completions),
        excused=_by_vector(completion.excused for completion in completions),
        strength={**manifest.strength, **strength},
        withdrawn=manifest.withdrawn,
        bases=bases,
        beside=base,
    )


def _by_vector(tables: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """Join the mutants by vector of several operators."""
    return {vector: mutants for table in tables for vector, mutants in table.items()}


def _strength(before: Unreachable, completion: Added) -> Unreachable:
    """What a suite states of an operator with what was added."""
    return replace(before, parts=_join_survivors(before.parts, completion.parts))


def _join_survivors(before: SurvivorTable, now: SurvivorTable) -> SurvivorTable:
    """Join survivors by partition; those of a profile that has changed since are dropped."""
    from conformance.suite.survivors import SurvivorTable

    profiles = {**before.profiles, **now.profiles}
    kept = {
        partition: survivors
        for partition, survivors in before.survivors.items()
        if not partition.profile
        or before.profiles[partition.profile] == profiles[partition.profile]
    }
    return SurvivorTable({**kept, **now.survivors}, profiles)


def _print_added(base: Suite, new: Sequence[Vector], backend: str | None) -> None:
    target = "for this version" if backend is None else f"for {backend}"
    if not new:
        click.echo(f"{base.name} is already complete {target}", err=True)
        return
    counts = Counter(vector.case.op for vector in new)
    by_op = ", ".join(f"{op} {count}" for op, count in counts.items())
    click.echo(f"added {number_of(len(new), 'vector')} {target} to {base.name}: {by_op}", err=True)
