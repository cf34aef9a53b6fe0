"""``conformance coverage``: what a suite shows, and that what is not shown is said."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import test_audit_cli
import tiers
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.model import Vector
from conformance.spec.loader import find
from conformance.suite.store import Suite
from conformance.suite.strength import Strength
from conformance.suite.writer import write_suite

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
LINE = re.compile(r"(\S+) +(\d) +(\d+) +(\d+) of +(\d+) +(\d+) of +(\d+) +(\d+)")


def coverage(*words: object) -> Result:
    return CliRunner().invoke(main, ["coverage", *map(str, words)])


def table(shown: Result) -> dict[tuple[str, int], tuple[int, ...]]:
    """By operator and rank: vectors, edges, of, pairs, of, infeasible."""
    lines = map(LINE.fullmatch, shown.stdout.splitlines())
    return {(m[1], int(m[2])): tuple(map(int, m.groups()[2:])) for m in lines if m}


def rewritten(
    suite: Suite, folder: Path, vectors: list[Vector], strength: dict[str, Strength] | None = None
) -> Suite:
    return write_suite(
        folder,
        [(vector, ("core",)) for vector in vectors],
        name="changed",
        seed=0,
        versions={},
        strength=suite.manifest.strength if strength is None else strength,
    )


class TestASmallSuite:
    def test_is_incomplete_and_says_what_is_missing(self, small_suite: Suite) -> None:
        shown = coverage("--suite", small_suite.path)
        assert shown.exit_code == 1
        lines = shown.stdout.splitlines()
        assert lines[0] == f"suite small, sha256 {small_suite.digest[:16]}"
        assert lines[1].split() == ["operator", "rank", "vectors", "edges", "pairs", "infeasible"]
        found = table(shown)
        assert list(found) == [(op, rank) for op in (ADAPTIVE, MAX, AVG) for rank in (3, 4, 5)]
        edges = len(find(AVG).edges)
        assert found[AVG, 3] == (0, 0, edges, 0, edges * (edges - 1) // 2, 0)
        vectors, shown_edges, of, pairs, of_pairs, infeasible = found[AVG, 4]
        (vector,) = (v for v in small_suite.vectors([AVG]) if v.case.reject is None)
        n = len(vector.edges)
        assert (vectors, shown_edges, pairs, infeasible) == (1, n, n * (n - 1) // 2, 0)
        assert (of, of_pairs) == (edges, edges * (edges - 1) // 2)

    def test_the_first_of_what_is_missing_is_named_and_the_rest_counted(
        self, small_suite: Suite
    ) -> None:
        shown = coverage("--suite", small_suite.path, "--op", AVG)
        first = next(edge.name for edge in find(AVG).edges)
        assert f"    edge not shown: {first}\n" in shown.stdout
        block = shown.stdout.split(f"{AVG} ")[1].splitlines()[1:]
        assert len(block) == 13
        assert re.fullmatch(r"    and \d+ more", block[-1])

    def test_reasons_are_told_of_a_suite_that_has_none(self, small_suite: Suite) -> None:
        shown = coverage("--suite", small_suite.path, "--why")
        assert shown.exit_code == 1
        assert "contradicted" not in shown.stdout


class TestInfeasiblePairs:
    def test_they_do_not_count_and_are_explained(self, small_suite: Suite, tmp_path: Path) -> None:
        (vector,) = (v for v in small_suite.vectors([AVG]) if v.case.reject is None)
        names = sorted(edge.name for edge in find(AVG).edges)
        known = {
            (a, b): ("limit elements",) if a == b else ()
            for a in names
            for b in names
            if a <= b and not {a, b} <= set(vector.edges)
        }
        strength = {AVG: Strength(infeasible={4: known})}
        suite = rewritten(small_suite, tmp_path / "suite", [vector], strength)
        shown = coverage("--suite", suite.path, "--why")
        n = len(vector.edges)
        alone = len(names) - n
        pairs = n * (n - 1) // 2
        assert table(shown)[AVG, 4] == (1, n, n, pairs, pairs, len(known) - alone)
        assert f"    rank 4: {alone:5} contradicted by limit elements" in shown.stdout
        assert (
            f"    rank 4: {len(known) - alone:5} contradicted by the edges themselves"
            in shown.stdout
        )

    def test_one_that_a_vector_shows_is_a_failure(self, small_suite: Suite, tmp_path: Path) -> None:
        (vector,) = (v for v in small_suite.vectors([AVG]) if v.case.reject is None)
        a, b = sorted(vector.edges)[:2]
        strength = {AVG: Strength(infeasible={4: {(a, b): ()}})}
        suite = rewritten(small_suite, tmp_path / "suite", [vector], strength)
        shown = coverage("--suite", suite.path, "--op", AVG)
        assert shown.exit_code == 1
        (line,) = find_missing(suite)
        assert line == (a, b)


def find_missing(suite: Suite) -> list[tuple[str, str]]:
    """The pairs that are called infeasible and shown; the command cuts its list short."""
    from conformance.audit.coverage import coverage as measure

    ranks, _ = measure(find(AVG), suite.manifest, suite.vectors([AVG]))
    return [pair for one in ranks for pair in one.disproved]


def test_a_vector_that_lists_other_edges_is_named(small_suite: Suite, tmp_path: Path) -> None:
    (vector,) = (v for v in small_suite.vectors([AVG]) if v.case.reject is None)
    wrong = dataclasses.replace(vector, edges=(*vector.edges, "batch"))
    suite = rewritten(small_suite, tmp_path / "suite", [wrong])
    shown = coverage("--suite", suite.path)
    assert shown.exit_code == 1
    message = f"    {vector.id}: lists edges that its inputs and attributes do not show"
    assert message in shown.stdout


class TestUsage:
    def test_an_unknown_operator(self, small_suite: Suite) -> None:
        shown = coverage("--suite", small_suite.path, "--op", "MaxPool-1")
        assert shown.exit_code == 2
        assert "unknown operator of this suite 'MaxPool-1'" in shown.stderr

    @pytest.mark.parametrize("words", [("--suite", "smokes"), ("--rank", 3), ("extra",)])
    def test_wrong_words(self, words: tuple[object, ...]) -> None:
        assert coverage(*words).exit_code == 2

    def test_a_suite_of_no_shipped_operator(self, small_suite: Suite, tmp_path: Path) -> None:
        own = test_audit_cli.renamed(small_suite, tmp_path / "own")
        shown = coverage("--suite", own.path)
        assert shown.exit_code == 2, shown.output
        assert "OwnPool-1" in shown.stderr

    def test_help(self) -> None:
        shown = coverage("--help")
        assert shown.exit_code == 0
        for word in ("--suite", "--op", "--why", "Exits"):
            assert word in shown.stdout


class TestTheShippedSuite:
    def test_it_lacks_nothing(self, exhaustive: bool) -> None:
        """Nothing of any operator; in a plain run of one, since another test measures each."""
        ops = tiers.core().manifest.ops if exhaustive else (ADAPTIVE,)
        shown = coverage("--why", *() if exhaustive else ("--op", ADAPTIVE))
        assert shown.exit_code == 0, shown.output
        found = table(shown)
        assert set(found) == {(op, rank) for op in ops for rank in (3, 4, 5)}
        for vectors, edges, of, pairs, of_pairs, _ in found.values():
            assert vectors > 0
            assert edges == of
            assert pairs == of_pairs
        assert "not shown" not in shown.stdout
        assert "contradicted by" in shown.stdout

    @pytest.mark.parametrize("op", tiers.first([ADAPTIVE, AVG, MAX]))
    def test_without_a_quarter_of_its_vectors_it_is_not(self, op: str, tmp_path: Path) -> None:
        suite = tiers.core()
        vectors = [v for v in suite.vectors([op]) if v.case.reject is None]
        rest = [vector for number, vector in enumerate(vectors) if number % 4]
        shown = coverage("--suite", rewritten(suite, tmp_path / "suite", rest).path)
        assert shown.exit_code == 1
        assert " not shown" in shown.stdout

    def test_smoke_shows_the_edges_and_not_all_pairs(self) -> None:
        shown = coverage("--suite", "smoke", "--op", AVG)
        assert shown.exit_code == 1
        vectors = [v for v in tiers.smoke().vectors([AVG]) if v.case.reject is None]
        assert sum(row[0] for row in table(shown).values()) == len(vectors)
