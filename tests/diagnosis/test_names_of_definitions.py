"""Wrong kernels of operators that are definitions, and what they are said to have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from conformance.core.evaluate import Evaluation
from conformance.core.mutant_changes import TextChange
from conformance.core.operator_reader import read_operator
from conformance.diagnosis.agreement import Agreement, ObservedVector
from conformance.diagnosis.case_separation import CaseSeparations
from conformance.diagnosis.explain_failures import explain_failures, extend_explanations
from conformance.diagnosis.explanation import Explanation
from conformance.diagnosis.wording import describe_conditions
from conformance.dtypes import Array
from conformance.grade.judge import judge, make_result
from conformance.grade.outcome import Ending, Outcome
from conformance.implementations import implementation_of, subject_of
from conformance.model import FAILED, Case, Result, Status, Vector
from conformance.run.mutant_match import Prediction
from conformance.specification import build, find_spec, interpretation_changes, mutants_of
from conformance.suite.store import Suite

OP = "onnx.MatMul-13"


def cases() -> Iterator[Case]:
    """Products of 2-D matrices, with sizes below and above blocks of 4."""
    for rows, depth, columns in product((1, 2, 4, 5), (1, 3, 5, 9), (2, 4, 5, 6, 9)):
        shapes = {"A": (rows, depth), "B": (depth, columns)}
        yield Case(OP, {"T": "f32"}, shapes, {}, {}, pattern="whole+whole")


VECTORS = {vector.id: vector for vector in (build(find_spec(OP), case) for case in cases())}


def graded(kernel: Callable[[Array, Array], Array]) -> list[Result]:
    """Return the results of a kernel on all vectors."""
    results = []
    for vector in VECTORS.values():
        output = kernel(*(array for array in vector.arguments if array is not None))
        outcome = Outcome(Ending.RETURNED, [output])
        results.append(judge(vector, outcome, level="must", precision={}))
    return results


def explained(
    kernel: Callable[[Array, Array], Array], recorded: Sequence[str] = ()
) -> tuple[list[Vector], list[Explanation]]:
    """Return the vectors that a kernel fails, and the explanations of its failures.

    ``recorded`` are mutants that the suite says each failing vector kills, and no other does.
    """
    results = graded(kernel)
    failed = [result.id for result in results if result.status in FAILED]
    noticed = {id: tuple(recorded) if id in failed else () for id in VECTORS} if recorded else {}
    explanations = explain_failures(
        find_spec(OP),
        results,
        mutants_of(find_spec(OP)),
        read=VECTORS.__getitem__,
        noticed=noticed,
        precision={},
        level="must",
    )
    return [VECTORS[id] for id in failed], explanations


def lost_columns(a: Array, b: Array) -> Array:
    """A product whose columns after the last full block of 4 are 0."""
    y = a @ b
    if y.shape[1] > 4:
        y[:, y.shape[1] // 4 * 4 :] = 0
    return np.ascontiguousarray(y)


def test_a_mutant_everywhere_is_named() -> None:
    failed, (explanation,) = explained(lost_columns)
    assert explanation.ids == ("column-tail-of-pack-zero-4",)
    assert len(explanation.agreements) == len(failed) == 48


def test_outputs_far_from_those_of_a_mutant_take_no_intervals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vector = next(v for v in VECTORS.values() if v.answers[0].expected.shape == (4, 6))
    observed = ObservedVector(
        find_spec(OP), vector, (1000 * vector.answers[0].expected,), precision={}, level="must"
    )
    lost = next(m for m in mutants_of(find_spec(OP)) if m.id == "column-tail-of-pack-zero-4")
    monkeypatch.setattr(Evaluation, "intervals", lambda _: pytest.fail("intervals evaluated"))
    implementation = implementation_of(find_spec(OP), lost.change)
    assert observed.agreement(implementation, {}) is Agreement.NONE


def test_a_pass_contradicts_though_the_suite_records_no_kill_of_it() -> None:
    """A suite records a few kills of each mutant of a definition."""

    def kernel(a: Array, b: Array) -> Array:
        return lost_columns(a, b) if sum(a.shape) % 3 == 0 else a @ b

    ids = [mutant.id for mutant in mutants_of(find_spec(OP))]
    failed, explanations = explained(kernel, recorded=ids)
    assert len(failed) == 12
    assert explanations == []


def test_a_mutant_under_a_condition_is_named_with_it() -> None:
    """The condition is in words of the operator, and no passing vector meets it."""

    def kernel(a: Array, b: Array) -> Array:
        return lost_columns(a, b) if a.shape[0] > 2 and a.shape[1] > 4 else a @ b

    failed, (explanation,) = explained(kernel)
    assert explanation.ids == ("column-tail-of-pack-zero-4 where K > 4 and M > 2",)
    assert explanation.agreements.keys() == {vector.id for vector in failed}
    assert explanation.mutants[0].description.endswith("but only where K > 4 and M > 2.")


def test_a_condition_that_so_few_cases_meet_may_be_chance() -> None:
    def kernel(a: Array, b: Array) -> Array:
        shapes = ((1, 5), (4, 3), (5, 9))
        return lost_columns(a, b) if a.shape in shapes and b.shape[1] == 5 else a @ b

    failed, explanations = explained(kernel)
    assert len(failed) == 3
    assert explanations == []


def test_wrong_outputs_without_a_name_have_conditions_over_names() -> None:
    """Passing vectors may meet them, at most one for each four that fail."""

    def kernel(a: Array, b: Array) -> Array:
        is_path = a.shape[0] > 2 and a.shape[1] > 4 and (*a.shape, b.shape[1]) != (4, 5, 2)
        return 3 * (a @ b) if is_path else a @ b

    results = graded(kernel)
    failed = [result for result in results if result.status in FAILED]
    passed = [result for result in results if result.status is Status.PASS]
    separation = CaseSeparations(find_spec(OP), failed, passed).find(failed, failed)
    assert separation is not None
    assert [str(condition) for condition in separation.conditions] == ["K > 4", "M > 2"]
    assert (separation.failing, separation.meet, separation.passing) == (19, 1, 61)


def test_results_have_the_targets_that_people_can_read() -> None:
    shapes = {"X": (1, 1, 5), "W": (1, 1, 2)}
    attributes = {"auto_pad": "SAME_LOWER", "strides": [2]}
    case = Case("onnx.Conv-22", {"T": "f32"}, shapes, attributes, {}, pattern="whole+whole+whole")
    vector = build(find_spec(case.op), case)
    assert "auto_pad is SAME_LOWER" in vector.edges
    assert [target for target in vector.edges if "..." in target] == []
    assert make_result(vector, Status.PASS).edges == vector.edges


CONV = find_spec("onnx.Conv-22")


def test_a_mutant_may_follow_an_interpretation_of_a_definition_besides() -> None:
    shapes = {"X": (1, 1, 3, 3), "W": (2, 1, 2, 2), "B": (2,)}
    case = Case(
        CONV.op, {"T": "f32"}, shapes, {"pads": [1] * 4}, {}, pattern="whole+infinite+whole"
    )
    vector = build(CONV, case)
    mutant = next(m for m in mutants_of(CONV) if m.id.startswith("define.Y.finish: B[filter]"))
    read = interpretation_changes(CONV)["multiplies-padding"]
    both = implementation_of(CONV, mutant.change, read)
    outputs = subject_of(CONV, case, vector.arguments).under(both)
    result = judge(vector, Outcome(Ending.RETURNED, outputs), level="must", precision={})
    alone = Explanation((mutant,), {}, frozenset(), frozenset(), 0, 0)
    (extended,) = extend_explanations(
        [alone], CONV, [result], read=lambda _: vector, precision={}, level="must"
    )
    assert extended.agreements == {vector.id: Agreement.EQUAL}
    specs = SimpleNamespace(get={CONV.op: CONV}.get, faults=lambda _: mutants_of(CONV))
    suite = cast(Suite, SimpleNamespace(specs=specs, get=lambda _: vector))
    assert Prediction(suite, "must", {})(result, (mutant.id,))


TYPED = read_operator("""
op: own.Typed
types: {T: [f32]}
attributes:
  output_type: {type: word, values: [f32, f16], default: f32}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
define: {Y: {at: {i: N}, value: "X[i]"}}
outputs: [{name: Y, type: output_type}]
""")


def test_a_mutant_with_outputs_of_another_type_is_different() -> None:
    """Zeros are the same number in both types."""
    vector = build(TYPED, Case(TYPED.op, {"T": "f32"}, {"X": (2,)}, {}, pattern="zeros"))
    half = TextChange("half", (("attributes.output_type.default", "", "f16"),))
    implementation = implementation_of(TYPED, half)
    passed = ObservedVector(TYPED, vector, None, precision={}, level="must")
    assert passed.consistency(implementation) is Agreement.NONE
    right, other = (
        subject_of(TYPED, vector.case, vector.arguments).under(implementation_of(TYPED, *changes))
        for changes in ((), (half,))
    )
    assert right[0].dtype != other[0].dtype
    failed = ObservedVector(TYPED, vector, tuple(other), precision={}, level="must")
    assert failed.agreement(implementation, {}) is Agreement.EQUAL


AVERAGE = read_operator("""
op: own.Average
types: {T: [f32]}
attributes: {begin: {per: axis, default: 0}, end: {per: axis, default: 0}}
dims: {size: {per: axis}}
inputs: [{name: X, type: T, shape: [size]}]
define: {Y: {at: {i: size}, value: "X[i]"}}
outputs: [{name: Y, type: T}]
profiles:
  one-number:
    when: min(begin) == max(begin) and all(begin == end)
    why: Many an interface takes one number.
""")


def test_failures_outside_of_a_profile_are_told_so() -> None:
    pads = list(product((0, 1), repeat=2))
    results = []
    for begin, end in product(pads, pads):
        attributes = {"begin": [*begin], "end": [*end]}
        case = Case(AVERAGE.op, {"T": "f32"}, {"X": (3, 3)}, attributes, pattern="whole")
        is_within = begin[0] == begin[1] and begin == end
        status = Status.PASS if is_within else Status.FAIL
        results.append(make_result(build(AVERAGE, case), status))
    failed = [result for result in results if result.status is Status.FAIL]
    passed = [result for result in results if result.status is Status.PASS]
    many = [replace(r, id=f"{r.id}-{k}") for r in passed for k in range(9)]
    separation = CaseSeparations(AVERAGE, failed, many).find(failed, failed)
    assert separation is not None
    described = describe_conditions(separation, AVERAGE, rejected=False, by_chance=False)
    outside = "a case outside of the profile one-number"
    assert described["sentence"] == f"Fails on exactly the vectors with {outside}."
    assert [c["about"] for c in described["conditions"]] == ["Many an interface takes one number."]
