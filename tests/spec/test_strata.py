"""Strata of pools: shapes that are known, and those of recorded cases, worked out again by hand.

The conditions are written anew here, for one operator in its own names, so that a wrong word of the
catalogue or a wrong condition shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.core.strata import strata_of, strata_with
from conformance.model import Case
from conformance.resources import directory
from conformance.specification import binding_of, condition_of, find_spec
from conformance.suite.recorded_cases import read_recorded_cases, recorded_cases_file

OP = "AvgPool-1"
DOCUMENT = Path(__file__).parents[2] / "docs" / "strata-format.md"


def met(case: Case, op: str = "") -> set[str]:
    """The strata that a case is in."""
    spec = find_spec(op or case.op)
    return {one.name for one in strata_with(strata_of(spec), binding_of(spec, case))}


@pytest.mark.parametrize(
    ("attributes", "size", "name", "holds"),
    [
        ({"kernel": [2, 2], "strides": [2, 2]}, (8, 8), "2x2-stride-2", True),
        ({"kernel": [2, 2], "strides": [2, 1]}, (8, 8), "2x2-stride-2", False),
        ({"kernel": [1, 3], "strides": [1, 1]}, (8, 8), "pool-of-a-row", True),
        ({"kernel": [3, 1], "strides": [1, 1]}, (8, 8), "pool-of-a-row", False),
        ({"kernel": [3, 1], "strides": [1, 1]}, (8, 8), "pool-of-a-column", True),
        ({"kernel": [8, 8], "strides": [1, 1]}, (8, 8), "whole-plane", True),
        ({"kernel": [7, 8], "strides": [2, 1]}, (8, 8), "whole-plane", False),
        ({"kernel": [3, 5], "strides": [1, 1]}, (8, 8), "more-than-9-taps", True),
        ({"kernel": [3, 3], "strides": [4, 4]}, (9, 9), "stride-above-kernel", True),
    ],
)
def test_shapes_that_are_known(
    attributes: dict[str, list[int]], size: tuple[int, int], name: str, holds: bool
) -> None:
    given = {**attributes, "pads_begin": [0, 0], "pads_end": [0, 0], "exclude-pad": True}
    case = Case(OP, {"T": "f32"}, {"data": (1, 1, *size)}, given)
    assert (name in met(case)) is holds


@pytest.mark.parametrize(
    ("sizes", "parts", "names"),
    [
        ((4, 6), (1, 1), {"one-part"}),
        ((4, 6), (4, 6), {"parts-are-elements"}),
        ((4, 6), (2, 3), {"dividing"}),
        ((5, 7), (2, 3), {"not-dividing"}),
        ((2, 3), (4, 5), {"more-parts-than-elements"}),
        ((2, 9), (4, 5), {"axes-divide-unlike"}),
    ],
)
def test_parts_that_are_known(
    sizes: tuple[int, int], parts: tuple[int, int], names: set[str]
) -> None:
    types, shapes = {"T": "f32", "T_SHAPE": "i64"}, {"data": (1, 1, *sizes)}
    found = met(Case("AdaptiveMaxPool-8", types, shapes, {}, {"output_size": parts}))
    assert names <= found
    assert not found & {"one-part", "dividing", "not-dividing", "axes-divide-unlike"} - names


def test_one_s_own_has_those_that_it_has_words_for(tmp_path: Path) -> None:
    file = tmp_path / "own.Pool-1.yaml"
    file.write_text(f"op: own.Pool-1\nextends: {OP}\n")
    own, shipped = (
        [one.name for one in strata_of(find_spec(op))] for op in (str(file), "AvgPool-1")
    )
    assert own == shipped
    dilated = [one.name for one in strata_of(find_spec("AvgPool-16"))]
    assert dilated == shipped  # a pool without dilations has the stratum, and no case is in it


def test_every_stratum_names_public_kernels() -> None:
    data = yaml.safe_load((directory("specs") / "strata.yaml").read_text("utf-8"))
    strata = [one for family in data["families"].values() for one in family["strata"].values()]
    assert len(strata) > 50
    assert all(source.startswith("https://") for one in strata for source in one["sources"])
    assert all(one["sources"] for one in strata)


def test_the_document_s_example_is_a_file_of_strata(tmp_path: Path) -> None:
    block = DOCUMENT.read_text("utf-8").split("```yaml\n")[1].split("```")[0]
    file = tmp_path / "strata.yaml"
    file.write_text(block)
    assert strata_of(find_spec("onnx.Gemm-13"), file)


class Shape:
    """What the conditions speak of, of a case of AvgPool-1."""

    def __init__(self, case: Case) -> None:
        given = case.attributes
        self.kernel, self.strides = tuple(given["kernel"]), tuple(given["strides"])
        self.images, self.channels, *self.size = case.shapes["data"]
        auto_pad = given.get("auto_pad", "explicit")
        ceil = given.get("rounding_type", "floor") == "ceil"
        axes = range(len(self.size))
        total = [
            max(0, (-(-self.size[a] // self.strides[a]) - 1) * self.strides[a] + k - self.size[a])
            for a, k in enumerate(self.kernel)
        ]
        small, large = [t // 2 for t in total], [t - t // 2 for t in total]
        self.begin, self.end = {
            "explicit": (list(given["pads_begin"]), list(given["pads_end"])),
            "valid": ([0] * len(total), [0] * len(total)),
            "same_upper": (small, large),
            "same_lower": (large, small),
        }[auto_pad]
        span = [self.size[a] + self.begin[a] + self.end[a] - self.kernel[a] for a in axes]
        up = 1 if ceil else 0
        self.out = [(span[a] + up * (self.strides[a] - 1)) // self.strides[a] + 1 for a in axes]

    @property
    def unpadded(self) -> bool:
        return not any((*self.begin, *self.end))

    @property
    def covers(self) -> list[bool]:
        """Of each axis whether one window is the axis, and none is padded."""
        pairs = zip(self.kernel, self.size, self.begin, self.end, strict=True)
        return [k == n and not b and not e for k, n, b, e in pairs]


STRATA: dict[str, Callable[[Shape], Any]] = {
    "1x1": lambda s: {*s.kernel} == {1},
    "2x2-stride-2": lambda s: {*s.kernel} == {*s.strides} == {2},
    "3x3-stride-1": lambda s: {*s.kernel} == {3} and {*s.strides} == {1},
    "pool-of-a-row": lambda s: len(s.kernel) > 1 and {*s.kernel[:-1]} == {1} and s.kernel[-1] > 1,
    "pool-of-a-column": lambda s: len(s.kernel) > 1 and s.kernel[0] > 1 and {*s.kernel[1:]} == {1},
    "whole-plane": lambda s: all(s.covers),
    "stride-above-kernel": lambda s: all(a > k for a, k in zip(s.strides, s.kernel, strict=True)),
    "channels-of-pools-around-8": lambda s: s.channels in (7, 8, 9),
    "long-rows-of-results": lambda s: max(s.out) > 32,
}


@cache
def recorded() -> tuple[tuple[Shape, frozenset[str]], ...]:
    """The shape of each small value case of the operator, and the strata that it is in."""
    entries = read_recorded_cases(recorded_cases_file(OP)).recorded
    cases = (one.case for one in entries if one.case.reject is None and not one.is_large)
    return tuple((Shape(case), frozenset(met(case))) for case in cases)


@pytest.mark.parametrize("name", STRATA)
def test_strata_are_those_that_a_hand_finds(name: str) -> None:
    found = [(bool(STRATA[name](shape)), name in names) for shape, names in recorded()]
    assert all(by_hand == told for by_hand, told in found)
    assert sum(told for _, told in found) > 5


PROFILES: dict[str, Callable[[Shape], bool]] = {
    "pads-below-kernel": lambda s: all(
        max(pads) < k for *pads, k in zip(s.begin, s.end, s.kernel, strict=True)
    ),
    "equal-pads": lambda s: (
        s.begin == s.end and all(b < k for b, k in zip(s.begin, s.kernel, strict=True))
    ),
}


def in_profile(name: str) -> Iterator[tuple[Shape, bool]]:
    spec = find_spec(OP)
    condition = condition_of(spec, next(p.when for p in spec.profiles if p.name == name))
    for one in read_recorded_cases(recorded_cases_file(OP)).recorded:
        if one.case.reject is None and not one.is_large:
            yield Shape(one.case), condition.holds(one.case)


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_are_those_that_a_hand_finds(name: str) -> None:
    found = [(PROFILES[name](shape), told) for shape, told in in_profile(name)]
    assert all(by_hand == told for by_hand, told in found)
    assert 5 < sum(told for _, told in found) < len(found)
