"""Runs that are narrowed to element types and ranks: what is tested, and what is claimed."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import conformance
from conformance.backends.capabilities import Capabilities
from conformance.backends.reference import Reference
from conformance.cli import main
from conformance.errors import LogError, UsageError
from conformance.log.reader import read
from conformance.run.partition_filter import PartitionFilter
from conformance.run.selection import select
from conformance.suite.store import Suite

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"


class RightInF32(Reference):
    """A backend that declares all types, and is right in f32 of rank 3 alone."""

    name, version = "right-in-f32", "1"
    capabilities = Capabilities(operators=(ADAPTIVE,))

    def run(self, op, inputs, attributes):
        outputs = super().run(op, inputs, attributes)
        right = inputs[0].dtype == "f4" and inputs[0].ndim == 3
        return outputs if right else [one + 1 for one in outputs]


def ids(suite: Suite, *dtypes: str, ranks: tuple[int, ...] = (), **more) -> list[str]:
    partitions = PartitionFilter.of(dtypes, ranks)
    found = select(suite, **{"ops": None, "only": (), **more}, partitions=partitions)
    return [f"{one.op} {one.dtype} {one.kind}" for one in found.entries]


class TestSelection:
    def test_types_and_ranks_are_in_order_and_once(self):
        found = PartitionFilter.of(["f64", "f16", "f64"], [5, 3, 5])
        assert (found.dtypes, found.ranks) == (("f16", "f64"), (3, 5))
        assert str(found) == "f16, f64 of rank 3, 5"
        assert found.options == ("--dtypes", "f16,f64", "--ranks", "3,5")

    @pytest.mark.parametrize(
        ("dtypes", "ranks", "says"),
        [
            (["f33"], (), "there is no element type 'f33'"),
            ([""], (), "there is no element type ''"),
            ((), [0], "there is no rank 0"),
            ((), [10**30], f"there is no rank {10**30}"),
        ],
    )
    def test_what_there_is_not_is_refused(self, dtypes, ranks, says):
        with pytest.raises(UsageError, match=says):
            PartitionFilter.of(dtypes, ranks)

    def test_takes_value_vectors_and_negative_tests(self, small_suite):
        assert ids(small_suite, "f16", "f64") == [f"{ADAPTIVE} f64 value", f"{ADAPTIVE} f16 value"]
        assert ids(small_suite, ranks=(4,)) == [f"{AVG} f32 {kind}" for kind in VALUE_AND_REJECTS]
        assert ids(small_suite, "f32", ranks=(3,), ops=[ADAPTIVE]) == [
            f"{ADAPTIVE} f32 value",
            f"{ADAPTIVE} f32 reject",
        ]

    @pytest.mark.parametrize(
        ("dtypes", "ranks", "says"),
        [
            (["f32", "bf16"], (), "data of bf16"),
            ((), (3, 5), "data of rank 5"),
            (["f16"], (4,), "data of f16 of rank 4"),
        ],
    )
    def test_that_matches_nothing_is_refused(self, small_suite, dtypes, ranks, says):
        with pytest.raises(UsageError, match=says):
            ids(small_suite, *dtypes, ranks=ranks)


VALUE_AND_REJECTS = ("value", "reject", "reject")


class TestVerdict:
    @pytest.fixture(scope="class")
    def run(self) -> conformance.Run:
        return conformance.check(None, RightInF32(), dtypes=["f32"], ranks=[3])

    def test_is_about_these_types_and_ranks_alone(self, run):
        assert run.conformant
        assert [(one.op, one.dtype, one.rank) for one in run.log.evidence.parts] == [
            (ADAPTIVE, "f32", 3)
        ]
        assert {(one.op, one.dtype, one.rank) for one in run.results} == {(ADAPTIVE, "f32", 3)}

    def test_names_them_in_claim_sentence_and_header(self, run):
        graded = sum(one.graded for one in run.log.tallies.values())
        assert f"{ADAPTIVE} in f32 of rank 3 (must, standard)" in run.footer["claim"]
        assert f"core in f32 of rank 3 only, {graded} of {graded} graded" in run.footer["claim"]
        assert "Tested only: f32 of rank 3." in run.footer["sentence"]
        options = run.header["options"]
        assert (options["dtypes"], options["ranks"]) == (["f32"], [3])

    def test_of_a_failure_names_them_too(self):
        run = conformance.check(None, RightInF32(), dtypes=["f32"], ranks=[3, 4], findings=False)
        assert run.log.verdict == "not conformant"
        assert "in f32 of rank 3, 4 only" in run.footer["claim"]

    def test_advises_to_complete_what_was_tested(self, tmp_path: Path):
        file = tmp_path / "mine.py"
        file.write_text(LIMITED)
        words = ["--backend", f"{file}:Limited", "--executor", "inline", "--no-complete"]
        shown = check(*words, "--dtypes", "f32", "--dtypes", "f16", "--ranks", "3")
        assert shown.exit_code == 4, shown.output
        assert "--dtypes f16,f32 --ranks 3 --complete --out its-report" in shown.output


LIMITED = f"""
from conformance.backends import Capabilities, Exclusion
from conformance.backends.reference import Reference

class Limited(Reference):
    capabilities = Capabilities(
        operators=("{ADAPTIVE}",), excluding=(Exclusion("narrow", "max(size) > 9"),)
    )
"""


def check(*words: object):
    return CliRunner().invoke(main, ["check", *map(str, words)])


class TestOneRun:
    """Resumed, in shards and on the command line it is the same run."""

    @pytest.fixture
    def words(self, small_suite, tmp_path):
        return ["--suite", small_suite.path, "--backend", "reference", "--out", tmp_path / "r"]

    def test_lists_and_repeated_options_are_the_same(self, words, tmp_path):
        logs = []
        for more in (("--dtypes", "f32, f64"), ("--dtypes", "f64", "--dtypes", "f32")):
            assert check(*words, "--ranks", "3", *more).exit_code in (0, 4)
            logs.append(read(tmp_path / "r" / "run.jsonl"))
        assert [one.id for one in logs[0].results] == [one.id for one in logs[1].results]
        assert logs[0].header["options"] == logs[1].header["options"]
        page = (tmp_path / "r" / "index.html").read_text()
        assert "<dt>Element types</dt><dd>only f32, f64</dd>" in page
        assert "<dt>Ranks</dt><dd>only 3</dd>" in page

    def test_a_log_of_another_selection_is_not_resumed(self, words):
        assert check(*words, "--dtypes", "f32").exit_code in (0, 4)
        shown = check(*words, "--dtypes", "f32,f16", "--resume")
        assert shown.exit_code == 2
        assert 'options.dtypes: ["f32"], not ["f16", "f32"]' in shown.output

    def test_shards_merged_are_the_run(self, small_suite, tmp_path):
        narrow = {"ops": [ADAPTIVE, MAX], "dtypes": ["f32", "f64"], "ranks": [3]}
        logs = []
        for number in (1, 2):
            report = tmp_path / str(number)
            words = [word for op in narrow["ops"] for word in ("--op", op)]
            words += ["--dtypes", "f32,f64", "--ranks", "3", "--shard", f"{number}/2"]
            check("--suite", small_suite.path, "--backend", "reference", "--out", report, *words)
            logs.append(report / "run.jsonl")
        merged = conformance.merge(logs, small_suite)
        undivided = conformance.check(small_suite, "reference", **narrow)
        assert [one.id for one in merged.results] == [one.id for one in undivided.results]
        for name in ("claim", "sentence", "verdict", "strength", "exit_code"):
            assert merged.footer[name] == undivided.footer[name]

    def test_shards_of_other_selections_are_not_merged(self, small_suite, tmp_path):
        logs = []
        for number, dtypes in ((1, "f32"), (2, "f32,f16")):
            report = tmp_path / str(number)
            words = ["--dtypes", dtypes, "--shard", f"{number}/2", "--out", report]
            check("--suite", small_suite.path, "--backend", "reference", *words)
            logs.append(report / "run.jsonl")
        with pytest.raises(LogError, match=r'options.dtypes: \["f32"\], not \["f16", "f32"\]'):
            conformance.merge(logs, small_suite)
