"""The GitHub Action: well formed, no input in a script, and the script run as a runner runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from runner import commands

from conformance.cli.check import check as check_command
from conformance.log.reader import read

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
CHECK = next(step for step in STEPS if step.get("id") == "check")
OPTIONS = {option for parameter in check_command.params for option in parameter.opts}

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the action needs bash")


def texts(value):
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


class TestFile:
    def test_valid_by_the_schema_of_actions(self):
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
        command += ["vendor.github-actions", str(ROOT / "action.yml")]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        assert shown.returncode == 0, shown.stdout + shown.stderr

    def test_every_input_is_declared_and_used(self):
        used = set(re.findall(r"inputs\.([\w-]+)", "\n".join(texts([STEPS, ACTION["outputs"]]))))
        assert used == set(ACTION["inputs"])
        for declared in ACTION["inputs"].values():
            assert isinstance(declared["default"], str)
            assert declared["description"]

    def test_scripts_have_no_expressions_and_every_variable_that_they_use(self):
        for step in (step for step in STEPS if "run" in step):
            assert "${{" not in step["run"]
            assert step["shell"] == "bash"
            used = set(re.findall(r"\$\{?([A-Z_]+)", step["run"]))
            runner = {"GITHUB_ACTION_PATH", "GITHUB_OUTPUT"}
            given = set(step["env"]) - {"CONFORMANCE_CACHE"}  # the command reads it
            assert used - runner == given

    def test_every_option_is_one_of_the_command(self):
        assert set(re.findall(r"\((--[a-z-]+)=?", CHECK["run"])) - {"--out"} <= OPTIONS
        assert set(re.findall(r"check (--[a-z-]+)=", CHECK["run"])) <= OPTIONS

    def test_bash_understands_the_scripts(self):
        for step in (step for step in STEPS if "run" in step):
            shown = subprocess.run(
                ["bash", "-n"], input=step["run"], capture_output=True, text=True, check=False
            )
            assert shown.returncode == 0, shown.stderr


class Ran:
    def __init__(self, process, folder):
        self.code = process.returncode
        self.output = process.stdout
        self.commands = commands(process.stdout)
        self.report = folder / "conformance-report"
        self.outputs = (folder / "output").read_text() if (folder / "output").exists() else ""
        summary = folder / "summary"
        self.summary = summary.read_text("utf-8") if summary.exists() else ""


@pytest.fixture
def step(tmp_path, small_suite):
    """Runs the script of the check step with some inputs, as a runner of GitHub Actions does."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    tool = bin_folder / "conformance"
    tool.write_text(
        f"#!/bin/sh\nexec '{sys.executable}' -c 'from conformance.cli import main; main()' \"$@\"\n"
    )
    tool.chmod(0o755)
    (tmp_path / "script").write_text(CHECK["run"])
    work = tmp_path / "work dir"
    work.mkdir()

    def run(**given):
        inputs = {name: spec["default"] for name, spec in ACTION["inputs"].items()}
        inputs |= {"suite": str(small_suite.path)}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        environment = {
            variable: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]], text)
            for variable, text in CHECK["env"].items()
        }
        process = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(tmp_path / "script")],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=work,
            timeout=120,
            check=False,
            env={
                **os.environ,
                **environment,
                "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_OUTPUT": str(work / "output"),
                "GITHUB_STEP_SUMMARY": str(work / "summary"),
            },
        )
        return Ran(process, work)

    run.folder = work
    return run


def backend(step, body, name="mine.py"):
    (step.folder / name).write_text(
        "from conformance import Unsupported\n"
        "from conformance.backends.reference import Reference\n\n"
        "class Mine(Reference):\n    name = 'mine'\n"
        f"    def run(self, op, inputs, attributes):\n        {body}\n"
    )
    return f"{name}:Mine"


class TestScript:
    def test_conformant(self, step):
        ran = step(backend="reference")
        assert ran.code == 0, ran.output
        assert ran.outputs == "exit-code=0\n"
        assert {file.name for file in ran.report.iterdir()} == {
            *("run.jsonl", "index.html", "junit.xml", "conformance.sarif", "report.json"),
            "badge.json",
        }
        assert ran.summary.startswith("## ✅ Conformant: reference")
        assert [command.name for command in ran.commands] == ["notice"]

    @pytest.mark.exhaustive
    def test_not_conformant(self, step):
        ran = step(
            backend=backend(step, "return [x + 1 for x in super().run(op, inputs, attributes)]")
        )
        assert ran.code == 1
        assert ran.outputs == "exit-code=1\n"
        assert "❌ Not conformant" in ran.summary
        assert {command.name for command in ran.commands} == {"error", "notice"}
        assert ran.commands[0].properties["file"] == "mine.py"
        assert json.loads((ran.report / "badge.json").read_text())["color"] == "red"

    def test_everything_unsupported(self, step):
        ran = step(backend=backend(step, "raise Unsupported('not yet')"))
        assert ran.code == 1
        assert ran.commands[0].data.startswith("No values graded")

    @pytest.mark.parametrize(
        "inputs",
        [{"backend": "missing.py:Mine"}, {"backend": "reference", "op": "No-1"}, {"backend": ""}],
    )
    def test_wrong_usage(self, step, inputs):
        ran = step(**inputs)
        assert ran.code == 2
        (error,) = ran.commands
        assert (error.name, error.data) == ("error", "no vector was checked (exit code 2)")
        assert ran.outputs == "exit-code=2\n"

    @pytest.mark.exhaustive
    def test_a_log_of_an_earlier_step_is_not_shown_again(self, step):
        assert step(backend="reference").code == 0
        ran = step(backend="missing.py:Mine")
        assert ran.code == 2
        assert not (ran.report / "run.jsonl").exists()

    def test_inputs_become_arguments_word_for_word(self, step):
        ran = step(
            backend="reference",
            op="AvgPool-1\n  AdaptiveAvgPool-8",
            level="should",
            precision="exact",
            args="--only\nf32\n\n",
        )
        assert ran.code == 0, ran.output
        options = read(ran.report / "run.jsonl").header["options"]
        assert options["ops"] == ["AvgPool-1", "AdaptiveAvgPool-8"]
        assert (options["level"], options["only"]) == ("should", ["f32"])
        assert set(options["precision"].values()) == {"exact"}

    @pytest.mark.parametrize("name", ["backend", "op", "args", "suite", "merge", "shard", "only"])
    def test_no_input_is_run_by_the_shell(self, step, name):
        text = "$(touch hacked)`touch hacked`'; touch hacked; '\"; touch hacked; \""
        ran = step(**{"backend": "reference", name: text})
        assert ran.code == 2
        assert not any(file.name == "hacked" for file in step.folder.rglob("*"))

    @pytest.mark.exhaustive
    def test_what_a_backend_prints_is_no_command(self, step):
        lines = r"\n::error::one\n##[error]two\n::add-mask::e\n::stop-commands::x\n::x::\n"
        ran = step(
            backend=backend(step, f"print('{lines}', end='::'); raise ValueError('{lines}')")
        )
        assert ran.code == 1
        assert "::add-mask::e" in ran.output
        assert {command.name for command in ran.commands} == {"error", "notice"}
        assert not {"one", "two"} & {command.data for command in ran.commands}

    def test_a_check_that_is_killed_keeps_its_exit_code_and_is_red(self, step):
        body = "import os; os.kill(os.getpid(), 9)"
        ran = step(backend=backend(step, body), args="--executor\ninline")
        assert ran.code == 137
        assert read(ran.report / "run.jsonl").footer is None
        assert ran.commands[0].name == "error"
        assert ran.commands[0].data.startswith("Cut short")
        assert "❌" in ran.summary

    def test_success_without_a_log_is_a_failure(self, step):
        ran = step(backend="reference", args="--help")
        assert ran.code == 3
        assert ran.commands[0].data == "no vector was checked (exit code 0)"

    def test_shards_and_their_merge(self, step):
        for number in (1, 2):
            step(backend="reference", shard=f"{number}/2", report=f"shards/{number} of 2")
        ran = step(merge="shards/*/run.jsonl\nshards/none*.jsonl")
        assert ran.code == 0, ran.output
        assert "✅ Conformant" in ran.summary
        assert len(read(ran.report / "run.jsonl").results) == 8
        missing = step(merge="shards/1*/run.jsonl")
        assert missing.code == 2
        assert missing.commands[-1].name == "error"
