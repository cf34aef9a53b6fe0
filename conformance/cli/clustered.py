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

PIECES = "pieces"
"""Where the report folder keeps the logs of shards until all are there."""

EACH = 4
"""Shards for a worker: the more, the less a lost one costs, and the more often a backend loads."""

FEWEST, MOST = 50, 2_000
"""Vectors of a shard."""

_FILE = re.compile(r"([0-9]{1,5})-of-([0-9]{1,5})\.jsonl")


@dataclass(frozen=True)
class ShardCheck:
    """A shard of a check, which a worker runs with the backend in a child process.

    ``suite`` is opened by the worker, and has to be the one of this ``digest``.
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
        """Its log, in a folder of logs."""
        return f"{str(self.options.shard).replace('/', '-of-')}.jsonl"

    def run(self) -> bytes:
        """The run log, without findings: those are of all shards together."""
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
        return "".join(encode(as_event(one)) for one in events if one is not None).encode("ascii")


def clustered(
    suite: str | None,
    backend: str,
    options: CheckOptions,
    workers: parallel.Workers,
    *,
    report: Path | None,
    resume: bool,
) -> Run:
    """The run of a check that ``workers`` do, as :func:`conformance.api.merge` gives it.

    With ``resume`` the shards are kept that an interrupted run has left in ``report``.
    """
    from conformance import api
    from conformance.run.engine import selected
    from conformance.suite.store import open_suite

    opened = open_suite(suite)
    options = replace(options, executor="process")
    number = len(selected(opened, options).entries)
    with ExitStack() as stack, Progress(1, "checking") as progress:
        if report is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        else:
            folder = report / PIECES
        there = _there(folder, resume)
        of = there or max(1, min(EACH * workers.count, number // FEWEST), -(-number // MOST))
        work = [
            ShardCheck(suite, opened.digest, backend, replace(options, shard=f"{shard}/{of}"))
            for shard in range(1, of + 1)
        ]
        missing = [one for one in work if not (folder / one.file).is_file()]
        if there:
            click.echo(f"resuming: {of - len(missing)} of {of} shards are done", err=True)
        sent = parallel.run(missing, processes=workers, progress=progress.at, total=len(missing))
        for one in missing:
            _write(folder / one.file, next(sent))
        progress.at("looking for causes", 1, 1)
        return api.merge([folder / one.file for one in work], suite)


def forget(report: Path) -> None:
    """Remove the shards of a run whose log is written."""
    shutil.rmtree(report / PIECES, ignore_errors=True)


@lru_cache(maxsize=1)
def _opened(suite: str | None) -> Suite:
    """A suite, opened once by each worker."""
    from conformance.suite.store import open_suite

    return open_suite(suite)


def _there(folder: Path, resume: bool) -> int:
    """How many shards the run has whose logs are in a folder; 0 where it begins anew."""
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
        return 0
    found = {int(m[2]) for file in folder.glob("*.jsonl") if (m := _FILE.fullmatch(file.name))}
    if not found:
        click.echo(f"nothing to resume in {folder.parent}: starting a new run", err=True)
        return 0
    if len(found) > 1:
        raise UsageError(
            f"{folder}: shards of several runs", hint="remove the folder, or leave --resume out"
        )
    return found.pop()


def _write(file: Path, content: bytes) -> None:
    """The log of a shard, which gets its name when it is whole."""
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
