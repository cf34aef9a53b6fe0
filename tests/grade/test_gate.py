"""A run made in parts meets its gate exactly as the whole run does."""

from __future__ import annotations

import pytest
from gate_files import TODAY, never, result, unasked, written

from conformance.grade.gate import Gate, load_gate, merge_summaries
from conformance.model import Status
from conformance.specification import shipped_specs

KNOWN = """\
known:
  - {edges: [ceil], reason: first}
  - {vectors: [a, b, gone], reason: second}
  - {op: AvgPool-1, dtypes: [f16], reason: passes too}
  - {vectors: [e, d], kind: aborted, reason: never}
  - {vectors: [a], reason: over, expires: 2020-01-01}
"""
REQUIRE = """\
require:
  - {dtypes: [f32, f16]}
  - {dtypes: [f32, bf16]}
  - {edges: [wide]}
  - {op: None-1}
"""
RESULTS = [
    result("a", "ceil", kind="value"),
    result("b", "ceil", "wide", kind="value", dtype="f16"),
    result("c", "wide", status=Status.UNSUPPORTED),
    result("d", kind="raised"),
    result("e"),
    result("f", dtype="f16"),
    result("g", "wide", dtype="bf16", status=Status.SKIPPED),
]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_come_to_the_same(tmp_path, parts):
    gate = load_gate(
        written(tmp_path, KNOWN, "known.yaml"),
        written(tmp_path, REQUIRE),
        specs=shipped_specs(),
        today=TODAY,
    )
    one = gate.start_run(RESULTS, RESULTS, unasked, never)
    marked = {r.id: one.take(r).known for r in RESULTS}
    expected = one.summary(is_complete=True)
    assert [len(entry["problems"]) for entry in expected["known_failures"]] == [0, 1, 1, 1, 1]
    assert [len(entry["problems"]) for entry in expected["required"]] == [1, 2, 1, 1]

    footers = []
    for first in range(parts):
        part = RESULTS[first::parts]
        watch = gate.start_run(RESULTS, part, unasked, never)
        assert {r.id: watch.take(r).known for r in part}.items() <= marked.items()
        footers.append(watch.summary(is_complete=False))
    found = merge_summaries(footers, is_complete=True)
    for key in ("known_failures", "required"):
        for got, wanted in zip(found[key], expected[key], strict=True):
            for name in ("passes", "unsupported"):
                if name in got:
                    assert sorted(got.pop(name)) == sorted(wanted[name])
                    wanted = {k: v for k, v in wanted.items() if k != name}
            assert {**got, "problems": len(got["problems"])} == {
                **wanted,
                "problems": len(wanted["problems"]),
            }


def test_no_gate_says_nothing():
    watch = Gate().start_run(RESULTS, RESULTS, unasked, never)
    assert [watch.take(r) for r in RESULTS] == RESULTS
    assert watch.summary(is_complete=True) == {}
    assert merge_summaries([{}, {}], is_complete=True) == {}
