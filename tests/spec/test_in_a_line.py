"""What a case asks, in a line for people."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.spec.default_attributes import MAX_LINE, in_a_line
from conformance.spec.loader import shipped_specs


def asked(shape: tuple[int, ...], attributes: dict[str, Any]) -> dict[str, Any]:
    return {"types": {"T": "f32"}, "shapes": {"data": shape}, "attributes": attributes}


@pytest.mark.parametrize(
    ("attributes", "line"),
    [
        ({"kernel_size": [2, 2]}, "1x1x5x5 f32, kernel_size [2,2]"),
        (
            {"kernel_size": [2, 2], "stride": [2, 1], "padding": [0, 0]},
            "1x1x5x5 f32, kernel_size [2,2], stride [2,1]",
        ),
        (
            {"kernel_size": [2, 2], "padding": [0, 1], "ceil_mode": True},
            "1x1x5x5 f32, kernel_size [2,2], padding [0,1], ceil_mode true",
        ),
        ({"kernel_size": [2, 2], "padding": [0, 0]}, "1x1x5x5 f32, kernel_size [2,2]"),
        # Negative tests.
        (
            {"kernel_size": [2, 2], "padding": [0, 0, 1]},
            "1x1x5x5 f32, kernel_size [2,2], padding [0,0,1]",
        ),
        (
            {"kernel_size": [2, 2], "ceil_mode": "SAME", "other": True},
            "1x1x5x5 f32, kernel_size [2,2], ceil_mode SAME, other true",
        ),
    ],
)
def test_shape_type_and_what_has_not_its_default(attributes: dict[str, Any], line: str) -> None:
    assert in_a_line(shipped_specs()["torch.avg_pool-2"], asked((1, 1, 5, 5), attributes)) == line


def test_a_default_that_another_attribute_gives() -> None:
    spec = shipped_specs()["torch.avg_pool-2"]
    for stride, told in (([2], ""), ([1], ", stride [1]")):
        case = {
            "types": {"T": "f16"},
            "shapes": {"data": (1, 1, 5)},
            "attributes": {"kernel_size": [2], "stride": stride},
        }
        assert in_a_line(spec, case) == f"1x1x5 f16, kernel_size [2]{told}"


def test_operands_are_told() -> None:
    spec = shipped_specs()["AdaptiveAvgPool-8"]
    case = {
        "types": {"T": "f32", "T_SHAPE": "i64"},
        "shapes": {"data": (1, 1, 0)},
        "operands": {"output_size": [3]},
    }
    assert in_a_line(spec, case) == "1x1x0 f32, output_size [3]"


def test_a_long_case_is_cut_between_attributes() -> None:
    given = {f"attribute-{n}": [n] * 10 for n in range(9)}
    line = in_a_line(shipped_specs()["torch.avg_pool-2"], asked((1, 1, 5, 5), given))
    assert line.endswith("attribute-3 [3,3,3,3,3,3,3,3,3,3], and 5 more")
    assert len(line) <= MAX_LINE + len(", and 5 more")
