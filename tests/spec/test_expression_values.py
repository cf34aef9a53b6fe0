"""Evaluation against plain Python: scalars, per-axis values, and arrays entry by entry."""

from __future__ import annotations

import random

import numpy as np
import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.errors import EvaluationError, ExpressionError
from conformance.spec.expressions import Domain, Kind, compile_expression

NUMBERS = ("a", "b", "c")
SHAPES = {"a": (2, 1, 3), "b": (4, 1), "c": (3,)}
"""Shapes that broadcast to (2, 4, 3)."""
NO_VALUE = (EvaluationError, ExpressionError)
"""What has no value; a constant that has none is refused when it is compiled."""


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def where(condition: bool, a: int, b: int) -> int:
    return a if condition else b


ORACLE = {"ceil_div": ceil_div, "where": where, "min": min, "max": max, "abs": abs}


def number(depth: int) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(NUMBERS) | st.integers(0, 9).map(str)
    if depth == 0:
        return leaf
    below, test = number(depth - 1), truth(depth - 1)
    operators = st.sampled_from(["+", "-", "*", "//", "%"])
    return st.one_of(
        leaf,
        st.builds("({} {} {})".format, below, operators, below),
        st.builds("(-{})".format, below),
        st.builds("abs({})".format, below),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max", "ceil_div"]), below, below),
        st.builds("where({}, {}, {})".format, test, below, below),
    )


def truth(depth: int) -> st.SearchStrategy[str]:
    below = number(depth)
    # Python skips the end of a chain that has failed; what cannot fail shows no difference.
    leaf_number = number(0)
    comparison = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    leaf = st.one_of(
        st.builds("({} {} {})".format, below, comparison, below),
        st.builds("({} <= {} < {})".format, leaf_number, leaf_number, leaf_number),
        st.builds("({} in [0, 1, -2])".format, below),
        st.builds("({} not in [3])".format, below),
    )
    if depth == 0:
        return leaf
    one = truth(depth - 1)
    return st.one_of(
        leaf,
        st.builds("({} {} {})".format, one, st.sampled_from(["and", "or"]), one),
        st.builds("(not {})".format, one),
    )


def trusted(text: str, env: dict[str, int]) -> int | bool | None:
    """What Python itself makes of a text that this module wrote; None where it divides by zero."""
    try:
        return eval(text, {"__builtins__": {}}, ORACLE | env)  # type: ignore[no-any-return]
    except ZeroDivisionError:
        return None


def eagerly(text: str, env: dict[str, int]) -> int | bool | None:
    """The same, but a division by zero counts wherever it stands: arrays skip nothing."""
    parts = text.replace(" and ", " & ").replace(" or ", " | ")
    return trusted(parts.replace("(not ", "(True ^ "), env)


CASE = {name: Kind("int") for name in NUMBERS}
PER_AXIS = {"axis": Kind("int", per_axis=True)} | {n: Kind("int", per_axis=True) for n in NUMBERS}
ELEMENT = {name: Kind("int", domain=Domain.ELEMENT) for name in NUMBERS}
values = st.integers(-9, 9)
texts = number(3) | truth(3)


@given(texts, st.fixed_dictionaries(dict.fromkeys(NUMBERS, values)))
@settings(max_examples=tiers.examples(500, few=125), deadline=None)
def test_scalars(text: str, env: dict[str, int]) -> None:
    expected = eagerly(text, env)
    try:
        found = compile_expression(text, CASE).evaluate(env)
    except NO_VALUE:
        assert expected is None
        return
    if expected is not None:
        assert found == expected
        assert type(found) is type(expected)


@given(texts, st.fixed_dictionaries(dict.fromkeys(NUMBERS, st.tuples(values, values, values))))
@settings(max_examples=tiers.examples(250, few=62), deadline=None)
def test_each_axis_is_like_a_scalar(text: str, env: dict[str, tuple[int, ...]]) -> None:
    expected = [eagerly(text, {n: env[n][axis] for n in NUMBERS}) for axis in range(3)]
    try:
        expression = compile_expression(text, PER_AXIS)
        found = expression.evaluate({"axis": (0, 1, 2), **env})
    except NO_VALUE:
        assert None in expected
        return
    if not expression.kind.per_axis:
        found = (found, found, found)  # type: ignore[assignment]
    if None not in expected:
        assert found == tuple(expected)


@given(texts, st.integers(0, 2**32))
@settings(max_examples=tiers.examples(250, few=62), deadline=None)
def test_each_element_is_like_a_scalar(text: str, seed: int) -> None:
    rng = np.random.Generator(np.random.Philox(seed))
    env = {name: rng.integers(-5, 6, shape) for name, shape in SHAPES.items()}
    entries = {n: np.broadcast_to(v, (2, 4, 3)).ravel().tolist() for n, v in env.items()}
    expected = [eagerly(text, {n: entries[n][k] for n in NUMBERS}) for k in range(24)]
    try:
        found = compile_expression(text, ELEMENT).evaluate(env)
    except NO_VALUE:
        assert None in expected
        return
    if None not in expected:
        # What no name of a shape takes part in is smaller, and broadcasts.
        assert np.broadcast_to(found, (2, 4, 3)).ravel().tolist() == expected
        assert np.asarray(found).dtype in (np.int64, np.bool_)


def window(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    rng = random.Random(7)
    return tuple(
        np.array([rng.randrange(-3, 9) for _ in range(int(np.prod(s)))], np.int64).reshape(s)
        for s in shapes
    )


@pytest.mark.parametrize(
    ("text", "oracle"),
    [
        ("any(w > 3)", lambda x, y: x > 3 or y > 3),
        ("all(w > 3)", lambda x, y: x > 3 and y > 3),
        ("count(w > 3)", lambda x, y: (x > 3) + (y > 3)),
        ("sum(w)", lambda x, y: x + y),
        ("prod(w)", lambda x, y: x * y),
        ("min(w)", min),
        ("max(w)", max),
        ("flat(w, k)", lambda x, y: x * 7 + y),
        ("flat(w + 1, k)", lambda x, y: (x + 1) * 7 + y + 1),
        (
            "where(any(w > 3), prod(w), 0 - sum(w))",
            lambda x, y: x * y if x > 3 or y > 3 else -x - y,
        ),
    ],
)
def test_reductions_over_axes_span_the_grid(text: str, oracle: object) -> None:
    scope = {"w": Kind("int", True, Domain.WINDOW), "k": Kind("int", True)}
    rows, columns = window((4, 1), (1, 3))
    found = compile_expression(text, scope).evaluate({"w": (rows, columns), "k": (6, 7)})
    expected = [[oracle(x, y) for x in rows.ravel().tolist()] for y in columns.ravel().tolist()]  # type: ignore[operator]
    assert isinstance(found, np.ndarray)
    assert found.shape == (4, 3)
    assert found.T.tolist() == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("somewhere(any(w > 7))", True),
        ("somewhere(any(w > 8))", False),
        ("everywhere(all(w > -4))", True),
        ("everywhere(all(w > 0))", False),
    ],
)
def test_windows_reduce_to_the_case(text: str, value: bool) -> None:
    scope = {"w": Kind("int", True, Domain.WINDOW)}
    env = {"w": (np.array([[-3], [8]]), np.array([[0, 5]]))}
    assert compile_expression(text, scope).evaluate(env) is value


def test_no_windows() -> None:
    scope = {"w": Kind("int", True, Domain.WINDOW)}
    env = {"w": (np.zeros((0, 1), np.int64), np.zeros((1, 3), np.int64))}
    assert compile_expression("somewhere(any(w == 0))", scope).evaluate(env) is False
    assert compile_expression("everywhere(all(w == 1))", scope).evaluate(env) is True
    assert compile_expression("prod(w) * 9 + 1", scope).evaluate(env).shape == (0, 3)  # type: ignore[union-attr]


def test_taps_stay_within_their_axis() -> None:
    scope = {
        "at": Kind("int", True, Domain.TAP),
        "start": Kind("int", True, Domain.WINDOW),
        "size": Kind("int", True),
    }
    env = {
        "at": (np.array([[-1, 0], [1, 2]]), np.array([[0, 1, 2]])),
        "start": (np.array([[-1], [1]]), np.array([[0]])),
        "size": (2, 3),
    }
    found = compile_expression("0 <= at and at < size and at > start", scope).evaluate(env)
    assert [entry.tolist() for entry in found] == [  # type: ignore[union-attr]
        [[False, True], [False, False]],
        [[False, True, True]],
    ]


BIG = 1 << 61


@pytest.mark.parametrize(
    ("text", "a", "b", "value"),
    [
        ("a + b", [BIG], [BIG], [1 << 62]),
        ("a + b", [BIG + 1], [BIG], None),
        ("a + b", [1 << 62], [1 << 62], None),  # 2**63 wraps around
        ("a - b", [-BIG], [BIG + 1], None),
        ("a * b", [1 << 40, 3], [1 << 22, 5], [1 << 62, 15]),
        ("a * b", [1 << 40, 3], [1 << 23, 5], None),
        ("a * b", [1 << 32, 3], [5, 1 << 32], [5 << 32, 3 << 32]),  # the peaks do not meet
        ("a * b", [1 << 32], [1 << 32], None),  # 2**64 wraps to 0
        ("a * b", [-(1 << 31)], [1 << 31], [-(1 << 62)]),
    ],
)
def test_arrays_do_not_overflow(
    text: str, a: list[int], b: list[int], value: list[int] | None
) -> None:
    expression = compile_expression(text, ELEMENT)
    env = {"a": np.array(a, np.int64), "b": np.array(b, np.int64)}
    if value is None:
        with pytest.raises(EvaluationError, match="larger than"):
            expression.evaluate(env)
    else:
        found = expression.evaluate(env)
        assert found.tolist() == value  # type: ignore[union-attr]
        assert found.dtype == np.int64  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["a * 9 + k * k", "min(a, k * k)", "where(a > 0, k * k, a)"])
def test_a_large_number_does_not_meet_an_array(text: str) -> None:
    scope = {**ELEMENT, "k": Kind("int")}
    with pytest.raises(EvaluationError, match="larger than"):
        compile_expression(text, scope).evaluate({"a": np.arange(3), "k": 1 << 40})


@pytest.mark.parametrize("text", ["a // b", "a % b", "ceil_div(a, b)", "a // (c - c)"])
def test_a_zero_among_divisors_has_no_value(text: str) -> None:
    env = {"a": np.array([4, 5]), "b": np.array([1, 0]), "c": np.array([1, 2])}
    with pytest.raises(EvaluationError, match="zero"):
        compile_expression(text, ELEMENT).evaluate(env)
