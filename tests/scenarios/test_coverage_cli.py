"""``conformance suite coverage``: what a suite shows, and that what is not shown is said."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import tiers
import tiny
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.feasible import Prover
from conformance.generate import plan, proving
from conformance.generate.pairs import Effort
from conformance.model import Vector
from conformance.spec.strata import is_stratum, strata_of
from conformance.specification import find_spec, spec_digest
from conformance.suite.proofs import (
    encode_proofs,
    load_proofs,
    parse_proofs,
    proven_infeasible,
    read_proofs,
)
from conformance.suite.store import Suite
from conformance.suite.unreachable import Unreachable
from conformance.suite.writer import write_suite

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
LINE = re.compile(r"(\S+) +(\d) +(\d+) +(\d+) of +(\d+) +(\d+) of +(\d+) +(\d+)")


def coverage(*words: object) -> Result:
    return CliRunner().invoke(main, ["suite", "coverage", *map(str, words)])


def table(shown: Result) -> dict[tuple[str, int], tuple[int, ...]]:
    """By operator and rank: vectors, edges, of, pairs, of, infeasible."""
    lines = map(LINE.fullmatch, shown.stdout.splitlines())
    return {(m[1], int(m[2])): tuple(map(int, m.groups()[2:])) for m in lines if m}


def rewritten(
    folder: Path, vectors: list[Vector], strength: dict[str, Unreachable] | None = None
) -> Suite:
    return write_suite(
        folder,
        [(vector, ("core",)) for vector in vectors],
        name="changed",
        seed=0,
        versions={},
        strength=strength or {AVG: Unreachable()},
    )


class TestASmallSuite:
    def test_is_incomplete_and_says_what_is_missing(self, small_suite: Suite) -> None:
        shown = coverage("--suite", small_suite.path)
        assert shown.exit_code == 1
        lines = shown.stdout.splitlines()
        assert lines[0] == f"suite small, sha256 {small_suite.digest[:16]}"
        assert lines[1].split() == ["operator", "rank", "vectors", "targets", "pairs", "infeasible"]
        found = table(shown)
        assert list(found) == [(op, rank) for op in (ADAPTIVE, MAX, AVG) for rank in (3, 4, 5)]
        edges = len(find_spec(AVG).edges)
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
        first = next(edge.name for edge in find_spec(AVG).edges)
        assert f"    target not covered: {first}\n" in shown.stdout
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
        names = sorted(edge.name for edge in find_spec(AVG).edges)
        known = {
            (a, b): ("limit elements",) if a == b else ()
            for a in names
            for b in names
            if a <= b and not {a, b} <= set(vector.edges)
        }
        strength = {AVG: Unreachable(infeasible={4: known})}
        suite = rewritten(tmp_path / "suite", [vector], strength)
        shown = coverage("--suite", suite.path, "--why")
        n = len(vector.edges)
        alone = len(names) - n
        pairs = n * (n - 1) // 2
        assert table(shown)[AVG, 4] == (1, n, n, pairs, pairs, len(known) - alone)
        assert f"    rank 4: {alone:5} contradicted by limit elements" in shown.stdout
        assert (
            f"    rank 4: {len(known) - alone:5} contradicted by the targets themselves"
            in shown.stdout
        )

    def test_one_that_a_vector_shows_is_a_failure(self, small_suite: Suite, tmp_path: Path) -> None:
        (vector,) = (v for v in small_suite.vectors([AVG]) if v.case.reject is None)
        a, b = sorted(vector.edges)[:2]
        strength = {AVG: Unreachable(infeasible={4: {(a, b): ()}})}
        suite = rewritten(tmp_path / "suite", [vector], strength)
        shown = coverage("--suite", suite.path, "--op", AVG)
        assert shown.exit_code == 1
        (line,) = find_missing(suite)
        assert line == (a, b)


def find_missing(suite: Suite) -> list[tuple[str, str]]:
    """The pairs that are called infeasible and shown; the command cuts its list short."""
    from conformance.audit.coverage import coverage as measure

    ranks, _ = measure(find_spec(AVG), suite.manifest, suite.vectors([AVG]))
    return [pair for one in ranks for pair in one.disproved]


def test_a_vector_that_lists_other_edges_is_named(small_suite: Suite, tmp_path: Path) -> None:
    (vector,) = (v for v in small_suite.vectors([AVG]) if v.case.reject is None)
    wrong = dataclasses.replace(vector, edges=(*vector.edges, "batch"))
    suite = rewritten(tmp_path / "suite", [wrong])
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
        for word in ("--suite", "--op", "--why", "Exits"):
            assert word in shown.stdout


class TestTheShippedSuite:
    def test_it_lacks_nothing(self) -> None:
        """Nothing of one operator: tests/audit/test_committed_suite.py measures each."""
        shown = coverage("--why", "--op", ADAPTIVE)
        assert shown.exit_code == 0, shown.output
        found = table(shown)
        assert set(found) == {(ADAPTIVE, rank) for rank in (3, 4, 5)}
        for vectors, edges, of, pairs, of_pairs, _ in found.values():
            assert vectors > 0
            assert edges == of
            assert pairs == of_pairs
        assert "not covered" not in shown.stdout
        assert "contradicted by" in shown.stdout

    def test_smoke_shows_the_edges_and_not_all_pairs(self) -> None:
        shown = coverage("--suite", "smoke", "--op", AVG)
        assert shown.exit_code == 1
        vectors = [v for v in tiers.smoke().vectors([AVG]) if v.case.reject is None]
        assert sum(row[0] for row in table(shown).values()) == len(vectors)


@pytest.fixture(scope="module")
def few_draws() -> Iterator[None]:
    """The solver and crossing find what is not drawn."""
    few = {name: tiny.EFFORT[name] for name in ("base", "aimed", "children", "rounds")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proving, "Effort", partial(Effort, **few))
        yield


@pytest.fixture(scope="module")
def proven(few_draws: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A specification whose pairs were decided, and what was said: found once for all."""
    spec = tiny.write(tmp_path_factory.mktemp("proven"))
    shown = coverage("--prove", "--op", spec)
    assert shown.exit_code == 0, shown.output
    return spec, shown


class TestProve:
    """``--prove``: for each pair of edges a case or a contradiction, found once and checked."""

    @pytest.fixture
    def spec(self, tmp_path: Path) -> Path:
        return tiny.write(tmp_path)

    @pytest.fixture
    def kept(self, spec: Path, proven: tuple[Path, Result]) -> Path:
        """The file of proofs beside a copy of the specification."""
        assert spec.read_bytes() == proven[0].read_bytes()
        copy = shutil.copy(proven[0].with_suffix(".proofs.json"), spec.parent)
        return Path(copy)

    def test_it_decides_every_pair_and_keeps_what_it_found(
        self, proven: tuple[Path, Result], exhaustive: bool
    ) -> None:
        spec, shown = proven
        kept = spec.with_suffix(".proofs.json")
        *rows, last = (line.split() for line in shown.stdout.splitlines()[1:])
        assert last == [f"{kept}:", "written"]
        assert [(*row[:2], *row[4:]) for row in rows] == [
            ("Tiny-1", "3", "0", "found"),
            ("Tiny-1", "4", "0", "found"),
        ]
        found = read_proofs(kept)
        assert load_proofs(find_spec(str(spec))) == found
        assert [int(row[3]) for row in rows] == [len(one) for one in found.infeasible.values()]
        assert found.strata == strata_of(find_spec(str(spec))).meaning
        assert {pair for pair in found.infeasible[3] if not any(map(is_stratum, pair))} == {
            ("differs", "differs"),
            *(tuple(sorted((one, "differs"))) for one in ("channels", "remainder", "strided")),
        }
        content = kept.read_bytes()
        again = coverage("--prove", "--op", spec, "-j", 2 if exhaustive else 1)
        assert again.exit_code == 0, again.output
        assert again.stdout.count("confirmed") == 2
        assert kept.read_bytes() == content

    def test_what_is_kept_serves_any_seed_without_the_solver(
        self, spec: Path, tmp_path: Path, without_z3: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """But not where the specification has changed."""
        monkeypatch.setattr(plan, "make", partial(plan.make, effort=Effort(**tiny.EFFORT)))
        out = tmp_path / "out"
        words = ["generate", "--op", str(spec), "--seed", "5", "--out", str(out)]
        known = parse_proofs(PROVEN.encode(), "here")
        digest_of = spec_digest(find_spec(str(spec)))
        spec.with_suffix(".proofs.json").write_bytes(
            encode_proofs(dataclasses.replace(known, specification=digest_of))
        )
        shown = CliRunner().invoke(main, words)
        assert "undecided" not in shown.stdout
        spec.write_text(spec.read_text().replace("C > 1, why", "C > 2, why"))
        shown = CliRunner().invoke(main, words)
        assert "undecided" in shown.stdout

    @pytest.mark.exhaustive
    def test_what_is_proven_of_other_strata_is_found_anew(self, spec: Path, kept: Path) -> None:
        found = read_proofs(kept)
        wrong = {
            rank: {**pairs, ("remainder images-1", "remainder images-1"): ()}
            for rank, pairs in found.infeasible.items()
        }
        other = dataclasses.replace(found, infeasible=wrong, strata="0" * 64)
        kept.write_bytes(encode_proofs(other))
        believed = {
            pair for pairs in proven_infeasible(find_spec(str(spec))).values() for pair in pairs
        }
        assert believed
        assert not any(is_stratum(one) for pair in believed for one in pair)
        assert coverage("--prove", "--op", spec).exit_code == 0
        assert read_proofs(kept).infeasible == found.infeasible
        assert read_proofs(kept).strata == found.strata

    def test_a_contradiction_that_is_none_is_refuted(self, spec: Path, kept: Path) -> None:
        found = read_proofs(kept)
        wrong = {**found.infeasible[4], ("channels", "strided"): ()}
        infeasible = {**found.infeasible, 4: wrong}
        kept.write_bytes(encode_proofs(dataclasses.replace(found, infeasible=infeasible)))
        shown = coverage("--prove", "--op", spec)
        assert shown.exit_code == 1
        assert "refuted" in shown.stdout
        assert "marked infeasible, but not confirmed: channels with strided" in shown.stdout
        assert f"{kept}: remove the file" in shown.stdout

    def test_a_contradiction_that_a_case_disproves_is_refuted_whatever_the_solver_says(
        self, spec: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = read_proofs(kept)
        wrong = {**found.infeasible[4], ("channels", "strided"): (), ("f16", "strided"): ()}
        infeasible = {**found.infeasible, 4: wrong}
        kept.write_bytes(encode_proofs(dataclasses.replace(found, infeasible=infeasible)))
        monkeypatch.setattr(Prover, "confirms", lambda *_: True)
        shown = coverage("--prove", "--op", spec)
        assert shown.exit_code == 1
        assert "marked infeasible, but not confirmed: channels with strided" in shown.stdout
        assert "marked infeasible, but not confirmed: f16 with strided" in shown.stdout

    def test_a_pair_without_either_is_undecided(self, spec: Path, kept: Path) -> None:
        found = read_proofs(kept)
        kept.write_bytes(encode_proofs(dataclasses.replace(found, witnesses=found.witnesses[:1])))
        shown = coverage("--prove", "--op", spec)
        assert shown.exit_code == 1
        assert "    undecided: " in shown.stdout

    def test_those_of_a_shipped_operator_are_confirmed(self) -> None:
        shown = coverage("--prove", "--op", "AdaptiveMaxPool-8")
        assert shown.exit_code == 0, shown.output
        assert shown.stdout.count("confirmed") == 3
        assert "written" not in shown.stdout

    def test_a_folder_that_cannot_be_written_is_refused_before_the_work(
        self, spec: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("os.access", lambda path, mode: Path(path) != spec.parent)
        shown = coverage("--prove", "--op", spec)
        assert shown.exit_code == 2
        assert f"{spec.parent}: cannot be written" in shown.stderr
        assert "proving" not in shown.stderr

    def test_it_needs_the_solver(self, spec: Path, without_z3: None) -> None:
        shown = coverage("--prove", "--op", spec)
        assert shown.exit_code == 2
        assert "pip install 'opconform[generate]'" in shown.stderr

    def test_it_is_about_no_suite(self, small_suite: Suite) -> None:
        shown = coverage("--prove", "--suite", small_suite.path)
        assert shown.exit_code == 2
        assert "--prove cannot be combined with --suite" in shown.stderr


PROVEN = """{
"format": 1,
"op": "Tiny-1",
"specification": "",
"rank 3": {
 "channels": {"domain axes": ["differs"]},
 "differs": {"domain axes": ["differs", "remainder", "strided"]}
}
}
"""


@pytest.fixture
def without_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "z3" else found(name)
    )
