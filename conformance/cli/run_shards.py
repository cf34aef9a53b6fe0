"""One check as shards on the workers of a cluster, merged as ``conformance merge`` does."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance import parallel
from conformance.cli.progress import Progress
from conformance.errors import LogError, SuiteError, UsageError

if TYPE_CHECKING:
    from conformance.api import Run
    from conformance.check_options import CheckOptions
    from conformance.suite.store import Suite

SHARDS = "pieces"
"""Where the --out folder keeps the logs of shards until all are done."""

SHARDS_PER_WORKER = 4
"""Shards for a worker: the more, the less a lost one costs, and the more often a backend loads."""

MIN_VECTORS, MAX_VECTORS = 50, 2_000
"""Vectors of a shard."""

_FILE = re.compile(r"([0-9]{1,5})-of-([0-9]{1,5})\.jsonl")


@dataclass(frozen=True)
class ShardCheck:
    """A shard of a check, which a worker runs with the backend in a child process.

    ``suite`` is opened by the worker, and must have this ``digest``.
    """

    suite: str | None
    digest: str
    backend: str
    options: CheckOptions

    @property
    def label(self) -> str:
        return f"shard {self.options.shard}"

    @property
    def file(self) -> str:
        """The name of its log in a folder of logs."""
        return f"{str(self.options.shard).replace('/', '-of-')}.jsonl"

    def run(self) -> bytes:
        """Return the run log without findings, which need all shards together.

        Raises:
            SuiteError: the worker has another suite.
        """
        from conformance import api
        from conformance.log.encoding import encode
        from conformance.log.events import as_event

        opened = _opened(self.suite)
        if opened.digest != self.digest:
            raise SuiteError(
                f"a worker has another suite there: digest {opened.digest[:12]}, "
                f"not {self.digest[:12]}",
                hint="name a suite that is the same for all, and start the workers again",
            )
        log = api.check(opened, self.backend, **vars(self.options), findings=False).log
        events = (log.header, *log.results, log.footer)
        return "".join(encode(as_event(event)) for event in events if event is not None).encode(
            "ascii"
        )


def run_shards(
    suite: str | None,
    backend: str,
    options: CheckOptions,
    workers: parallel.Workers,
    *,
    out: Path | None,
    resume: bool,
) -> Run:
    """Run a check in shards on a cluster, and merge them.

    With ``resume`` the shards are kept that an interrupted run has left in ``out``.
    :func:`conformance.api.check` and :func:`conformance.api.merge` say what is raised.
    """
    from conformance import api
    from conformance.run.engine import selected
    from conformance.suite.store import open_suite

    opened = open_suite(suite)
    options = replace(options, executor="process")
    number = len(selected(opened, options).entries)
    with ExitStack() as stack, Progress(1, "checking") as progress:
        if out is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        else:
            folder = out / SHARDS
        kept = _count_kept(folder, resume)
        count = kept or _count_shards(number, workers.count)
        shards = [
            ShardCheck(suite, opened.digest, backend, replace(options, shard=f"{shard}/{count}"))
            for shard in range(1, count + 1)
        ]
        missing = [shard for shard in shards if not (folder / shard.file).is_file()]
        if kept:
            click.echo(f"resuming: {count - len(missing)} of {count} shards are done", err=True)
        logs = parallel.run(missing, processes=workers, progress=progress.at, total=len(missing))
        for shard in missing:
            _write(folder / shard.file, next(logs))
        progress.at("looking for causes", 1, 1)
        return api.merge([folder / shard.file for shard in shards], suite)


def _count_shards(vectors: int, workers: int) -> int:
    """Count the shards for so many vectors and workers."""
    return max(
        1, min(SHARDS_PER_WORKER * workers, vectors // MIN_VECTORS), -(-vectors // MAX_VECTORS)
    )


def remove_shards(out: Path) -> None:
    """Remove the shards of a run whose log is written."""
    shutil.rmtree(out / SHARDS, ignore_errors=True)


@lru_cache(maxsize=1)
def _opened(suite: str | None) -> Suite:
    """Open a suite, once in each worker."""
    from conformance.suite.store import open_suite

    return open_suite(suite)


def _count_kept(folder: Path, resume: bool) -> int:
    """Return how many shards the run has whose logs are in a folder; 0 to begin a new run."""
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
        return 0
    names = (_FILE.fullmatch(file.name) for file in folder.glob("*.jsonl"))
    counts = {int(name[2]) for name in names if name is not None}
    if not counts:
        click.echo(f"nothing to resume in {folder.parent}: starting a new run", err=True)
        return 0
    if len(counts) > 1:
        raise UsageError(
            f"{folder}: shards of several runs", hint="remove the folder, or leave --resume out"
        )
    return counts.pop()


def _write(file: Path, content: bytes) -> None:
    """Write the log of a shard, which gets its name when it is complete."""
    from conformance.log.reader import MAX_SIZE
    from conformance.replacement import replacing

    if len(content) > MAX_SIZE:
        raise LogError(
            f"{file}: a worker sent {len(content):,} bytes, at most {MAX_SIZE:,} are read",
            hint="use more workers, so that each shard is smaller",
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as new:
            new.write_bytes(content)
    except OSError as error:
        raise LogError(
            f"{file}: cannot be written: {error.strerror or error}",
            hint="choose a folder that you may write to, with room on its disk",
        ) from error
