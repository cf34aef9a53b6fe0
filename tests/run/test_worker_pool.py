from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import faulty_backends
import pytest
import tiers
from tiny_suites import adaptive, rejected, size_of, suite_of

import conformance
from conformance.errors import BackendError, UsageError
from conformance.log.reader import read
from conformance.model import Status
from conformance.run import worker_pool
from conformance.run.environment import usable_cores
from conformance.run.executor_options import Isolation
from conformance.run.limits import Limits, parse_size, spell_size
from conformance.threads import shares

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as on POSIX")

FILE = Path(faulty_backends.__file__)
ROWS = range(10, 50)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    cases = [adaptive(size) for size in ROWS] + [rejected(50), rejected(51)]
    return suite_of(tmp_path_factory.mktemp("suites") / "rows", cases)


def check(suite, name, *, findings=False, **options):
    """A run without findings, for which a failure would be called again in another process."""
    return conformance.check(suite, f"{FILE}:{name}", findings=findings, **options)


def told(run):
    """Every result but for the time that it took."""
    return [(one.id, one.status, one.kind, one.message, one.reading) for one in run.results]


@pytest.fixture(scope="module")
def undisturbed(suite):
    return check(suite, "mylib", executor="inline")


class TestLoss:
    @pytest.mark.parametrize("jobs", tiers.first([2, 1]))
    def test_a_crash_on_every_tenth_vector_changes_no_other_verdict(self, suite, undisturbed, jobs):
        run = check(suite, "CrashesOnTenths", jobs=jobs)
        lost = [one for one in run.results if size_of(one) % 10 == 0]
        assert len(lost) == 5  # the refused 50 among them: a crash refuses nothing
        assert {(one.status, one.kind) for one in lost} == {(Status.ERROR, "crashed")}
        ids = {one.id for one in lost}
        expected = [row for row in told(undisturbed) if row[0] not in ids]
        assert [row for row in told(run) if row[0] not in ids] == expected
        assert [one.id for one in run.results] == [one.id for one in undisturbed.results]
        assert not run.conformant

    @pytest.mark.exhaustive
    def test_a_backend_that_fails_only_at_first_is_not_given_up(self, suite):
        run = check(suite, "FailsAtFirst", only=["f32-1x1x4"])
        by_size = {size_of(one): one for one in run.results}
        assert all(by_size[size].kind == "crashed" for size in range(40, 45))
        assert all(by_size[size].status is Status.PASS for size in range(45, 50))
        assert "Ended early" not in run.footer["sentence"]

    @pytest.mark.exhaustive
    def test_a_dead_backend_ends_the_run_early(self, suite):
        run = check(suite, "Dead", findings=True)
        kinds = [one.kind for one in run.results]
        assert kinds[: worker_pool.PATIENCE] == ["crashed"] * worker_pool.PATIENCE
        assert set(kinds[worker_pool.PATIENCE :]) == {"abandoned"}
        assert {one.status for one in run.results} == {Status.ERROR}
        assert run.footer["exit_code"] == 1
        told = "Ended early: the backend lost its process on every vector that was tried."
        assert told in run.footer["sentence"]
        assert run.findings[0].kind == "abandoned"

    @pytest.mark.exhaustive
    def test_a_device_that_is_lost_half_way_ends_the_run_early(self, suite, tmp_path, monkeypatch):
        monkeypatch.setenv("DEVICE_IS_GONE", str(tmp_path / "gone"))
        run = check(suite, "Wedges")
        kinds = [one.kind for one in run.results if one.status is Status.ERROR]
        assert kinds[: worker_pool.PATIENCE] == ["crashed"] * worker_pool.PATIENCE
        assert set(kinds[worker_pool.PATIENCE :]) == {"abandoned"}
        assert any(one.status is Status.PASS for one in run.results)
        assert "Ended early" in run.footer["sentence"]

    def test_memory_that_is_kept_is_lost_with_its_process(self, suite):
        run = check(suite, "Leaks", memory="350M", only=["f32-1x1x4"])
        assert {one.kind for one in run.results} <= {"", "memory"}
        assert {one.kind for one in run.results if size_of(one) <= 45} == {""}
        assert "350.0 MiB are allowed" in next(o for o in run.results if o.kind).message


class TestReplacement:
    def test_another_version_in_another_process_ends_the_run(self, suite):
        run = check(suite, "OtherEachTime")
        assert run.results[0].kind == "crashed"
        assert {one.kind for one in run.results[1:]} == {"abandoned"}
        assert "declares other capabilities" in run.footer["sentence"]

    def test_one_that_cannot_be_loaded_again_ends_the_run(self, suite, tmp_path, monkeypatch):
        monkeypatch.setenv("ONLY_ONCE", str(tmp_path / "once"))
        run = check(suite, "OnlyOnce")
        assert [one.kind for one in run.results] == ["crashed"] + ["abandoned"] * 41
        assert "could not be started again" in run.footer["sentence"]
        assert "FileExistsError" in run.footer["sentence"]

    def test_starts_that_fail_now_and_then_end_no_run(self, suite, tmp_path, monkeypatch):
        monkeypatch.setenv("STARTS", str(tmp_path / "starts"))
        run = check(suite, "StartsEveryOtherTime")
        lost = [size_of(one) for one in run.results if one.kind == "crashed"]
        assert lost == [10, 20, 30, 40]
        assert "abandoned" not in {one.kind for one in run.results}

    def test_what_a_lost_process_started_is_ended_with_it(self, suite, tmp_path, monkeypatch):
        monkeypatch.setenv("PIDS", str(tmp_path / "pids"))
        run = check(suite, "StartsAnother", only=["f32-1x1x2"])
        assert [one.kind for one in run.results] == ["crashed"] + [""] * 9
        (child,) = (tmp_path / "pids").read_text().split()
        assert gone(int(child))

    def test_what_can_be_loaded_once_only_runs_in_one_process(self, suite, tmp_path, monkeypatch):
        monkeypatch.setenv("ONLY_ONCE", str(tmp_path / "once"))
        run = check(suite, "Exclusive", jobs=2, min_strength=0)
        assert run.conformant
        assert run.header["options"]["jobs"] == 2


class TestLoading:
    def test_a_crash_is_told_with_its_last_words(self, suite):
        with pytest.raises(BackendError) as caught:
            check(suite, "CrashesWhenLoaded")
        assert "killed by SIGABRT (Aborted) while the backend was loaded" in caught.value.message
        assert "no driver" in caught.value.message
        assert caught.value.hint

    def test_an_interrupt_of_its_own_is_told_without_frames(self, suite):
        name = f"{FILE}:InterruptsItself"
        with pytest.raises(BackendError) as caught:
            check(suite, "InterruptsItself")
        said = f"{name}: the backend raised KeyboardInterrupt while it was created"
        assert caught.value.message == said

    def test_it_may_not_take_for_ever(self):
        executor = worker_pool.ProcessExecutor(f"{FILE}:NeverLoaded", Limits(start=0.5))
        with pytest.raises(BackendError) as caught, executor:
            pass
        first = caught.value.message.splitlines()[0]
        assert first == f"{FILE}:NeverLoaded: not loaded within 0.5 s"

    @pytest.mark.parametrize(("timeout", "start"), [(None, 120), (5, 120), (300, 300)])
    def test_a_longer_timeout_holds_for_it_too(self, timeout, start):
        executor = Isolation(timeout=timeout).executor_for(f"{FILE}:NeverLoaded")
        assert executor.limits.start == start

    @pytest.mark.parametrize("name", ["Missing", "Unspeakable", "np"])
    def test_an_error_is_told_as_inline(self, suite, name):
        errors = []
        for executor in ("inline", "process"):
            with pytest.raises(BackendError) as caught:
                check(suite, name, executor=executor)
            errors.append(str(caught.value))
        assert errors[0] == errors[1]


class TestOrder:
    def test_results_are_the_same_whatever_the_number_of_processes(self, suite, undisturbed):
        for jobs in (1, 3):
            run = check(suite, "mylib", jobs=jobs, min_strength=0)
            assert run.conformant
            assert told(run) == told(undisturbed)
            assert run.header["backend"] == undisturbed.header["backend"]


class TestThreads:
    def test_each_process_has_its_share(self, suite, monkeypatch):
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        monkeypatch.setenv("MKL_NUM_THREADS", "7")
        share = str(max(1, (usable_cores() or 1) // 2))
        run = check(suite, "Threads", jobs=2, only=["f32-1x1x10-"])
        assert run.header["environment"]["backend"] == {
            "OMP_NUM_THREADS": share,
            "MKL_NUM_THREADS": "7",
        }
        assert run.header["environment"]["variables"]["OMP_NUM_THREADS"] == share

    @pytest.mark.parametrize(
        ("jobs", "cores", "share"), [(1, 8, None), (2, 8, "4"), (3, 8, "2"), (16, 8, "1")]
    )
    def test_shares(self, jobs, cores, share):
        assert shares(jobs, cores, {}).get("OMP_NUM_THREADS") == share
        assert "OMP_NUM_THREADS" not in shares(jobs, cores, {"OMP_NUM_THREADS": "1"})


class TestRepeat:
    @pytest.mark.parametrize("executor", ["inline", "process"])
    def test_answers_that_differ_are_a_failure_of_their_own(self, suite, executor):
        run = check(suite, "Unsteady", repeat=3, executor=executor, findings=True)
        kinds = {size_of(one): one.kind for one in run.results}
        assert {size for size, kind in kinds.items() if kind} == {40, *range(46, 50)}
        assert set(kinds.values()) == {"", "unsteady"}
        messages = {size_of(one): one.message for one in run.results}
        assert messages[47] == ("3 calls on the same inputs: 1 of 2 elements of output 0 differ")
        assert messages[40].startswith("of 3 calls on the same inputs ")
        assert "ValueError: sometimes" in messages[40]
        assert run.header["options"]["repeat"] == 3
        assert all("--repeat 3" in finding.reproduce for finding in run.findings)

    def test_steady_answers_pass(self, suite, undisturbed):
        assert told(check(suite, "mylib", repeat=2)) == told(undisturbed)

    def test_a_crash_in_any_of_them_is_a_crash(self, suite):
        run = check(suite, "CrashesOnTenths", repeat=2, only=["f32-1x1x10-", "f32-1x1x11-"])
        assert [one.kind for one in run.results] == ["crashed", ""]
        assert "in call 1 of 2" in run.results[0].message

    def test_a_vector_that_hangs_costs_one_timeout(self, suite, tmp_path, monkeypatch):
        monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
        only = ["f32-1x1x10-", "f32-1x1x11-"]
        run = check(suite, "HangsOnTen", repeat=5, only=only, timeout=0.5)
        assert [one.kind for one in run.results] == ["hung", ""]
        assert "in call 1 of 5" in run.results[0].message
        assert (tmp_path / "asked").read_text().split() == ["10"] + ["11"] * 5


class TestWhatIsAsked:
    def test_objects_stay_in_this_process(self, suite):
        pid = []
        run = conformance.check(
            suite, lambda *call: pid.append(os.getpid()) or faulty_backends.mylib(*call)
        )
        assert set(pid) == {os.getpid()}
        assert run.header["options"]["executor"] == "inline"
        assert run.header["options"]["timeout"] is None

    @pytest.mark.parametrize(
        ("name", "options", "executor"),
        [
            ("numpy", {}, "inline"),
            ("numpy", {"timeout": 9}, "process"),
            ("numpy", {"executor": "process"}, "process"),
            (f"{FILE}:mylib", {}, "process"),
            (f"{FILE}:mylib", {"executor": "inline"}, "inline"),
        ],
    )
    def test_the_default(self, suite, name, options, executor):
        run = conformance.check(suite, name, only=["f32-1x1x10-"], **options)
        assert run.header["options"]["executor"] == executor

    @pytest.mark.parametrize(
        ("backend", "options"),
        [
            (faulty_backends.mylib, {"executor": "process"}),
            (faulty_backends.mylib, {"jobs": 2}),
            ("numpy", {"executor": "inline", "timeout": 3}),
            ("numpy", {"jobs": 0}),
            ("numpy", {"timeout": 0}),
            ("numpy", {"timeout": float("nan")}),
            ("numpy", {"memory": "lots"}),
            ("numpy", {"memory": 0}),
            ("numpy", {"repeat": 0}),
        ],
    )
    def test_what_cannot_be_is_refused_with_a_hint(self, suite, backend, options):
        with pytest.raises(UsageError) as caught:
            conformance.check(suite, backend, **options)
        assert caught.value.hint

    @pytest.mark.parametrize(
        ("text", "size"),
        [("1000", 1000), ("2K", 2048), ("1.5 GiB", 3 << 29), ("512m", 1 << 29), ("4GB", 4 << 30)],
    )
    def test_sizes(self, text, size):
        assert parse_size(text) == size
        assert parse_size(spell_size(size)) == size

    @pytest.mark.parametrize(("size", "said"), [(1, "1 byte"), (1023, "1,023 bytes")])
    def test_a_limit_in_which_nothing_runs(self, size, said):
        with pytest.raises(UsageError) as caught:
            Limits(memory=size)
        assert caught.value.message == f"memory is {said}; no process runs in less than 1M"
        assert "as in 512M" in caught.value.hint


MAIN = "from conformance.cli import main; main()"


@pytest.fixture
def slow(suite, tmp_path):
    """A command whose backend never answers, once its two workers have begun; and their ids."""
    pids = tmp_path / "pids"
    words = ["check", "--suite", suite.path, "--backend", f"{FILE}:Slow", "-j", "2"]
    command = subprocess.Popen(
        [sys.executable, "-c", MAIN, *words, "--out", tmp_path / "report"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PIDS": str(pids)},
    )
    deadline = time.monotonic() + 60
    while not pids.exists() or pids.read_text().count("\n") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield command, [int(line) for line in pids.read_text().split()]
    command.kill()
    command.wait()


def gone(pid, patience=10.0):
    """Whether a process ends within some seconds; one that nobody waits for counts as ended."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


class TestEnd:
    def test_ctrl_c_ends_the_workers_and_leaves_a_log_that_says_so(self, slow, tmp_path):
        command, workers = slow
        command.send_signal(signal.SIGINT)
        stdout, _ = command.communicate(timeout=30)
        assert command.returncode == 130
        assert all(map(gone, workers))
        assert "no claim (interrupted)" in stdout
        run = read(tmp_path / "report" / "run.jsonl")
        assert run.verdict == "interrupted"
        assert run.problems == ()

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of the death")
    def test_workers_do_not_outlive_the_run(self, slow):
        command, workers = slow
        command.kill()
        command.wait()
        assert all(map(gone, workers))
