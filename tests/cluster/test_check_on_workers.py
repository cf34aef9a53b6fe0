"""A check in shards on workers says what a check here says, whatever happens to them."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance import parallel
from conformance.cli import main, run_shards
from conformance.cli.worker_options import WorkerOptions
from conformance.errors import Interrupted
from conformance.log.encoding import encode
from conformance.log.events import as_event
from conformance.log.reader import read
from conformance.suite.store import Suite

BACKEND = """
from conformance.backends.numpy import NumPy
class Mine(NumPy):
    name = "mine"
    def run(self, op, inputs, attributes):
        outputs = super().run(op, inputs, attributes)
        return [outputs[0] + 1, *outputs[1:]] if inputs[0].dtype == "f2" else outputs
"""


@dataclass
class Here:
    """Workers in this process, which may be interrupted after the first piece."""

    count: int = 2
    stops: bool = False

    def run(
        self,
        work: Iterable[parallel.Task[Any]],
        *,
        progress: parallel.Progress,
        total: int,
        ahead: int | None = None,
    ) -> Generator[Any, None, None]:
        for number, one in enumerate(work):
            if self.stops and number == 1:
                raise Interrupted(2)
            progress(one.label, number, total)
            yield one.run()


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("backend") / "mine.py"
    file.write_text(BACKEND)
    return f"{file}:Mine"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Every cluster is these."""
    workers = Here()

    @contextmanager
    def working(self: WorkerOptions) -> Iterator[int | parallel.Workers]:
        yield 1 if self.cluster is None else workers

    monkeypatch.setattr(WorkerOptions, "working", working)
    monkeypatch.setattr(run_shards, "MIN_VECTORS", 3)
    run_shards._opened.cache_clear()
    return workers


def command(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.mark.parametrize(
    ("vectors", "workers", "shards"),
    [(0, 1, 1), (99, 2, 1), (100, 2, 2), (5_000, 2, 8), (8_000, 1, 4), (8_001, 1, 5)],
)
def test_shards_are_four_a_worker_of_50_to_2000_vectors(
    vectors: int, workers: int, shards: int
) -> None:
    assert run_shards._count_shards(vectors, workers) == shards


def told(log: Path) -> list[str]:
    """Results, findings and footer, without times."""
    run = read(log)
    assert run.complete
    text = "".join(encode(as_event(e)) for e in (*run.results, *run.findings, run.footer))
    return re.sub(r'"(seconds|finished|peak_memory_bytes)":[^,}]+', "", text).splitlines()


def words(suite: Suite, backend: str, report: Path) -> list[object]:
    return ["check", "--suite", suite.path, "--backend", backend, "--out", report]


def test_the_log_is_that_of_a_check_here(
    here: Here, small_suite: Suite, backend: str, tmp_path: Path
) -> None:
    one = command(*words(small_suite, backend, tmp_path / "here"))
    other = command(*words(small_suite, backend, tmp_path / "there"), "--cluster", "local:2")
    assert one.exit_code == other.exit_code == 1
    logs = [tmp_path / name / "run.jsonl" for name in ("here", "there")]
    assert told(logs[0]) == told(logs[1])
    assert read(logs[1]).header["environment"]["shards"] == 2
    assert read(logs[1]).header["options"]["shard"] is None
    assert (tmp_path / "there" / "index.html").exists()
    assert not (tmp_path / "there" / run_shards.SHARDS).exists()


def test_element_types_and_ranks_reach_the_workers(
    here: Here, small_suite: Suite, backend: str, tmp_path: Path
) -> None:
    part = ("--dtypes", "f32,f64", "--ranks", "3")
    command(*words(small_suite, backend, tmp_path / "here"), *part)
    command(*words(small_suite, backend, tmp_path / "there"), *part, "--cluster", "local:2")
    logs = [tmp_path / name / "run.jsonl" for name in ("here", "there")]
    assert told(logs[0]) == told(logs[1])
    assert read(logs[1]).header["options"]["ranks"] == [3]


def test_an_interrupted_check_resumes(
    here: Here, small_suite: Suite, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [*words(small_suite, backend, tmp_path), "--cluster", "local:2"]
    here.stops = True
    stopped = command(*asked)
    assert stopped.exit_code == 130
    assert "to resume: run the same command with --resume" in stopped.output
    assert len(list((tmp_path / run_shards.SHARDS).iterdir())) == 1
    assert not (tmp_path / "run.jsonl").exists()
    here.stops, here.count = False, 7  # the shards stay those that were begun
    resumed = command(*asked, "--resume")
    assert "resuming: 1 of 2 shards are done" in resumed.output
    assert command(*words(small_suite, backend, tmp_path / "here")).exit_code == 1
    assert told(tmp_path / "run.jsonl") == told(tmp_path / "here" / "run.jsonl")


def test_another_suite_on_a_worker_is_refused(
    here: Here, small_suite: Suite, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Suite(
        small_suite.path, replace(small_suite.manifest, listed=small_suite.manifest.listed[1:])
    )
    monkeypatch.setattr(run_shards, "_opened", lambda _: other)
    result = command(*words(small_suite, backend, tmp_path), "--cluster", "local:2")
    assert result.exit_code == 2
    assert "a worker has another suite there" in result.output


@pytest.mark.exhaustive
def test_a_matrix_is_that_of_processes_here(
    here: Here, small_suite: Suite, backend: str, tmp_path: Path
) -> None:
    asked = [
        "matrix",
        "--suite",
        small_suite.path,
        "--backend",
        f"m={backend}",
        "--backend",
        "none",
    ]
    one = command(*asked, "--out", tmp_path / "here")
    other = command(*asked, "--out", tmp_path / "there", "--cluster", "local:2")
    assert one.exit_code == other.exit_code
    tables = [(tmp_path / name / "matrix.md").read_text() for name in ("here", "there")]
    assert tables[0] == tables[1]
    assert told(tmp_path / "here/m/run.jsonl") == told(tmp_path / "there/m/run.jsonl")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            ["--cluster", "local:2", "--shard", "1/2"],
            "combined with --shard or --executor",
        ),
        (
            ["--cluster", "local:2", "--executor", "inline"],
            "combined with --shard or --executor",
        ),
        (["--cluster", "local:2", "-j", "3"], "cannot be combined with -j"),
        (["--cluster", "local:2", "--resume"], "--resume needs --out"),
    ],
)
def test_what_excludes_each_other(here: Here, more: list[str], reason: str) -> None:
    result = command("check", "--backend", "numpy", *more)
    assert result.exit_code == 2
    assert reason in result.output


@pytest.mark.needs("dask")
@pytest.mark.exhaustive
def test_on_real_workers(small_suite: Suite, backend: str, tmp_path: Path) -> None:
    command(*words(small_suite, backend, tmp_path / "here"))
    other = command(*words(small_suite, backend, tmp_path / "there"), "--cluster", "local:2")
    assert other.exit_code == 1, other.output
    assert told(tmp_path / "here/run.jsonl") == told(tmp_path / "there/run.jsonl")
