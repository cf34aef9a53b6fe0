"""Earlier failures are kept, bounded, and never trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import SuiteError
from conformance.fuzz import database
from conformance.generate.cases import draw_cases
from conformance.model import Case
from conformance.specification import find_spec, spec_digest
from conformance.suite.recorded_cases import RecordedCase, RecordedCases, encode_recorded_cases

SPEC = find_spec("AvgPool-14")
DRAWN = draw_cases(SPEC, 120, seed=1, ranks=(3,))
CASES = list({case.id: case for case in DRAWN}.values())
CONDITION = "kernel.min"


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    database.keep_failures(tmp_path / "a" / "b", SPEC, CASES[:3], CASES[2:5])
    assert database.read_failures(tmp_path / "a" / "b", SPEC) == tuple(CASES[:5])


def test_negative_tests_are_kept_too(tmp_path: Path) -> None:
    case = replace(CASES[0], reject=CONDITION)
    database.keep_failures(tmp_path, SPEC, [case], [])
    assert database.read_failures(tmp_path, SPEC) == (case,)


def test_nothing_is_known_at_first(tmp_path: Path) -> None:
    assert database.read_failures(tmp_path / "none", SPEC) == ()


def test_the_newest_are_kept(tmp_path: Path) -> None:
    assert len(CASES) > database.MAX_CASES
    database.keep_failures(tmp_path, SPEC, CASES[:2], CASES[2:])
    kept = database.read_failures(tmp_path, SPEC)
    assert kept == tuple(CASES[: database.MAX_CASES])


def test_another_specification_has_another_file(tmp_path: Path) -> None:
    database.keep_failures(tmp_path, SPEC, CASES[:1], [])
    other = replace(SPEC, data={**SPEC.data, "types": {"T": ["f32"]}})
    assert database.failures_file(tmp_path, other) != database.failures_file(tmp_path, SPEC)
    assert database.read_failures(tmp_path, other) == ()


def changed(change: Callable[[list[Any]], None]) -> Callable[[bytes], bytes]:
    def made(content: bytes) -> bytes:
        lines = [json.loads(line) for line in content.splitlines()]
        change(lines)
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    return made


def as_case(**more: Any) -> Callable[[bytes], bytes]:
    """A case that says something else, under the id that belongs to it."""

    def change(_content: bytes) -> bytes:
        old = CASES[0]
        new = Case(
            old.op,
            more.get("types", old.types),
            more.get("shapes", old.shapes),
            more.get("attributes", old.attributes),
            {},
            more.get("pattern", old.pattern),
            old.seed,
            more.get("reject"),
        )
        recorded = (RecordedCase(new, "must", ("fuzz",)),)
        return encode_recorded_cases(RecordedCases(SPEC.op, spec_digest(SPEC), 0, {}, recorded))

    return change


@pytest.mark.parametrize(
    "damage",
    [
        lambda _content: b"",
        lambda _content: b"\xff\xfe{",
        lambda content: content[:-40],
        lambda content: content + b"[]\n",
        lambda content: content + content.splitlines()[1] + b"\n",
        lambda content: b"[" * 100_000 + content,
        changed(lambda lines: lines[0].update(op="MaxPool-1")),
        changed(lambda lines: lines[0].update(specification="0" * 64)),
        changed(lambda lines: lines[0].update(format=99)),
        changed(lambda lines: lines[1].__setitem__(6, -1)),
        changed(lambda lines: lines[1].__setitem__(5, "\x1b[31m")),
        as_case(shapes={"data": (1, 1, 1 << 40)}),
        as_case(shapes={"other": (1, 1, 3)}),
        as_case(shapes={"data": ()}),
        as_case(types={"T": "complex128"}),
        as_case(types={"S": "f32"}),
        as_case(attributes={}),
        as_case(attributes={"kernel": "x"}),
        as_case(pattern="no-such-pattern"),
        as_case(reject="no-such-entry"),
        as_case(reject=CONDITION, shapes={"data": (1, 1 << 20, 1 << 20)}),
    ],
)
def test_a_file_that_somebody_damaged_is_refused(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    database.keep_failures(tmp_path, SPEC, CASES[:1], [])
    file = database.failures_file(tmp_path, SPEC)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(SuiteError):
        database.read_failures(tmp_path, SPEC)
