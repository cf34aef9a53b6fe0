"""Operators of one's own have the mutants that their rules allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from own import AVERAGE, MAXIMUM, OPS, PARTS, file_of, spec_of

from conformance.audit.kills import MutantRunner
from conformance.errors import SpecError
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case, Vector
from conformance.spec.loader import load_spec_text, shipped_specs
from conformance.spec.model import OpSpec
from conformance.spec.vocabulary import vocabulary
from conformance.specification import build, mutants_of


def averaged(
    data: tuple[int, ...], filter_: list[int], hop: list[int], padding: str = "SAME"
) -> Vector:
    case = Case(
        AVERAGE,
        {"E": "f32"},
        {"image": data},
        {"padding": padding, "filter": filter_, "hop": hop},
        pattern="ramp",
        seed=1,
    )
    return build(spec_of(AVERAGE), case)


def as_kernel(
    vector: Vector, before: list[int], out: tuple[int, int], hop: list[int], divisor: Any = None
) -> np.ndarray[Any, Any]:
    """An average worked out by hand: where windows start, how many there are, how far they move."""
    data = vector.inputs[0].astype(np.float64)
    size, taps = data.shape[2:], vector.case.attributes["filter"]
    found = np.zeros((*data.shape[:2], *out))
    for y, x in np.ndindex(out):
        at = [y * hop[0] - before[0], x * hop[1] - before[1]]
        low = [max(0, a) for a in at]
        high = [min(n, a + k) for n, a, k in zip(size, at, taps, strict=True)]
        window = data[:, :, low[0] : high[0], low[1] : high[1]]
        found[:, :, y, x] = window.sum(axis=(2, 3)) / (divisor or window[0, 0].size)
    return found.astype(np.float32)


def under(vector: Vector, fault: str) -> np.ndarray[Any, Any]:
    spec = spec_of(vector.case.op)
    (found,) = (one for one in mutants_of(spec) if one.id == fault)
    subject = subject_of(spec, vector.case, vector.inputs)
    return subject.under(implementation_of(spec, found.change))[0]


def named(spec: OpSpec) -> set[str]:
    """What a specification gives names of its own: quantities and abbreviations, not dimensions."""
    abbreviations = {str(path[1]) for path in spec.positions if path[0] == "let" and len(path) == 2}
    return {*spec.quantities, *abbreviations} - spec.dims.keys()


@pytest.mark.parametrize("op", OPS)
def test_no_name_is_one_of_ours(op: str) -> None:
    ours = {name for spec in shipped_specs().values() for name in named(spec)}
    assert {"kernel", "strides", "same_total", "pad_begin", "output_size"} <= ours
    assert len(named(spec_of(op))) >= 3
    assert named(spec_of(op)) & ours <= {"padding"}  # a number of PyTorch's, here another thing
    assert spec_of(op).lineage == (op,)


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (AVERAGE, {"T": "E", "kernel": "filter", "strides": "hop", "pad_begin": "(before)"}),
        (MAXIMUM, {"kernel": "extents", "strides": "hop", "dilations": "spread"}),
        (MAXIMUM, {"pads_begin": "lead", "pads_end": "trail", "pad_end": "(trail)"}),
        (PARTS, {"T": "E", "output_size": "parts"}),
    ],
)
def test_words_follow_from_the_rules(op: str, words: Mapping[str, str]) -> None:
    found = vocabulary(spec_of(op)).words
    assert {word: found.get(word) for word in words} == words


def test_kinds_of_windows() -> None:
    kinds = {op: vocabulary(spec).given.kind for op, spec in shipped_specs().items()}
    assert {op for op, kind in kinds.items() if kind == "global"} == {
        op for op in kinds if "Global" in op
    }
    assert {op for op, kind in kinds.items() if kind == "adaptive"} == {
        op for op in kinds if "daptive" in op
    }
    assert vocabulary(spec_of(PARTS)).given.kind == "adaptive"
    assert vocabulary(spec_of(AVERAGE)).given.kind == "sliding"


@pytest.mark.parametrize(
    ("op", "ids"),
    [
        (AVERAGE, ["same-upper-like-lower", "same-whatever-the-stride", "same-below-zero"]),
        (AVERAGE, ["same-axes-reversed", "same-like-first-axis", "same-out-rounded-down"]),
        (AVERAGE, ["strides-axes-reversed", "strides-like-first-axis", "strides-ignored"]),
        (AVERAGE, ["full-kernel-always", "divisor-missing", "excluded-end-pads-counted"]),
        (AVERAGE, ["row-tail-unwritten-8", "tail-channels-unwritten-4", "window-tail-dropped-16"]),
        (MAXIMUM, ["pads-begin-and-end-swapped", "begin-pads-dropped", "end-pads-at-both-ends"]),
        (MAXIMUM, ["dilations-ignored", "dilations-taken-for-strides", "padding-holds-zero"]),
        (MAXIMUM, ["strides-axes-reversed", "index-of-window-start", "last-of-equals"]),
        (PARTS, ["ends-rounded-down", "float32-quotient", "one-kernel-for-all-windows"]),
        (PARTS, ["divisor-of-the-largest-window", "window-tail-dropped-32"]),
    ],
)
def test_mutants_by_id(op: str, ids: list[str]) -> None:
    assert set(ids) <= {fault.id for fault in mutants_of(spec_of(op))}


def test_a_mutant_of_an_axis_type_or_attribute_that_is_not_there_is_none() -> None:
    known = {op: {fault.id for fault in mutants_of(spec_of(op))} for op in OPS}
    assert "first-channel-only-in-1d" not in known[AVERAGE]
    assert not {one for ids in known.values() for one in ids if "middle-axis" in one}
    assert "means-of-bf16-truncated" not in known[AVERAGE]
    assert "dilations-ignored" not in known[AVERAGE]
    assert "pads-begin-and-end-swapped" not in known[AVERAGE]
    assert "divisor-missing" not in known[MAXIMUM]
    assert "strides-ignored" not in known[PARTS]
    assert "index-within-window" not in known[PARTS]


def test_same_padding_at_the_wrong_end() -> None:
    # Rows of 5 and columns of 6: 2 and 1 elements of padding, of which the odd one belongs behind.
    vector = averaged((1, 1, 5, 6), [3, 2], [1, 1])
    wrong = under(vector, "same-upper-like-lower")
    assert np.array_equal(wrong, as_kernel(vector, [1, 1], (5, 6), [1, 1]))
    assert not np.array_equal(wrong, as_kernel(vector, [1, 0], (5, 6), [1, 1]))


def test_same_padding_that_is_right_for_a_stride_of_1() -> None:
    vector = averaged((1, 1, 6, 6), [3, 3], [2, 2])  # 1 element of padding, behind; 2 are 1 and 1
    wrong = under(vector, "same-whatever-the-stride")
    assert np.array_equal(wrong, as_kernel(vector, [1, 1], (3, 3), [2, 2]))


def test_swapped_strides() -> None:
    vector = averaged((1, 2, 6, 7), [1, 2], [3, 1])
    assert vector.answers[0].expected.shape == (1, 2, 2, 7)
    wrong = under(vector, "strides-axes-reversed")
    assert np.array_equal(wrong, as_kernel(vector, [0, 0], (6, 3), [1, 3]))


def test_padding_that_enters_the_divisor() -> None:
    vector = averaged((1, 1, 4, 4), [3, 3], [1, 1])
    wrong = under(vector, "full-kernel-always")
    assert np.array_equal(wrong, as_kernel(vector, [1, 1], (4, 4), [1, 1], divisor=9))


def test_swapped_pads() -> None:
    attributes = {"extents": [3], "hop": [2], "lead": [2], "trail": [0]}
    case = Case(MAXIMUM, {"E": "f32", "POSITION": "i64"}, {"data": (1, 1, 6)}, attributes)
    vector = build(spec_of(MAXIMUM), case)
    swapped = Case(MAXIMUM, case.types, case.shapes, {**attributes, "lead": [0], "trail": [2]})
    right = subject_of(spec_of(MAXIMUM), swapped, vector.inputs).outputs[0]
    assert np.array_equal(under(vector, "pads-begin-and-end-swapped"), right)
    assert not np.array_equal(vector.answers[0].expected, right)


@pytest.mark.parametrize(
    ("vector", "killed"),
    [
        (averaged((1, 1, 5, 6), [3, 2], [1, 1]), "same-upper-like-lower"),
        (averaged((1, 1, 6, 7), [3, 2], [3, 1]), "strides-axes-reversed"),
        (averaged((1, 1, 4, 4), [3, 3], [1, 1]), "full-kernel-always"),
        (averaged((1, 1, 2, 9), [1, 2], [1, 1]), "row-tail-unwritten-8"),
        (averaged((1, 5, 2, 2), [2, 2], [1, 1]), "tail-channels-unwritten-4"),
    ],
)
def test_a_vector_kills_it_at_both_levels(vector: Vector, killed: str) -> None:
    spec = spec_of(AVERAGE)
    (found,) = MutantRunner(spec, mutants_of(spec)).all_kills([vector])
    assert {kill.mutant: kill.at_must for kill in found}[killed]


def test_what_nothing_can_show_is_stated_of_mutants_that_are_there() -> None:
    spec = spec_of(AVERAGE)
    assert spec.equivalent
    stated = {fault.id: fault.equivalent for fault in mutants_of(spec) if fault.equivalent}
    assert stated.items() >= spec.equivalent.items()
    text = spec_text().replace("same-ignores-ceil: SAME", "same-ignores-ceiling: SAME")
    with pytest.raises(SpecError, match="has no mutant 'same-ignores-ceiling'") as caught:
        mutants_of(load_spec_text(text))
    assert "same-ignores-ceil" in caught.value.problems[0].hint


def test_roles_name_what_rules_do_not_tell() -> None:
    known = {fault.id for fault in mutants_of(spec_of(AVERAGE))}
    named = "roles: {auto_pad: padding, same_upper: SAME, valid: VALID}\nrequire:\n"
    spec = load_spec_text(spec_text().replace("require:\n", named))
    more = {fault.id for fault in mutants_of(spec)} - known
    assert {"same-not-padded", "valid-padded-like-same"} <= more
    vector = averaged((1, 1, 5, 6), [3, 2], [1, 1])
    (found,) = (one for one in mutants_of(spec) if one.id == "same-not-padded")
    subject = subject_of(spec, vector.case, vector.inputs)
    unpadded = averaged((1, 1, 5, 6), [3, 2], [1, 1], padding="VALID")
    (wrong,) = subject.under(implementation_of(spec, found.change))
    assert wrong.shape == unpadded.answers[0].expected.shape == (1, 1, 3, 5)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ("{stride: hop}", "'stride' is no role"),
        ("{strides: hops}", "unknown name 'hops'"),
        ("{strides: hop +}", ""),
    ],
)
def test_roles_that_are_none(roles: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_spec_text(spec_text().replace("require:\n", f"roles: {roles}\nrequire:\n"))
    (problem,) = caught.value.problems
    assert message in problem.message
    assert problem.line > 1


def spec_text() -> str:
    return file_of(AVERAGE).read_text()
