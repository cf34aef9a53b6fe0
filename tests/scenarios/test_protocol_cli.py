"""`conformance protocol`: a program is told what it does wrong before it is graded."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.run import protocol_checks

ROOT = Path(__file__).parents[2]
RUNNER = ROOT / "tests" / "run" / "breaking_runner.py"

CHECKS = (
    *("hello", "unknown operator", "AvgPool-1 in f32", "several requests", "pieces"),
    *("other members", "large array", "empty array", "rank 0", "end of input"),
)


@pytest.fixture(scope="module")
def ways():
    spec = importlib.util.spec_from_file_location("runner_ways", RUNNER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def examined(way, timeout=1.0):
    words = shlex.join([sys.executable, "-S", "-E", str(RUNNER), way])
    shown = CliRunner().invoke(main, ["protocol", "test", words, "--timeout", str(timeout)])
    lines = shown.stdout.splitlines()
    found = {}
    for line in lines:
        mark, rest = line[:8].strip(), line[8:]
        if mark:
            found[rest[:33].strip()] = (mark, rest[33:].strip())
    return shown, found


def test_a_careful_runner_passes_all():
    shown, found = examined("careful", timeout=20)
    assert shown.exit_code == 0, shown.stdout
    assert tuple(found) == CHECKS
    assert {mark for mark, _ in found.values()} == {"ok"}


def test_an_unknown_operator_is_unsupported():
    shown, found = examined("honest", timeout=20)
    assert shown.exit_code == 1
    failed = {name: said for name, (mark, said) in found.items() if mark == "FAILED"}
    assert failed == {
        "unknown operator": "the answer is 'returned', not 'unsupported', and would count as a "
        "refusal in a negative test"
    }


def up_to(last, checks, *arguments):
    """The checks of a program up to that of a name."""
    for one in checks(*arguments):
        yield one
        if one.name == last:
            return


@pytest.mark.parametrize(
    ("way", "check", "said"),
    [
        ("silent", "hello", "no hello message within 1 s"),
        ("gone", "hello", "no hello message: the process ended with exit code 4"),
        ("greets", "hello", "it sent text in place of a message: 'Initialising NPU driver"),
        ("prints", "AvgPool-1 in f32", "it sent text in place of a message: 'computing"),
        ("raises", "AvgPool-1 in f32", "the program declares this case, and answers 'raised'"),
        ("other-number", "several requests", "a response to another request"),
        ("segfault", "large array", "there is no answer: the process was killed by SIGSEGV"),
        ("stays", "end of input", "the process still runs; return 0 from main at the end of input"),
        ("says-more", "hello", "text that nobody asked for: 'ready?' after its hello, before any"),
        ("leaves", "hello", "exit code 0 after its hello, before any request; read requests until"),
        ("echoes", "hello", "the process sends back what it is sent, as cat does"),
        ("half-an-answer", "pieces", "there is no answer within 1 s; "),
    ],
)
def test_what_is_wrong_is_told(ways, way, check, said, monkeypatch):
    assert way in {**ways.ANSWERING, **ways.INTRODUCING} or way in ways.LEAVING
    if way == "half-an-answer":  # each check waits a second for the other half: no more than needed
        monkeypatch.setattr(
            protocol_checks, "checks", partial(up_to, check, protocol_checks.checks)
        )
    shown, found = examined(way)
    assert shown.exit_code == 1
    mark, text = found[check]
    assert mark == "FAILED"
    assert said in text


def test_a_program_that_is_not_there_is_an_error():
    shown = CliRunner().invoke(main, ["protocol", "test", "./no-such-runner"])
    assert shown.exit_code == 2
    assert "no program ./no-such-runner" in shown.stderr


def test_the_header_is_the_one_of_the_clients(tmp_path):
    header = (ROOT / "clients" / "c" / "conformance.h").read_text()
    assert CliRunner().invoke(main, ["protocol", "header"]).stdout == header
    CliRunner().invoke(main, ["protocol", "header", "--out", str(tmp_path / "conformance.h")])
    assert (tmp_path / "conformance.h").read_text() == header


class TestOtherCommands:
    @pytest.fixture
    def backend(self):
        return f"exec:{shlex.join([sys.executable, '-S', '-E', str(RUNNER), 'raises'])}"

    def test_a_script_reproduces_a_failure_without_the_package(self, backend, tmp_path):
        script = tmp_path / "wrong.py"
        words = ["repro", "f32-1x1x1x1-nan-470c9d17", "--backend", backend, "--out", str(script)]
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 0, shown.output
        assert "it exits with 1" in shown.stderr
        text = script.read_text()
        assert "import conformance" not in text
        assert "tested on runner 1" in text

    def test_a_script_whose_program_does_not_start_tests_nothing(self, tmp_path):
        runner, script = tmp_path / "runner.py", tmp_path / "wrong.py"
        shutil.copy(RUNNER, runner)
        backend = f"exec:{shlex.join([sys.executable, '-S', '-E', str(runner), 'raises'])}"
        words = ["repro", "f32-1x1x1x1-nan-470c9d17", "--backend", backend, "--out", str(script)]
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 0, shown.output
        runner.unlink()
        ends_early = subprocess.run([sys.executable, script], capture_output=True, text=True)
        text = script.read_text()
        call = f"started([{sys.executable!r}"
        assert call in text
        script.write_text(text.replace(call, "started(['no-such-program'"))
        missing = subprocess.run([sys.executable, script], capture_output=True, text=True)
        for ended in (ends_early, missing):
            assert ended.returncode == 2, ended.stdout
            assert "nothing was tested" in ended.stdout
            assert "WRONG" not in ended.stdout

    def test_a_suite_is_audited_for_what_a_program_declares(self, backend):
        words = ["suite", "audit", "--backend", backend, "--op", "AvgPool-1", "--suite", "smoke"]
        shown = CliRunner().invoke(main, words)
        assert "selected part" in shown.stdout, shown.output

    def test_a_matrix_has_a_column_for_it(self, backend, small_suite, tmp_path):
        words = [
            *("matrix", "--backend", f"mine={backend}", "--op", "AvgPool-1"),
            *("--suite", str(small_suite.path), "--out", str(tmp_path / "out")),
        ]
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 1, shown.output
        assert "mine" in shown.stdout
