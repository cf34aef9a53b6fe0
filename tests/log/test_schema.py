"""The schema for other readers and the records that the reader uses accept the same lines."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import sample_runs

from conformance.json_schema import load_schema
from conformance.log.encoding import encode
from conformance.log.events import KINDS, FindingEvent, as_event, parse_event, to_finding

# No float that is whole, which a schema takes for an integer.
JUNK = (None, True, 0, 1, -1, 1.5, 2**60, "", "f32", "inf", "must", [], ["a"], [0] * 7, {})


PASSING = {"passing": 1, "of_passing": 2}
DIAGNOSIS = {
    "sentence": "It is so.",
    "advice": "Look.",
    "faults": [{"id": "a", "kind": "b", "says": "c", "threads": ["d"], "look": "e", "cause": "f"}],
    "alternatives": [{"ids": ["a"], "says": ["b"]}],
    "agree": {"equal": 1, "failing": 2, "passing": 3, "consistent": 3, "bitwise": 1},
    "scope": {"dtype": ["f16"], "rank": [5]},
    "conditions": [{"name": "a", "holds": True, "about": "b"}],
    "by_chance": False,
    "place": {"where": "there", "vectors": 1, "elements": 2, **PASSING},
    "separates": {"failing": 1, "of_failing": 2, **PASSING},
}
CELLS = {"at": [0, 1], "rows": [-1], "columns": [2, 3], "counts": [[1, 0]], "values": [["", "1"]]}
READS = {
    "output": "Y",
    "index": [0, 1],
    "tensors": [
        {
            "name": "X",
            "shape": [1, 2, 3, 4],
            "elements": 1,
            "padding": 2,
            "of_slices": 3,
            "slices": [CELLS],
        }
    ],
    "of_terms": 1,
    "terms": [["X[0]", "W[0]"]],
}


def lines() -> Iterator[dict[str, Any]]:
    """Events of a run with all that a log may hold, failures and findings among them."""
    arrays = [{"dtype": "f32", "shape": [2], "zlib": ["eJxjYGBgAAAABAAB"]}]
    more = {"within": [1, 2, 3, 4, 5, 6], "left_out": ["a"], "wrong": "ab", "asked": {"seed": 1}}
    for event in (*sample_runs.gated()[::20], *sample_runs.gated()[-4:]):
        data = json.loads(encode(as_event(event)))
        if data["event"] == "result":
            data |= {**more, "inputs": arrays, "expected": None, "returned": arrays}
        if data["event"] == "finding":
            data |= {"diagnosis": DIAGNOSIS}
            data["detail"] |= {"fuzz": "a", "case": "b", "after": ["c"]}
            data["detail"] |= {"reads": READS}
        if data["event"] == "footer":
            data["endings"] = [{"message": "killed"}]
            data["strength"]["parts"] = [{**sample_runs.measured(), "covered": 1, "targets": 2}]
        yield data


def spots(data: Any) -> Iterator[tuple[Any, Any]]:
    """Each table or list within some data, with each of its keys or indices."""
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inner:
        yield data, key
        if isinstance(value, dict | list):
            yield from spots(value)


def spoiled(document: Any, draw: random.Random) -> Any:
    changed = copy.deepcopy(document)
    holder, key = draw.choice([spot for spot in spots(changed) if spot[1] != "event"])
    if draw.randrange(4):
        holder[key] = draw.choice(JUNK)
    else:
        del holder[key]
    return changed


def accepts(document: Any) -> bool:
    try:
        event = parse_event(document)
        if isinstance(event, FindingEvent):
            to_finding(event)
    except ValueError:
        return False
    return True


def test_they_accept_the_same_lines() -> None:
    draw = random.Random(0)
    answers = []
    for event in lines():
        schema = load_schema("log/run-log.schema.json", event["event"])
        assert accepts(event)
        assert schema.accepts(event)
        for _ in range(200 if event["event"] in ("header", "footer", "finding") else 20):
            changed = spoiled(event, draw)
            answers.append(accepts(changed))
            assert answers[-1] == schema.accepts(changed), changed
    assert len(answers) / 4 < sum(answers) < len(answers) * 3 / 4


@pytest.mark.parametrize("name", KINDS)
def test_they_have_the_same_members(name: str) -> None:
    rules = load_schema("log/run-log.schema.json").rules["$defs"][name]
    fields = {"event": True} | {
        field.encode_name: field.required for field in msgspec.structs.fields(KINDS[name])
    }
    assert {*rules["properties"]} == {*fields}
    assert {*rules["required"]} == {field for field, required in fields.items() if required}
