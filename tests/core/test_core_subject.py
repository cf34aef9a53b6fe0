"""A case of a definition under mutants: outputs, kills, and what is not evaluated."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from core_draws import drawn, same_values

from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.implementation import Implementation, mutated
from conformance.core.kills import implementation_of, is_killed, kills
from conformance.core.loader import load_operator
from conformance.core.machine import EXACT, Style
from conformance.core.mutant_changes import (
    DefinitionChange,
    HabitChange,
    PathChange,
    TextChange,
)
from conformance.core.mutants import mutants_of
from conformance.core.operator_reader import read_operator
from conformance.core.subject import Subject
from conformance.errors import ConformanceError
from conformance.model import Case
from conformance.spec.catalogue import Mutant

CONV = load_operator("onnx.Conv-22")
MATMUL = load_operator("onnx.MatMul-13")


def conv(**attributes: Any) -> Case:
    shapes = {"X": (2, 4, 7, 6), "W": (6, 4 // attributes.get("group", 1), 3, 2), "B": (6,)}
    return Case(CONV.op, {"T": "f32"}, shapes, attributes, pattern="whole+whole+whole", seed=3)


def matmul(rows: int, depth: int, columns: int) -> tuple[Case, list[np.ndarray]]:
    """Row r of the product is r + 1 times the sum of the columns of B, which are ones."""
    a = np.arange(1, rows + 1, dtype=np.float32)[:, None] * np.ones((1, depth), np.float32)
    case = Case(MATMUL.op, {"T": "f32"}, {"A": (rows, depth), "B": (depth, columns)}, {})
    return case, [a, np.ones((depth, columns), np.float32)]


def subject(case: Case) -> Subject:
    return Subject(CONV, case, inputs_of(CONV, case))


def text(location: str, part: str, other: str, where: str = "") -> TextChange:
    return TextChange(f"{location}: {part} => {other}", ((location, part, other),), where)


def test_a_change_without_effect_gives_the_same_list() -> None:
    without_dilation = text("define.Y.with.x", "k * dilations", "k")
    one_dilated = subject(conv(dilations=[2, 1]))
    plain = subject(conv())
    assert plain.under(Implementation(CONV, without_dilation)) is plain.outputs
    assert one_dilated.under(Implementation(CONV, without_dilation)) is not one_dilated.outputs


def test_outputs_are_kept_until_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    here = subject(conv(pads=[1, 0, 0, 1]))
    first, second = (
        Implementation(CONV, text("define.Y.finish", "B[filter]", other))
        for other in ("0", "2 * B[filter]")
    )
    outputs = here.under(first)
    here.under(second)
    assert here.under(first) is outputs
    monkeypatch.setattr("conformance.core.subject.KEPT", 0)
    here.under(Implementation(CONV, text("define.Y.finish", "B[filter]", "1")))
    assert here.under(first) is not outputs
    np.testing.assert_array_equal(here.under(first)[0], outputs[0])


def test_a_change_of_the_text_is_that_of_the_changed_operator() -> None:
    case = conv(pads=[1, 0, 0, 1], strides=[1, 2])
    change = text("define.Y.with.x", "pad_begin", "pad_end")
    implementation = Implementation(CONV, change)
    inputs = dict(zip("XWB", inputs_of(CONV, case), strict=True))
    (expected,) = Evaluation(implementation.under([change]), case.attributes, inputs).outputs()
    np.testing.assert_array_equal(subject(case).under(implementation)[0], expected)


def test_a_condition_limits_a_change() -> None:
    change = text("define.Y.finish", "B[filter]", "0", where="any(strides > 1)")
    for strides, changes in (([1, 1], False), ([2, 1], True)):
        here = subject(conv(strides=strides))
        assert (here.under(Implementation(CONV, change)) is not here.outputs) == changes


def test_changes_hold_together() -> None:
    here = subject(conv(pads=[1, 1, 1, 1]))
    first = text("define.Y.finish", "B[filter]", "0")
    other = text("define.Y.with.x", "pad_begin", "0 * pad_begin")
    both = here.under(Implementation(CONV, first).beside(other))[0]
    bias = inputs_of(CONV, here.case)[2]
    assert bias is not None
    np.testing.assert_array_equal(
        both + bias.reshape(1, 6, 1, 1), here.under(Implementation(CONV, other))[0]
    )


@pytest.mark.parametrize("part_first", [True, False])
def test_a_text_around_what_was_there_is_around_a_changed_part(part_first: bool) -> None:
    part = text("define.Y.finish", "B[filter]", "0")
    around = text("define.Y.finish", "", "where(m == 0, original + B[filter], original)")
    first, other = (part, around) if part_first else (around, part)
    here = subject(conv())
    together = Implementation(CONV, first).beside(other)
    assert together is not None
    both = here.under(together)[0]
    bias = np.asarray(inputs_of(CONV, here.case)[2])
    expected = here.outputs[0] - np.where(np.arange(6) == 0, 0, bias).reshape(1, 6, 1, 1)
    np.testing.assert_array_equal(both, expected)


def test_texts_around_one_another_are_so_in_their_order() -> None:
    added = text("define.Y.finish", "", "original + 1")
    doubled = text("define.Y.finish", "", "original * 2")
    here = subject(conv())
    for first, other, expected in [
        (added, doubled, (here.outputs[0] + 1) * 2),
        (doubled, added, here.outputs[0] * 2 + 1),
    ]:
        together = Implementation(CONV, first).beside(other)
        assert together is not None
        np.testing.assert_array_equal(here.under(together)[0], expected)


def test_texts_that_are_written_anew_exclude_each_other() -> None:
    part = text("define.Y.finish", "B[filter]", "0")
    around = text("define.Y.finish", "", "original + 1")
    anew = text("define.Y.finish", "", "total")
    for first, other in [(anew, part), (around, anew), (part, part)]:
        assert Implementation(CONV, first).beside(other) is None


@pytest.mark.parametrize(
    ("index", "template", "rows"),
    [
        ("i", "zero", [5, 10, 15, 20, 0]),
        ("i", "neighbour", [5, 10, 15, 20, 20]),
        ("i", "unwritten", [5, 10, 15, 20, np.nan]),
        ("i", "first_block", [5, 10, 15, 20, 0]),
        ("i", "last_block", [0, 10, 15, 20, 25]),
        ("k", "left_out", [4, 8, 12, 16, 20]),
        ("k", "twice", [6, 12, 18, 24, 30]),
        ("k", "first_block", [4, 8, 12, 16, 20]),
        ("k", "last_block", [4, 8, 12, 16, 20]),
    ],
)
def test_paths_in_blocks_of_4(index: str, template: str, rows: list[float]) -> None:
    case, inputs = matmul(5, 5, 2)
    here = Subject(MATMUL, case, inputs)
    (output,) = here.under(Implementation(MATMUL, PathChange("p", "Y", index, 4, template)))
    np.testing.assert_array_equal(output[:, 0], rows)


def test_a_path_shows_only_where_there_is_a_rest() -> None:
    for rows, changes in ((3, False), (4, False), (5, True), (8, False), (9, True)):
        here = Subject(MATMUL, *matmul(rows, 3, 2))
        implementation = Implementation(MATMUL, PathChange("p", "Y", "i", 4, "zero"))
        assert (here.under(implementation) is not here.outputs) == changes


def test_all_axes_in_a_row() -> None:
    path = PathChange("p", "Y", "i", 4, "zero", "flat")
    here = subject(conv())  # 5 by 5 positions: the last alone is left
    (output,) = here.under(Implementation(CONV, path))
    differs = output != here.outputs[0]
    assert np.argwhere(differs)[:, 2:].tolist() == [[4, 4]] * int(differs.sum()) != []


def test_what_is_not_written_is_unspecified() -> None:
    here = Subject(MATMUL, *matmul(5, 5, 2))
    (mask,) = here.unspecified(Implementation(MATMUL, PathChange("p", "Y", "i", 4, "unwritten")))
    assert mask.tolist() == [[False] * 2] * 4 + [[True] * 2]


def test_the_ends_of_a_mutant_are_around_its_outputs() -> None:
    case = Case(CONV.op, {"T": "f32"}, conv().shapes, {}, pattern="fractions+fractions+fractions")
    here = subject(case)
    change = text("define.Y.with.x", "k * dilations", "k + 1")
    path = PathChange("p", "Y", "m", 4, "neighbour")
    for changes in [(change,), (path,), (change, path)]:
        implementation = Implementation(CONV, *changes)
        ((lo, hi),) = here.ends(implementation, "standard")
        (output,) = here.under(implementation)
        assert ((lo <= output) & (output <= hi)).all()
        assert (lo < hi).any()
        ((only, also),) = here.ends(implementation, "exact")
        np.testing.assert_array_equal(only, output)
        np.testing.assert_array_equal(also, output)


def test_ends_that_are_single_values_have_the_shape_of_the_output() -> None:
    norm = load_operator("onnx.LpPool-22")
    scaled = "step(total) / prod(taps) * prod(taps)"
    count = text("define.result.finish", scaled, "prod(taps)")
    case = Case(norm.op, {"T": "f32"}, {"X": (2, 3, 4)}, {"kernel_shape": [3], "p": 2}, {})
    of_norm = Subject(norm, case, [np.ones((2, 3, 4), np.float32)])
    ((lo, hi),) = of_norm.ends(Implementation(norm, count), "standard")
    assert lo.shape == hi.shape == (2, 3, 2)
    assert (lo < 3**0.5).all()
    assert (hi > 3**0.5).all()


def test_indices_of_numbers_that_a_format_rounds_are_accepted_alone() -> None:
    pool = load_operator("onnx.MaxPool-22")
    case = Case(pool.op, {"T": "f32", "I": "i64"}, {"data": (1, 1, 3)}, {"kernel_shape": [2]}, {})
    data = np.array([[[1e-38, 2e38, 1e38]]], np.float32)
    here = Subject(pool, case, [data])
    later = TextChange(
        "later", tuple((f"define.{d}.with.x", "start", "start + 1") for d in pool.define)
    )
    implementation = Implementation(pool, later, HabitChange("h", Style(sums="f16")))
    outputs = here.under(implementation)
    assert outputs is not here.outputs
    for (lo, hi), output in zip(here.ends(implementation, "standard"), outputs, strict=True):
        np.testing.assert_array_equal(lo, output)
        np.testing.assert_array_equal(hi, output)


def test_outputs_that_are_larger_are_worked_out_where_their_shape_is_of_interest() -> None:
    change = text("let.out", "", "original + 1")
    implementation = Implementation(CONV, change)
    plain = subject(conv())
    larger = (2, 6, 6, 6)
    (zeros,) = plain.under(implementation)
    assert zeros.shape == larger
    assert not zeros.any()
    case = conv()
    (worked_out,) = Subject(CONV, case, inputs_of(CONV, case), {larger}).under(implementation)
    np.testing.assert_array_equal(worked_out[:, :, :5, :5], plain.outputs[0])


def test_another_shape_is_different_however_large() -> None:
    here = subject(conv())
    for out in ("size * 2**20", "size * 2**40"):
        implementation = Implementation(CONV, text("let.out", "", out))
        (zeros,) = here.under(implementation)
        assert zeros.shape[:2] == (2, 6)
        assert zeros.shape != here.outputs[0].shape
        assert here.answers(implementation)
        ((lo, hi),) = here.ends(implementation, "standard")
        assert lo.shape == hi.shape == here.unspecified(implementation)[0].shape == zeros.shape


@pytest.mark.parametrize("terms", [2**14, 2**40])
def test_a_smaller_shape_of_too_many_terms_is_different(terms: int) -> None:
    fewer = TextChange(
        "fewer",
        (("let.out", "", "original - 1"), ("define.Y.over.c", "", f"{terms}")),
    )
    here, implementation = subject(conv()), Implementation(CONV, fewer)
    (zeros,) = here.under(implementation)
    assert zeros.shape == (2, 6, 4, 4)
    ((lo, hi),) = here.ends(implementation, "standard")
    assert lo.shape == hi.shape == zeros.shape


def test_the_right_shape_may_have_more_terms_than_another() -> None:
    """A row of A is read from its last element on, as is a column of B: both repeat these."""
    here = Subject(MATMUL, *matmul(2, 3, 2))
    (sums,) = here.under(Implementation(MATMUL, text("define.Y.over.k", "", "2**21")))
    assert sums.tolist() == [[2.0**21] * 2, [2.0**22] * 2]


def test_the_right_shape_of_too_many_terms_shows_nothing() -> None:
    case, change = conv(), text("define.Y.over.c", "", "2**18")
    here, implementation = subject(case), Implementation(CONV, change)
    assert here.computed(implementation) is here.outputs
    assert here.answers(implementation)
    mutant = Mutant("many", "text", CONV.op, change, "There are many channels.")
    assert kills(CONV, case, inputs_of(CONV, case), [mutant]) == frozenset()


def with_binades() -> Subject:
    return subject(
        Case(CONV.op, {"T": "f32"}, conv().shapes, {}, pattern="binades+binades+binades")
    )


def test_a_machine_that_adds_in_another_format_may_add_in_any_order() -> None:
    here, implementation = with_binades(), Implementation(CONV, HabitChange("h", Style(sums="f16")))
    ((lo, hi),) = here.ends(implementation, "standard")
    (forward,) = here.under(implementation)
    backward = HabitChange("b", Style(sums="f16", order="backward"))
    (other,) = here.under(Implementation(CONV, backward))
    assert (forward != other).any()
    for outputs in (forward, other):
        assert ((lo <= outputs) & (outputs <= hi)).all()
    ((low, high),) = here.ends(Implementation(CONV), "standard")
    assert (hi.astype("f8") - lo > high.astype("f8") - low).all()
    assert implementation.accumulators == ("h",)


@pytest.mark.parametrize("rounding", ["toward_zero", "up_from_odd"])
def test_sums_in_any_order_may_be_cut_off(rounding: str) -> None:
    here, change = with_binades(), HabitChange("h", Style(sums="f16", rounding=rounding))
    ((lo, hi),) = here.ends(Implementation(CONV, change), "standard")
    for order in ("forward", "backward", "pairwise"):
        style = Style(sums="f16", rounding=rounding, order=order)
        (outputs,) = here.under(Implementation(CONV, HabitChange("o", style)))
        assert ((lo <= outputs) & (outputs <= hi)).all()


@pytest.mark.parametrize("style", [Style(reciprocal=True), Style(flushes=True)])
def test_of_another_habit_its_outputs_alone_are_accepted(style: Style) -> None:
    ((lo, hi),) = with_binades().ends(Implementation(CONV, HabitChange("h", style)), "standard")
    np.testing.assert_array_equal(lo, hi)


LARGEST = read_operator("""
op: own.Largest
types: {T: [f32], I: [i64]}
attributes: {taps: {min: 1}}
dims: {N: {}}
inputs: [{name: X, type: T, shape: [N]}]
let: {out: N - taps + 1}
define:
  Y:
    at: {i: out}
    over: {k: taps}
    term: "X[i + k]"
    combine: max
    finish: "max(total, lowest(X))"
  Z:
    at: {i: out}
    over: {k: taps}
    term: "X[i + k]"
    combine: first_max
    finish: i + k
outputs: [{name: Y, type: T}, {name: Z, type: I}]
""")


def largest(data: list[float], taps: int, change: DefinitionChange) -> list[list[float]]:
    case = Case(LARGEST.op, {"T": "f32"}, {"X": (len(data),)}, {"taps": taps})
    here = Subject(LARGEST, case, [np.array(data, np.float32)])
    outputs = here.computed(Implementation(LARGEST, change))
    assert outputs is not None
    return [output.tolist() for output in outputs]


def test_the_largest_of_windows_of_which_a_mutant_has_none() -> None:
    assert largest([3, 1], 2, text("let.out", "", "N - taps")) == [[], []]


def test_windows_of_many_taps_are_evaluated() -> None:
    data = np.arange(6001.0) - 2000
    doubled = text("define.Y.term", "", "-X[i + k]")
    expected = [min(2000.0 - i, 4e3) for i in range(3002)]
    assert largest(data.tolist(), 3000, doubled)[0] == expected


def test_the_largest_of_inputs_that_pass_through_a_format() -> None:
    f16 = HabitChange("converts to f16", Style(computes=EXACT, converts="f16"))
    # In f16 both are 1, and the first is named.
    assert largest([1, 1.0001], 2, f16) == [[1], [0]]
    assert largest([-1e9, -1e8], 2, f16) == [[-65504], [0]]


def test_outputs_of_another_type_are_a_kill() -> None:
    case, data = (
        Case(LARGEST.op, {"T": "f32"}, {"X": (2,)}, {"taps": 1}),
        np.array([3, 1], np.float32),
    )
    mutant = Mutant(
        "i32", "index", LARGEST.op, text("outputs.Z.type", "", "i32"), "Indices of i32."
    )
    assert kills(LARGEST, case, [data], [mutant]) == {"i32"}


def test_without_outputs_nothing_is_shown_but_it_is_a_kill() -> None:
    here = subject(conv())
    negative = Implementation(CONV, text("let.out", "", "0 * size - 1"))
    assert here.under(negative) is here.outputs
    assert not here.answers(negative)
    assert here.answers(Implementation(CONV, text("define.Y.finish", "B[filter]", "0")))
    mutants = [m for m in mutants_of(CONV) if m.id == "let.out: size + pad_begin => size"]
    case = conv(pads=[1, 1, 1, 1])
    assert len(mutants) == 1
    assert kills(CONV, case, inputs_of(CONV, case), mutants) == {mutants[0].id}
    assert kills(CONV, conv(), inputs_of(CONV, conv()), mutants) == frozenset()


def change_of(mutant: Any) -> DefinitionChange:
    change = mutant.change
    assert isinstance(change, DefinitionChange)
    return change


@pytest.mark.parametrize(
    "op", ["onnx.Conv-22", "onnx.ConvTranspose-22", "onnx.Gemm-13", "MatMul-1"]
)
def test_what_is_not_evaluated_is_unchanged(op: str) -> None:
    """Whatever counts as unchanged is so when the whole of it is evaluated."""
    operator, compared = load_operator(op), 0
    for case in drawn(op, 5):
        inputs = inputs_of(operator, case)
        here = Subject(operator, case, inputs)
        named = dict(zip([t.name for t in operator.inputs], inputs, strict=True))
        right = Evaluation(operator, case.attributes, named)
        for mutant in mutants_of(operator):
            change = change_of(mutant)
            if not isinstance(change, TextChange) or change.where:
                continue
            implementation = implementation_of(operator, mutant)
            try:
                if mutated(right, implementation, case.attributes) is not None:
                    continue
                other = Evaluation(implementation.under([change]), case.attributes, named)
                outputs = other.outputs()
            except ConformanceError:
                continue
            compared += 1
            assert all(map(same_values, outputs, here.outputs)), mutant.id
    assert compared > 100


def test_most_mutants_of_a_small_case_are_killed_in_a_moment() -> None:
    begin = time.process_time()
    total = 0
    for k in range(2_000_000):
        total += k
    calibrated = 0.33 / 5 / (time.process_time() - begin)
    case = conv(group=2, pads=[1, 0, 1, 1], strides=[1, 2], dilations=[2, 1])
    mutants = mutants_of(CONV)
    assert len(mutants) >= 300
    inputs = inputs_of(CONV, case)
    killed = kills(CONV, case, inputs, mutants)  # operators are prepared the first time
    begin = time.process_time()
    assert kills(CONV, case, inputs, mutants) == killed
    assert (time.process_time() - begin) * calibrated < 1
    assert len(killed) > 150


def test_a_changed_evaluation_takes_no_longer_than_the_right_one() -> None:
    case = Case(
        CONV.op,
        {"T": "f32"},
        {"X": (2, 16, 20, 20), "W": (16, 16, 3, 3)},
        {},
        pattern="fractions+fractions+fractions",
    )
    inputs = inputs_of(CONV, case)
    mutants = mutants_of(CONV)

    def right() -> Subject:
        here = Subject(CONV, case, inputs)
        here.intervals()
        return here

    here = right()
    shown = [m for m in mutants if is_killed(here, m)]
    assert len(shown) > 30
    times = {"right": min(timed(right) for _ in range(3))}
    times["mutant"] = sum(timed(lambda m=m: is_killed(here, m)) for m in shown) / len(shown)
    assert times["mutant"] < 1.3 * times["right"]


def timed(run: Any) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


@pytest.mark.parametrize(("dtype", "computes"), [("i32", "f32"), ("i64", "f32"), ("i64", "f64")])
def test_products_of_factors_do_not_pass_through_a_float(dtype: str, computes: str) -> None:
    """OpenVINO 2026.4 computes products of i32 and i64 in f32: smaller numbers passed."""
    shapes = {"A": (2, 3), "B": (3, 2)}
    case = Case(MATMUL.op, {"T": dtype}, shapes, {}, pattern="factors+factors", seed=1)
    here = Subject(MATMUL, case, inputs_of(MATMUL, case))
    (output,) = here.under(Implementation(MATMUL, HabitChange("h", Style(computes=computes))))
    assert (output != here.outputs[0]).any()
