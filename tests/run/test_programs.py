"""Programs as backends: each way of breaking the protocol has its verdict and message."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
import time
from pathlib import Path

import breaking_runner
import pytest
from click.testing import CliRunner

from conformance.backends.program import command_line
from conformance.cli import main
from conformance.errors import BackendError, UsageError
from conformance.grade.outcome import Ending
from conformance.log.reader import read
from conformance.run import worker_pool
from conformance.run.executor_options import Isolation
from conformance.run.limits import Limits
from conformance.run.worker_pool import ProcessExecutor
from conformance.suite.store import open_suite

RUNNER = Path(__file__).with_name("breaking_runner.py")


def spec(way):
    return f"exec:{shlex.join([sys.executable, '-S', '-E', str(RUNNER), way])}"


@pytest.fixture(scope="module")
def vector():
    suite = open_suite()
    return next(
        suite.read(entry)
        for entry in suite.manifest.vectors
        if entry.op == "AvgPool-1" and entry.dtype == "f32" and entry.kind == "value"
    )


@pytest.fixture
def starts(tmp_path, monkeypatch):
    """The numbers of the processes in which the runner was started."""
    file = tmp_path / "starts"
    monkeypatch.setenv("STARTS", str(file))
    return lambda: file.read_text().split() if file.exists() else []


def until(seen):
    """What is seen, once there is anything."""
    end = time.monotonic() + 30
    while not (found := seen()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def asked(way, vector, *, count=1, timeout=20.0, memory=None):
    with ProcessExecutor(spec(way), Limits(timeout, memory, start=20.0)) as executor:
        outcomes = []
        for _ in range(count):
            outcomes.append(executor.call(vector))
        return outcomes


RETURNED, CRASHED, HUNG = Ending.RETURNED, Ending.CRASHED, Ending.HUNG
VERDICTS = {
    "honest": (RETURNED, ""),
    "careful": (RETURNED, ""),
    "unsupported": (Ending.UNSUPPORTED, ""),
    "raises": (Ending.RAISED, "?[31mno? kernel"),
    "no-output": (CRASHED, "4 bytes of arrays; the stated outputs take 0"),
    "hangs": (HUNG, "no answer within 0.6 s"),
    "exits": (CRASHED, "the process ended with exit code 3"),
    "exits-well": (CRASHED, "the process ended with exit code 0"),
    "segfault": (CRASHED, "the process was killed by SIGSEGV"),
    "abort": (CRASHED, "the process was killed by SIGABRT"),
    "garbage": (CRASHED, "the process sent a message with a header of"),
    "prints": (CRASHED, "the process sent text in place of a message: 'computing AvgPool"),
    "prints-before": (CRASHED, "the process sent text in place of a message: 'computing AvgPool"),
    "big-endian": (CRASHED, "the process sent a message with lengths in big-endian order"),
    "other-number": (CRASHED, "the process sent a response to another request"),
    "number-text": (CRASHED, "the process sent a response to another request"),
    "unknown-ending": (
        CRASHED,
        "a header that does not fit: ending: Expected `str`",
    ),
    "ending-crashed": (
        CRASHED,
        "a header that does not fit: ending: Expected `str`",
    ),
    "long-message": (
        CRASHED,
        "a header that does not fit: message: Expected `str`",
    ),
    "seconds-text": (
        CRASHED,
        "a header that does not fit: seconds: Expected `float`",
    ),
    "changed-none": (CRASHED, "the process sent no usable 'changed'"),
    "count-wrong": (CRASHED, "the number of outputs differs from the stated one"),
    "too-few-bytes": (CRASHED, "0 bytes of arrays; the stated outputs take more"),
    "too-many-bytes": (CRASHED, "bytes of arrays; the stated outputs take 0"),
    "float32": (CRASHED, "an array of type 'float32'; known: f16, bf16, f32"),
    "negative-size": (CRASHED, "outputs[0].shape[0]: Expected `int` >= 0: -1"),
    "size-text": (CRASHED, "outputs[0].shape[0]: Expected `int`, got `str`"),
    "shape-missing": (CRASHED, "bytes of arrays; the stated outputs take 0"),
    "huge-shape": (CRASHED, "an array of no possible shape"),
    "wrong-type": (RETURNED, ""),
    "header-not-json": (CRASHED, "the process sent a header that is not JSON"),
    "header-a-list": (CRASHED, "the process sent a header that is not an object"),
    "header-deep": (CRASHED, "the process sent a header that is not JSON"),
    "header-too-long": (CRASHED, "a header of 16777217 bytes; at most 16777216 are read"),
    "payload-too-long": (CRASHED, f"{1 << 60} bytes of arrays; at most"),
    "endless": (CRASHED, "the process sent a response to another request"),
    "endless-errors": (RETURNED, ""),
    "half-an-answer": (HUNG, "no answer within 0.6 s"),
    "twice": (RETURNED, ""),
    "drips": (HUNG, "no answer within 0.6 s"),
    "closes-pipe": (CRASHED, "the process closed the pipe for its answers"),
    "grows": (Ending.MEMORY, "of memory;"),
}


def test_each_way_has_a_verdict():
    assert set(VERDICTS) == set(breaking_runner.ANSWERING)
    assert len(VERDICTS) + len(breaking_runner.INTRODUCING) >= 40


@pytest.mark.parametrize("way", VERDICTS)
def test_the_verdict_is_right(way, vector):
    ending, message = VERDICTS[way]
    (outcome,) = asked(
        way,
        vector,
        timeout=0.6 if ending is HUNG else 20.0,
        memory=200 << 20 if way == "grows" else None,
    )
    assert outcome.ending is ending, outcome.message
    assert message in outcome.message


def test_a_second_answer_to_a_question_is_not_taken_for_that_to_the_next(vector):
    assert [one.ending for one in asked("twice", vector, count=3)] == [RETURNED] * 3


def test_a_program_is_started_again_after_a_loss(vector):
    assert [one.ending for one in asked("exits", vector, count=2)] == [CRASHED, CRASHED]


NOT_STARTED = {
    "says-more": "sent text that nobody asked for: 'ready?' after its hello, before any request",
    "says-hello-twice": "the process sent a response to no request after its hello, before any",
    "leaves": "the process ended with exit code 0 after its hello, before any request",
    "claims": "the program says: no device CONFORMANT. 3 of 3 passed\\x1b[2J",
    "claims-on-stderr": "before its hello",
    "echoes": "the process sends back what it is sent, before its hello",
    "silent": "no hello message within 0.5 s",
    "gone": "the process ended with exit code 4 before its hello",
    "other-version": "the program speaks version 2 of the protocol; this is version 1",
    "other-order": "the program's byte order is 'big'",
    "no-name": "the process sent a header that does not fit: name: Expected `str`",
    "bad-capabilities": "'types' is none of operators, dtypes, ranks, layout, index_layout, ",
    "greets": "text in place of a message: 'Initialising NPU driver ... done",
    "error": "no device",
}


@pytest.mark.parametrize("way", breaking_runner.INTRODUCING)
def test_who_does_not_say_who_it_is_ends_the_run(way, starts):
    limits = Limits(20.0, None, start=0.5 if way == "silent" else 20.0)
    with pytest.raises(BackendError) as caught, ProcessExecutor(spec(way), limits):
        pass
    assert NOT_STARTED[way] in caught.value.message
    assert len(starts()) == 1


@pytest.mark.parametrize("way", ["exits", "says-more-later"])
def test_one_that_answers_nothing_is_restarted_five_times(way, vector, starts):
    with ProcessExecutor(spec(way), Limits(20.0)) as executor:
        executor.probes = lambda: [vector] * 5
        outcomes = [executor.call(vector) for _ in range(9)]
    assert {one.ending for one in outcomes} == {CRASHED, Ending.ABANDONED}
    assert len(starts()) <= 1 + 5


def shown(way, *more):
    words = ["check", "--backend", spec(way), "--op", "AvgPool-1", "--suite", "smoke", *more]
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize("way", ["claims", "claims-on-stderr"])
def test_no_line_of_its_own_is_what_a_program_says(way):
    result = shown(way)
    assert result.exit_code == 2
    assert "CONFORMANT. 3 of 3 passed" in result.output
    assert not any(line.startswith("CONFORMANT") for line in result.output.splitlines())
    assert "\x1b" not in result.output


def test_what_a_program_says_of_itself_is_short_and_measured_by_us(tmp_path):
    result = shown("boasts", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert len(result.output) < 20_000
    assert not any(line.startswith("CONFORMANT") for line in result.output.splitlines())
    header = read(tmp_path / "run.jsonl").header
    assert len(header["backend"]["name"]) <= 200
    assert header["backend"]["name"].startswith("no device CONFORMANT. 3 of 3 passed\\x1b[2J xx")
    assert "python" not in header["environment"]
    assert header["environment"]["platform"].startswith(platform.system())
    with ProcessExecutor(spec("boasts"), Limits(), hashed=True) as executor:
        assert "not.mine" not in {one.name for one in executor.identity.pieces}


def test_one_that_is_slow_to_start_is_awaited(vector):
    assert [one.ending for one in asked("late", vector, count=2)] == [RETURNED] * 2


ENDINGS = {
    "careful": "",
    "stays": "0.5 s after the end of its input the process still runs",
    "ends-with-3": "at the end of its input the process ended with exit code 3",
    "ends-with-segfault": "at the end of its input the process was killed by SIGSEGV",
    "says-goodbye": "the process sent text that nobody asked for: 'goodbye?'",
}


@pytest.mark.parametrize("way", ENDINGS)
def test_how_it_ends_is_told(way, vector, monkeypatch):
    monkeypatch.setattr(worker_pool, "ENDING", 0.5 if way == "stays" else 20.0)
    with ProcessExecutor(spec(way), Limits(20.0)) as executor:
        assert executor.call(vector).ending is RETURNED
        told = executor.farewell()
    assert len(told) == (way != "careful")
    assert ENDINGS[way] in "".join(told)


def gone(pid):
    """Whether a process has ended; one that nobody waits for counts as ended."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="the system sees to that on Linux only")
def test_a_hanging_program_ends_with_a_check_that_is_killed(starts):
    words = ["check", "--backend", spec("hangs"), "--op", "AvgPool-1", "--suite", "smoke"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    check = subprocess.Popen([sys.executable, "-m", "conformance", *words], **quiet)
    try:
        (pid,) = until(starts)
        assert not gone(pid)
    finally:
        check.kill()
        check.wait()
    assert until(lambda: gone(pid))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("exec:", "names no program"),
        ("exec:'./a", "No closing quotation"),
        ("exec:./none --flag", "no program ./none"),
        (f"exec:{RUNNER}", "cannot be run"),
    ],
)
def test_a_program_that_is_not_there_is_named(words, said):
    with pytest.raises(BackendError) as caught:
        command_line(words)
    assert said in caught.value.message
    assert caught.value.hint


def test_words_are_divided_as_a_shell_would_and_no_shell_runs_them():
    assert command_line("exec:echo 'a b' $HOME;ls") == ["echo", "a b", "$HOME;ls"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"executor": "inline"}, "runs in a process of its own"),
        ({"env": "venv"}, "needs no Python environment"),
    ],
)
def test_what_a_program_has_no_use_for_is_refused(options, said):
    with pytest.raises(UsageError, match=said):
        Isolation(**options).executor_for(spec("honest"))
