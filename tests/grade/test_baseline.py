"""A baseline names exactly the failures of its run, whatever they are."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from gate_files import Watched, result, written
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.errors import UsageError
from conformance.grade import baseline as module
from conformance.grade.baseline import baseline
from conformance.grade.findings import group_failures
from conformance.model import Status

REASON = "because: of 'this' # and \"that\" \u202e \x07"


def text_of(results, *, is_complete=True, earlier=None, reason="x"):
    found = group_failures(results, command=())
    return baseline(
        results,
        found,
        reason=reason,
        otherwise="nobody knows",
        earlier=earlier or {},
        is_complete=is_complete,
    )


def entries_of(results, **more):
    return yaml.safe_load(text_of(results, **more))["known"]


kinds = st.sampled_from(["", "", "value", "raised", "aborted", "index"])
runs = st.lists(
    st.builds(
        lambda edges, kind, dtype, op, lost: result(
            "", *sorted(edges), kind="" if lost else kind, dtype=dtype, op=op,
            status=Status.UNSUPPORTED if lost else None,
        ),
        st.sets(st.sampled_from(["ceil", "wide", "odd", "f16"])),
        kinds,
        st.sampled_from(["f16", "f32"]),
        st.sampled_from(["AvgPool-1", "Other-1"]),
        st.booleans(),
    )
    | st.builds(
        lambda kind, why: result("", kind=kind, reject=why),
        st.sampled_from(["", "accepted"]),
        st.sampled_from(["zero-stride", "zero-kernel"]),
    ),
    max_size=25,
)  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(runs, st.booleans())
def test_it_names_every_failure_and_is_out_of_date_in_nothing(made, whole):
    results = [replace(r, id=f"v{i}") for i, r in enumerate(made)]
    with tempfile.TemporaryDirectory() as folder:
        known = written(Path(folder), text_of(results, is_complete=whole, reason=REASON))
        found = Watched(results, known=known)
    failed = {r.id for r in results if r.status in (Status.FAIL, Status.ERROR)}
    assert found.marks.keys() == failed
    assert found.problems == []
    assert {entry["reason"] for entry in found.known} <= {REASON}


CEIL = [*(result(n, "ceil", kind="value") for n in "abc"), result("d"), result("e", "wide")]


def test_a_finding_that_one_edge_tells_apart_is_one_entry():
    assert entries_of(CEIL) == [
        {"op": "AvgPool-1", "edges": ["ceil"], "kind": "value", "reason": "x"}
    ]


def test_a_finding_that_its_edge_does_not_tell_apart_is_its_vectors():
    assert entries_of([*CEIL, result("f", "ceil")])[0]["vectors"] == ["a", "b", "c"]


def test_a_part_of_the_suite_is_told_by_ids():
    assert entries_of(CEIL, is_complete=False)[0]["vectors"] == ["a", "b", "c"]


def test_what_fails_everywhere_is_told_by_ids():
    assert entries_of(CEIL[:3])[0]["vectors"] == ["a", "b", "c"]


def test_types_and_conditions_tell_findings_apart_too():
    results = [
        *(result(f"h{n}", kind="raised", dtype="f16") for n in range(3)),
        *(result(f"s{n}") for n in range(3)),
        *(result(f"z{n}", kind="accepted", reject="zero-stride") for n in range(3)),
        *(result(f"k{n}", reject="zero-kernel") for n in range(3)),
    ]
    assert [{**entry, "reason": ""} for entry in entries_of(results)] == [
        {"op": "AvgPool-1", "reject": "zero-stride", "kind": "accepted", "reason": ""},
        {"op": "AvgPool-1", "dtypes": ["f16"], "kind": "raised", "reason": ""},
    ]


def test_the_same_run_gives_the_same_text():
    assert text_of(CEIL) == text_of(CEIL)
    assert text_of(list(reversed(CEIL))) == text_of(CEIL)


def test_what_was_known_keeps_its_reason(tmp_path):
    known = written(
        tmp_path,
        "known:\n  - {vectors: [a], reason: old, link: 'https://x', expires: 2027-01-31}\n",
    )
    found = Watched(CEIL, known=known)
    earlier = {entry["entry"]: entry for entry in found.known}
    first, second = entries_of(found.results, earlier=earlier, reason="new")
    assert {**first, "expires": str(first["expires"])} == {
        "op": "AvgPool-1", "vectors": ["a"], "kind": "value",
        "reason": "old", "link": "https://x", "expires": "2027-01-31",
    }  # fmt: skip
    assert (second["vectors"], second["reason"]) == (["b", "c"], "new")


def test_a_message_cannot_leave_its_comment(tmp_path):
    hostile = "\n  - {vectors: [d], reason: sneaked in}\n\x85\u2028 \x1b[31m"
    results = [replace(r, message=hostile) for r in CEIL]
    results[0] = replace(results[0], kind="raised", witness=None)
    known = written(tmp_path, text_of(results))
    assert Watched(results, known=known).marks.keys() == {"a", "b", "c"}


def test_more_than_a_file_can_hold(monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 300)
    with pytest.raises(UsageError, match="more than 300 bytes"):
        text_of(CEIL)


def test_advice_is_no_reason():
    advice = "Vector a-1 of the suite can distinguish them."
    diagnosis = {"sentence": "The divisor is off.", "advice": advice}
    results = [result("a", kind="value"), result("b")]
    (found,) = group_failures(results, command=())
    text = baseline(
        results,
        [replace(found, diagnosis=diagnosis)],
        reason=None,
        otherwise="nobody knows",
        earlier={},
        is_complete=False,
    )
    (entry,) = yaml.safe_load(text)["known"]
    assert entry["reason"] == "The divisor is off."
