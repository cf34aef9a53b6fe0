"""Recorded cases as text: what is written is read again, and what is damaged refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.errors import SuiteError
from conformance.model import Case
from conformance.specification import find_spec, load_whole, shipped_operators, spec_digest
from conformance.suite.recorded_cases import (
    RecordedCase,
    RecordedCases,
    encode_recorded_cases,
    parse_recorded_cases,
    read_recorded_cases,
    read_recorded_suite,
)

POOL = Case(
    op="AvgPool-1",
    types={"T": "f32"},
    shapes={"data": (1, 1, 5)},
    attributes={"kernel": [2], "exclude-pad": True, "auto_pad": "explicit"},
    seed=3,
)
CASES = RecordedCases(
    op="AvgPool-1",
    specification="0" * 64,
    seed=7,
    versions={"numpy": "2.4"},
    recorded=(
        RecordedCase(POOL, "must", ("smoke", "core"), ("floor", "twice"), ("twice",)),
        RecordedCase(replace(POOL, seed=4), "must", ("core",), ("floor",), withdrawn="it is wrong"),
        RecordedCase(replace(POOL, reject="zero-stride"), "should", ("core",)),
    ),
    indistinguishable=(("floor", "twice"),),
)
TYPES, ATTRIBUTES, SEED, LEVEL, SUITES, KILLS, EXCUSED, DIGEST = 1, 3, 6, 8, 9, 11, 12, 13


def put(line: int, place: int, value: object) -> Callable[[list[Any]], object]:
    """Gives a line another value at a place."""
    return lambda lines: lines[line].__setitem__(place, value)


def refused(data: bytes) -> str:
    with pytest.raises(SuiteError) as caught:
        parse_recorded_cases(data, "cases.jsonl")
    return str(caught.value)


def edited(change: Callable[[list[dict[str, Any]]], object]) -> bytes:
    lines = [json.loads(line) for line in encode_recorded_cases(CASES).splitlines()]
    change(lines)
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


class TestCases:
    def test_they_come_back(self) -> None:
        assert parse_recorded_cases(encode_recorded_cases(CASES), "here") == CASES

    def test_one_line_a_case(self) -> None:
        lines = encode_recorded_cases(CASES).decode().splitlines()
        assert len(lines) == 1 + 3
        assert [json.loads(line)[0] for line in lines[1:]] == [
            one.case.id[-8:] for one in CASES.recorded
        ]

    def test_what_is_asked_of_them(self) -> None:
        assert CASES.kills[POOL.id] == ("floor", "twice")
        assert CASES.withdrawn == {CASES.recorded[1].case.id: "it is wrong"}

    def test_a_new_fault_leaves_the_other_lines_as_they_are(self) -> None:
        before = parse_recorded_cases(encode_recorded_cases(CASES), "here")
        first, *rest = before.recorded
        more = replace(first, kills=("aaa-new", *first.kills))
        after = encode_recorded_cases(replace(before, recorded=(more, *rest)))
        assert parse_recorded_cases(after, "here").recorded == (more, *rest)
        assert after.splitlines()[2:] == encode_recorded_cases(CASES).splitlines()[2:]

    @given(
        st.lists(
            st.lists(st.sampled_from(["floor", "twice", "lost", "zeros"]), unique=True), max_size=5
        )
    )
    def test_any_kills_come_back(self, kills: list[list[str]]) -> None:
        recorded = tuple(
            RecordedCase(
                replace(POOL, seed=i), "must", ("core",), tuple(sorted(k)), tuple(sorted(k))
            )
            for i, k in enumerate(kills)
        )
        some = replace(CASES, recorded=recorded)
        assert parse_recorded_cases(encode_recorded_cases(some), "here") == some

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (put(1, SEED, 9), "the case makes"),
            (lambda lines: lines[1].pop(), "Expected `array` of at least length 14, got 13"),
            (lambda lines: lines[1].append(1), "Expected `array` of at most length 14, got 15"),
            (put(1, KILLS, "BA"), "places behind the table of 2"),
            (put(1, KILLS, "?"), "is not base64url"),
            (put(1, KILLS, [0]), "[11]: Expected `str`, got `array`"),
            (put(2, EXCUSED, "Ag"), "'excused' holds mutants that"),
            (put(1, LEVEL, "may"), "[8]: Expected `str`"),
            (
                put(1, ATTRIBUTES, [{}, True, "explicit"]),
                "[3][0]: Expected `bool | int | float | str | array | null`, got `object`",
            ),
            (put(1, ATTRIBUTES, [[2]]), "where 3 values belong"),
            (put(1, TYPES, [None]), "types: Expected `object` of length >= 1"),
            (put(1, SUITES, [2]), "ascending places in the table of 2"),
            (put(1, DIGEST, "AAAA"), "and the lines give"),
            (lambda lines: lines.append(lines[1]), "more than once"),
            (lambda lines: lines[0].update(format=4), "upgrade"),
            (lambda lines: lines[0].update(format=2), "'format' is not 3"),
            (lambda lines: lines[0].update(counts={"value": 9, "reject": 1}), "the lines give"),
            (lambda lines: lines[0].update(withdrawn={"x": "y"}), "which is no case of the file"),
        ],
    )
    def test_what_is_not_of_the_format_is_refused(
        self, change: Callable[[list[dict[str, Any]]], object], message: str
    ) -> None:
        text = refused(edited(change))
        assert message in text
        assert text.startswith("cases.jsonl")

    @pytest.mark.parametrize("data", [b"", b"[]", b"\xff\xfe", b"{}\n", b'{"format": 1}'])
    def test_so_is_what_is_no_such_file_at_all(self, data: bytes) -> None:
        assert refused(data).startswith("cases.jsonl:1")

    def test_a_file_that_is_cut_short_says_where(self) -> None:
        assert refused(encode_recorded_cases(CASES)[:-40]).startswith(
            "cases.jsonl:4: not readable as JSON"
        )

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(SuiteError, match="cannot be read"):
            read_recorded_cases(tmp_path / "none.jsonl")

    def test_those_of_one_suite_are_read_alone(self, tmp_path: Path) -> None:
        file = tmp_path / "cases.jsonl"
        file.write_bytes(encode_recorded_cases(CASES))
        assert read_recorded_suite(file, "smoke") == CASES.recorded[:1]
        assert read_recorded_suite(file, "core") == CASES.recorded
        # What is damaged elsewhere is refused still, and so is a suite that is not as stated.
        file.write_bytes(encode_recorded_cases(CASES)[:-40])
        with pytest.raises(SuiteError, match="jsonl:4: not readable as JSON"):
            read_recorded_suite(file, "smoke")
        file.write_bytes(edited(put(2, SUITES, [0, 1])))
        with pytest.raises(SuiteError, match=r"jsonl:1: says .*, and the lines give"):
            read_recorded_suite(file, "smoke")


class TestDigest:
    def test_prose_does_not_count(self) -> None:
        spec = find_spec("AvgPool-1")
        prose = {"summary": "something else", "document": {"title": "Another"}, "profiles": {}}
        other = replace(spec, data={**spec.data, **prose}, file="elsewhere")
        assert spec_digest(other) == spec_digest(spec)

    def test_a_formula_a_bound_and_a_type_count(self) -> None:
        spec = find_spec("AvgPool-1")
        changes: list[tuple[str, dict[str, Any]]] = [
            ("types", {"T": ["f32"]}),
            ("let", {"taps": "kernel + 1"}),
            ("attributes", {"kernel": {"per": "axis", "min": 2}}),
            ("require", {"kernel-fits": "span > 0"}),
        ]
        changed = [
            replace(spec, data={**spec.data, key: {**spec.data[key], **change}})
            for key, change in changes
        ]
        assert len({spec_digest(one) for one in (spec, *changed)}) == 1 + len(changed)

    def test_every_operator_has_its_own(self) -> None:
        assert len({spec_digest(find_spec(op)) for op in shipped_operators()}) == len(
            shipped_operators()
        )

    def test_it_is_the_same_however_the_file_is_laid_out(self) -> None:
        file = Path(find_spec("AvgPool-1").file)
        text = "# a comment\n" + file.read_text(encoding="utf-8")
        assert spec_digest(load_whole(text, str(file))) == spec_digest(find_spec("AvgPool-1"))
