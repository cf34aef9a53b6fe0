"""What is not killed in each part of an operator: written, read again, and refused if bent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cases import CASES
from test_manifest import MANIFEST

from conformance import codec
from conformance.errors import SuiteError
from conformance.json_schema import load_schema
from conformance.suite.manifest import Manifest, encode_manifest, parse_manifest
from conformance.suite.manifest_check import survivor_problems
from conformance.suite.recorded_cases import encode_recorded_cases, parse_recorded_cases
from conformance.suite.survivors import (
    Partition,
    SurvivorData,
    Survivors,
    SurvivorTable,
    survivors_from_data,
)
from conformance.suite.unreachable import Unreachable

NAMES = ("clipped", "divisor-one-more", "never-a", "never-b", "never-c", "never-d")
WHY = "Integers have no infinities."
PARTS = SurvivorTable(
    {
        Partition("f32", 4): Survivors(
            inert=frozenset({"never-a"}),
            stated={"never-b": WHY, "clipped": WHY, "never-d": "Another reason."},
            excused=frozenset({"divisor-one-more"}),
            undetermined=frozenset({"never-c"}),
        ),
        Partition("f32", 4, "floor-only"): Survivors(inert=frozenset({"clipped"})),
        Partition("i8", 3): Survivors(),
    },
    {"floor-only": ("rounding_type == ceil",), "not-used": ()},
)
PLACES = {name: place for place, name in enumerate(NAMES)}
Document = dict[str, Any]


def told(parts: SurvivorTable = PARTS) -> Document:
    document: Document = json.loads(codec.encode(parts.to_data(PLACES)))
    return document


def parsed(document: Document) -> SurvivorTable:
    return survivors_from_data(codec.convert(document, SurvivorData), NAMES)


def with_parts(parts: SurvivorTable = PARTS) -> Manifest:
    strength = {**MANIFEST.strength, "AvgPool-1": Unreachable(parts=parts)}
    entries = [
        replace(entry, excused=entry.kills[:1]) if entry.id == "a" else entry
        for entry in MANIFEST.listed
    ]
    return replace(MANIFEST, strength=strength, listed=tuple(entries))


def test_they_come_back() -> None:
    assert parsed(told()) == PARTS


names = st.sampled_from(NAMES)
survivors = st.dictionaries(
    names, st.sampled_from(["inert", "excused", "undetermined", WHY, "Another reason."])
).map(
    lambda states: Survivors(
        **{
            key: frozenset(name for name, state in states.items() if state == key)
            for key in ("inert", "excused", "undetermined")
        },
        stated={name: state for name, state in states.items() if state.endswith(".")},
    )
)
some_parts = st.dictionaries(
    st.builds(
        Partition,
        st.sampled_from(["f16", "f32", "i8"]),
        st.integers(1, 6),
        st.sampled_from(["", "floor-only"]),
    ),
    survivors,
).map(lambda found: SurvivorTable(found, {"floor-only": ("a == b", "c")}))


@given(parts=some_parts)
def test_any_come_back(parts: SurvivorTable) -> None:
    assert parsed(told(parts)) == parts


@pytest.mark.parametrize(("level", "cannot"), [("should", 4), ("must", 5)])
def test_what_cannot_show_depends_on_the_level(level: str, cannot: int) -> None:
    found = PARTS.survivors[Partition("f32", 4)]
    assert len(found.unkillable(level)) == cannot
    assert "never-c" not in found.unkillable(level)


def test_a_reason_is_written_once_and_no_name_is() -> None:
    text = json.dumps(told())
    assert text.count(WHY) == 1
    assert not any(name in text for name in NAMES)


class TestManifest:
    def test_it_comes_back_as_it_was_written(self) -> None:
        manifest = with_parts()
        content = encode_manifest(manifest)
        assert parse_manifest(content, "here") == manifest
        assert encode_manifest(parse_manifest(content, "here")) == content
        assert load_schema("suite/schemas/manifest.json").problems(json.loads(content)) == ()

    def test_mutants_that_nothing_kills_are_in_its_table(self) -> None:
        assert with_parts().faults["AvgPool-1"] == {
            "clipped": 1,
            "divisor-one-more": 2,
            **dict.fromkeys(NAMES[2:], 0),
        }

    def test_an_entry_leaves_out_what_it_has_none_of(self) -> None:
        document = json.loads(encode_manifest(MANIFEST))
        assert not any("excused" in vector for vector in document["vectors"])

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda d: d["faults"]["AvgPool-1"].pop("never-d"), "ascending places in the table"),
            (lambda d: d["faults"]["AvgPool-1"].update(more=0), "faults stated for AvgPool-1"),
            (lambda d: d["vectors"][1].update(excused=[2]), "not among 'kills'"),
            (
                lambda d: d["vectors"][1].update(excused="all"),
                "vectors[1].excused: Expected `array`, got `str`: 'all'",
            ),
            (
                lambda d: d["vectors"][1].update(excused=[99]),
                "vectors[1]: 'excused' holds mutants that are not among 'kills'",
            ),
            (
                lambda d: d["strength"]["AvgPool-1"].update(parts=[]),
                "strength.AvgPool-1.parts: Expected `object`, got `array`",
            ),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, change: Callable[[Document], object], message: str
    ) -> None:
        document = json.loads(encode_manifest(with_parts()))
        change(document)
        with pytest.raises(SuiteError) as caught:
            parse_manifest(json.dumps(document).encode(), "some/manifest.json")
        assert message in caught.value.message


def row(**changes: Any) -> Callable[[Document], object]:
    return lambda document: document["table"][0].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("profiles"), "Object missing required field `profiles`"),
        (lambda d: d.update(more=1), "Object contains unknown field `more`"),
        (lambda d: d.update(table={}), "table: Expected `array`, got `object`"),
        (lambda d: d.update(table=[3]), "table[0]: Expected `object`, got `int`: 3"),
        (lambda d: d.update(reasons="why"), "reasons: Expected `array`, got `str`: 'why'"),
        (lambda d: d.update(reasons=[]), "'stated' has the reason '0' of 0"),
        (lambda d: d.update(profiles=[]), "profiles: Expected `object`, got `array`"),
        (lambda d: d.update(profiles={}), "there is no profile 'floor-only'"),
        (
            lambda d: d.update(profiles={"floor-only": "x"}),
            "profiles.floor-only: Expected `array`, got `str`: 'x'",
        ),
        (
            lambda d: d["table"].append(d["table"][0]),
            "parts of f32 of rank 4: '' stands there twice",
        ),
        (row(dtype="f31"), "table[0].dtype: Expected `str`"),
        (row(dtype=None), "table[0].dtype: Expected `str`, got `null`: None"),
        (row(rank=-1), "table[0].rank: Expected `int` >= 0: -1"),
        (row(rank=20), "table[0].rank: Expected `int` <= 19: 20"),
        (row(rank="4"), "table[0].rank: Expected `int`, got `str`: '4'"),
        (row(rank=True), "table[0].rank: Expected `int`, got `bool`: True"),
        (row(profile=3), "table[0].profile: Expected `str | null`, got `int`: 3"),
        (row(inert=[2, 2]), "'inert' holds [2, 2], where ascending places"),
        (
            row(inert=[6]),
            "parts of f32 of rank 4: 'inert' holds [6], where ascending places",
        ),
        (row(inert=[-1]), "table[0].inert[0]: Expected `int` >= 0: -1"),
        (row(inert=[1.5]), "table[0].inert[0]: Expected `int`, got `float`: 1.5"),
        (row(inert=["clipped"]), "table[0].inert[0]: Expected `int`, got `str`: 'clipped'"),
        (row(inert=[0, 1, 2]), "a mutant is in more than one state"),
        (row(undetermined=None), "table[0].undetermined: Expected `array`, got `null`: None"),
        (row(stated=[]), "table[0].stated: Expected `object`, got `array`"),
        (row(stated={"2": []}), "'stated' has the reason '2' of 2"),
        (row(stated={"00": []}), "'stated' has the reason '00' of 2"),
        (row(stated={"-1": []}), "'stated' has the reason '-1' of 2"),
        (row(stated={"0": 5}), "table[0].stated.0: Expected `array`, got `int`: 5"),
        (row(stated={"0": [0], "1": [0]}), "a mutant is in more than one state"),
        (
            lambda d: d["table"][0].pop("excused"),
            "table[0]: Object missing required field `excused`",
        ),
        (row(killed=[1]), "table[0]: Object contains unknown field `killed`"),
    ],
)
def test_what_does_not_fit_is_refused(change: Callable[[Document], object], message: str) -> None:
    document = told()
    change(document)
    with pytest.raises(ValueError, match=re.escape(message)):
        parsed(document)


class TestCases:
    def test_they_come_back(self) -> None:
        recorded = replace(CASES, parts=PARTS)
        content = encode_recorded_cases(recorded)
        assert parse_recorded_cases(content, "here") == recorded
        assert set(NAMES) <= set(parse_recorded_cases(content, "here").faults)

    def test_a_file_without_them_is_refused(self) -> None:
        head, *lines = encode_recorded_cases(CASES).splitlines()
        told = json.loads(head)
        del told["parts"]
        content = b"\n".join([json.dumps(told).encode(), *lines])
        with pytest.raises(SuiteError, match="missing required field `parts`"):
            parse_recorded_cases(content, "here")

    def test_new_ones_leave_the_other_lines_as_they_are(self) -> None:
        before = parse_recorded_cases(encode_recorded_cases(CASES), "here")
        after = encode_recorded_cases(replace(before, parts=PARTS))
        assert after.splitlines()[1:] == encode_recorded_cases(before).splitlines()[1:]

    def test_bent_ones_are_refused(self) -> None:
        lines = encode_recorded_cases(replace(CASES, parts=PARTS)).splitlines()
        head = json.loads(lines[0])
        head["parts"]["table"][0]["inert"] = [99]
        with pytest.raises(SuiteError, match="here:1: parts of f32"):
            parse_recorded_cases(b"\n".join([json.dumps(head).encode(), *lines[1:]]), "here")


class TestWhatVectorsKill:
    """The cases of f32 and rank 3: one kills floor, and twice, which is excused at must."""

    def problems(self, **states: Any) -> list[str]:
        parts = SurvivorTable(
            {Partition("f32", 3): Survivors(**states), Partition("f32", 3, "p"): Survivors()}
        )
        return list(survivor_problems(replace(CASES, parts=parts)))

    def test_what_agrees(self) -> None:
        assert self.problems(excused=frozenset({"twice"})) == []
        assert self.problems(excused=frozenset({"twice"}), inert=frozenset({"x"})) == []
        assert self.problems(undetermined=frozenset({"twice", "x"})) == []
        assert list(survivor_problems(CASES)) == []

    @pytest.mark.parametrize(
        ("states", "problem"),
        [
            (
                {"excused": frozenset({"twice"}), "inert": frozenset({"floor"})},
                "f32 of rank 3: floor is marked as unable to show, but is killed",
            ),
            (
                {"undetermined": frozenset({"twice", "floor"})},
                "f32 of rank 3: floor is marked undetermined, but is killed",
            ),
            (
                {"excused": frozenset({"twice", "floor"})},
                "f32 of rank 3: floor is marked as excused at must, but is killed there",
            ),
            (
                {"excused": frozenset({"twice", "x"})},
                "f32 of rank 3: x is marked as excused at must, but is not killed at should",
            ),
        ],
    )
    def test_what_does_not(self, states: dict[str, Any], problem: str) -> None:
        assert problem in self.problems(**states)

    def test_what_is_neither_killed_nor_listed(self) -> None:
        lost = Survivors(inert=frozenset({"lost"}))
        parts = SurvivorTable({Partition("f32", 3): Survivors(), Partition("i8", 3): lost})
        found = list(survivor_problems(replace(CASES, parts=parts)))
        assert "f32 of rank 3: lost is not killed, but not listed as a survivor" in found
        assert "i8 of rank 3: twice is not killed, but not listed as a survivor" in found
        assert not any(problem.startswith("f32 of rank 3: twice ") for problem in found)
