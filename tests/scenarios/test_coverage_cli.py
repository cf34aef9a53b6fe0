"""``conformance suite coverage``: what a suite shows, and that what is not shown is said."""

from __future__ import annotations

import dataclasses
import re
from itertools import combinations
from pathlib import Path

import pytest
import tiers
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.generate.coverage import coverage_of_definition
from conformance.model import Vector
from conformance.specification import find_spec
from conformance.suite.store import Suite
from conformance.suite.unreachable import Unreachable
from conformance.suite.writer import write_suite

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
GLOBAL = "onnx.GlobalMaxPool-1"
LINE = re.compile(r"(\S+) +(\d) +(\d+) +(\d+) of +(\d+) +(\d+) of +(\d+)")


def coverage(*words: object) -> Result:
    return CliRunner().invoke(main, ["suite", "coverage", *map(str, words)])


def table(shown: Result) -> dict[tuple[str, int], tuple[int, ...]]:
    """By operator and rank: vectors, targets, of, pairs, of."""
    lines = map(LINE.fullmatch, shown.stdout.splitlines())
    return {(m[1], int(m[2])): tuple(map(int, m.groups()[2:])) for m in lines if m}


def only_value(suite: Suite, op: str) -> Vector:
    (vector,) = (v for v in suite.vectors([op]) if v.case.reject is None)
    return vector


class TestASmallSuite:
    def test_is_incomplete_and_says_what_is_missing(self, small_suite: Suite) -> None:
        shown = coverage("--suite", small_suite.path)
        assert shown.exit_code == 1
        lines = shown.stdout.splitlines()
        assert lines[0] == f"suite small, sha256 {small_suite.digest[:16]}"
        assert lines[1].split() == ["operator", "rank", "vectors", "targets", "pairs"]
        found = table(shown)
        assert list(found) == [(op, rank) for op in (ADAPTIVE, MAX, AVG) for rank in (3, 4, 5)]
        ranks, _ = coverage_of_definition(find_spec(AVG), small_suite.vectors([AVG]))
        for one in ranks:
            every = len(one.targets | one.drawn_targets), len(one.pairs | one.drawn_pairs)
            assert found[AVG, one.rank][2::2] == every
            assert 50 < every[0] < every[1]
        assert found[AVG, 3][::3] == (0, 0)
        edges = only_value(small_suite, AVG).edges
        pairs = [*combinations(edges, 2)]
        assert found[AVG, 4][0] == 1
        assert found[AVG, 4][1::2] == (len(edges), len(pairs))

    def test_the_first_of_what_is_missing_is_named_and_the_rest_counted(
        self, small_suite: Suite
    ) -> None:
        shown = coverage("--suite", small_suite.path, "--op", AVG)
        ranks, _ = coverage_of_definition(find_spec(AVG), small_suite.vectors([AVG]))
        first = ranks[0].missing_targets[0]
        assert f"    target not covered: {first}\n" in shown.stdout
        block = shown.stdout.split(f"{AVG} ")[1].splitlines()[1:]
        assert len(block) == 13
        assert block[-1] == f"    and {len(ranks[0].missing_targets) - 12} more"


def test_a_vector_that_lists_other_edges_is_named(small_suite: Suite, tmp_path: Path) -> None:
    vector = only_value(small_suite, AVG)
    wrong = dataclasses.replace(vector, edges=(*vector.edges, "batch"))
    suite = write_suite(
        tmp_path / "suite",
        [(wrong, ("core",))],
        name="changed",
        seed=0,
        versions={},
        strength={AVG: Unreachable()},
    )
    shown = coverage("--suite", suite.path)
    assert shown.exit_code == 1
    message = f"    {vector.id}: lists coverage targets that its inputs and attributes do not meet"
    assert message in shown.stdout


class TestUsage:
    def test_an_unknown_operator(self, small_suite: Suite) -> None:
        shown = coverage("--suite", small_suite.path, "--op", "MaxPool-1")
        assert shown.exit_code == 2
        assert "unknown operator of this suite 'MaxPool-1'" in shown.stderr

    @pytest.mark.parametrize("words", [("--suite", "smokes"), ("--rank", 3), ("extra",)])
    def test_wrong_words(self, words: tuple[object, ...]) -> None:
        assert coverage(*words).exit_code == 2

    def test_help(self) -> None:
        shown = coverage("--help")
        assert shown.exit_code == 0
        for word in ("--suite", "--op", "--dtypes", "Exits"):
            assert word in shown.stdout


def test_smoke_shows_fewer_targets_and_pairs_than_core() -> None:
    core, smoke = (table(coverage(*words, "--op", GLOBAL)) for words in ((), ("--suite", "smoke")))
    assert core.keys() == smoke.keys()
    for rank, (_, targets, _, pairs, _) in core.items():
        assert smoke[rank][1] < targets
        assert smoke[rank][3] < pairs / 2
    entries = [e for e in tiers.of(GLOBAL).manifest.vectors if e.reject is None]
    assert sum(row[0] for row in smoke.values()) == sum("smoke" in e.suites for e in entries)
