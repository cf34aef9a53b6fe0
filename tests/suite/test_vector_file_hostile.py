"""Vector files that are damaged, unsafe, newer or at odds with themselves are refused in words."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from vector_examples import (
    assert_same,
    index_vector,
    members_of,
    reject_vector,
    repacked,
    value_vector,
)

from conformance.errors import SuiteError
from conformance.json_schema import load_schema
from conformance.suite.npy import write_npy
from conformance.suite.vector_file import decode_vector, encode_vector

Document = dict[str, Any]
GOOD = encode_vector(index_vector())


def refusal(content: bytes) -> str:
    with pytest.raises(SuiteError) as caught:
        decode_vector(content, "some.npz")
    assert caught.value.hint
    assert caught.value.message.startswith("some.npz: ")
    return caught.value.message


def with_case(content: bytes) -> bytes:
    return repacked(members_of(GOOD) | {"case.json": content})


def edited(change: Callable[[Document], object], vector: bytes = GOOD) -> bytes:
    members = members_of(vector)
    document = json.loads(members["case.json"])
    change(document)
    return repacked(members | {"case.json": json.dumps(document).encode()})


def test_a_flipped_bit_is_refused_or_changes_nothing() -> None:
    """Dates and modes of members carry no meaning; every other bit does."""
    vector = index_vector()
    refused = 0
    for at in range(len(GOOD)):
        flipped = bytearray(GOOD)
        flipped[at] ^= 1 << at % 8
        try:
            found = decode_vector(bytes(flipped), "some.npz")
        except SuiteError:
            refused += 1
        else:
            assert_same(found, vector)
    assert refused > len(GOOD) * 0.6


def test_a_file_cut_short_is_refused() -> None:
    for length in range(0, len(GOOD), 7):
        refusal(GOOD[:length])


def test_a_pickled_member_is_refused_unread() -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return pytest.fail, ("unpickled",)

    buffer = io.BytesIO()
    np.save(buffer, np.array([Trap()], dtype=object), allow_pickle=True)
    message = refusal(repacked(members_of(GOOD) | {"input_0.npy": buffer.getvalue()}))
    assert message.startswith("some.npz: member 'input_0.npy' holds elements of type '|O'")


def test_a_newer_format_is_named() -> None:
    content = edited(lambda document: document.update(format=2, surprise=[]))
    with pytest.raises(SuiteError, match=r"format 2; this is opconform .*, which reads .* 1") as e:
        decode_vector(content, "some.npz")
    assert "upgrade" in str(e.value)


@pytest.mark.parametrize("found", [0, -1, "1", None, True, [1]])
def test_another_format_is_refused(found: object) -> None:
    assert "'format' is not 1" in refusal(edited(lambda document: document.update(format=found)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not readable as JSON"),
        (b"\xff\xfe{}", "not readable as JSON"),
        (b"\xef\xbb\xbf{}", "not readable as JSON"),
        (b"[" * 100_000, "not readable as JSON"),
        (b'{"format":' * 50_000, "not readable as JSON"),
        (b'{"format": NaN}', "NaN is no number"),
        (b'{"format": -Infinity}', "-Infinity is no number"),
        (b'{"format": 1.0}', "'format' is not 1"),
        (b'{"format": 1e400}', "1e400 is too large"),
        (b'{"format": ' + b"9" * 30 + b"}", "does not fit 64 bits"),
        (b'{"format": ' + b"9" * 100_000 + b"}", "does not fit 64 bits"),
        (b'{"format": 1, "format": 1}', "a key is given twice"),
        (b"[]", "'format' is not 1"),
        (b"null", "'format' is not 1"),
        (b'{"format": 1}', "missing: id, op, level"),
    ],
)
def test_json_that_is_not_strict_is_refused(content: bytes, message: str) -> None:
    assert message in refusal(with_case(content))


def replacing(key: str, value: object) -> Callable[[Document], object]:
    return lambda document: document.update({key: value})


def first_output(change: Callable[[Document], object]) -> Callable[[Document], object]:
    return lambda document: change(document["outputs"][0])


def second_output(change: Callable[[Document], object]) -> Callable[[Document], object]:
    return lambda document: change(document["outputs"][1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("seed"), "missing: seed"),
        (replacing("extra", 1), "unknown: 'extra'"),
        (replacing("seed", 5), "the id is 'f32-1x1x4-ties-"),
        (replacing("id", "f32-1x1x4-ties-00000000"), "the case makes"),
        (replacing("id", 7), "'id' holds 7, where text belongs"),
        (replacing("level", "maybe"), "level 'maybe' is not one of must, should"),
        (replacing("description", "\x1b[2Jcleared"), "'description' holds"),
        (replacing("description", "\ud800"), "'description' holds"),
        (replacing("edges", "tie"), "'edges' holds 'tie', where a list belongs"),
        (replacing("edges", [1]), "'edges' holds 1, where text belongs"),
        (replacing("types", {}), "types: Expected `object` of length >= 1"),
        (replacing("shapes", {"data": ["1"]}), "shapes.data[0]: Expected `int`, got `str`: '1'"),
        (replacing("operands", {"output_size": [3]}), "the id is"),
        (
            replacing("attributes", {"a": {"b": 1}}),
            "attributes.a: Expected `bool | int | float | str | array`, got `object`",
        ),
        (
            replacing("attributes", {"a": [[1]]}),
            "attributes.a[0]: Expected `bool | int | float | str`, got `array`",
        ),
        (
            replacing("attributes", {"a": None}),
            "attributes.a: Expected `bool | int | float | str | array`, got `null`",
        ),
        (replacing("seed", -1), "seed: Expected `int` >= 0: -1"),
        (replacing("seed", True), "seed: Expected `int`, got `bool`: True"),
        (replacing("reject", "zero-stride"), "the id is"),
        (replacing("outputs", []), "a vector has outputs exactly if"),
        (replacing("outputs", {}), "outputs: not a list"),
        (replacing("inputs", []), "the inputs are not those of shapes and operands"),
        (lambda d: d["inputs"][0].update(name="x"), "the inputs are not those of shapes and"),
        (lambda d: d["inputs"][0].update(name=[]), "the inputs are not those of shapes and"),
        (lambda d: d["inputs"].append(d["inputs"][0]), "the inputs are not those of"),
        (lambda d: d["inputs"][0].update(shape=[4]), "the shape is [4], the case says (1, 1, 4)"),
        (lambda d: d["inputs"][0].update(dtype="f16"), "input_0.npy is of type float32"),
        (lambda d: d["inputs"][0].update(dtype="f8"), "'f8' is not one of f16"),
        (lambda d: d["inputs"][0].update(array="expected_1.npy"), "is of type int32; f32 is held"),
        (lambda d: d["inputs"][0].update(array="no.npy"), "which the file does not hold"),
        (lambda d: d["inputs"][0].update(array=["x"]), "which the file does not hold"),
        (lambda d: d["inputs"][0].pop("array"), "missing: array"),
        (first_output(lambda o: o.update(shape=[1, 1, 3])), "has the shape [1, 1, 2], not"),
        (first_output(lambda o: o.update(shape=None)), "has the shape [1, 1, 2], not None"),
        (first_output(lambda o: o.update(shape="1")), "has the shape [1, 1, 2], not '1'"),
        (first_output(lambda o: o.update(dtype="bf16")), "bf16 is held as uint16"),
        (first_output(lambda o: o.update(dtype="i32")), "i32 needs the arrays expected"),
        (first_output(lambda o: o["arrays"].pop("lo")), "needs the arrays expected, hi, lo, ro"),
        (first_output(lambda o: o["arrays"].update(x="y")), "needs the arrays"),
        (first_output(lambda o: o["arrays"].update(lo=None)), "which the file does not hold"),
        (
            first_output(lambda o: o["arrays"].update(lo_native="rounded_0.npy")),
            "lo_native and hi_native come together",
        ),
        (
            second_output(lambda o: o["arrays"].update(choices="expected_1.npy")),
            "has the shape [1, 1, 2], not [1, 1, 2, 2]",
        ),
        (second_output(lambda o: o["arrays"].update(open="expected_1.npy")), "u8 is held as uint8"),
        (second_output(lambda o: o["arrays"].pop("open")), "does not name the member 'open_1.npy'"),
        (lambda d: d["readings"].pop("any-maximum"), "does not name the member 'reading_any-m"),
        (replacing("readings", {"A B": []}), "'A B' is not the name of an interpretation"),
        (replacing("readings", {"other": []}), "lacks the outputs result, indices"),
        (lambda d: d["readings"]["any-maximum"].pop(), "lacks the outputs"),
        (lambda d: d["readings"]["any-maximum"].reverse(), "lacks the outputs"),
        (replacing("readings", []), "'readings' holds [], where an object belongs"),
        (first_output(lambda o: o.update(bits=False)), "'bits' is true, and of floating-point"),
        (second_output(lambda o: o.update(bits=True)), "'bits' is true, and of floating-point"),
    ],
)
def test_a_case_at_odds_with_itself_is_refused(
    change: Callable[[Document], object], message: str
) -> None:
    assert message in refusal(edited(change))


def test_answers_to_a_case_that_must_be_rejected_are_refused() -> None:
    members = members_of(encode_vector(reject_vector()))
    output = json.loads(members_of(encode_vector(value_vector()))["case.json"])["outputs"]
    document = json.loads(members["case.json"]) | {"outputs": output}
    rounded = members_of(encode_vector(value_vector()))["rounded_0.npy"]
    content = members | {"case.json": json.dumps(document).encode(), "rounded_0.npy": rounded}
    assert "outputs exactly if it is not to be rejected" in refusal(repacked(content))


def test_an_operand_other_than_the_cases_is_refused() -> None:
    members = members_of(GOOD) | {"input_1.npy": write_npy(np.array([3], np.int64))}
    assert "the array is not the value that the case gives, (2,)" in refusal(repacked(members))


def test_bits_of_no_precision_are_refused() -> None:
    members = members_of(GOOD) | {"open_1.npy": write_npy(np.array([[[0, 8]]], np.uint8))}
    assert "open_1.npy has bits that stand for no precision" in refusal(repacked(members))


def test_members_that_are_missing_or_not_asked_for_are_refused() -> None:
    members = members_of(GOOD)
    assert "does not name the member 'x.npy'" in refusal(repacked(members | {"x.npy": b""}))
    del members["rounded_0.npy"]
    assert "'rounded_0.npy', which the file does not hold" in refusal(repacked(members))


def test_case_json_comes_first() -> None:
    members = members_of(GOOD)
    case = members.pop("case.json")
    assert "the first member is not case.json" in refusal(repacked(members))
    assert "the first member is not" in refusal(repacked(members | {"case.json": case}))
    assert "the first member is not" in refusal(repacked({}))


def test_every_refusal_of_the_schema_is_one_of_ordinary_reading_or_of_strict_reading() -> None:
    content = edited(lambda document: document.update(edges=[" spaced"]))
    assert decode_vector(content, "some.npz").edges == (" spaced",)
    with pytest.raises(SuiteError, match=r"some.npz: case.json: edges\[0\]: ' spaced'"):
        decode_vector(content, "some.npz", strict=True)


def test_the_schema_is_one() -> None:
    import jsonschema

    for name in ("case", "manifest"):
        schema = load_schema(f"suite/schemas/{name}.json")
        jsonschema.Draft202012Validator.check_schema(schema.rules)
