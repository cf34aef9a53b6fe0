from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import click
import pytest
import tiers
from click.testing import CliRunner

from conformance.cli import COMMANDS, main
from conformance.log.reader import read

ADAPTER = """
from conformance.backends.reference import Reference

class Mine(Reference):
    name = "mine"
    def run(self, op, inputs, attributes):
        outputs = super().run(op, inputs, attributes)
        return {returned}
"""


@pytest.fixture
def check(small_suite):
    """Runs ``conformance check`` on the small suite in this process."""

    def run(*arguments, suite=small_suite.path):
        words = ["check", "--suite", str(suite), *map(str, arguments)]
        return CliRunner().invoke(main, words)

    return run


@pytest.fixture
def adapter(tmp_path):
    """A file with a backend that returns what an expression makes of the right ``outputs``."""

    def write(returned):
        file = tmp_path / "mine.py"
        file.write_text(ADAPTER.format(returned=returned))
        return f"{file}:Mine"

    return write


class TestExitCodes:
    def test_conformant(self, check):
        shown = check("--backend", "reference", "--level", "should", "--precision", "exact")
        assert shown.exit_code == 0
        claim = shown.stdout.splitlines()[-1]
        assert claim.startswith("reference ")
        assert "conformant with" in claim
        facts = "(should, exact), strength 100 %, measured at standard, suite small, 5 of 5 graded"
        assert facts in claim

    @pytest.mark.parametrize(
        "returned",
        tiers.first(
            [
                "[outputs[0] + 1, *outputs[1:]]",
                "[]",
                "None",
                "[o.astype('f8') for o in outputs]",
                "1 / 0",
                "exit()",
            ]
        ),
    )
    def test_not_conformant(self, check, adapter, returned):
        shown = check("--backend", adapter(returned))
        assert shown.exit_code == 1
        assert "NOT conformant" in shown.stdout.splitlines()[-1]
        assert re.search(r"Causes \(1( unexplained failure group)?\), worst first", shown.stdout)
        assert "--only" in shown.stdout

    def test_what_nobody_can_explain_comes_with_a_search(self, check, adapter, tmp_path):
        """As it was asked; and it is no reason in a file of known failures."""
        backend = adapter("[outputs[0] + 1, *outputs[1:]]")
        how = ["--backend", backend, "--precision", "exact", "--level", "should"]
        shown = check(*how, "--op", "AvgPool-1", "--out", tmp_path, "--timeout", "20")
        search = shlex.join(["conformance", "fuzz", *how[:2], *how[4:], *how[2:4]])
        search += " --op AvgPool-1"
        told = shown.stdout.partition("search for smaller cases\n")[2].partition("\n\n")[0]
        assert shlex.join(shlex.split(told.replace("\\\n", ""))) == search
        page = (tmp_path / "index.html").read_text()
        assert "Search for smaller cases" in page
        log, known = tmp_path / "run.jsonl", tmp_path / "known.yaml"
        CliRunner().invoke(main, ["baseline", "--from", str(log), "--out", str(known)])
        assert "AvgPool-1" in known.read_text()
        assert "fuzz" not in known.read_text()

    @pytest.mark.parametrize(
        ("arguments", "hint"),
        [
            (["--backend", "refrence"], "reference"),
            (["--backend", "reference", "--op", "AvgPool-2"], "AvgPool-1"),
            (["--backend", "reference", "--only", "zzz"], "looks like"),
            (["--backend", "reference", "--precision", "f32=exakt"], "exact"),
            (["--backend", "missing.py:Mine"], "missing.py"),
            (["--backend", "reference", "--out", "-"], "--out -: this is a folder, not"),
            (["--backend", "reference", "--suite", ""], "the name of the suite is empty"),
            (["--backend", "reference", "--shard", "1/100000"], "selected vectors, 100,000 shards"),
        ],
    )
    def test_wrong_usage_has_a_message_and_a_hint(self, check, arguments, hint):
        shown = check(*arguments)
        assert shown.exit_code == 2
        assert shown.stdout == ""
        assert shown.stderr.startswith("error: ")
        assert hint in shown.stderr
        assert "Traceback" not in shown.stderr

    @pytest.mark.parametrize("arguments", [[], ["--backend", "reference", "--level", "may"]])
    def test_wrong_options(self, check, arguments):
        assert check(*arguments).exit_code == 2

    def test_a_defect_asks_for_a_report(self, check, monkeypatch):
        def broken(*arguments, **options):
            raise ZeroDivisionError("of ours")

        monkeypatch.setattr("conformance.api.check", broken)
        shown = check("--backend", "reference")
        assert shown.exit_code == 3
        assert "ZeroDivisionError: of ours" in shown.stderr
        assert "Please report it" in shown.stderr


class TestSuiteDigest:
    """A gate may pin the suite that it was made for."""

    WORDS = ("--backend", "reference", "--suite-digest")

    def test_the_first_digits_are_enough(self, check, small_suite):
        assert check(*self.WORDS, small_suite.digest[:8]).exit_code == 0

    def test_another_suite_fails_before_anything_is_tested(self, check, small_suite):
        shown = check(*self.WORDS, "0123abcd")
        assert shown.exit_code == 2
        assert f"the suite has the digest {small_suite.digest[:8]}, not 0123abcd" in shown.stderr
        assert shown.stdout == ""

    @pytest.mark.parametrize("digest", ["", "0123abc", "0123ABCD", "g" * 8, "0" * 65])
    def test_what_is_no_digest(self, check, digest):
        shown = check(*self.WORDS, digest)
        assert shown.exit_code == 2
        assert "is not 8 to 64 hexadecimal digits" in shown.stderr


class TestReport:
    def test_without_it_no_file_is_written(self, command, small_suite, tmp_path):
        shown = command("check", "--backend", "reference", "--suite", small_suite.path)
        assert shown.returncode == 0
        assert list(tmp_path.iterdir()) == []

    def test_the_log_and_the_page(self, check, adapter, tmp_path):
        how = ("--backend", adapter("outputs[::-1]"), "--executor", "inline")
        shown = check(*how, "--out", tmp_path / "out")
        assert shown.exit_code == 1
        assert {file.name for file in (tmp_path / "out").iterdir()} == {"run.jsonl", "index.html"}
        run = read(tmp_path / "out" / "run.jsonl")
        assert run.problems == ()
        assert run.verdict == "not conformant"
        assert len(run.results) == 8
        assert run.footer["claim"] == shown.stdout.splitlines()[-1]
        assert str(tmp_path / "out" / "index.html") in shown.stderr

    def test_a_wrong_question_leaves_an_earlier_report_alone(self, check, tmp_path):
        check("--backend", "reference", "--out", tmp_path)
        before = {file: file.read_bytes() for file in tmp_path.iterdir()}
        assert before
        assert check("--backend", "reference", "--op", "No-1", "--out", tmp_path).exit_code == 2
        assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before

    def test_a_run_that_dies_leaves_no_earlier_page_beside_its_log(
        self, check, adapter, tmp_path, small_suite
    ):
        report = tmp_path / "report"
        check("--backend", "reference", "--out", report)
        killed = subprocess.run(
            [
                *(sys.executable, "-c", "from conformance.cli import main; main()", "check"),
                *("--suite", small_suite.path, "--out", report),
                *("--backend", adapter("__import__('os')._exit(0)")),
                *("--executor", "inline"),
            ],
            capture_output=True,
            check=False,
        )
        assert killed.returncode == 0
        assert [file.name for file in report.iterdir()] == ["run.jsonl"]
        assert read(report / "run.jsonl").verdict == "cut short"

    def test_a_folder_that_cannot_be_written(self, check, tmp_path):
        (tmp_path / "file").write_text("")
        shown = check("--backend", "reference", "--out", tmp_path / "file" / "under")
        assert shown.exit_code == 2
        assert "hint: " in shown.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")
class TestProcess:
    def test_an_interrupted_run_says_what_it_found(self, small_suite, adapter, tmp_path):
        report = tmp_path / "report"
        spec = adapter("[o + 1 for o in outputs if not __import__('time').sleep(0.3)]")
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", "from conformance.cli import main; main()", "check"),
                *("--suite", small_suite.path, "--out", report, "--backend", spec),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        log = report / "run.jsonl"
        deadline = time.monotonic() + 30
        while not (log.exists() and log.read_text().count("\n") >= 2):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "no claim" in stdout.splitlines()[-1]
        run = read(log)
        assert run.footer["interrupted"] is True
        assert run.problems == ()
        assert 1 <= len(run.results) < 8
        assert run.findings
        assert (report / "index.html").exists()

    def test_a_reader_that_stops_is_no_defect(self, small_suite):
        read_end, write_end = os.pipe()
        os.close(read_end)
        with os.fdopen(write_end, "w") as closed:
            shown = subprocess.run(
                [
                    *(sys.executable, "-c", "from conformance.cli import main; main()", "check"),
                    *("--suite", small_suite.path, "--backend", "reference"),
                ],
                stdout=closed,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert shown.returncode == 141
        assert shown.stderr == ""


class TestHelp:
    def test_the_group_loads_no_command(self):
        code = (
            "import sys\nfrom conformance.cli import main\n"
            "main(['--help'], standalone_mode=False)\n"
            "print(json.dumps([m for m in sys.modules if m in ('numpy', 'yaml', 'jinja2')]))"
        )
        shown = subprocess.run(
            [sys.executable, "-c", "import json\n" + code],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Start here" in shown.stdout
        assert json.loads(shown.stdout.splitlines()[-1]) == []

    @pytest.mark.parametrize("name", COMMANDS)
    def test_each_command_explains_itself_as_the_group_says(self, name):
        command = main.get_command(None, name)
        first = command.help.splitlines()[0]
        assert first == COMMANDS[name]
        shown = CliRunner().invoke(main, [name, "--help"])
        assert shown.exit_code == 0
        assert isinstance(command, click.Group) or "  conformance " in shown.stdout

    def test_a_misspelt_command(self):
        shown = CliRunner().invoke(main, ["chekc"])
        assert shown.exit_code == 2
        assert "did you mean 'check'?" in shown.stderr

    def test_backends_are_listed_without_their_frameworks(self, command):
        shown = command("backends")
        assert shown.returncode == 0
        for name in ("numpy", "onnx-reference", "onnxruntime", "openvino", "reference", "torch"):
            assert name in shown.stdout
