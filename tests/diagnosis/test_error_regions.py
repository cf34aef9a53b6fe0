"""Failures that no mutant explains, told by the place of their wrong elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiers
from hypothesis import given
from hypothesis import strategies as st

import conformance
from conformance.backends.numpy import NumPy
from conformance.diagnosis.error_regions import (
    FILLED,
    GROUPS,
    IndexLine,
    Region,
    WrongElements,
    index_lines,
    shared_region,
)
from conformance.diagnosis.locate_errors import locate_failures
from conformance.dtypes import Array
from conformance.grade.judge import judge
from conformance.grade.outcome import Ending, Outcome
from conformance.log.causes import causes
from conformance.log.diagnosis import diagnosis_text
from conformance.model import Result, Status
from conformance.specification import find_spec
from conformance.suite.entries import Entry

OP = "AvgPool-1"
NAMES = (("batch", False), ("channel", False), ("out", True))
ALONG = index_lines(NAMES)
LAST = next(line for line in ALONG if line.name == "the last axis")


def of(name: str) -> IndexLine:
    return next(line for line in ALONG if line.name == name)


def wrong_in(region: Region, shape: tuple[int, ...]) -> WrongElements:
    """All that the region has of an output is wrong."""
    return WrongElements((inside(region, shape),))


def inside(region: Region, shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The elements of a region, found one by one."""
    mask = np.zeros(shape, np.bool_)
    line, length = region.line, region.line.length(shape)
    first, end = line.first % len(shape), line.end if line.end > 0 else line.end + len(shape)
    for index in np.ndindex(shape):
        number = int(np.ravel_multi_index(index[first:end], shape[first:end]))
        mask[index] = {
            "last": number == length - 1,
            "first": number == 0,
            "from": number >= region.number,
            "tail": number // max(1, region.number) == length / max(1, region.number) // 1,
        }[region.kind]
    return mask


REGIONS = st.one_of(
    st.builds(Region, st.sampled_from(ALONG[:4]), st.sampled_from(["first", "last"])),
    st.builds(Region, st.sampled_from(ALONG[:4]), st.just("from"), st.integers(1, 5)),
    st.builds(Region, st.sampled_from(ALONG), st.just("tail"), st.sampled_from(GROUPS)),
)
SHAPES = st.lists(
    st.lists(st.integers(1, 9), min_size=3, max_size=4).map(tuple), min_size=1, max_size=12
)


@given(REGIONS, SHAPES)
def test_what_is_told_of_a_planted_region_is_true_and_no_wider(
    region: Region, shapes: list[tuple[int, ...]]
) -> None:
    failures = [one for one in (wrong_in(region, shape) for shape in shapes) if one.count]
    found = shared_region(failures, ALONG)
    everywhere = failures and all(region.line.length(one.masks[0].shape) for one in failures)
    plain = region.line.single or region.kind != "from"
    if everywhere and plain and by_chance(region, failures) < 1e-5:
        assert found is not None
        assert share(found.region, failures) <= share(region, failures)
    if found is None:
        return
    assert (found.vectors, found.elements) == (len(failures), sum(one.count for one in failures))
    for (mask,) in (one.masks for one in failures):
        assert not (mask & ~inside(found.region, mask.shape)).any()
        assert found.is_in([mask.shape])


def numbers(region: Region, failure: WrongElements) -> list[bool]:
    """Which numbers of its line a region has, in one failure."""
    (mask,) = failure.masks
    length = region.line.length(mask.shape)
    return [
        region.begins(length) <= i < region.begins(length) + region.size(length)
        for i in range(length)
    ]


def share(region: Region, failures: list[WrongElements]) -> float:
    return sum(sum(there) / len(there) for there in (numbers(region, one) for one in failures))


def by_chance(region: Region, failures: list[WrongElements]) -> float:
    """The runs as long as the region that begin where it does, of all of their length: one."""
    chance = 1.0
    for one in failures:
        there = numbers(region, one)
        chance /= len(there) - sum(there) + 1
    return chance


@given(st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=12), st.integers(4, 9))
def test_regions_of_masks_agree_with_their_words(seeds: list[int], size: int) -> None:
    """Whatever is wrong: what is told has all of it, and about fills its place."""
    masks = [np.random.default_rng(seed).random((1, size, 3, 3)) < 0.2 for seed in seeds]
    failures = [WrongElements((mask,)) for mask in masks if mask.any()]
    found = shared_region(failures, ALONG)
    if found is not None:
        held = [inside(found.region, mask.shape) for (mask,) in (one.masks for one in failures)]
        assert all(
            not (one.masks[0] & ~there).any() for one, there in zip(failures, held, strict=True)
        )
        begun = [found.region.line.along(one.masks[0]) for one in failures]
        at = [found.region.begins(len(hit)) for hit in begun]
        assert sum(hit[i] for hit, i in zip(begun, at, strict=True)) >= FILLED * len(failures)


@pytest.mark.parametrize(
    "region",
    [
        Region(of("channel"), "from", 4),
        Region(of("batch"), "from", 1),
        Region(LAST, "last"),
        Region(LAST, "first"),
        Region(of("the last axis but one"), "last"),
        Region(LAST, "tail", 4),
        Region(of("a plane"), "tail", 8),
        Region(of("an output"), "tail", 16),
    ],
    ids=str,
)
def test_a_planted_region_is_found(region: Region) -> None:
    shapes = [(n, c, h, w) for n in (2, 5) for c in (6, 9) for h in (5, 7) for w in (6, 7, 9)]
    found = shared_region([wrong_in(region, shape) for shape in shapes], ALONG)
    assert found is not None
    assert found.region == region


def test_few_failures_or_scattered_elements_show_no_place() -> None:
    region = Region(of("channel"), "from", 4)
    assert shared_region([wrong_in(region, (1, 40, 3, 3))], ALONG) is None
    assert shared_region([wrong_in(region, (1, 5, 3, 3))] * 3, ALONG) is None
    assert shared_region([wrong_in(region, (1, 5, 3, 3))] * 8, ALONG) is not None
    rng = np.random.default_rng(0)
    scattered = [WrongElements((rng.random((2, 6, 5, 5)) < 0.05,)) for _ in range(30)]
    assert shared_region(scattered, ALONG) is None


def test_what_is_wrong_everywhere_is_in_no_place() -> None:
    assert shared_region([WrongElements((np.ones((1, 3, 4, 5), np.bool_),))] * 20, ALONG) is None
    assert shared_region([WrongElements((np.ones((1, 1, 1, 1), np.bool_),))] * 20, ALONG) is None


def test_channels_are_no_axis() -> None:
    assert of("the last axis but one").length((2, 3, 4)) == 0
    assert [one.name for one in index_lines((("I", False), ("J", False)))] == [
        "I",
        "J",
        "an output",
    ]


def off(values: Array) -> Array:
    return values + values.dtype.type(1)


def channels(out: Array) -> None:
    out[:, 4:] = off(out[:, 4:])


def column(out: Array) -> None:
    if out.shape[-1] > 1:
        out[..., -1] = off(out[..., -1])


def tail(out: Array) -> None:
    size = out.shape[-1]
    if size > 4:
        out[..., size - size % 4 :] = off(out[..., size - size % 4 :])


def scattered(out: Array) -> None:
    some = np.random.default_rng(out.size).random(out.shape) < 0.1
    out[some] = off(out[some])


def asked(entry: Entry) -> bool:
    of_level = entry.reject is None and entry.level == "must"
    image = entry.dtype == "f32" and entry.id.split("-")[1].count("x") == 3
    return entry.op == OP and of_level and image


def results(plant: Callable[[Array], None]) -> list[Result]:
    """What a backend with a bug makes of the vectors of an image backend."""
    found = []
    for entry in filter(asked, tiers.core().manifest.vectors):
        one = tiers.core().get(entry.id)
        out = one.answers[0].rounded
        assert out is not None
        made = out.copy()
        plant(made)
        found.append(judge(one, Outcome(Ending.RETURNED, [made]), level="must", precision={}))
    return found


@pytest.mark.parametrize(
    ("plant", "where"),
    [
        (channels, "only from index 4 of c on"),
        (column, "only at the last index of the last axis"),
        (tail, "only in the last elements of the last axis that fill no group of 4"),
        (scattered, None),
    ],
)
def test_the_place_of_a_planted_bug(plant: Callable[[Array], None], where: str | None) -> None:
    every = results(plant)
    failed = [one for one in every if one.status is Status.FAIL]
    passed = [one for one in every if one.status is Status.PASS]
    assert len(failed) > 10 < len(passed)
    read = tiers.core().get
    found = list(
        locate_failures(find_spec(OP), failed, passed, read=read, precision={}, level="must")
    )
    if where is None:
        assert found == []
        return
    (one,) = found
    assert str(one.shared.region) == where
    assert one.ids == {result.id for result in failed}
    assert one.shared.elements == sum(r.witness.wrong for r in failed if r.witness)
    having, looked_at = one.passing
    assert looked_at == min(len(passed), 300)
    # In one vector all channels beyond are infinite, so that to add one changes nothing.
    assert having == 1 if plant is channels else having > 10


class Planted(NumPy):
    """Images from channel 4 on are wrong."""

    name = "planted"

    def run(self, op: str, inputs: Any, attributes: Any) -> Any:
        (out,) = super().run(op, inputs, attributes)
        made = np.array(out)
        channels(made)
        return [made]


class CountsNoPadding(NumPy):
    """A mutant of the catalogue, which shows at the borders of planes."""

    name = "faulty"

    def run(self, op: str, inputs: Any, attributes: Any) -> Any:
        return super().run(op, inputs, {**attributes, "exclude-pad": True})


def test_a_run_tells_the_place_as_title_and_with_its_evidence() -> None:
    only = [one.id for one in filter(asked, tiers.core().manifest.vectors)]
    run = conformance.check(tiers.core(), Planted(), ops=[OP], only=only)
    (finding,) = run.findings
    (cause,) = causes(run.findings, run.results)
    assert cause.title == "Wrong values only from index 4 of c on"
    assert cause.explained
    assert not cause.named
    assert finding.diagnosis is not None
    place = finding.diagnosis["place"]
    assert (place["vectors"], place["passing"]) == (len(finding.ids), 1)
    assert f"True of all {place['elements']:,} wrong elements" in diagnosis_text(finding)


def test_a_named_bug_keeps_its_name_alone() -> None:
    only = [one.id for one in filter(asked, tiers.core().manifest.vectors)]
    run = conformance.check(tiers.core(), CountsNoPadding(), ops=[OP], only=only)
    (finding,) = (one for one in run.findings if one.kind == "value")
    assert finding.diagnosis is not None
    assert [one["id"] for one in finding.diagnosis["faults"]] == ["exclude-pad-taken-for-true"]
    assert "place" not in finding.diagnosis
