"""A sample has each operator, type, rank and negative test, and is the same every time."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

import pytest
import tiers

from conformance.suite.entries import Entry
from conformance.suite.store import Suite

pytest_plugins = ["pytester"]

TESTS = """
import pytest
import tiers

@pytest.mark.parametrize("n", tiers.sweep(range(10), lambda n: [n % 3]))
def test_sweep(n, exhaustive):
    assert exhaustive or n < 3

@pytest.mark.exhaustive
def test_long():
    pass

@pytest.fixture
def size(exhaustive):
    return 9 if exhaustive else 3

def test_of_a_size(size):
    assert size

def test_short():
    pass
"""

EXAMPLES = """
import tiers
from hypothesis import given, settings, strategies as st

@settings(max_examples=tiers.examples(3, few=2))
@given(st.booleans())
def test_drawn(one):
    pass

def test_short():
    pass
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions in processes of their own find the tiers, and no plugin of the environment: to look
    for these, hypothesis's among them, takes most of the time."""
    monkeypatch.setenv("PYTHONPATH", str(Path(tiers.__file__).parent), prepend=":")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.mark.parametrize(
    ("words", "passed", "deselected"),
    [((), 5, 1), (("--exhaustive",), 13, 0), (("--beyond",), 12, 1)],
)
def test_what_is_beyond_the_sample_runs_only_when_it_is_asked_for(
    pytester: pytest.Pytester,
    words: tuple[str, ...],
    passed: int,
    deselected: int,
) -> None:
    pytester.makepyfile(TESTS)
    found = pytester.runpytest_subprocess("-p", "tiers", "--strict-markers", *words)
    found.assert_outcomes(passed=passed, deselected=deselected)


def test_what_draws_more_examples_is_beyond_the_sample(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(EXAMPLES)
    found = pytester.runpytest_subprocess("-p", "tiers", "--strict-markers", "--beyond")
    found.assert_outcomes(passed=1, deselected=1)


@pytest.mark.parametrize(("seconds", "skipped"), [("0", 5), ("1000", 0)])
def test_what_has_no_time_is_skipped_and_told_of(
    pytester: pytest.Pytester, seconds: str, skipped: int
) -> None:
    pytester.makepyfile(TESTS)
    found = pytester.runpytest_subprocess(
        "-p", "tiers", "-p", "xdist", "-n", "1", "--within", seconds
    )
    found.assert_outcomes(passed=5 - skipped, skipped=skipped)
    assert ("tests were not run: the machine is too slow" in found.stdout.str()) == bool(skipped)


def test_a_sample_has_each_feature_once_and_keeps_the_order() -> None:
    pairs = ["x1", "x2", "y1", "y2", "z1", "z2"]
    assert tiers.sample(pairs, tuple) == ["x1", "x2", "y1", "z1"]


def test_a_sweep_keeps_every_parameter_with_its_name_and_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tiers, "_exhaustive", True)
    skipped = pytest.param("b", id="name", marks=pytest.mark.skip)
    made = tiers.sweep(["a", skipped], lambda _: ["any"])
    assert [one.values for one in made] == [("a",), ("b",)]
    assert [mark.name for mark in made[0].marks] == []
    assert [mark.name for mark in made[1].marks] == ["skip", "exhaustive"]
    assert made[1].id == "name"


def kinds(suite: Suite) -> set[Hashable]:
    """What a sample must have, told from the ids and the manifest alone."""

    def of(entry: Entry) -> set[Hashable]:
        dtype, shape = entry.id.split("-")[:2]
        if entry.reject is not None:
            return {(entry.op, entry.reject)}
        return {(entry.op, dtype), (entry.op, len(shape.split("x")))}

    return set().union(*map(of, suite.manifest.vectors))


@pytest.mark.parametrize("sampled", [tiers.smoke(), tiers.part(tiers.smoke())], ids=len)
def test_samples_of_the_shipped_suite(sampled: Suite) -> None:
    assert kinds(sampled) == kinds(tiers.core())
    assert len(sampled) < len(tiers.core()) / 9
