"""What a backend may declare, and how its predicates are judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance import specification
from conformance.backends import Capabilities, Exclusion
from conformance.errors import BackendError
from conformance.model import Case
from conformance.specification import find_spec

AVG = find_spec("AvgPool-1")
MAX = find_spec("AdaptiveMaxPool-8")


def avg_case(
    shape: tuple[int, ...] = (1, 1, 5, 6),
    dtype: str = "f32",
    reject: str | None = None,
    **given: Any,
) -> Case:
    axes = len(shape) - 2
    attributes = {"kernel": [2] * axes, "strides": [1] * axes, "exclude-pad": False}
    attributes |= {"pads_begin": [0] * axes, "pads_end": [0] * axes} | given
    return Case("AvgPool-1", {"T": dtype}, {"data": shape}, attributes, reject=reject)


def excluding(when: str | None, op: str | None = "AvgPool-1") -> Capabilities:
    return Capabilities(excluding=(Exclusion("not claimed", when, op),))


def test_without_limits_everything_is_claimed() -> None:
    assert Capabilities().reason_against(AVG, avg_case()) is None


def test_lists_limit_operators_types_and_ranks() -> None:
    limited = Capabilities(operators=("AvgPool-1",), dtypes=("f32",), ranks=(3, 4))
    assert limited.reason_against(AVG, avg_case()) is None
    assert limited.reason_against(AVG, avg_case(dtype="bf16")) == (
        "bf16 is not among the declared types"
    )
    assert limited.reason_against(AVG, avg_case((1, 1, 4, 4, 4))) == (
        "rank 5 is not among the declared ranks"
    )
    case = Case("AdaptiveMaxPool-8", {"T": "f32"}, {"data": (1, 1, 4)}, {}, {"output_size": (2,)})
    assert limited.reason_against(MAX, case) == (
        "AdaptiveMaxPool-8 is not among the declared operators"
    )


@pytest.mark.parametrize(
    ("when", "inside", "outside"),
    [
        ("any(pads_begin != pads_end)", {"pads_begin": [0, 1]}, {"pads_begin": [0, 0]}),
        ("auto_pad in [same_upper, same_lower]", {"auto_pad": "same_lower"}, {"auto_pad": "valid"}),
        ("exclude_pad", {"exclude-pad": True}, {"exclude-pad": False}),
        ("T == bf16 and length(size) == 2", {"dtype": "bf16"}, {"dtype": "f16"}),
        (
            "any((out - 1) * strides - pad_begin + kernel > size + pad_end)",
            {"strides": [2, 2], "rounding_type": "ceil"},
            {},
        ),
        ("rounding_type == ceil", {"rounding_type": "ceil"}, {}),  # by default floor
    ],
)
def test_predicates_speak_of_attributes_types_and_definitions(
    when: str, inside: dict[str, Any], outside: dict[str, Any]
) -> None:
    declared = excluding(when)
    assert declared.reason_against(AVG, avg_case(**inside)) == "not claimed"
    assert declared.reason_against(AVG, avg_case(**outside)) is None


def test_an_exclusion_of_one_operator_leaves_the_others_alone() -> None:
    declared = excluding("index_element_type == i64", "AdaptiveMaxPool-8")
    assert declared.reason_against(AVG, avg_case()) is None
    assert excluding(None, "AvgPool-1").reason_against(AVG, avg_case()) == "not claimed"
    assert excluding(None, None).reason_against(AVG, avg_case()) == "not claimed"


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ("padding == 1", "unknown name 'padding'"),
        ("auto_pad == explict", "unknown name 'explict'"),
        ("any(start < 0)", "unknown name 'start'"),  # of windows, not of a case
        ("strides", "a whole number per axis"),
        ("data.shape", "attributes"),
    ],
)
def test_a_predicate_that_does_not_fit_names_backend_predicate_and_problem(
    when: str, problem: str
) -> None:
    with pytest.raises(BackendError) as caught:
        excluding(when).reason_against(AVG, avg_case(), backend="mylib")
    assert caught.value.message.startswith(f"mylib: exclusion '{when}' does not fit AvgPool-1: ")
    assert problem in caught.value.message


def test_a_predicate_over_another_operators_attributes_says_how_to_limit_it() -> None:
    with pytest.raises(BackendError, match="unknown name 'index_element_type'") as caught:
        excluding("index_element_type == i64", None).reason_against(AVG, avg_case())
    assert caught.value.hint is not None
    assert "op='...'" in caught.value.hint


def test_a_predicate_without_a_value_asks_the_backend_where_the_case_is_invalid() -> None:
    declared = excluding("any(size // strides > 100)")
    invalid = avg_case(strides=[0, 1], reject="zero-stride")
    assert declared.reason_against(AVG, invalid) is None
    longer = avg_case(pads_begin=[1, 1, 1], reject="pads-begin-long")
    assert excluding("any(pads_begin != pads_end)").reason_against(AVG, longer) is None
    with pytest.raises(BackendError, match="has no value for AvgPool-1"):
        excluding("any(size // pads_begin > 1)").reason_against(AVG, avg_case(), backend="mylib")


def test_an_unknown_word_of_an_invalid_case_is_outside_a_list_of_words() -> None:
    declared = excluding("auto_pad not in [explicit, valid]")
    invalid = avg_case(auto_pad="same", reject="unknown-auto-pad")
    assert declared.reason_against(AVG, invalid) == "not claimed"


def test_a_predicate_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    original = specification.condition_of
    monkeypatch.setattr(
        specification,
        "condition_of",
        lambda spec, text: compiled.append(text) or original(spec, text),
    )
    declared = excluding("exclude_pad")
    for _ in range(3):
        declared.reason_against(AVG, avg_case())
    assert compiled == ["exclude_pad"]


def test_a_declaration_is_json_data() -> None:
    declared = Capabilities(
        dtypes=("f32",), ranks=(4,), excluding=(Exclusion("no ceil", "rounding_type == ceil"),)
    )
    assert json.loads(json.dumps(declared.to_json())) == {
        "operators": None,
        "dtypes": ["f32"],
        "ranks": [4],
        "excluding": [{"op": None, "when": "rounding_type == ceil", "reason": "no ceil"}],
    }


def test_mistakes_in_a_declaration_are_found_at_once() -> None:
    with pytest.raises(BackendError, match="no reason"):
        Exclusion(" ", "exclude_pad")
    with pytest.raises(BackendError, match="'operators' is a str"):
        Capabilities(operators="AvgPool-1")  # type: ignore[arg-type]


def test_a_pattern_names_operators() -> None:
    declared = Capabilities(
        operators=("Adaptive*", "AvgPool-1"),
        excluding=(Exclusion("no bf16 on average", when="T == bf16", op="Adaptive*-8"),),
    )
    for op, dtype, expected in (
        ("AdaptiveAvgPool-8", "f32", None),
        ("AdaptiveAvgPool-8", "bf16", "no bf16 on average"),
        ("AvgPool-1", "bf16", None),
        ("AvgPool-14", "f32", "AvgPool-14 is not among the declared operators"),
    ):
        spec = find_spec(op)
        types = {name: values[0] for name, values in spec.types.items()} | {"T": dtype}
        operands = {} if op.startswith("AvgPool") else {"output_size": [2]}
        case = Case(op, types, {"data": (1, 1, 4)}, {}, operands)
        assert declared.reason_against(spec, case) == expected
    assert Capabilities.from_json(declared.to_json()) == declared
