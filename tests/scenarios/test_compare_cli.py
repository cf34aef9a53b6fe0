"""``conformance compare`` on logs of real runs."""

from __future__ import annotations

import gated
import pytest
from click.testing import CliRunner

from conformance.cli import main

REFUSED = "refuse('no')"
CEIL = "wrong if ceil else outputs"


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return gated.write(tmp_path_factory.mktemp("gated") / "suite")


@pytest.fixture
def log(suite, tmp_path):
    """The log of a run of a backend."""

    def make(returned, name, *more):
        words = ["check", "--suite", str(suite.path), "--out", str(tmp_path / name), *more]
        words += ["--executor", "inline"]  # it takes less time
        CliRunner().invoke(main, [*words, "--backend", gated.backend(tmp_path, returned)])
        return tmp_path / name / "run.jsonl"

    return make


def compare(*words):
    return CliRunner().invoke(main, ["compare", *map(str, words)])


def test_broken_and_fixed(log):
    good, bad = log("outputs", "good"), log(CEIL, "bad")
    shown = compare(good, bad)
    assert shown.exit_code == 1
    assert "Broken (6 vectors)" in shown.stdout
    last = " ".join(shown.stdout.rpartition("\n\n")[2].split())
    cause = "Wrong values with rounding_type == ceil"
    assert last == f"BROKEN. New: {cause}. Of 16 vectors in both runs: broken 6."
    assert "  and 4 more" in compare(good, bad, "--limit", 2).stdout
    shown = compare(bad, good)
    assert shown.exit_code == 0
    assert "Fixed (6 vectors)" in shown.stdout
    assert compare(bad, bad).exit_code == 0
    assert "WARNING" not in shown.stdout


def test_support_that_is_lost_is_broken(log):
    shown = compare(log("outputs", "old"), log(f"{REFUSED} if half else outputs", "new"))
    assert shown.exit_code == 1
    assert "Passed, now unsupported (8 vectors)" in shown.stdout
    assert "\nBROKEN. " in shown.stdout


def test_runs_of_different_options_are_compared_with_a_warning(log):
    shown = compare(log("outputs", "old"), log("outputs", "new", "--op", gated.MAX))
    assert shown.exit_code == 0
    assert 'options, ops: none -> ["AdaptiveMaxPool-8"]' in shown.stdout
    assert "Tested in the old run only (12 vectors)" in shown.stdout


@pytest.mark.parametrize("which", [0, 1])
def test_logs_that_are_not_whole_are_refused(log, which):
    logs = [log("outputs", "old"), log("outputs", "new")]
    whole = logs[which].read_bytes()
    for damaged, why in (
        (whole[:-1], "cut short"),
        (whole.replace(b'"status":"pass"', b'"status":"fail"', 1), "inconsistent"),
        (b"not a log\n", "run.jsonl:1: "),
        (b"", "no header"),
    ):
        logs[which].write_bytes(damaged)
        shown = compare(*logs)
        assert shown.exit_code == 2
        assert why in shown.stderr
        assert "hint: " in shown.stderr
        assert shown.stdout == ""


def test_runs_of_different_operators(log):
    logs = [log("outputs", op, "--op", op) for op in (gated.AVG, gated.MAX)]
    shown = compare(*logs)
    assert shown.exit_code == 2
    assert "no vector in common" in shown.stderr


class TestShards:
    def test_the_same_shard_of_two_runs(self, log):
        old = log("outputs", "old", "--shard", "1/2")
        new = log("wrong", "new", "--shard", "1/2")
        assert compare(old, old).exit_code == 0
        shown = compare(old, new)
        assert shown.exit_code == 1
        said = " ".join(shown.stdout.split())
        cause = "Wrong values, not explained"
        assert f"BROKEN. New: {cause}. Of 8 vectors in both runs: broken 8." in said

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            (
                ["--shard", "1/2"],
                [],
                "old log is of shard '1/2', and the new one of a complete run",
            ),
            (
                [],
                ["--shard", "2/2"],
                "old log is of a complete run, and the new one of shard '2/2'",
            ),
            (["--shard", "1/2"], ["--shard", "2/2"], "'1/2', and the new one of shard '2/2'"),
            (["--shard", "1/2"], ["--shard", "1/3"], "'1/2', and the new one of shard '1/3'"),
            (
                ["--shard", "1/2"],
                ["--shard", "1/2", "--op", gated.MAX],
                "the new one of shard '1/2', of another suite or selection",
            ),
        ],
    )
    def test_another_part_is_refused(self, log, old, new, says):
        shown = compare(log("outputs", "old", *old), log("outputs", "new", *new))
        assert shown.exit_code == 2
        assert shown.stdout == ""
        assert says in shown.stderr
        assert "conformance merge" in shown.stderr
