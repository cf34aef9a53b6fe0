"""Operators of one's own have the mutants that their definitions and their roles allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from own import AVERAGE, MAXIMUM, OPS, PARTS, file_of, spec_of

from conformance.audit.kills import MutantRunner
from conformance.core.operator import Operator
from conformance.errors import SpecError
from conformance.implementations import implementation_of, subject_of
from conformance.model import Case, Vector
from conformance.specification import build, load_whole, mutants_of, shipped_specs


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
    """An average computed by hand: where windows start, how many there are, how far they move."""
    (data,) = vector.arguments
    assert data is not None
    data = data.astype(np.float64)
    size, taps = data.shape[2:], vector.case.attributes["filter"]
    found = np.zeros((*data.shape[:2], *out))
    for y, x in np.ndindex(out):
        at = [y * hop[0] - before[0], x * hop[1] - before[1]]
        low = [max(0, a) for a in at]
        high = [min(n, a + k) for n, a, k in zip(size, at, taps, strict=True)]
        window = data[:, :, low[0] : high[0], low[1] : high[1]]
        found[:, :, y, x] = window.sum(axis=(2, 3)) / (divisor or window[0, 0].size)
    return found.astype(np.float32)


def under(
    vector: Vector,
    mutant: str,
    *,
    spec: Operator | None = None,
    shape: tuple[int, ...] = (),
) -> np.ndarray[Any, Any]:
    """The first output under a mutant; ``shape`` is its shape where that is another one."""
    spec = spec or spec_of(vector.case.op)
    (found,) = (one for one in mutants_of(spec) if one.id == mutant)
    subject = subject_of(spec, vector.case, vector.arguments, [shape] if shape else ())
    return subject.under(implementation_of(spec, found.change))[0]


def named(spec: Operator) -> set[str]:
    """What an operator gives names of its own."""
    tensors = {tensor.name for tensor in (*spec.inputs, *spec.outputs)}
    return {*spec.attributes, *spec.let, *spec.define, *spec.dims, *tensors}


@pytest.mark.parametrize("op", OPS)
def test_no_name_is_one_of_our_pools(op: str) -> None:
    pools = [spec for name, spec in shipped_specs().items() if "pool" in name.lower()]
    ours = {name for spec in pools for name in named(spec)}
    assert {"kernel", "strides", "same_total", "pad_begin", "output_size", "data", "size"} <= ours
    assert len(named(spec_of(op))) >= 6
    # These are of other kinds of pools: numbers of PyTorch's and ONNX's.
    assert named(spec_of(op)) & ours <= {"padding", "indices", "largest"}


@pytest.mark.parametrize(
    ("op", "ids"),
    [
        (AVERAGE, ["same-upper-like-lower", "same-whatever-the-stride", "same-below-zero"]),
        (AVERAGE, ["same-axes-reversed", "same-like-first-axis", "same-out-rounded-down"]),
        (AVERAGE, ["strides-axes-reversed", "strides-like-first-axis", "strides-ignored"]),
        (AVERAGE, ["full-kernel-always", "divisor-missing", "divisor-one-more"]),
        (AVERAGE, ["row-tail-unwritten-8", "tail-channels-unwritten-4", "window-tail-dropped-16"]),
        (MAXIMUM, ["pads-begin-and-end-swapped", "begin-pads-dropped", "end-pads-at-both-ends"]),
        (MAXIMUM, ["dilations-ignored", "dilations-taken-for-strides", "padding-holds-zero"]),
        (MAXIMUM, ["strides-axes-reversed", "index-of-window-start", "last-of-equals"]),
        (PARTS, ["ends-rounded-down", "float32-quotient", "one-kernel-for-all-windows"]),
        (PARTS, ["divisor-one-more", "window-tail-dropped-32"]),
    ],
)
def test_mutants_by_id(op: str, ids: list[str]) -> None:
    assert set(ids) <= {mutant.id for mutant in mutants_of(spec_of(op))}


def test_a_mutant_of_an_axis_type_or_attribute_that_is_not_there_is_none() -> None:
    known = {op: {mutant.id for mutant in mutants_of(spec_of(op))} for op in OPS}
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
    wrong = under(vector, "strides-axes-reversed", shape=(1, 2, 6, 3))
    assert np.array_equal(wrong, as_kernel(vector, [0, 0], (6, 3), [1, 3]))


def test_padding_that_enters_the_divisor() -> None:
    vector = averaged((1, 1, 4, 4), [3, 3], [1, 1])
    wrong = under(vector, "full-kernel-always")
    assert np.array_equal(wrong, as_kernel(vector, [1, 1], (4, 4), [1, 1], divisor=9))


def test_swapped_pads() -> None:
    attributes = {"reach": [3], "hop": [2], "lead": [2], "trail": [0]}
    types = {"E": "f32", "POSITION": "i64"}
    case = Case(MAXIMUM, types, {"values": (1, 1, 6)}, attributes, {}, "ramp", 1)
    vector = build(spec_of(MAXIMUM), case)
    swapped = Case(MAXIMUM, types, case.shapes, {**attributes, "lead": [0], "trail": [2]})
    right = subject_of(spec_of(MAXIMUM), swapped, vector.arguments).outputs[0]
    assert np.array_equal(under(vector, "pads-begin-and-end-swapped"), right)
    assert not np.array_equal(vector.answers[0].expected, right)


def test_parts_that_end_too_early() -> None:
    case = Case(
        PARTS,
        {"E": "f32", "COUNT": "i64"},
        {"values": (1, 1, 5)},
        {},
        {"parts": (3,)},
        pattern="ramp",
        seed=1,
    )
    vector = build(spec_of(PARTS), case)
    data = vector.inputs[0].astype(np.float64)
    means = [data[0, 0, a:b].mean() for a, b in ((0, 2), (1, 4), (3, 5))]
    np.testing.assert_array_equal(vector.answers[0].expected, [[means]])
    early = [data[0, 0, a:b].mean() for a, b in ((0, 1), (1, 3), (3, 5))]
    wrong = under(vector, "ends-rounded-down")
    np.testing.assert_array_equal(wrong, np.array([[early]], np.float32))


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


@pytest.mark.parametrize(
    ("role", "gone"),
    [
        ("same_total", {"same-whatever-the-stride", "same-below-zero"}),
        ("half", {"same-upper-like-lower"}),
        ("strides", {"strides-axes-reversed", "strides-ignored"}),
    ],
)
def test_without_a_role_there_are_no_mutants_of_it(role: str, gone: set[str]) -> None:
    lines = file_of(AVERAGE).read_text("utf-8").splitlines(keepends=True)
    left = "".join(line for line in lines if not line.startswith(f"  {role}: "))
    assert len(left.splitlines()) == len(lines) - 1
    known = {mutant.id for mutant in mutants_of(spec_of(AVERAGE))}
    assert known - {mutant.id for mutant in mutants_of(load_whole(left, "own"))} >= gone


def test_a_further_role_gives_further_mutants() -> None:
    text = file_of(AVERAGE).read_text("utf-8").replace("let:\n", "let:\n  never: 0 == 1\n")
    spec = load_whole(text.replace("roles:\n", "roles:\n  explicitly: never\n"), "own")
    known = {mutant.id for mutant in mutants_of(spec_of(AVERAGE))}
    more = {mutant.id for mutant in mutants_of(spec)} - known
    assert "same-not-padded" in more
    vector = averaged((1, 1, 5, 6), [3, 2], [1, 1])
    wrong = under(vector, "same-not-padded", spec=spec, shape=(1, 1, 3, 5))
    assert np.array_equal(wrong, as_kernel(vector, [0, 0], (3, 5), [1, 1]))


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ("strides: hops", "unknown name 'hops'"),
        ("strides: hop +", ""),
    ],
)
def test_roles_that_are_none(roles: str, message: str) -> None:
    text = file_of(AVERAGE).read_text("utf-8").replace("strides: hop", roles)
    with pytest.raises(SpecError) as caught:
        load_whole(text, "own")
    (problem,) = caught.value.problems
    assert message in problem.message
    assert problem.line > 1
