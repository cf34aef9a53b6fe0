"""Requirements: support that is lost, and requirements that nothing asks, are both told."""

from __future__ import annotations

import pytest
from gate_files import Watched, case, result, written

from conformance.errors import SpecError
from conformance.grade.gate import load_required
from conformance.model import Status
from conformance.specification import shipped_specs

LOST = {"status": Status.UNSUPPORTED}
RESULTS = [
    result("a", "ceil"),
    result("b", "ceil", dtype="f16", **LOST),
    result("c", kind="value", dtype="f16"),
    result("d", dtype="f64", kind="undeclared-unsupported"),
    result("s", dtype="bf16", status=Status.SKIPPED),
]


def watched(tmp_path, *entries, **more):
    text = "require:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)
    return Watched(RESULTS, require=written(tmp_path, text), **more)


@pytest.mark.parametrize(
    ("entry", "problems"),
    [
        ("op: AvgPool-1, dtypes: [f32]", []),
        ("vectors: [a, c]", []),
        ("edges: [ceil]", ["1 of 2 vectors unsupported: no reason given (1)"]),
        ("dtypes: [f16]", ["1 of 2 vectors unsupported: no reason given (1)"]),
        # A declaration that does not hold is no support either.
        ("dtypes: [f64]", ["1 of 1 vectors unsupported: no reason given (1)"]),
        ("dtypes: [f32, bf16]", ["matches nothing: this run has no vector of bf16"]),
        ("dtypes: [f32, i8]", ["matches nothing: the suite has no type i8"]),
        ("edges: [celi]",
         ["matches nothing: the suite has no edge celi (did you mean 'ceil'?)"]),
        ("op: AvgPool-2",
         ["matches nothing: the suite has no operator AvgPool-2 (did you mean 'AvgPool-1'?)"]),
        ("vectors: [a, s]", ["matches nothing: this run has no vector of s"]),
    ],
)  # fmt: skip
def test_what_is_not_met(tmp_path, entry, problems):
    found = watched(tmp_path, entry)
    assert found.problems == problems
    assert found.required[0]["entry"] == "file.yaml:2"


def test_each_type_is_required_at_each_rank(tmp_path):
    ranks = {"a": 3, "b": 3, "c": 4}
    found = watched(
        tmp_path,
        "dtypes: [f32, f16], ranks: [3, 4]",
        case_of=lambda vector: case(ranks.get(vector, 5)),
    )
    assert found.problems == [
        "1 of 3 vectors unsupported: no reason given (1)",
        "matches nothing: this run has no vector of f32 of rank 4",
    ]


def test_by_a_predicate(tmp_path):
    found = watched(tmp_path, "op: AvgPool-1, when: rank_of(data) == 4", case_of=lambda _: case(4))
    assert found.required[0]["unsupported"] == ["b", "d"]
    assert found.required[0]["asked"] == 4


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("require: []", "1:10"),
        ("require: [{}]", "1:11"),
        ("require: [{dtypes: f32}]", "1:20"),
        ("require:\n  - {dtype: [f32]}", "2:6"),
        ("require:\n  - {dtypes: [f23]}", "2:15"),
        ("require:\n  - {when: rank == 3}", "2:6"),
        ("require:\n  - {op: Nope-1, when: rank == 3}", "2:10"),
        ("require:\n  - {op: AvgPool-1, when: kernl > 1}", "2:27"),
        ("known: []", "1:1"),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path, text, place):
    with pytest.raises(SpecError, match=f"file.yaml:{place}: "):
        load_required(written(tmp_path, text), shipped_specs())
