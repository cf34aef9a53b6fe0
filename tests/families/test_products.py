"""A family of another distribution goes the whole way: two inputs, of ranks 3 and 1, without batch,
channel or axis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import conformance
from conformance import strategies
from conformance.backends.reference import Reference
from conformance.cli import main
from conformance.errors import SpecError, UsageError
from conformance.log import reader
from conformance.spec import catalogue, loader
from conformance.suite.store import open_suite

OP = "dot.Products-1"
BACKEND = Path(__file__).parent / "products" / "loses_one.py"


def told(*arguments: object, code: int = 0) -> str:
    """What a command says."""
    found = CliRunner().invoke(main, [str(one) for one in arguments])
    assert found.exit_code == code, found.output
    return found.output


@pytest.fixture(scope="module")
def suite(specification: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("products") / "suite"
    said = told("generate", "--op", specification, "--seed", 3, "--out", out)
    assert re.search(r"\d+ value vectors, +5 negative tests, 100 % of mutants killed", said)
    return out


def test_its_specification_is_sound(specification: Path) -> None:
    assert "ok, 6 coverage targets, 5 negative tests" in told("spec", "lint", specification)
    shown = told("spec", "show", specification)
    assert "input: T [I, J, K]" in shown
    assert "input: T [K]" in shown
    assert "the value of each element" in shown


def test_what_its_layout_does_not_have_is_refused(specification: Path) -> None:
    text = specification.read_text("utf-8")
    for old, new, message in (
        ("shape: [K]}", "shape: [I]}", "input 2 of the family products has another shape"),
        ("K: {min: 1,", "K: {per: axis, min: 1,", "the family products has no axes"),
        ("rank: [3, 3]", "rank: [3, 4]", "there is no such rank"),
        ("holds: value", "holds: index", "an output of the family products holds no index"),
        ("  - {name: vector, type: T, shape: [K]}\n", "", "an input of shape [K] is missing"),
    ):
        assert old in text
        with pytest.raises(SpecError, match=re.escape(message)):
            loader.load_spec_text(text.replace(old, new))


def test_its_vectors_are_sound_and_strong(suite: Path) -> None:
    assert ": ok, " in told("suite", "lint", suite)
    audited = told("suite", "audit", "--suite", suite, "--parts")
    assert f"{OP}: 5 of 5 (100.0%) mutants killed at level should" in audited
    assert re.search(r"i64 3D +100.0 %", audited)
    covered = told("suite", "coverage", "--suite", suite)
    # Nothing is known to the solver but shapes and attributes, which is enough to prove some.
    assert re.search(rf"{OP} +3 +\d+ +6 of +6 +13 of +13 +2\n", covered)


NOWHERE = """
  of-data-of-two-patterns:
    replace: {first: 1}
    where: pattern == ones and pattern == ramp
    says: No case has both.
"""


@pytest.fixture
def one_mutant_more(
    specification: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The mutants of the family, and one whose condition holds in no part of the operator."""
    from products import Products

    def forget() -> None:
        catalogue.mutants_of.cache_clear()
        catalogue._of_family.cache_clear()

    text = (specification.parent / "mutants" / "sums.yaml").read_text("utf-8")
    (tmp_path / "mutants").mkdir()
    (tmp_path / "mutants" / "sums.yaml").write_text(text + NOWHERE, "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(Products, "mutants", tmp_path / "mutants")
        forget()
        yield
    forget()


@pytest.mark.usefixtures("one_mutant_more")
def test_audit_counts_the_mutants_that_generate_counts(specification: Path, tmp_path: Path) -> None:
    out = tmp_path / "suite"
    said = told("generate", "--op", specification, "--seed", 3, "--out", out)
    assert "100 % of mutants killed" in said
    assert "of-data-of-two-patterns" in open_suite(out).manifest.strength[OP].parts.never_killed
    audited = told("suite", "audit", "--suite", out)
    assert f"{OP}: 5 of 5 (100.0%) mutants killed at level should" in audited


def test_a_vector_holds_both_inputs(suite: Path, specification: Path) -> None:
    opened = open_suite(suite)
    spec = loader.find_spec(str(specification))
    for entry in opened.manifest.listed:
        vector = opened.read(entry)
        assert [one.ndim for one in vector.inputs] == [3, 1]
        assert list(vector.case.shapes) == ["block", "vector"]
        agree = vector.inputs[0].shape[-1] == len(vector.inputs[1])
        assert agree is (vector.case.reject != "longer-vector")
        if vector.case.reject is None:
            block, given = (one.astype(object) for one in vector.inputs)
            right = block @ given * vector.case.attributes.get("scale", 1) % (1 << 31)
            assert np.array_equal(vector.answers[0].expected, right)
    assert strategies.inputs(vector.case, str(specification))[1].ndim == 1
    assert spec.rank_of(vector.case) == 3


def test_the_oracle_agrees_with_its_vectors(suite: Path) -> None:
    opened = open_suite(suite)
    run = conformance.check(opened, Reference(opened.specs), level="should", precision="exact")
    assert run.conformant


def test_a_wrong_backend_is_found_out_and_its_bug_named(suite: Path, tmp_path: Path) -> None:
    said = told(
        *("check", "--backend", BACKEND, "--suite", suite, "--executor", "inline"),
        *("--out", tmp_path),
        code=1,
    )
    assert "1. The last product is not added" in said
    assert "look at    The loop over the last dimension" in said
    (finding,) = reader.read(tmp_path / "run.jsonl").findings
    assert finding.diagnosis is not None
    assert "plane" in finding.detail
    assert "window" not in finding.detail  # there is no picture of one
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "The last product is not added" in page
    assert "result[0, 0]" in page


def test_its_failures_are_searched_for_and_reproduced(
    specification: Path, suite: Path, tmp_path: Path
) -> None:
    out = tmp_path / "found"
    said = told(
        *("fuzz", "--backend", BACKEND, "--op", specification, "--cases", 60, "--seed", 1),
        *("--out", out),
        code=1,
    )
    assert "The last product is not added." in said.splitlines()[3]
    assert "1x1x1 and 1" in said
    shown = told("show", "--suite", suite, open_suite(suite).manifest.listed[0].id)
    assert "vector" in shown


def test_a_probe_says_that_it_asks_other_operators(specification: Path, tmp_path: Path) -> None:
    said = told("probe", "--backend", BACKEND, "--op", specification, "--out", tmp_path, code=2)
    assert "declares no mean and no maximum" in said


def test_it_has_a_page(suite: Path, specification: Path, tmp_path: Path) -> None:
    told("spec", "docs", "--op", specification, "--suite", suite, "--out", tmp_path)
    page = (tmp_path / f"{OP}.html").read_text("utf-8")
    assert "the value of each element" in page
    assert "<code>[I, J, K]</code>" in page
    assert "spatial" not in page
    assert "hatched" not in page


class TestFinding:
    """Families by name; those of this package need no look at any other distribution."""

    def test_one_that_is_not_there(self, specification: Path) -> None:
        text = specification.read_text("utf-8").replace("family: products", "family: product")
        with pytest.raises(SpecError, match="did you mean 'products'"):
            loader.load_spec_text(text)

    @pytest.mark.parametrize(
        ("name", "value", "problem"),
        [
            (
                "gone",
                "nowhere_at_all:Gone",
                "ModuleNotFoundError: No module named 'nowhere_at_all'",
            ),
            ("other", "products:PATTERNS", "products:PATTERNS is no Family"),
            ("renamed", "products:Products", "it calls itself 'products'"),
        ],
    )
    def test_a_damaged_one_is_named_with_its_distribution(
        self, install: Any, name: str, value: str, problem: str
    ) -> None:
        install(f"damaged-{name}", f"{name} = {value}")
        from conformance.spec.family_index import family_of

        with pytest.raises(UsageError) as raised:
            family_of(name)
        assert raised.value.message == (
            f"the family '{name}' of damaged-{name} 1.0 cannot be used: {problem}"
        )
        assert family_of("pooling").name == "pooling"
