"""A quick yes is a yes of jsonschema too, and a no one of data that JSON can hold."""

from __future__ import annotations

import copy
import gzip
import json
import random
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.json_schema import JsonSchema, load_schema
from conformance.resources import directory
from conformance.spec.yaml_reader import parse_yaml

ROOT = Path(__file__).parents[1]
JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 1.0, 1.5, 1e40, float("nan"), 2**70),
    # No "\n": before it Python's $ matches, and so jsonschema's, though no schema means it.
    *("", "a", "f32", "\t", "x" * 40, "must", "axis"),
    *([], [1], [1, 1], [1, 1.0], ["a", "a"], [[]], {}, {"a": 1}, {"x": None}),
)


def documents() -> Iterator[tuple[str, JsonSchema, Any]]:
    """A name, a schema and a document that is sound."""
    for folder, kind in (("specs", "operator"), ("specs/faults", "faults")):
        for path in sorted((ROOT / folder).glob("*.yaml")):
            data = parse_yaml(path.read_text(), path.name).data
            if "extends" not in data and "families" not in data:
                yield path.stem, load_schema(f"core/{kind}.schema.json"), data
    vectors = directory("vectors")
    for folder in sorted(path for path in vectors.iterdir() if path.is_dir()):
        for path in sorted(folder.glob("*.npz"))[::60]:
            with zipfile.ZipFile(path) as archive:
                yield (
                    path.stem,
                    load_schema("suite/schemas/case.json"),
                    json.loads(archive.read("case.json")),
                )
    manifest = json.loads((vectors / "manifest.json").read_text())
    schema = load_schema("suite/schemas/manifest.json")
    yield "manifest", schema, manifest | {"vectors": manifest["vectors"][::400]}
    packed = (ROOT / "reports/sample/onnxruntime/run.jsonl.gz").read_bytes()
    lines = gzip.decompress(packed).decode("ascii").splitlines()
    for number, line in enumerate(lines):
        event = json.loads(line)
        if number % 60 == 0 or event["event"] != "result":
            schema = load_schema("log/run-log.schema.json", event["event"])
            yield f"line {number}", schema, event
    known = {"known": [{"op": "AvgPool-1", "vectors": ["x-1a2b3c4d"], "reason": "a"}]}
    schema = load_schema("grade/expectations.schema.json", "known")
    yield "known", schema, {"format": 1, **known}


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Each table or list within some data, with each of its keys or places."""
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inner if isinstance(data, dict | list) else ():
        yield data, key
        if isinstance(value, dict | list):
            yield from places(value)


def spoil(document: Any, draw: random.Random) -> Any:
    """The document with one thing in it changed, taken away or added."""
    changed = copy.deepcopy(document)
    held, key = draw.choice(list(places(changed)))
    what = draw.randrange(4)
    if what == 0:
        del held[key]
    elif what == 1 and isinstance(held, dict):
        held[draw.choice(["a", "X 1", "format", "op", "\t"])] = draw.choice(JUNK)
    elif what == 2 and isinstance(held, list):
        held.append(draw.choice([*held, *JUNK]))
    else:
        held[key] = draw.choice(JUNK)
    return changed


def agree(schema: JsonSchema, document: Any) -> bool:
    found = schema.accepts(document)
    sound = Draft202012Validator(schema.rules).is_valid(document)
    assert sound or not found, document
    assert found or not sound or not is_json(document), document
    return found


def is_json(document: Any) -> bool:
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        return False
    return True


def test_documents_as_they_are_and_spoiled(exhaustive: bool) -> None:
    draw = random.Random(0)
    asked = refused = 0
    for number, (name, schema, document) in enumerate(documents()):
        if exhaustive or number % 64 == 0 or name == "manifest":
            assert agree(schema, document), name
            # The manifest is the largest by far.
            for _ in range(12 if exhaustive else 1 if name == "manifest" else 6):
                asked += 1
                refused += not agree(schema, spoil(document, draw))
    assert refused > asked / 3


@pytest.mark.parametrize(
    "rules",
    [
        {"type": "integer"},
        {"type": ["integer", "null"], "minimum": 0, "maximum": 1},
        {"type": "number", "minimum": 1.5},
        {"const": 1},
        {"const": True},
        {"enum": [0, None, "a"]},
        {"minLength": 1, "pattern": "a|f"},
        {"minItems": 1, "maxItems": 1, "items": {"type": "number"}},
        {"items": False},
        {"items": True, "uniqueItems": False},
        {"items": {"type": ["string", "integer"]}, "uniqueItems": True},
        {"minProperties": 1, "maxProperties": 1, "propertyNames": {"pattern": "^a$"}},
        {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "null"}},
        {"properties": {"a": True}, "additionalProperties": False},
        {"dependentRequired": {"a": ["x"]}},
        {"required": ["a"]},
        {"anyOf": [{"type": "string"}, {"required": ["x"]}]},
        {"allOf": [{"type": ["object", "array"]}, {"minItems": 1}]},
        {"if": {"type": "integer"}, "then": {"minimum": 1}, "else": {"type": "string"}},
        {"if": {"type": "integer"}, "then": {"minimum": 1}},
        {"if": {"const": 1}, "else": {"type": "string"}},
        {
            "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}, "maxItems": 1}},
            "items": {"$ref": "#/$defs/tree"},
        },
    ],
)
def test_each_keyword(rules: dict[str, Any]) -> None:
    for value in (*JUNK, [["a"]], [[["a", "b"]]], {"a": "x"}, {"a": "x", "x": None}):
        agree(JsonSchema(rules), value)


@pytest.mark.parametrize("data", [{1: 2}, {None: 1}, {"a": float("nan")}, date(2026, 3, 1)])
def test_what_json_cannot_hold_is_left_to_jsonschema(data: Any) -> None:
    schema = JsonSchema({"type": "object", "additionalProperties": {"type": "number"}})
    assert not schema.accepts(data)


LIST = JsonSchema(
    {"type": "object", "properties": {"a": {"items": {"type": "integer"}}}, "required": ["b"]}
)


def test_problems_say_where_and_what() -> None:
    document = {"a": [1, "x", "y"]}
    assert LIST.problems(document) == (
        "'b' is a required property",
        "a[1]: 'x' is not of type 'integer'",
        "a[2]: 'y' is not of type 'integer'",
    )
    assert LIST.first_problem(document) in LIST.problems(document)


def test_a_sound_document_has_no_problems() -> None:
    assert (LIST.problems({"b": 1}), LIST.first_problem({"b": 1})) == ((), None)


def test_a_problem_is_short_however_long_the_document_is() -> None:
    long = JsonSchema({"additionalProperties": {"type": "null"}})
    problem = long.first_problem({"x" * 10_000: "y" * 10_000})
    assert problem is not None
    assert len(problem) < 400


def test_lists_of_names_are_filled_in() -> None:
    raw = json.loads((ROOT / "conformance/probe/probe.schema.json").read_text("utf-8"))
    assert raw["$defs"]["dtype"] == {"$comment": "element-types", "type": "string"}
    filled = load_schema("probe/probe.schema.json").rules["$defs"]["dtype"]
    assert filled == {"enum": ["f16", "bf16", "f32", "f64", "i8", "u8", "i32", "i64", "bool"]}
