"""Nothing was checked, so nothing is green: each way in which that can happen, by its exit code.

Some of them end a command (2, wrong usage or damaged input), some a run (1, nothing graded or not
conformant). None ends with 0, and none makes a claim.
"""

from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

from conformance.cli import main

NOTHING, USAGE, DEFECT = 1, 2, 3


@pytest.fixture
def check(small_suite, tmp_path):
    """Runs ``conformance check`` with a backend given as code, or by name."""

    def run(*more, code=None, suite=small_suite.path):
        if code is not None:
            (tmp_path / "mine.py").write_text(code)
            more = ("--backend", f"{tmp_path / 'mine.py'}:run", *more)
        elif "--backend" not in more:
            more = ("--backend", "reference", *more)
        return CliRunner().invoke(main, ["check", "--suite", str(suite), *map(str, more)])

    return run


def nothing_claimed(shown, exit_code):
    assert shown.exit_code == exit_code, shown.output
    assert "Traceback" not in shown.output
    if exit_code == USAGE:
        assert shown.stdout == ""
        assert "hint: " in shown.stderr
    else:
        assert ": conformant with" not in shown.stdout
        assert "CONFORMANT." not in shown.stdout.replace("NOT CONFORMANT.", "")
        claim = shown.stdout.splitlines()[-1]
        assert (
            "NOT conformant with" in claim
            or "no claim (nothing graded)" in claim
            or ("no claim (a selection of vectors)" in claim)
        )


def test_this_is_what_green_looks_like(check):
    shown = check()
    assert shown.exit_code == 0
    assert ": conformant with" in shown.stdout


class TestSuite:
    def test_empty_folder_or_none(self, check, tmp_path):
        (tmp_path / "empty").mkdir()
        nothing_claimed(check(suite=tmp_path / "empty"), USAGE)
        nothing_claimed(check(suite=tmp_path / "none"), USAGE)

    @pytest.mark.parametrize(
        "change",
        [
            lambda d: d.update(vectors=[], counts={}, edges={}, faults={}),
            lambda d: d.update(withdrawn={v["id"]: "wrong" for v in d["vectors"]}),
        ],
        ids=["no vectors", "all withdrawn"],
    )
    def test_without_vectors(self, check, small_suite, tmp_path, change):
        shutil.copytree(small_suite.path, tmp_path / "suite")
        file = tmp_path / "suite" / "manifest.json"
        document = json.loads(file.read_bytes())
        change(document)
        file.write_text(json.dumps(document))
        shown = check(suite=tmp_path / "suite")
        nothing_claimed(shown, USAGE)
        assert "no vectors" in shown.stderr

    def test_of_refusals_alone(self, check):
        """Vectors that must be rejected are no proof of a single right value."""
        shown = check("--only", "f32-0x1x4x4", "--only", "f32-1x1x4x4-reject", "--level", "should")
        nothing_claimed(shown, NOTHING)
        assert "NO VALUES GRADED" in shown.stdout


class TestFilter:
    @pytest.mark.parametrize(
        "more",
        [
            ("--op", "AvgPool-2"),
            ("--op", ""),
            ("--only", "nothing"),
            ("--only", ""),
            ("--op", "AvgPool-1", "--only", "f16-"),
            ("--only", "f32-", "--only", "nothing"),
            ("--shard", "9/9"),
            ("--shard", "0/2"),
            ("--op", "AdaptiveMaxPool-8", "--shard", "2/2"),
        ],
    )
    def test_that_matches_nothing(self, check, more):
        nothing_claimed(check(*more), USAGE)

    def test_a_level_that_leaves_nothing(self, check):
        """The only vector is of level should: at must it is not asked."""
        shown = check("--only", "f32-0x1x4x4")
        nothing_claimed(shown, NOTHING)

    def test_a_selection_makes_no_claim(self, check):
        shown = check("--only", "f32-")
        assert shown.exit_code == 0
        assert "no claim (a selection of vectors)" in shown.stdout.splitlines()[-1]


class TestBackend:
    @pytest.mark.parametrize(
        "body",
        [
            "raise Unsupported('not yet')",
            "raise NotImplementedError",
            "pass",
            "return None",
            "return []",
            "return ()",
            "return {}",
            "return iter([])",
            "return ''",
            "return [None]",
            "return list(inputs)",
            "return [np.array([])]",
            "return [np.zeros(0, a.dtype) for a in inputs]",
            "exit()",
            "raise SystemExit(0)",
        ],
    )
    def test_that_answers_nothing(self, check, body):
        code = (
            "import numpy as np\nfrom conformance import Unsupported\n"
            f"def run(op, inputs, attributes):\n    {body}\n"
        )
        # In this process where it can be: that takes less time.
        executor = "process" if "exit" in body.lower() else "inline"
        nothing_claimed(check("--executor", executor, code=code), NOTHING)

    @pytest.mark.parametrize("declared", ["operators=()", "dtypes=()", "ranks=()"])
    def test_that_declares_that_it_supports_nothing(self, check, declared):
        code = (
            "from conformance.backends.capabilities import Capabilities\n"
            "class Mine:\n"
            "    name = version = 'mine'\n"
            f"    capabilities = Capabilities({declared})\n"
            "    def run(self, op, inputs, attributes):\n        raise AssertionError\n"
            "run = Mine()\n"
        )
        shown = check(code=code)
        nothing_claimed(shown, NOTHING)

    @pytest.mark.parametrize("code", ["", "run = None\n", "run = 3\n", "def run(:\n", "exit(0)\n"])
    def test_that_is_none(self, check, code):
        nothing_claimed(check(code=code), USAGE)

    def test_that_is_nowhere(self, check):
        nothing_claimed(check("--backend", "nothing"), USAGE)


class TestLog:
    def test_that_contradicts_itself(self, check, monkeypatch):
        """A run that went wrong in this tool is not what the footer makes of it."""
        monkeypatch.setattr("conformance.api.contradictions", lambda run: ["It cannot be."])
        shown = check()
        assert shown.exit_code == DEFECT
        assert "CONFORMANT." not in shown.stdout

    @pytest.fixture
    def lines(self, check, tmp_path):
        assert check("--out", tmp_path / "whole").exit_code == 0
        return (tmp_path / "whole" / "run.jsonl").read_bytes().splitlines(keepends=True)

    def report(self, folder, content):
        folder.mkdir(exist_ok=True)
        (folder / "run.jsonl").write_bytes(content)
        return CliRunner().invoke(main, ["report", str(folder / "run.jsonl")])

    def test_cut_short_anywhere(self, lines, tmp_path):
        assert self.report(tmp_path / "log", b"".join(lines)).exit_code == 0
        for there in range(len(lines)):
            for more in (b"", lines[there][:-1]):
                shown = self.report(tmp_path / "log", b"".join(lines[:there]) + more)
                assert shown.exit_code == USAGE
                assert ": conformant with" not in shown.output

    def test_without_any_one_result(self, lines, tmp_path):
        for gone in range(1, len(lines) - 1):
            shown = self.report(tmp_path / "log", b"".join(lines[:gone] + lines[gone + 1 :]))
            assert shown.exit_code == USAGE
            assert ": conformant with" not in shown.output

    def test_of_a_header_and_a_green_footer(self, lines, tmp_path):
        shown = self.report(tmp_path / "log", lines[0] + lines[-1])
        assert shown.exit_code == USAGE
        assert ": conformant with" not in shown.output

    def test_to_resume_from_that_is_another_green_run(self, check, lines, tmp_path):
        assert lines
        more = ("--level", "should", "--out", tmp_path / "whole", "--resume")
        nothing_claimed(check(*more), USAGE)


class TestShards:
    @pytest.fixture
    def logs(self, check, tmp_path):
        for k in (1, 2, 3):
            shown = check("--shard", f"{k}/3", "--out", tmp_path / str(k))
            assert shown.exit_code == 0
            assert ": conformant with" not in shown.stdout
        return [tmp_path / str(k) / "run.jsonl" for k in (1, 2, 3)]

    def merge(self, small_suite, tmp_path, *logs):
        words = ["merge", *map(str, logs), "--out", str(tmp_path / "all")]
        return CliRunner().invoke(main, [*words, "--suite", str(small_suite.path)])

    def test_a_missing_shard(self, small_suite, tmp_path, logs):
        shown = self.merge(small_suite, tmp_path, *logs)
        assert shown.exit_code == 0
        assert ": conformant with" in shown.stdout
        for gone in range(3):
            shown = self.merge(small_suite, tmp_path, *logs[:gone], *logs[gone + 1 :])
            nothing_claimed(shown, USAGE)

    def test_a_shard_that_was_cut_short(self, small_suite, tmp_path, logs):
        lines = logs[1].read_bytes().splitlines(keepends=True)
        logs[1].write_bytes(b"".join(lines[:-1]))
        nothing_claimed(self.merge(small_suite, tmp_path, *logs), USAGE)

    def test_no_shard(self, small_suite, tmp_path):
        assert self.merge(small_suite, tmp_path).exit_code == USAGE
