"""What is drawn of a mutant's window is what the mutant computes from."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest
import tiers

import conformance
from conformance.dtypes import Array
from conformance.families.pooling.picture import Window, described, window
from conformance.implementations import EvaluatedCase, implementation_of, subject_of
from conformance.model import Finding, Result, Status, Vector, Witness
from conformance.run.illustrate import Illustrator, holding
from conformance.spec.catalogue import Mutant
from conformance.specification import case_from_inputs, find_spec, mutants_of

SUITE = tiers.smoke()
HOW = {
    *("accumulator", "quotient", "rounding", "nan", "infinities", "passes_through", "conversion"),
    *("begins", "order", "subnormals", "factor"),
}
"""Rules that say how an element is worked out of its window, which no picture shows."""

MUTANTS = [(op, fault) for op in SUITE.manifest.ops for fault in mutants_of(find_spec(op))]
EACH = pytest.mark.parametrize("op", SUITE.manifest.ops)


def replaced(asked: tuple[str, Mutant]) -> list[Hashable]:
    """What a sample of mutants has each of."""
    _, fault = asked
    of_reading = [fault.id] if "reads" in fault.change.replace else []
    return [(fault.kind, *sorted(fault.change.replace)), *of_reading]


@pytest.fixture(scope="module")
def mutants(exhaustive: bool) -> list[tuple[str, Mutant]]:
    return MUTANTS if exhaustive else tiers.sample(MUTANTS, replaced)


@cache
def vectors(op: str) -> tuple[Vector, ...]:
    """The vectors of plain numbers in a type that does not round, the smallest first."""
    entries = [
        one
        for one in SUITE.manifest.vectors
        if one.op == op and one.reject is None and one.dtype in ("f32", "f64")
    ]
    read = (SUITE.read(one) for one in entries)
    finite = (one for one in read if np.isfinite(one.inputs[0]).all())
    return tuple(sorted(finite, key=lambda one: one.inputs[0].size))


@cache
def subject(vector_id: str) -> EvaluatedCase[Any]:
    vector = SUITE.get(vector_id)
    return subject_of(find_spec(vector.case.op), vector.case, vector.inputs)


def changed(
    op: str, mutants: list[tuple[str, Mutant]]
) -> Iterator[tuple[Mutant, Vector, list[Array]]]:
    """Mutants of an operator, few vectors on which each gives other outputs, and these outputs."""
    for of, fault in mutants:
        if of == op:
            yield from ((fault, *one) for one in islice(shown(op, fault), 3))


def shown(op: str, fault: Mutant) -> Iterator[tuple[Vector, list[Array]]]:
    altered = implementation_of(find_spec(op), fault.change)
    for vector in vectors(op):
        right = subject(vector.id)
        given = right.under(altered)
        if given is not right.outputs and any(
            a.shape != b.shape or not np.array_equal(a, b, equal_nan=True)
            for a, b in zip(given, right.outputs, strict=True)
        ):
            yield vector, given


def reduced(vector: Vector, seen: Window) -> Any:
    """What comes of the values that count."""
    if not seen.written:
        return None
    values = np.array(list(seen.values.values()), np.float64)
    with np.errstate(all="ignore"):
        if seen.divisor is not None:
            return np.sum(values) / seen.divisor
        if "lp_pool" in vector.case.op or "LpPool" in vector.case.op:
            p = vector.case.attributes.get("p", vector.case.attributes.get("norm_type", 2))
            # PyTorch's powers keep the signs of the elements; a negative sum has no root.
            powers = values**p if vector.case.op.startswith("torch.") else np.abs(values) ** p
            return np.sum(powers) ** (1 / p)
        return np.max(values, initial=-np.inf)


@EACH
def test_the_taps_are_those_that_a_mutant_computes_with(
    op: str, mutants: list[tuple[str, Mutant]]
) -> None:
    spec = find_spec(op)
    for fault, vector, (values, *_) in changed(op, mutants):
        if not values.size or not any(values.strides):
            continue  # nothing to draw, or larger than is worked out
        if values.ndim != vector.answers[0].expected.ndim:
            continue  # no window is drawn of an output of another rank
        for index in ((0,) * values.ndim, tuple(n - 1 for n in values.shape)):
            if values.shape != vector.answers[0].expected.shape:
                there = (replace(fault.change, where=None),)
            else:
                there = holding(spec, vector, index, (fault.change,))
            seen = window(spec, vector.case, vector.inputs, index, there)
            read = zip(seen.coordinates, seen.read, seen.counted, strict=True)
            assert all(len({*map(len, axis)}) == 1 for axis in read), fault.id
            opened = vector.answers[0].open
            opened = opened is not None and opened.shape == values.shape and opened[index]
            how = HOW | ({"divisor"} if seen.divisor is None else set())
            if opened or not how.isdisjoint(fault.change.replace) or not seen.values:
                continue
            expected = reduced(vector, seen)
            if expected is None:
                assert values[index] == 0 or np.isnan(values[index]), fault.id
                continue
            most = max(map(abs, map(float, seen.values.values())))
            if most < 1e30:
                assert float(values[index]) == pytest.approx(
                    expected, rel=1e-4, abs=1e-6 * most, nan_ok=True
                ), fault.id


def finding(vector: Vector, index: tuple[int, ...]) -> tuple[Finding, Result]:
    witness = Witness("result", index, "0", "0", "0", "0", "1", None, 1, 1)
    failed = Result(id=vector.id, op=vector.case.op, status=Status.FAIL, edges=())
    found = Finding(
        op=vector.case.op,
        kind="value",
        title="",
        ids=(vector.id,),
        edges=(),
        smallest=vector.id,
        message="",
        witness=witness,
        reproduce="",
        detail={},
    )
    return found, failed


@EACH
def test_taps_that_count_are_drawn_on_the_data(op: str, mutants: list[tuple[str, Mutant]]) -> None:
    illustrator = Illustrator(SUITE, "must", {})
    for fault, vector, _ in changed(op, mutants):
        size = vector.inputs[0].shape[2:]
        shape = vector.answers[0].expected.shape
        for index in ((0,) * len(shape), tuple(n - 1 for n in shape)):
            drawn = illustrator.illustrated(*finding(vector, index), [fault.change])
            window = drawn.detail.get("window", {})
            for seen in (window, window.get("under", {})):
                for axis, positions in enumerate(seen.get("positions", ())):
                    taken = zip(positions, seen["counts"][axis], strict=True)
                    assert all(0 <= at < size[axis] for at, counts in taken if counts), fault.id


def test_a_repeated_edge_is_drawn_where_it_reads() -> None:
    (fault,) = (
        one for op, one in MUTANTS if (op, one.id) == ("AvgPool-1", "edge-repeated-as-padding")
    )
    spec, data = find_spec("AvgPool-1"), np.arange(1, 4, dtype="f4").reshape(1, 1, 3)
    attributes = {
        "kernel": [3],
        "strides": [1],
        "pads_begin": [2],
        "pads_end": [1],
        "exclude-pad": True,
    }
    case = case_from_inputs(spec, [data], attributes)
    seen = window(spec, case, [data], (0, 0, 0), (fault.change,))
    assert (seen.coordinates, seen.read, seen.counted) == (
        ((-2, -1, 0),),
        ((0, 0, 0),),
        ((True,) * 3,),
    )
    assert (list(seen.values.values()), seen.divisor) == ([1, 1, 1], 3)
    last = window(spec, case, [data], (0, 0, 3), (fault.change,))
    assert (list(last.values.values()), last.read) == ([2, 3, 3], ((1, 2, 2),))


def test_an_element_of_another_plane_is_not_drawn_over_its_own() -> None:
    (fault,) = (
        one for op, one in MUTANTS if (op, one.id) == ("AvgPool-1", "last-corner-unwritten")
    )
    spec, data = find_spec("AvgPool-1"), np.arange(1, 5, dtype="f4").reshape(1, 1, 2, 2)
    attributes = {
        "kernel": [1, 1],
        "strides": [1, 1],
        "pads_begin": [0, 0],
        "pads_end": [0, 0],
        "exclude-pad": True,
    }
    case = case_from_inputs(spec, [data], attributes)
    there = (replace(fault.change, where=None),)
    seen = window(spec, case, [data], (0, 0, 1, 1), there)
    assert (seen.written, described(seen, [data])) == (False, None)


class Broken:
    """In place of what illustrates or diagnoses: a defect."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def illustrated(self, *_: Any) -> Any:
        raise IndexError("index 9 is out of bounds")

    def run(self) -> Any:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    "broken",
    ["conformance.run.summarise.Illustrator", "conformance.diagnosis.explain_failures.Search"],
)
def test_a_defect_costs_a_picture_or_a_name_and_not_the_run(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken, Broken)

    def zeros(op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        right = conformance.reference(op, inputs, attributes)
        return [np.zeros(one.shape, inputs[0].dtype) for one in right]

    run = conformance.check(SUITE, zeros, ops=["AdaptiveAvgPool-8"], dtypes=["f32"])
    assert not run.passed
    assert run.findings
    told = [finding for finding in run.findings if finding.detail.get("defect")]
    assert told
    assert {one.detail["defect"].partition(":")[0] for one in told} <= {
        "IndexError",
        "ZeroDivisionError",
    }
