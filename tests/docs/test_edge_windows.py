"""The window that a page shows for an edge has what the edge is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import tiers

from conformance.docs.operator_facts import OperatorFacts, collect_facts
from conformance.families.pooling.illustrative_window import Shown, of_windows, telling
from conformance.reference import facts
from conformance.report.picture import window_picture
from conformance.spec.model import CoverageTarget
from conformance.specification import find_spec
from conformance.suite.store import Suite

SMOKE = tiers.smoke()
SPECS = {op: find_spec(op) for op in SMOKE.manifest.ops}
PAIRS = tiers.sweep(
    [
        pytest.param(op, edge, id=f"{op}-{edge.name}")
        for op, spec in SPECS.items()
        for edge in spec.edges
    ],
    lambda op, edge: [op, edge.name],
)


@pytest.fixture(scope="module")
def averages() -> OperatorFacts:
    """AvgPool-1 with all vectors: the best of many."""
    return collect_facts(SPECS["AvgPool-1"], tiers.core())


def shown(told: OperatorFacts, edge: CoverageTarget) -> Shown:
    found = telling(told.spec, edge, told.covering(edge.name))
    assert found is not None
    return found


@pytest.mark.parametrize(("op", "edge"), PAIRS)
def test_each_edge_has_a_window_that_meets_it_and_can_be_drawn(
    op: str, edge: CoverageTarget, accounts: Mapping[str, OperatorFacts]
) -> None:
    told = accounts[op]
    if not told.covering(edge.name):
        proven = SMOKE.manifest.strength[op].infeasible.values()
        assert all((edge.name, edge.name) in pairs for pairs in proven)
        return
    found = shown(told, edge)
    env = facts(told.spec, found.vector.case, found.vector.inputs)
    assert edge.when.evaluate(env) is True
    shape = found.vector.answers[0].expected.shape
    asked = [np.broadcast_to(part.evaluate(env), shape) for part in of_windows(edge)]
    most = max(
        (sum(map(int, at)) for at in zip(*(a.ravel() for a in asked), strict=True)), default=0
    )
    assert sum(int(one[found.index]) for one in asked) == most
    assert window_picture(found.window) is not None


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("ceil-overrun", lambda size, at, pads: at[-1] >= size + pads[1]),
        ("starts-beyond", lambda size, at, pads: at[0] >= size + pads[1]),
        ("starts-in-end-pad", lambda size, at, pads: size <= at[0] < size + pads[1]),
        ("pads-begin-only", lambda size, at, pads: at[0] < 0 < pads[0]),
        ("overrun-counts-pads", lambda size, at, pads: at[0] < size + pads[1] <= at[-1]),
        ("empty-counted", lambda size, at, pads: at[-1] < 0 or at[0] >= size),
    ],
)
def test_windows_of_well_known_edges(
    name: str, holds: Callable[[int, list[int], list[int]], bool], averages: OperatorFacts
) -> None:
    edge = next(edge for edge in averages.spec.edges if edge.name == name)
    found = shown(averages, edge)
    size = np.shape(found.window["input"])
    axes = zip(size, found.window["positions"], found.window["pads"], strict=True)
    assert any(holds(*axis) for axis in axes)


def test_a_window_that_takes_data_is_preferred(
    averages: OperatorFacts, accounts: Mapping[str, OperatorFacts]
) -> None:
    edge = next(edge for edge in averages.spec.edges if edge.name == "pads-asymmetric")
    found = shown(averages, edge)
    assert all(any(counts) for counts in found.window["counts"])
    assert np.size(found.window["input"]) > 1
    adaptive = accounts["AdaptiveMaxPool-8"]
    overlap = next(edge for edge in adaptive.spec.edges if edge.name == "overlap")
    assert max(map(len, shown(adaptive, overlap).window["positions"])) > 1


def test_vectors_of_another_version_of_the_specification_show_nothing(small_suite: Suite) -> None:
    spec = SPECS["AdaptiveAvgPool-8"]
    edge = spec.edges[0]
    others = [v for v in small_suite.vectors(["AvgPool-1"]) if v.case.reject is None]
    assert others
    assert telling(spec, edge, ()) is None
    assert telling(spec, edge, others) is None


def test_planes_that_are_filled_alike_are_preferred(averages: OperatorFacts) -> None:
    told = averages
    for name, pattern in [
        ("overflowing-sum", "large"),
        ("fractions", "normal"),
        ("zeros", "zeros"),
    ]:
        edge = next(edge for edge in told.spec.edges if edge.name == name)
        assert shown(told, edge).vector.case.pattern == pattern
    edge = next(edge for edge in told.spec.edges if edge.name == "pads-begin-only")
    assert shown(told, edge).vector.case.pattern == "ramp"
