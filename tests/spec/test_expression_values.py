"""Evaluation of expressions against plain Python: scalars, per-axis values, thousands at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import tiers
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.core.parser import parse
from conformance.core.plain import PlainVisitor
from conformance.core.tree import Kind
from conformance.errors import EvaluationError, ExpressionError
from conformance.spec.syntax import MAX_DEPTH, MAX_TEXT

NUMBERS = ("a", "b", "c")
NO_VALUE = (EvaluationError, ExpressionError)
"""What has no value; a constant that has none is refused when it is parsed."""


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


def trusted(text: str, env: Mapping[str, int]) -> int | bool | None:
    """What Python itself makes of a text that this module wrote; None where it divides by zero."""
    try:
        return eval(text, {"__builtins__": {}}, {**ORACLE, **env})  # type: ignore[no-any-return]
    except ZeroDivisionError:
        return None


def eagerly(text: str, env: Mapping[str, int]) -> int | bool | None:
    """The same, but a division by zero counts wherever it stands: where() skips nothing."""
    parts = text.replace(" and ", " & ").replace(" or ", " | ")
    return trusted(parts.replace("(not ", "(True ^ "), env)


SCOPE = {name: Kind("int") for name in NUMBERS}
PER_AXIS = {name: Kind("int", "axis") for name in NUMBERS}
values = st.integers(-9, 9)
texts = number(3) | truth(3)


def evaluated(text: str, scope: Mapping[str, Kind], env: Mapping[str, Any]) -> Any:
    return PlainVisitor(env.__getitem__, {}).visit(parse(text, scope))


@given(texts, st.fixed_dictionaries(dict.fromkeys(NUMBERS, values)))
@settings(max_examples=tiers.examples(500, few=125), deadline=None)
def test_scalars(text: str, env: dict[str, int]) -> None:
    expected = eagerly(text, env)
    try:
        found = evaluated(text, SCOPE, env)
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
        found = evaluated(text, PER_AXIS, {**env, "axis": (0, 1, 2)})
    except NO_VALUE:
        assert None in expected
        return
    if None not in expected:
        assert (found if isinstance(found, tuple) else (found,) * 3) == tuple(expected)


@given(texts, st.integers(0, 2**32))
@settings(max_examples=tiers.examples(250, few=62), deadline=None)
def test_each_of_many_is_like_a_scalar(text: str, seed: int) -> None:
    rng = np.random.Generator(np.random.Philox(seed))
    env = {name: rng.integers(-5, 6, 24) for name in NUMBERS}
    expected = [eagerly(text, {n: int(env[n][k]) for n in NUMBERS}) for k in range(24)]
    try:
        found = evaluated(text, SCOPE, env)
    except NO_VALUE:
        assert None in expected
        return
    if None not in expected:
        assert np.broadcast_to(found, 24).tolist() == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("where(a > 0, 1, a // 0)", 1),
        ("a > 0 or a // 0 > 0", True),
        ("a < 0 and a // 0 > 0", False),
    ],
)
def test_what_a_condition_rules_out_is_not_evaluated(text: str, value: object) -> None:
    assert evaluated(text, SCOPE, {"a": 3}) == value


@pytest.mark.parametrize(
    "text",
    [
        "().__class__",
        "a.real + 1",
        "1 + k[0]",
        "__import__('os')",
        "eval(a)",
        "(lambda: 1)()",
        "lambda: 1",
        "[x for x in k]",
        "any(x > 1 for x in k)",
        "{x: 1 for x in k}",
        "f'{a}'",
        "'text'",
        "b'text' == a",
        "1j",
        "None",
        "...",
        "(a := 3)",
        "max(*k)",
        "max(1, **k)",
        "max(a=1, b=2)",
        "min()",
        "where(a > 0, 1)",
        "a if a > 0 else 1",
        "await a",
        "yield a",
        "a; a",
        "a = 1",
        "import os",
        "1 << 4096",
        "~a",
        "+a",
        "a & 1",
        "a is 1",
        "[1, 2]",
        "a in []",
        "a in k",
        "1 + (1, 2)",
        "k\0",
        "a # + 1",
        "a \\\n + 1",
        "\uff4dax(1, 2)",
        "a \uff0b 1",
        "\u0430 + 1",
        "",
        "   ",
        "a +",
        "max(1, 2",
        "1)(2",
        "99999999999999999",
        "9" * 1900,
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text, {"a": Kind("int"), "k": Kind("int", "axis")})
    assert caught.value.message
    assert 0 <= (caught.value.offset or 0) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 900 + "1" + ")" * 900,
        "-" * 1900 + "1",
        "not " * 450 + "a > 0",
        "[" * 900 + "]" * 900,
        "a in " + "[" * 90 + "]" * 90,
        "1" + " + 1" * 400,
        "max(1, " * 200 + "1" + ")" * 200,
        "a in [" + "1, " * 600 + "1]",
        "1" + " + 1" * 100_000,
        "9" * 1_000_000,
    ],
)
def test_size_is_bounded(text: str) -> None:
    # Parentheses alone make no tree: what is refused here is what would be large to evaluate.
    if text.startswith("(") and len(text) < MAX_TEXT // 2:
        assert evaluated(text, SCOPE, {}) == 1
    else:
        with pytest.raises(ExpressionError):
            parse(text, SCOPE)


def test_the_depth_limit_is_exact() -> None:
    assert evaluated("-" * (MAX_DEPTH - 1) + "a", SCOPE, {"a": 3}) in (3, -3)
    with pytest.raises(ExpressionError, match="deep"):
        parse("-" * MAX_DEPTH + "a", SCOPE)


def test_no_axes() -> None:
    env = {"a": (), "b": ()}
    texts = {
        "any(a > 0)": False,
        "all(a > 0)": True,
        "count(a > 0)": 0,
        "sum(a)": 0,
        "prod(a)": 1,
        "min(a)": 0,
        "max(a)": 0,
        "flat(a, b)": 0,
    }
    assert {text: evaluated(text, PER_AXIS, env) for text in texts} == texts


@pytest.mark.parametrize("text", ["a + b", "where(a > 1, b, 1)"])
def test_different_numbers_of_axes_have_no_value(text: str) -> None:
    with pytest.raises(EvaluationError, match="axes"):
        evaluated(text, PER_AXIS, {"a": (1, 2), "b": (1, 2, 3)})
