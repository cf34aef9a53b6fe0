"""Work in several processes: results in order, nothing lost, nothing done that nobody asked for."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from conformance import parallel
from conformance.errors import UsageError


@dataclass(frozen=True)
class Square:
    """A number squared, after a while."""

    number: int
    seconds: float = 0.0

    @property
    def label(self) -> str:
        return f"square of {self.number}"

    def run(self) -> int:
        time.sleep(self.seconds)
        return self.number**2


@dataclass(frozen=True)
class Failing(Square):
    def run(self) -> int:
        raise KeyError(f"no square of {self.number}")


@dataclass(frozen=True)
class Deadly(Square):
    """Ends its process, as a machine without memory would."""

    def run(self) -> int:
        os._exit(1)


PROGRAM = """
import time
from dataclasses import dataclass
from conformance import parallel

@dataclass
class Sleep:
    seconds: int
    label = "sleep"

    def run(self):
        time.sleep(self.seconds)
        return 1

if __name__ == "__main__":
    work = [Sleep(0), Sleep(600), Sleep(600)]
    for result in parallel.run(work, processes=2, progress=lambda *_: None, total=3):
        print(result, flush=True)
"""


def quiet(*_: object) -> None:
    """Nobody watches."""


def gone(seconds: float = 10) -> bool:
    """Whether no process of ours is left, or soon will be."""
    until = time.monotonic() + seconds
    while multiprocessing.active_children() and time.monotonic() < until:
        time.sleep(0.02)
    return not multiprocessing.active_children()


@pytest.mark.parametrize("processes", [1, 2])
class TestInAnyNumberOfProcesses:
    def test_results_come_in_order(self, processes: int) -> None:
        # The first takes longest, so in two processes the others are done before it.
        work = [Square(n, 0.2 if n == 0 else 0) for n in range(6)]
        found = parallel.run(work, processes=processes, progress=quiet, total=6)
        assert list(found) == [0, 1, 4, 9, 16, 25]
        assert gone()

    def test_progress_is_told_before_each_result(self, processes: int) -> None:
        told: list[tuple[str, int, int]] = []
        work = [Square(n) for n in (3, 4)]
        found = parallel.run(
            work, processes=processes, progress=lambda *what: told.append(what), total=2
        )
        assert told == []
        assert next(found) == 9
        assert told == [("square of 3", 0, 2)]
        assert list(found) == [16]
        # In a process of its own the second may have ended before the first one's result was taken.
        assert told[1:] in ([("square of 4", done, 2)] for done in range(1, processes + 1))

    def test_no_work_has_no_results(self, processes: int) -> None:
        assert list(parallel.run([], processes=processes, progress=quiet, total=0)) == []

    def test_endless_work_is_taken_as_it_is_needed(self, processes: int) -> None:
        taken: list[int] = []

        def endless() -> Iterator[Square]:
            for number in itertools.count():
                taken.append(number)
                yield Square(number)

        found = parallel.run(endless(), processes=processes, progress=quiet, total=3, ahead=4)
        first = list(itertools.islice(found, 3))
        found.close()
        assert first == [0, 1, 4]
        assert len(taken) == (3 if processes == 1 else 3 + 4)
        assert gone()

    def test_an_error_in_a_task_comes_out_and_ends_the_rest(self, processes: int) -> None:
        work = [Square(1), Failing(2), Square(3, 30)]
        found = parallel.run(work, processes=processes, progress=quiet, total=3)
        assert next(found) == 1
        began = time.monotonic()
        with pytest.raises(KeyError, match="no square of 2"):
            next(found)
        assert time.monotonic() - began < 10
        assert gone()


def test_a_process_that_dies_is_an_error_with_a_hint() -> None:
    work = [Deadly(7), Square(1), Square(2)]
    with pytest.raises(
        UsageError, match="a process ended while it worked on square of 7"
    ) as caught:
        list(parallel.run(work, processes=2, progress=quiet, total=3))
    assert caught.value.hint == "it may have run out of memory; ask for fewer processes"
    assert gone()


def test_an_interruption_ends_the_processes_at_once() -> None:
    work = [Square(1), Square(2, 30), Square(3, 30)]
    found = parallel.run(work, processes=2, progress=quiet, total=3)
    assert next(found) == 1
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        found.throw(KeyboardInterrupt)
    assert time.monotonic() - began < 10
    assert gone()


@pytest.mark.skipif(os.name != "posix", reason="kills as on POSIX")
def test_no_process_outlives_the_first_one(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(PROGRAM)
    first = subprocess.Popen([sys.executable, "work.py"], cwd=tmp_path, stdout=subprocess.PIPE)
    assert first.stdout is not None
    assert first.stdout.readline() == b"1\n"
    workers = [one for one in psutil.Process(first.pid).children() if "spawn" in str(one.cmdline())]
    assert len(workers) == 2
    first.kill()
    first.wait()
    _, left = psutil.wait_procs(workers, timeout=20)
    assert left == []


def test_without_a_bound_all_is_handed_over_at_once() -> None:
    taken: list[int] = []

    def counted() -> Iterator[Square]:
        for number in range(9):
            taken.append(number)
            yield Square(number)

    found = parallel.run(counted(), processes=2, progress=quiet, total=9)
    assert next(found) == 0
    assert len(taken) == 9
    found.close()
    assert gone()


@dataclass(frozen=True)
class Stepping(Square):
    """Says after half of its work that it is half done, and goes on until it may end."""

    file: Path | None = None

    def run(self) -> int:
        parallel.step("halfway", 0.5)
        deadline = time.monotonic() + 30
        while self.file is not None and not self.file.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return super().run()


@pytest.mark.parametrize("processes", [1, 2])
def test_one_task_says_how_far_it_is(processes: int, tmp_path: Path) -> None:
    told: list[tuple[str, float, int]] = []
    goes_on = tmp_path / "goes on"

    def progress(what: str, number: float, total: int) -> None:
        told.append((what, number, total))
        if number == 0.5:
            goes_on.touch()

    found = parallel.run(
        [Stepping(3, file=goes_on)], processes=processes, progress=progress, total=1
    )
    assert list(found) == [9]
    assert told == [("square of 3", 0, 1), ("square of 3: halfway", 0.5, 1)]
    assert goes_on.exists()


def test_a_task_that_is_done_counts_while_an_earlier_one_is_waited_for(tmp_path: Path) -> None:
    shares: list[float] = []
    goes_on = tmp_path / "goes on"

    def progress(what: str, number: float, total: int) -> None:
        shares.append(number)
        if number >= 2:
            goes_on.touch()

    work = [Stepping(1, file=goes_on), Stepping(2), Stepping(3)]
    assert list(parallel.run(work, processes=2, progress=progress, total=3)) == [1, 4, 9]
    assert any(2 <= share < 3 for share in shares)
    assert goes_on.exists()


def test_outside_of_a_task_nobody_listens() -> None:
    parallel.step("nothing", 0.5)
