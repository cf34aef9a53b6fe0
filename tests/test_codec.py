"""Records from JSON that nobody vouches for: what is accepted, and what is said of the rest."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from msgspec import Meta

from conformance.codec import Count, Limits, Record, decode, encode, encode_lines, parse


class Entry(Record, frozen=True):
    id: str
    size: Count
    targets: tuple[str, ...] = ()


class Listing(Record, frozen=True):
    name: str
    entries: Annotated[tuple[Entry, ...], Meta(max_length=3)]
    counts: dict[str, dict[str, Count]]


SOUND = {
    "name": "core",
    "entries": [{"id": "a", "size": 1, "targets": ["x"]}, {"id": "b", "size": 2, "targets": []}],
    "counts": {"AvgPool-1": {"passed": 1}, "MaxPool-1": {"passed": 2}},
}


def damaged(**changes: Any) -> bytes:
    return json.dumps({**SOUND, **changes}).encode()


def problem(data: bytes, **options: Any) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        decode(data, Listing, **options)
    return str(caught.value)


def test_a_record_is_encoded_with_a_line_for_each_key_and_entry() -> None:
    record = decode(json.dumps(SOUND).encode(), Listing)
    assert record.entries[1] == Entry("b", 2)
    assert encode_lines(record).decode() == (
        '{\n"name": "core",\n"entries": [\n {"id":"a","size":1,"targets":["x"]},\n'
        ' {"id":"b","size":2,"targets":[]}\n],\n"counts": {\n "AvgPool-1": {"passed":1},\n'
        ' "MaxPool-1": {"passed":2}\n}\n}\n'
    )
    assert decode(encode_lines(record), Listing) == record


def test_text_is_encoded_as_the_standard_library_does_it() -> None:
    text = "".join(map(chr, {*range(0x11000)} - {*range(0xD800, 0xE000)}))
    assert encode(text) == json.dumps(text, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (damaged(name=1), "name: Expected `str`, got `int`: 1"),
        (damaged(entries=[{"id": "a"}]), "entries[0]: Object missing required field `size`"),
        (
            damaged(entries=[{"id": "a", "size": -1}]),
            "entries[0].size: Expected `int` >= 0: -1",
        ),
        (
            damaged(counts={"good": {"passed": 1}, "bad": {"passed": 1, "failed": "\x1b"}}, x=1),
            "counts.bad.failed: Expected `int`, got `str`: '\\x1b'",
        ),
        (damaged(entries=[{}] * 4), "entries: Expected `array` of length <= 3"),
        (damaged(**{"a\x1b[31m - at `$.name": 1}), "unknown field `a\\x1b[31m"),
        (damaged(**{"k" * 9999: 1}), "unknown field `kkkk"),
        (b"[]", "Expected `object`, got `array`"),
    ],
)
def test_what_is_no_such_record_is_refused_with_its_path(data: bytes, words: str) -> None:
    said = problem(data, printable=False)
    assert words in said
    assert said.isprintable()
    assert len(said) < 400


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": 1, "a": 1}', "a key is given twice"),
        (b'{"a": {"b": 1, "b": 1}}', "a key is given twice"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"a": 1e999}', "the number 1e999 is too large"),
        (b'{"a": 18446744073709551616}', "18446744073709551616 does not fit 64 bits"),
        (b"-9223372036854775809", "-9223372036854775809 does not fit 64 bits"),
        (b"9" * 5_000_000, "9" * 30 + " does not fit 64 bits"),
        (b"[" * 100_000, "nested more than 16 deep"),
        (b'{"a":' * 17 + b"1" + b"}" * 17, "nested more than 16 deep"),
        (b'{"a": [1, 2', "not readable as JSON: Expecting"),
        (b'{"a": "\xff"}', "not readable as JSON: 'utf-8' codec"),
        (b"", "not readable as JSON: Expecting value"),
        (b'{"a": ["b", "\\u001b[31m"]}', "a[1]: '\\x1b[31m' is not printable text"),
        (b'{"a": {"\\ud800": 1}}', "a: '\\ud800' is not printable text"),
        ('{"a": "\u202e"}'.encode(), "a: '\\u202e' is not printable text"),
        (b"[" + b"{}," * 100_000 + b"{}]", "more than 100,000 values"),
        (b'"' + b"a" * 1_000_000 + b'"', "more than 1,000,000 bytes"),
    ],
)
def test_hostile_json_is_refused(data: bytes, words: str) -> None:
    limits = Limits(size=5_000_000 if data[:1] == b"9" else 1_000_000, values=100_000)
    with pytest.raises(ValueError, match=r".") as caught:
        parse(data, limits)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("data", "document"),
    [
        (b"18446744073709551615", 2**64 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b'"[[[[[[[[[[[[[[[[[[[[ 99999999999999999999999 \\" [[[["', "[" * 20),
        (b"0.3333333333333333333333333333", 1 / 3),
        (b'[1,\n {"a": "\\\\ \\""}\n]', [1, {"a": '\\ "'}]),
    ],
)
def test_what_is_sound_is_not_refused(data: bytes, document: Any) -> None:
    found = parse(data)
    assert found == document or str(found).startswith(document)


def test_unprintable_text_may_be_allowed() -> None:
    assert parse(b'["\\ud800"]', printable=False) == ["\ud800"]
