"""A hundred hostile programs: each check ends, says why, and starts none of them for ever."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import hostile_runner
import pytest
import tiers
from tiny_suites import adaptive, suite_of

import conformance
from conformance.errors import BackendError
from conformance.run import executor_options, worker_pool
from conformance.run.worker_python import ISOLATED

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes as on Linux")

RUNNER = Path(hostile_runner.__file__)
TIMEOUT, START, ENDING = 0.5, 1.5, 0.5
STARTS = 1 + 5
SECONDS = 15 + STARTS * (2 * TIMEOUT + 1.5)
"""What a check may take on a slow machine: each of six starts, each with its timeout."""

ENDS_WELL = {"exits-0", "closes-all", "leaves-a-child"}
LOST = {"crashed", "hung", "memory", "abandoned"}


def features(way):
    place, doing = way.split(".")
    return [(place, doing in hostile_runner.WAITING)]


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suites") / "rows"
    return suite_of(folder, [adaptive(size) for size in range(4, 16)])


def test_there_are_a_hundred():
    assert len(set(hostile_runner.WAYS)) == len(hostile_runner.WAYS) >= 100


@pytest.mark.parametrize("way", tiers.sweep(hostile_runner.WAYS, features))
def test_it_ends_and_says_why(way, suite, tmp_path, monkeypatch):
    monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
    monkeypatch.setattr(worker_pool, "ENDING", ENDING)
    place, doing = way.split(".")
    if place == "before-hello":
        monkeypatch.setattr(executor_options, "START", START)
    words = [sys.executable, *ISOLATED, str(RUNNER), way]
    begun = time.monotonic()
    try:
        run = conformance.check(suite, f"exec:{shlex.join(words)}", timeout=TIMEOUT, findings=False)
        told, answered = messages(run), any(one.kind not in LOST for one in run.results)
        assert run.footer["exit_code"] == 1
        assert bool(run.footer.get("endings")) >= (place == "at-end" and doing not in ENDS_WELL)
    except BackendError as error:
        told, answered = [error.message], False
    assert time.monotonic() - begun < SECONDS
    assert told
    for message in told:
        first = message.splitlines()[0]
        assert first.isprintable()
        assert 10 < len(first) < 1000
    starts = (tmp_path / "starts").read_text().split()
    assert len(starts) <= (len(run.results) if answered else STARTS)
    assert all(ended(pid) for pid in starts)


def messages(run):
    """What is told of failures and of the end."""
    wrong = [one.message for one in run.results if one.status.value in ("fail", "error")]
    return wrong + [one["message"] for one in run.footer.get("endings", ())]


def ended(pid):
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
