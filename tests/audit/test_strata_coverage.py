"""Which remainders the shipped suite meets in which strata: worked out again by hand, from cases.

The conditions are written anew here, for one operator in its own names, so that a wrong word of the
catalogue or a wrong condition shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from operator import lt

import pytest
import tiers

from conformance.audit.coverage import StrataCoverage, coverage, covered_targets
from conformance.audit.strata_targets import required_pairs, required_types
from conformance.model import Case, Vector
from conformance.spec.strata import strata_of
from conformance.specification import find_spec

OP = "AvgPool-1"


class Shape:
    """What the conditions speak of, of a case of AvgPool-1 on rank 4 with its result."""

    def __init__(self, vector: Vector) -> None:
        case: Case = vector.case
        given = case.attributes
        self.telling = case.pattern in ("ramp", "normal")
        self.kernel, self.strides = tuple(given["kernel"]), tuple(given["strides"])
        self.size = case.shapes["data"][2:]
        self.images, self.channels = case.shapes["data"][:2]
        self.out = vector.answers[0].expected.shape[2:]
        auto_pad = given.get("auto_pad", "explicit")
        if auto_pad == "explicit":
            self.begin, self.end = tuple(given["pads_begin"]), tuple(given["pads_end"])
        elif auto_pad == "valid":
            self.begin = self.end = (0, 0)
        else:
            total = [
                max(0, (-(-n // s) - 1) * s + k - n)
                for n, s, k in zip(self.size, self.strides, self.kernel, strict=True)
            ]
            small, large = tuple(t // 2 for t in total), tuple(t - t // 2 for t in total)
            self.begin, self.end = (small, large) if auto_pad == "same_upper" else (large, small)
        last = [
            (o - 1) * s - b + k
            for o, s, b, k in zip(self.out, self.strides, self.begin, self.kernel, strict=True)
        ]
        self.whole = tuple(
            o == 1 and e >= n for o, e, n in zip(self.out, last, self.size, strict=True)
        )
        self.length = tuple(
            n if w else o for n, w, o in zip(self.size, self.whole, self.out, strict=True)
        )


STRATA: dict[str, Callable[[Shape], bool]] = {
    "1x1": lambda s: s.kernel == (1, 1),
    "2x2-stride-2": lambda s: s.kernel == s.strides == (2, 2),
    "3x3-stride-1": lambda s: s.kernel == (3, 3) and s.strides == (1, 1),
    "3x3-stride-2-padding-1": lambda s: (
        s.kernel == (3, 3) and s.strides == (2, 2) and s.begin == s.end == (1, 1)
    ),
    "row": lambda s: s.kernel[0] == 1 and s.kernel[1] > 1,
    "column": lambda s: s.kernel[0] > 1 and s.kernel[1] == 1,
    "whole-plane": lambda s: all(s.whole),
    "stride-above-kernel": lambda s: s.strides[0] > s.kernel[0] and s.strides[1] > s.kernel[1],
}
REMAINDERS: dict[str, Callable[[Shape], bool]] = {
    "padding-one": lambda s: s.begin == s.end == (1, 1),
    "padding-end": lambda s: any(b < e for b, e in zip(s.begin, s.end, strict=True)),
    "width-1-below-4": lambda s: s.length[1] % 4 == 3 and s.length[0] > 1,
    "height-16s": lambda s: s.length[0] % 16 == 0,
    "channels-1-above-8": lambda s: s.channels in range(9, 1000, 8),
    "images-3": lambda s: s.images >= 3,
    "row-above-64": lambda s: s.length[1] > 64,
    "one-row": lambda s: s.length[0] == 1,
}


@cache
def met() -> list[tuple[Shape, tuple[str, ...]]]:
    """The shape of each value vector of core on rank 4, and what the package says that it meets."""
    spec = find_spec(OP)
    strata = strata_of(spec)
    of_strata = replace(strata.whole, edges=strata.all)
    core = tiers.core()
    own = [v for v in core.vectors([OP]) if v.case.reject is None and v.inputs[0].ndim == 4]
    return [
        (Shape(v), names) for v, names in zip(own, covered_targets(of_strata, 4, own), strict=True)
    ]


@pytest.mark.parametrize("name", STRATA)
def test_strata_are_those_that_a_hand_finds(name: str) -> None:
    found = [
        (shape.telling and STRATA[name](shape), f"stratum {name}" in names)
        for shape, names in met()
    ]
    assert all(by_hand == told for by_hand, told in found)
    assert sum(told for _, told in found) > 5


@pytest.mark.parametrize("name", REMAINDERS)
def test_remainders_are_those_that_a_hand_finds(name: str) -> None:
    within = [
        (REMAINDERS[name](shape), f"remainder {name}" in names)
        for shape, names in met()
        if any(one.startswith("stratum ") for one in names)
    ]
    assert all(by_hand == told for by_hand, told in within)
    assert sum(told for _, told in within) > 5


PROFILES: dict[str, Callable[[Shape], bool]] = {
    "pads-below-kernel": lambda s: all(
        max(pads) < k for *pads, k in zip(s.begin, s.end, s.kernel, strict=True)
    ),
    "equal-pads": lambda s: s.begin == s.end and all(map(lt, s.begin, s.kernel)),
}


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_are_those_that_a_hand_finds(name: str) -> None:
    """As far as a case has several windows."""
    found = [
        (PROFILES[name](shape) and max(shape.length) > 2, f"profile {name}" in names)
        for shape, names in met()
    ]
    assert all(by_hand == told for by_hand, told in found)
    assert sum(told for _, told in found) > 5


def test_on_images_each_remainder_is_asked_for_in_each_stratum_and_a_second_type() -> None:
    spec = find_spec(OP)
    strata = strata_of(spec)
    count = len(strata.strata) * (len(strata.remainders) + len(spec.profiles))
    assert len(set(required_pairs(strata, 4))) == count
    assert len(set(required_types(spec, strata, 4))) == len(strata.remainders)
    assert len(set(required_pairs(strata, 3))) == len(strata.remainders)
    assert not list(required_types(spec, strata, 3))


def test_without_the_vectors_that_meet_it_a_remainder_is_missing() -> None:
    spec, core = find_spec(OP), tiers.core()
    images = [
        v
        for v in core.vectors([OP])
        if v.case.reject is not None or v.case.shapes["data"][0] < 3 or v.inputs[0].ndim != 4
    ]
    (_, of_images, _), _ = coverage(spec, core.manifest, images)
    assert of_images.strata is not None
    assert {left for left, _ in of_images.strata.missing} >= {"remainder images-3"}
    assert not of_images.complete


def test_a_suite_of_other_strata_is_not_measured_by_these() -> None:
    spec, core = find_spec(OP), tiers.core()
    known = replace(core.manifest.strength[OP], strata="0" * 64)
    manifest = replace(core.manifest, strength={**core.manifest.strength, OP: known})
    ranks, _ = coverage(spec, manifest, [])
    assert [one.strata for one in ranks] == [None] * len(ranks)


def test_what_is_called_infeasible_and_is_met_is_no_coverage() -> None:
    one = ("remainder a", "stratum b")
    whole = StrataCoverage(frozenset([one]), frozenset([one]), frozenset(), frozenset())
    assert whole.complete
    assert replace(whole, infeasible=frozenset([one])).disproved == (one,)
    assert not replace(whole, infeasible=frozenset([one])).complete
    assert replace(whole, met=frozenset()).missing == (one,)
    assert replace(whole, met=frozenset(), unsettled=frozenset([one])).undecided == (one,)
