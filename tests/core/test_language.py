"""The language of definitions: what it means, and what it says of mistakes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from core_operators import operator

from conformance.core.binding import Binding
from conformance.core.data import inputs_of
from conformance.core.evaluate import Evaluation
from conformance.core.functions import FUNCTIONS, Function
from conformance.core.operator_reader import read_operator
from conformance.core.parser import parse
from conformance.core.plain import PlainVisitor
from conformance.core.reads import reads_of
from conformance.core.text_mutants import text_mutants
from conformance.core.tree import Kind
from conformance.errors import EvaluationError, ExpressionError, InvalidCase, SpecError
from conformance.generate.cases import draw_cases
from conformance.model import Case
from conformance.specification import condition_of, profiles_of, spec_digest

SCOPE = {
    "n": Kind("int"),
    "size": Kind("int", "axis"),
    "pads": Kind("int", "axis"),
    "batch": Kind("int", "lead"),
    "scale": Kind("rational"),
    "mode": Kind("word", words=frozenset({"floor_mode", "ceil_mode"})),
    "axes": Kind("list", holds="int"),
    "none": Kind("list", holds="int"),
    "flag": Kind("bool"),
    "axis": Kind("int", "axis"),
    "X": Kind("tensor", holds="real"),
    "at": Kind("tensor", holds="int"),
}
WORDS = frozenset({"floor_mode", "ceil_mode"})
SHAPES = {"X": [None, "axis"], "at": [None]}
VALUES = {
    "n": 7,
    "size": (5, 8),
    "pads": (1, 2),
    "batch": (3,),
    "scale": Fraction(1, 3),
    "mode": "ceil_mode",
    "axes": (0, -1),
    "none": (),
    "flag": True,
    "axis": (0, 1),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(size + 2 * pads - 3) // 2 + 1", (3, 5)),
        ("ceil_div(size, 3)", (2, 3)),
        ("-size % 3", (1, 1)),
        ("n / 2", Fraction(7, 2)),
        ("floor(n * scale)", 2),
        ("ceil(n * scale)", 3),
        ("0.125 * 2", Fraction(1, 4)),
        ("size ** 2", (25, 64)),
        ("where(mode == ceil_mode, size, pads)", (5, 8)),
        ("where(flag, n, 1 // 0)", 7),
        ("not flag or 1 // 0 == 0", None),
        ("axis in axes or axis - length(size) in axes", (True, True)),
        ("axis not in [1, 5]", (True, False)),
        ("1 < n <= 7 and flag", True),
        ("max(size)", 8),
        ("min(axes) - max(axes)", -1),
        ("min(none) + max(none)", 0),
        ("min(size, 6)", (5, 6)),
        ("prod(size) - sum(pads)", 37),
        ("any(size > 7) and not all(size > 7)", True),
        ("count(size > 7)", 1),
        ("before(size > 4)", (0, 1)),
        ("flat(pads, size)", 10),
        ("flat(reverse(pads), reverse(size))", 11),
        ("entry(size, 1)", 8),
        ("entry(axes, 1)", -1),
        ("place(axes, entry(axes, 1))", 1),
        ("place(axes, 9)", -1),
        ("place(size, reverse(size))", (1, 0)),
        ("clamp(size, 6, 7)", (6, 7)),
        ("reflect(size + 1, 6)", (4, 1)),
        ("abs(-n)", 7),
        ("rank_of(X) + where(has(at), 1, 0)", 3),
    ],
)
def test_values(text: str, expected: Any) -> None:
    visitor = PlainVisitor(VALUES.__getitem__, {"X": 3})
    node = parse(text, SCOPE, WORDS, SHAPES)
    if expected is None:
        with pytest.raises(EvaluationError, match="division by zero"):
            visitor.visit(node)
    else:
        assert visitor.visit(node) == expected


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("siz + 1", 0, "unknown name 'siz'"),
        ("n + flag", 4, "this is a truth value"),
        ("size + batch", 7, "one value has an entry per axis, another per lead"),
        ("where(n, 1, 2)", 6, "this is a whole number"),
        ("mode == floor_mod", 8, "unknown name 'floor_mod'"),
        ("mode < ceil_mode", 0, "this is one of ceil_mode, floor_mode"),
        ("X + 1", 0, "'X' is a tensor"),
        ("X[n]", 0, "X has 2 indices, not 1"),
        ("X[size, n]", 2, "this is a whole number per axis"),
        ("X[scale, size]", 2, "this is a fraction"),
        ("n[0]", 0, "only a tensor can be read at an index"),
        ("sum(n)", 4, "this is a whole number"),
        ("n.real", 0, "values have no attributes"),
        ("sized(n)", 0, "unknown function 'sized'"),
        ("place(n, 1)", 6, "this is a whole number"),
        ("place(size, scale)", 12, "this is a fraction"),
        ("ceil_div(X[n, axis], 2)", 9, "this is a number computed from tensors"),
        ("n if flag else 2", 0, "'if' is not allowed"),
        ("min()", 0, "wrong arguments for 'min'"),
        ("n << 2", 1, "'<<' is not allowed"),
        ("'a'", 0, "text and fractions are not values"),
        ("1e99999", 0, "the number is too long"),
        ("9999999999999999", 0, "the number is too large"),
    ],
)
def test_mistakes_say_where_and_what(text: str, offset: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, SCOPE, WORDS, SHAPES)
    assert (caught.value.offset, caught.value.message) == (offset, message)


def test_plain_values_are_the_same_for_one_case_and_for_thousands() -> None:
    """Sizes and padding of 5,000 convolutions at once, and of some alone."""
    conv, rng, count = operator("Conv"), np.random.default_rng(0), 5000

    def draw(low: int, high: int) -> tuple[np.ndarray, ...]:
        return tuple(rng.integers(low, high + 1, count) for _ in range(2))

    columns: dict[str, Any] = {
        "size": draw(3, 12),
        "kernel": draw(1, 3),
        "strides": draw(1, 3),
        "dilations": draw(1, 2),
        "pads_begin": draw(0, 2),
        "pads_end": draw(0, 2),
        "axis": (0, 1),
        "auto_pad": rng.choice(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"], count),
    }

    def values_of(values: dict[str, Any]) -> tuple[Any, Any]:
        known = dict(values)

        def lookup(name: str) -> Any:
            if name not in known:
                known[name] = visitor.visit(conv.let[name])
            return known[name]

        visitor = PlainVisitor(lookup, {"X": 4})
        return lookup("out"), lookup("pad_begin")

    many = values_of(columns)
    for case in range(0, count, 50):

        def alone(value: Any, case: int = case) -> Any:
            if isinstance(value, tuple):
                return tuple(map(alone, value))
            return value[case].item() if isinstance(value, np.ndarray) else value

        single = values_of({name: alone(value) for name, value in columns.items()})
        assert tuple(map(alone, many)) == single


def test_a_function_has_all_its_forms() -> None:
    for name, row in FUNCTIONS.items():
        assert row.signature
        assert row.about, name
        if row.real is not None:
            assert row.real.ulps >= 0.5


def test_another_function_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Function("gcd(a, b)", "the greatest common divisor", FUNCTIONS["//"].kind, np.gcd, 2, 2)
    monkeypatch.setitem(FUNCTIONS, "gcd", row)
    node = parse("gcd(size, n + 5)", SCOPE)
    assert PlainVisitor(VALUES.__getitem__, {}).visit(node) == (1, 4)
    many = {**VALUES, "n": np.asarray([7, 11, 0])}
    assert [*map(list, PlainVisitor(many.__getitem__, {}).visit(node))] == [[1, 1, 5], [4, 8, 1]]
    with pytest.raises(ExpressionError, match="wrong arguments for 'gcd'"):
        parse("gcd(n)", SCOPE)


SCALE = """
op: own.Scale
types: {T: [f32]}
attributes: {factor: {type: f32, default: 0.1}}
dims: {N: {}, size: {per: axis}}
inputs:
  - {name: X, type: T, shape: [N, size]}
  - {name: B, type: T, shape: [N], absent: 0}
define:
  Y:
    at: {n: N, i: size}
    value: "factor * X[n, i] + B[n]"
outputs:
  - {name: Y, type: T}
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("n: N, i: size", "n: N, i: sizes", "11:19: unknown name 'sizes'"),
        ("B[n]", "B[i]", "12:34: this is a whole number per axis"),
        ("value:", "valeu:", "12:5: 'valeu' is not known here"),
        (
            "{n: N, i: size}",
            "{N: N, i: size}",
            "10:3: the index 'N' has the name of something else",
        ),
        ("- {name: Y, type: T}", "- {name: Z, type: T}", "14:12: 'Z' is not defined"),
        ("type: f32, default: 0.1", "type: f32, default: much", "4:43: 'much' is no such value"),
        ("name: X, type: T", "name: X, type: U", "7:21: 'U' is not a type of this file"),
        ("types: {T: [f32]}", "types: {T: [f33]}", "3:13: 'f33' is not allowed here"),
        ("absent: 0", "absent: n", "8:44: this is no number"),
    ],
)
def test_problems_of_a_file_have_a_place(old: str, new: str, problem: str) -> None:
    assert old in SCALE
    with pytest.raises(SpecError) as caught:
        read_operator(SCALE.replace(old, new), "own.yaml")
    assert f"own.yaml:{problem}" in str(caught.value)


def test_names_of_let_may_stand_in_any_order() -> None:
    let = "let: {double: 2 * half, half: N // 2}"
    operator = read_operator(SCALE.replace("inputs:", f"{let}\ninputs:"))
    assert [*operator.let] == ["half", "double"]
    assert Binding(operator, {}, {"X": (5, 3)}).value("double") == 4
    with pytest.raises(SpecError, match="unknown name 'half'"):
        read_operator(SCALE.replace("inputs:", "let: {double: half, half: double}\ninputs:"))


def test_a_float_attribute_is_the_number_that_is_stored() -> None:
    binding = Binding(read_operator(SCALE), {}, {"X": (2, 3), "B": (2,)})
    assert binding.value("factor") == Fraction(float(np.float32(0.1)))


@pytest.mark.parametrize(
    ("attributes", "shapes", "message"),
    [
        ({"factr": 1.0}, {"X": (2, 3)}, "own.Scale has no attribute 'factr'"),
        ({"factor": float("inf")}, {"X": (2, 3)}, "'factor' is inf, no finite number"),
        ({}, {}, "the input 'X' is missing"),
        ({}, {"X": (2, 3), "B": (3,)}, "B has N = 3, where it is 2"),
        ({}, {"X": (2, 3), "B": (2, 1)}, "B has 2 dimensions: [2, 1]"),
        ({}, {"X": ()}, "X has 0 dimensions: []"),
    ],
)
def test_shapes_that_do_not_fit_are_invalid(
    attributes: dict[str, Any], shapes: dict[str, tuple[int, ...]], message: str
) -> None:
    with pytest.raises(InvalidCase) as caught:
        Binding(read_operator(SCALE), attributes, shapes)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("name", "attributes", "shapes", "violations"),
    [
        ("Conv", {"group": 2}, {"X": (1, 3, 5), "W": (2, 1, 2)}, ("groups-divide-channels",)),
        ("Conv", {}, {"X": (1, 1, 2), "W": (1, 1, 3)}, ("kernel-fits",)),
        ("Conv", {}, {"X": (1, 1, 2, 3), "W": (1, 1, 3, 3)}, ("kernel-fits",)),
    ],
)
def test_requirements_are_named(
    name: str,
    attributes: dict[str, Any],
    shapes: dict[str, tuple[int, ...]],
    violations: tuple[str],
) -> None:
    arrays = {key: np.zeros(shape, np.float32) for key, shape in shapes.items()}
    with pytest.raises(InvalidCase) as caught:
        Evaluation(operator(name), attributes, arrays)
    assert caught.value.violations == violations


def test_a_shape_that_is_computed_is_checked() -> None:
    with pytest.raises(
        InvalidCase, match=r"W is \[2, 3, 2\] where the specification says \[2, 2, 2\]"
    ):
        Binding(operator("Conv"), {"group": 2}, {"X": (1, 4, 5), "W": (2, 3, 2)})


def test_batches_that_do_not_broadcast_are_invalid() -> None:
    with pytest.raises(InvalidCase, match=r"batch: \[2\] and \[3\] do not broadcast"):
        Binding(operator("MatMul"), {}, {"A": (2, 4, 5), "B": (3, 5, 6)})


WINDOWS = """\
op: own.Windows
types: {T: [f32], S: [i32, i64]}
attributes:
  shift: {per: axis, default: 0, min: 0, words: {start: 0, end: -1}}
dims: {size: {per: axis}}
inputs:
  - {name: X, type: T, shape: [size]}
  - {name: sizes, type: S, shape: [length(size)], per: axis, min: 1, absent: 0}
let:
  out: "where(has(sizes), sizes, size)"
  first: "where(shift == -1, size - out, shift)"
define:
  Y:
    at: {i: out}
    outside: 0
    value: X[i + first]
outputs:
  - {name: Y, type: T}
"""


@pytest.mark.parametrize(
    ("attributes", "sizes", "expected"),
    [
        ({}, None, [1, 2, 3]),
        ({}, [2], [1, 2]),
        ({"shift": [1]}, [4], [2, 3, 0, 0]),
        ({"shift": "start"}, [1], [1]),
        ({"shift": "end"}, [2], [2, 3]),
    ],
)
def test_entries_of_a_tensor_and_words_for_numbers_decide_shapes(
    attributes: dict[str, Any], sizes: list[int] | None, expected: list[int]
) -> None:
    inputs = {
        "X": np.array([1, 2, 3], np.float32),
        "sizes": None if sizes is None else np.array(sizes, np.int32),
    }
    (output,) = Evaluation(read_operator(WINDOWS), attributes, inputs).outputs()
    assert output.tolist() == expected


@pytest.mark.parametrize(
    ("attributes", "sizes", "message"),
    [
        ({}, np.array([0], np.int64), "'sizes' is 0, its min is 1"),
        ({}, np.array([1, 1]), "sizes is [2] where the specification says [1]"),
        ({}, np.array([[1]]), "sizes has 2 dimensions: [1, 1]"),
        ({}, np.array([1.0], np.float32), "sizes is f32 where the specification says i32, i64"),
        ({"shift": "middle"}, None, "'shift' is 'middle', no int and not start and not end"),
        ({"shift": ["end"]}, None, "'shift' is 'end', no int and not start and not end"),
        ({"shift": -1}, None, "'shift' is -1, its min is 0"),
    ],
)
def test_entries_and_words_that_do_not_fit_are_invalid(
    attributes: dict[str, Any], sizes: Any, message: str
) -> None:
    inputs = {"X": np.zeros(3, np.float32), "sizes": sizes}
    with pytest.raises(InvalidCase) as caught:
        Evaluation(read_operator(WINDOWS), attributes, inputs)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "S: [i32, i64]",
            "S: [i32, f32]",
            "8:25: a tensor that decides shapes is of whole numbers",
        ),
        ("per: axis, min: 1", "per: axes, min: 1", "8:56: 'axes' is no group of axes"),
        ("X[i + first]", "sizes[i]", "16:12: only a tensor can be read at an index"),
        ("min: 0, words", "type: f32, words", "4:45: words stand for whole numbers"),
        ("per: axis, default: 0", "list: true, default: []", "4:44: words stand for whole numbers"),
    ],
)
def test_problems_of_entries_and_words_have_a_position(old: str, new: str, problem: str) -> None:
    assert old in WINDOWS
    with pytest.raises(SpecError) as caught:
        read_operator(WINDOWS.replace(old, new), "own.yaml")
    assert f"own.yaml:{problem}" in str(caught.value)


def test_a_group_that_two_shapes_have_leaves_the_rest_to_the_other_group() -> None:
    text = WINDOWS.replace("X, type: T, shape: [size]", "X, type: T, shape: [batch, size]")
    text = text.replace("dims: {", "dims: {batch: {per: lead}, kernel: {per: axis}, ")
    text = text.replace("let:", "  - {name: W, type: T, shape: [kernel]}\nlet:")
    text = text.replace("{i: out}", "{b: batch, i: out}").replace("X[i + first]", "X[b, i + first]")
    binding = Binding(read_operator(text), {}, {"X": (4, 3, 2, 5), "W": (1, 1)})
    assert (binding.value("batch"), binding.value("size")) == ((4, 3), (2, 5))


TAKEN = """
op: own.Taken
types: {T: [f32], I: [i32, i64]}
dims: {size: {per: own}, count: {}, places: {}}
groups: {out: length(shape)}
inputs:
  - {name: X, type: T, shape: [size]}
  - {name: at, type: I, shape: [places], between: [-prod(size), prod(size) - 1]}
  - {name: shape, type: I, shape: [count], list: true, min: 1, absent: 0}
let: {extent: "entry(shape, out)"}
require: {fits: prod(extent) == places}
define:
  Y:
    at: {i: places}
    value: "X[where(own == 0, at[i] % prod(size), 0)]"
outputs: [{name: Y, type: T, shape: [extent]}]
"""


def test_a_list_decides_a_shape_and_indices_lie_between_two_ends() -> None:
    operator = read_operator(TAKEN)
    inputs = {
        "X": np.array([1, 2, 3], np.float32),
        "at": np.array([-1, 0, 2, -3], np.int64),
        "shape": np.array([2, 2], np.int64),
    }
    (output,) = Evaluation(operator, {}, inputs).outputs()
    assert output.tolist() == [[3, 1], [3, 1]]
    cases = draw_cases(operator, 40, seed=1)
    assert {len(case.operands.get("shape", ())) for case in cases} > {1, 2}
    for case in cases:
        data, places, *_ = inputs_of(operator, case)
        assert data is not None
        assert places is not None
        assert -data.size <= places.min()
        assert places.max() < data.size


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (np.array([2, 0]), "'shape' is 0, its min is 1"),
        (np.array([[2, 2]]), "shape has 2 dimensions: [1, 2]"),
        (np.array([2, 3]), "own.Taken: fits does not hold"),
        (None, "own.Taken: fits does not hold"),
    ],
)
def test_lists_that_do_not_fit_are_invalid(shape: Any, message: str) -> None:
    inputs = {"X": np.zeros(3, np.float32), "at": np.zeros(4, np.int64), "shape": shape}
    with pytest.raises(InvalidCase) as caught:
        Evaluation(read_operator(TAKEN), {}, inputs)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("list: true, min: 1", "list: true, per: own", "9:44: it has a number per axis, or is"),
        (
            "[places], between: [-prod(size),",
            "[size], between: [-size,",
            "8:49: ends per axis are of a",
        ),
        ("name: at, type: I", "name: at, type: T", "8:51: a tensor whose numbers lie between two"),
        ("{out: length(shape)}", "{out: length(shapes)}", "5:22: unknown name 'shapes'"),
    ],
)
def test_problems_of_lists_and_ends_have_a_position(old: str, new: str, problem: str) -> None:
    assert old in TAKEN
    with pytest.raises(SpecError) as caught:
        read_operator(TAKEN.replace(old, new), "own.yaml")
    assert f"own.yaml:{problem}" in str(caught.value)


ROWS = """
op: own.Rows
types: {T: [f32], I: [i32, i64]}
attributes: {offset: {default: -1, min: 0, max: 2}}
dims: {size: {per: axis}, rows: {}}
inputs:
  - {name: X, type: T, shape: [size]}
  - {name: at, type: I, shape: [rows, length(size)], between: [0, size - 1]}
define:
  Y:
    at: {r: rows}
    with: {place: "at[r, axis]"}
    value: "X[(place + max(offset, 0)) % size]"
outputs: [{name: Y, type: T}]
"""


def test_a_row_of_indices_is_read_per_axis_and_has_ends_per_axis() -> None:
    operator = read_operator(ROWS)
    inputs = {
        "X": np.arange(6, dtype=np.float32).reshape(2, 3),
        "at": np.array([[0, 2], [1, 0], [1, 2]], np.int32),
    }
    (output,) = Evaluation(operator, {}, inputs).outputs()
    assert output.tolist() == [2, 3, 5]
    (of_x, of_at) = reads_of(Evaluation(operator, {}, inputs), operator.outputs[0], (1,)).tensors
    assert (of_x.tensor, len(of_x.positions)) == ("X", 1)
    assert (of_at.tensor, len(of_at.positions)) == ("at", 2)
    beyond_the_first = 0
    for case in draw_cases(operator, 60, seed=1):
        data, places = inputs_of(operator, case)
        assert data is not None
        assert places is not None
        assert ((places >= 0) & (places < data.shape)).all()
        beyond_the_first += data.ndim > 1 and bool((places[:, 1:] >= data.shape[0]).any())
    assert beyond_the_first > 5


def test_a_default_may_be_what_no_case_can_give() -> None:
    operator = read_operator(ROWS)
    inputs = {"X": np.arange(3, dtype=np.float32), "at": np.zeros((1, 1), np.int64)}
    values = [Evaluation(operator, a, inputs).outputs()[0].tolist() for a in ({}, {"offset": 2})]
    assert values == [[0], [2]]
    with pytest.raises(InvalidCase, match="'offset' is -1, its min is 0"):
        Evaluation(operator, {"offset": -1}, inputs)


SPELLED = """
op: own.Spelled
types: {T: [f32]}
attributes:
  skip-first: {type: bool, as: skips}
  axis: {as: from_axis, default: 0}
dims: {size: {per: axis}}
inputs: [{name: X, type: T, shape: [size]}]
require: {from-axis-fits: from_axis < length(size)}
define: {Y: {at: {i: size}, value: "where(skips and any(i == 0 and axis >= from_axis), 0, X[i])"}}
outputs: [{name: Y, type: T}]
"""


def test_expressions_may_call_an_attribute_otherwise_than_the_document() -> None:
    (array,) = Evaluation(
        read_operator(SPELLED),
        {"skip-first": True, "axis": 1},
        {"X": np.ones((2, 2), np.float32)},
    ).outputs()
    assert array.tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("attributes", "message", "violated"),
    [
        ({}, "the attribute 'skip-first' is missing", ("skips.required",)),
        ({"skips": True}, "own.Spelled has no attribute 'skips'", ()),
        ({"skip-first": 2}, "'skip-first' is 2, no bool", ("skips.type",)),
    ],
)
def test_messages_spell_an_attribute_as_the_document_does(
    attributes: dict[str, Any], message: str, violated: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidCase) as caught:
        Binding(read_operator(SPELLED), attributes, {"X": (2, 2)})
    assert (caught.value.message, caught.value.violations) == (message, violated)


def test_cases_and_mutants_have_the_spelling_of_the_document() -> None:
    spelled = read_operator(SPELLED)
    cases = draw_cases(spelled, 40, seed=0)
    assert {name for case in cases for name in case.attributes} == {"skip-first", "axis"}
    changes = {mutant.change.name for mutant in text_mutants(spelled)}
    assert "attributes.axis.default: 0 => 1" in changes


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("type: bool, as: skips", "type: bool", "no expression can speak of 'skip-first'"),
        ("as: from_axis", "as: skips", "there are two of the name 'skips'"),
    ],
)
def test_names_that_expressions_cannot_use(old: str, new: str, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_operator(SPELLED.replace(old, new))
    assert problem in [found.message for found in caught.value.problems]


PROFILES = SPELLED + "profiles: {from-zero: {when: from_axis == 0, why: Some have no axis.}}"


def test_a_profile_is_a_condition_on_cases() -> None:
    spelled = read_operator(PROFILES)
    (profile,) = profiles_of(spelled)
    assert (profile.name, profile.when, profile.why) == (
        "from-zero", "from_axis == 0", "Some have no axis.",
    )  # fmt: skip
    case = Case("own.Spelled", {"T": "f32"}, {"X": (2, 2)}, {"skip-first": True, "axis": 1})
    assert condition_of(spelled, f"not ({profile.when})").holds(case)
    assert spec_digest(spelled) == spec_digest(read_operator(SPELLED))


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ("axis == 0", "this holds of each axis on its own"),
        ("no_such == 0", "unknown name 'no_such'"),
    ],
)
def test_problems_of_profiles(when: str, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_operator(PROFILES.replace("from_axis == 0, why", f"{when}, why"))
    assert [found.message for found in caught.value.problems] == [problem]
