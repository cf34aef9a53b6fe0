"""What the expression language accepts, what it refuses, and how it says so."""

from __future__ import annotations

import pytest

from conformance.errors import EvaluationError, ExpressionError
from conformance.spec.expressions import Domain, Expression, Kind, compile_expression
from conformance.spec.functions import FUNCTIONS
from conformance.spec.syntax import MAX_DEPTH, MAX_TEXT

INT, BOOL = Kind("int"), Kind("bool")
AXIS = Kind("int", per_axis=True)
WINDOW = Kind("int", per_axis=True, domain=Domain.WINDOW)
ELEMENT = Kind("int", domain=Domain.ELEMENT)
TAP = Kind("int", per_axis=True, domain=Domain.TAP)
SCOPE = {
    "axes": INT,
    "axis": AXIS,
    "N": INT,
    "kernel": AXIS,
    "strides": AXIS,
    "excluded": BOOL,
    "auto_pad": Kind("enum", values=frozenset({"explicit", "same_upper", "valid"})),
    "pattern": Kind("enum", values=frozenset({"ramp", "ties", "nan"})),
    "ties": Kind("enum", values=frozenset({"first", "last"})),
    "start": WINDOW,
    "nan_taps": ELEMENT,
    "position": Kind("int", per_axis=True, domain=Domain.ELEMENT),
    "at": TAP,
}
CASE = {
    "axes": 2,
    "axis": (0, 1),
    "N": 3,
    "kernel": (2, 5),
    "strides": (1, 2),
    "excluded": False,
    "auto_pad": "valid",
    "pattern": "ties",
    "ties": "first",
}


def compiled(text: str, **options: object) -> Expression:
    return compile_expression(text, SCOPE, **options)  # type: ignore[arg-type]


def error_of(text: str, **options: object) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        compiled(text, **options)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * N", 7),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("ceil_div(-7, 2)", -3),
        ("kernel - 1", (1, 4)),
        ("7 // kernel", (3, 1)),
        ("kernel * strides", (2, 10)),
        ("-kernel", (-2, -5)),
        ("abs(2 - kernel)", (0, 3)),
        ("rounded(5, 2)", 4),
        ("rounded(7, 2)", 8),
        ("rounded(9, 2)", 8),
        ("rounded(11, 2)", 12),
        ("rounded(-5, 2)", -4),
        ("rounded(kernel + 16, 4)", (18, 20)),
        ("min(kernel)", 2),
        ("max(kernel)", 5),
        ("min(kernel, 3, axes + 2)", (2, 3)),
        ("max(1, N)", 3),
        ("sum(kernel)", 7),
        ("prod(kernel)", 10),
        ("count(kernel > 1)", 2),
        ("any(kernel == 5)", True),
        ("all(kernel == 5)", False),
        ("distinct(kernel)", True),
        ("distinct(kernel * 0)", False),
        ("flat(axis, kernel)", 1),
        ("1 < N <= 3", True),
        ("1 < N < 3", False),
        ("kernel == 2", (True, False)),
        ("kernel > 1 and axis == 0", (True, False)),
        ("not kernel == 2", (False, True)),
        ("kernel == 2 or excluded", (True, False)),
        ("excluded and kernel == 2", (False, False)),
        ("not excluded or kernel == 2", (True, True)),
        ("kernel in [1, 5]", (False, True)),
        ("kernel not in (1, -5)", (True, True)),
        ("auto_pad == valid", True),
        ("explicit != auto_pad", True),
        ("auto_pad in [same_upper, explicit]", False),
        ("where(excluded, kernel, 0)", (0, 0)),
        ("where(axis == 0, kernel, N)", (2, 3)),
        ("where(auto_pad == valid, 1, 2)", 1),
        ("where(excluded, explicit, valid) == auto_pad", True),
        ("excluded == false", True),
        ("True or excluded", True),
        ("  N\n + 1 ", 4),
        ("0x10 + 1_000", 1016),
    ],
)
def test_values(text: str, value: object) -> None:
    found = compiled(text).evaluate(CASE)
    assert found == value
    assert type(found) is type(value)


def test_a_member_beside_an_enum_wins_over_a_quantity_of_the_same_name() -> None:
    assert compiled("pattern == ties").evaluate(CASE) is True
    assert compiled("ties == first").evaluate(CASE) is True
    assert compiled("pattern == ties").names == {"pattern"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("kernel + 1", AXIS),
        ("kernel + start", WINDOW),
        ("prod(kernel)", INT),
        ("prod(start)", Kind("int", domain=Domain.WINDOW)),
        ("any(start > 0)", Kind("bool", domain=Domain.WINDOW)),
        ("any(start > 0) and nan_taps > 0", Kind("bool", domain=Domain.ELEMENT)),
        ("somewhere(nan_taps > 0)", BOOL),
        ("everywhere(any(start > 0))", BOOL),
        ("somewhere(excluded)", BOOL),
        ("flat(position, kernel)", ELEMENT),
        ("at < kernel + start", Kind("bool", per_axis=True, domain=Domain.TAP)),
        ("where(any(start > 0), kernel, 0)", Kind("int", True, Domain.WINDOW, joined=True)),
        ("where(excluded, ramp, nan)", Kind("enum", values=frozenset({"ramp", "nan"}))),
    ],
)
def test_kinds(text: str, kind: Kind) -> None:
    assert compiled(text).kind == kind


def test_names_are_those_that_may_be_read() -> None:
    expression = compiled("where(auto_pad == valid, kernel, 0) + N")
    # A single 0 is repeated as often as 'axis' has entries.
    assert expression.names == {"auto_pad", "kernel", "axis", "N"}


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("().__class__", 0),
        ("N.real + 1", 0),
        ("1 + kernel[0]", 4),
        ("__import__('os')", 0),
        ("eval(N)", 0),
        ("(lambda: 1)()", 1),
        ("lambda: 1", 0),
        ("[k for k in kernel]", 0),
        ("any(k > 1 for k in kernel)", 3),
        ("{k: 1 for k in kernel}", 0),
        ("f'{N}'", 0),
        ("'text'", 0),
        ("b'text' == N", 0),
        ("1.5", 0),
        ("1j", 0),
        ("None", 0),
        ("...", 0),
        ("(N := 3)", 1),
        ("max(*kernel)", 4),
        ("max(1, **kernel)", 0),
        ("max(a=1, b=2)", 0),
        ("min()", 0),
        ("where(excluded, 1)", 0),
        ("N if excluded else 1", 0),
        ("await N", 0),
        ("yield N", 0),
        ("N; N", 1),
        ("N = 1", 2),
        ("import os", 0),
        ("9 ** 9 ** 9 ** 9", 2),
        ("1 << 4096", 2),
        ("~N", 0),
        ("+N", 0),
        ("N / 2", 2),
        ("N & 1", 2),
        ("N is 1", 2),
        ("[1, 2]", 0),
        ("N in []", 5),
        ("N in kernel", 5),
        ("N in [axes]", 6),
        ("1 + (1, 2)", 4),
        ("kernel\0", 6),
        ("N # + 1", 2),
        ("N \\\n + 1", 2),
        ("\uff4dax(1, 2)", 0),
        ("N \uff0b 1", 2),
        ("\u043aernel", 0),
        ("", 0),
        ("   ", 3),
        ("N +", 3),
        ("max(1, 2", 3),
        ("1)(2", 1),
        ("99999999999999999", 0),
        ("1 // 0", 0),
        ("1099511627776 * 1099511627776", 0),
        ("9" * 1900, 0),
    ],
)
def test_refused(text: str, offset: int) -> None:
    error = error_of(text)
    assert error.message
    assert error.offset == offset


@pytest.mark.parametrize(
    "text",
    [
        "(" * 150 + "1" + ")" * 150,
        "(" * 900 + "1" + ")" * 900,
        "-" * 1900 + "1",
        "not " * 450 + "excluded",
        "[" * 900 + "]" * 900,
        "N in " + "[" * 90 + "]" * 90,
        "1" + " + 1" * 400,
        "max(1, " * 200 + "1" + ")" * 200,
        "1" + " < 1" * 450,
        "N in [" + "1, " * 600 + "1]",
        "1" + " + 1" * 100_000,
        "9" * 1_000_000,
    ],
)
def test_size_is_bounded(text: str) -> None:
    # Parentheses alone make no tree: what is refused here is what would be large to evaluate.
    if text.startswith("(") and len(text) < MAX_TEXT // 2:
        assert compiled(text).evaluate({}) == 1
    else:
        error_of(text)


def test_depth_limit_is_exact() -> None:
    assert compiled("-" * (MAX_DEPTH - 1) + "N").evaluate(CASE) in (3, -3)
    assert "deep" in error_of("-" * MAX_DEPTH + "N").message


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("kernal > 1", "unknown name 'kernal'", "did you mean 'kernel'?"),
        ("an(kernel > 1)", "unknown function 'an'", "did you mean 'any'?"),
        ("auto_pad == explict", "'explict' is not a value here", "did you mean 'explicit'?"),
        ("auto_pad in [valid, same_uper]", "'same_uper' is not a value here", "same_upper"),
        ("N / 2", "'/' is not allowed", "//"),
        ("N ** 2", "'**' is not allowed", "multiply"),
        ("max + 1", "unknown name 'max'", "max(a, b, ...)"),
        ("kernel and excluded", "this is a whole number per axis", "compare"),
        ("excluded + 1", "this is a truth value", "where(condition, 1, 0)"),
        ("N < excluded", "this is a truth value", ""),
        ("excluded < excluded", "this is a truth value", ""),
        ("N == excluded", "this is a truth value", "where"),
        ("auto_pad == pattern", "no value in common", ""),
        ("auto_pad < valid", "this is one of", "is a word here: compare it"),
        ("any(excluded)", "this is a truth value", "no function over the axes"),
        ("any(nan_taps > 0)", "for each output element", "somewhere"),
        ("min(N)", "min of a single value", ""),
        ("somewhere(start > 0)", "per axis for each window", "any(...)"),
        ("distinct(start)", "for each window", ""),
        ("prod(at)", "taps of different axes", ""),
        ("at > 0 and nan_taps > 0", "a tap's value", ""),
        ("at > position", "a tap's value", ""),
        ("at > prod(start)", "a tap's value", ""),
        ("where(nan_taps > 0, ramp, nan)", "for each output element", ""),
        ("where(excluded, 1, valid)", "this is one of valid", "valid is a word here"),
    ],
)
def test_messages(text: str, message: str, hint: str) -> None:
    error = error_of(text)
    assert message in error.message
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("text", "want", "message"),
    [
        ("kernel", INT, "this is a whole number per axis"),
        ("N", BOOL, "this is a whole number"),
        ("start > 0", Kind("bool", per_axis=True), "for each window"),
        ("nan_taps > 0", BOOL, "for each output element"),
        ("auto_pad", Kind("enum", values=frozenset({"valid"})), "is not a value here"),
        ("where(any(start > 0), kernel, 0)", WINDOW, "several axes at once"),
    ],
)
def test_what_is_wanted_is_checked(text: str, want: Kind, message: str) -> None:
    assert message in error_of(text, want=want).message


def test_wanted_members_are_known_words() -> None:
    want = Kind("enum", values=frozenset({"mean", "max"}))
    assert compiled("max", want=want).evaluate({}) == "max"
    assert error_of("maxx", want=want).hint == "did you mean 'max'?"


def test_a_single_value_is_repeated_where_one_per_axis_is_wanted() -> None:
    assert compiled("N + 1", want=AXIS, repeat=True).evaluate(CASE) == (4, 4)
    assert compiled("N + 1", want=AXIS).evaluate(CASE) == 4


@pytest.mark.parametrize("text", ["N // (axes - 2)", "N % 0", "kernel // (axis - 1)"])
def test_division_by_zero_has_no_value(text: str) -> None:
    with pytest.raises(EvaluationError, match="zero"):
        compiled(text).evaluate(CASE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("where(N > 0, 1, N // 0)", 1),
        ("N > 0 or N // 0 > 0", True),
        ("N < 0 and any(kernel // 0 > 0)", False),
        ("where(excluded, kernel // 0, 7)", (7, 7)),
    ],
)
def test_what_a_condition_rules_out_is_not_evaluated(text: str, value: object) -> None:
    assert compiled(text).evaluate(CASE) == value


def test_large_numbers_are_an_error_not_another_number() -> None:
    expression = compiled("N * N * N")
    assert expression.evaluate({"N": 1 << 20}) == 1 << 60
    with pytest.raises(EvaluationError, match="2\\*\\*62"):
        expression.evaluate({"N": 1 << 21})
    with pytest.raises(EvaluationError):
        compiled("kernel * N").evaluate({"kernel": (1 << 40, 1), "N": 1 << 40})
    assert compiled("N * N > 0").evaluate({"N": 1 << 61}) is True


def test_no_axes() -> None:
    env = {**CASE, "axes": 0, "axis": (), "kernel": (), "strides": ()}
    values = {
        "any(kernel > 0)": False,
        "all(kernel > 0)": True,
        "count(kernel > 0)": 0,
        "sum(kernel)": 0,
        "prod(kernel)": 1,
        "distinct(kernel)": True,
        "flat(kernel, strides)": 0,
    }
    assert {text: compiled(text).evaluate(env) for text in values} == values
    for text in ("min(kernel)", "max(kernel)"):
        with pytest.raises(EvaluationError, match="no axis"):
            compiled(text).evaluate(env)


@pytest.mark.parametrize("text", ["kernel + strides", "where(kernel > 1, strides, 1)"])
def test_different_numbers_of_axes_have_no_value(text: str) -> None:
    with pytest.raises(EvaluationError, match="axes"):
        compiled(text).evaluate({**CASE, "strides": (1, 2, 3)})


def test_expressions_are_values() -> None:
    one, same, other = compiled("N +  1"), compiled("N + 1"), compiled("1 + N")
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "N + 1"
    with pytest.raises(AttributeError):
        one.text = "N + 2"
    assert repr(one) == "Expression('N + 1')"


def test_every_function_is_described() -> None:
    for name, function in FUNCTIONS.items():
        assert function.signature.startswith(f"{name}(")
        assert function.about


def test_a_function_is_no_word() -> None:
    error = error_of("sum", want=Kind("enum", values=frozenset({"mean", "max"})))
    assert error.message == "unknown name 'sum'"
    assert error.expected == "one of max, mean"
    assert "function" not in (error.hint or "")
