"""The table of vectors: each with all that its detail shows, as data that is safe in a page."""

from __future__ import annotations

import zlib
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
import sample_runs
from hypothesis import given
from pages import Page, check_safe, vectors
from runs import FEW, hostile_runs, run

from conformance.grade.returned import pack_outputs
from conformance.model import Result, Returned, Status
from conformance.report.page import render
from conformance.report.vector_table import array_texts, is_addressable

SIZE = 4005


@pytest.fixture(scope="module")
def long_run():
    return run(sample_runs.failing(SIZE))


def test_every_vector_of_every_operator_is_in_one_table(long_run):
    text = render(long_run)
    check_safe(text)
    found = vectors(text)
    names = found["names"]
    told = [(names[row["o"]], row["v"], names[row["s"]], names[row["t"]]) for row in found["rows"]]
    assert sorted(told) == sorted((r.op, r.id, r.status.value, r.dtype) for r in long_run.results)
    edges = {row["v"]: tuple(names[edge] for edge in row["e"]) for row in found["rows"]}
    assert edges == {r.id: r.edges for r in long_run.results}
    assert len(text) < 2_000_000


def test_failures_come_first_and_what_passed_last_in_the_order_of_the_run():
    statuses = ("pass", "skipped", "fail", "unsupported", "pass", "error", "fail")
    results = tuple(
        Result(id=f"v{n}", op="AvgPool-1", status=Status(status))
        for n, status in enumerate(statuses)
    )
    log = replace(run(sample_runs.passing()), results=results)
    rows = vectors(render(log))["rows"]
    assert [row["v"] for row in rows] == ["v2", "v5", "v6", "v3", "v1", "v0", "v4"]


def test_the_time_of_each_call_is_told_and_the_slowest_are_named():
    seconds = {"v0": 0.00031, "v1": 0.0, "v2": 2.46, "v3": 0.716, "v4": 0.02}
    results = tuple(
        Result(id=name, op="AvgPool-1", status=Status.PASS, seconds=taken)
        for name, taken in seconds.items()
    )
    text = render(replace(run(sample_runs.passing()), results=results))
    told = {row["v"]: row.get("d") for row in vectors(text)["rows"]}
    assert told == {"v0": 0.31, "v1": None, "v2": 2500, "v3": 720, "v4": 20}
    line = "The calls took 3.2 s in all. The slowest: v2 2.5 s, v3 720 ms, v4 20 ms."
    assert line in Page(text).text


def test_where_the_log_has_no_time_none_is_told():
    log = run(sample_runs.passing())
    untimed = replace(log, results=tuple(replace(one, seconds=0.0) for one in log.results))
    assert "The calls took" not in render(untimed)


def test_a_vector_leads_to_its_cause(long_run):
    found = vectors(render(long_run))
    told = {row["v"]: found["causes"][row["c"]][0] for row in found["rows"] if "c" in row}
    there = {(result.op, result.id) for result in long_run.results}
    assert told == {
        name: cause.id
        for cause in long_run.causes
        for at, name in cause.vectors
        if (at, name) in there
    }


def test_a_failure_shows_what_was_asked_given_and_expected():
    log = run(sample_runs.failing(400))
    place = next(i for i, one in enumerate(log.results) if one.witness)
    right, got = (np.array([[[1.5, 2], [3, x]]], "f4") for x in (4, np.nan))
    asked = {"attributes": {"kernel": [2, 2], "auto_pad": "valid"}, "pattern": "ramp"}
    result = replace(
        log.results[place],
        asked=asked,
        expected=pack_outputs([right]),
        returned=pack_outputs([got]),
        inputs=pack_outputs([np.zeros((1, 1, 600), "f4")]),
    )
    log = replace(log, results=(*log.results[:place], result, *log.results[place + 1 :]))
    (row,) = (row for row in vectors(render(log))["rows"] if row["v"] == result.id)
    assert row["a"] == {
        "attributes, kernel": "[2, 2]", "attributes, auto_pad": "valid", "pattern": "ramp",
    }  # fmt: skip
    assert row["x"]["expected"] == [[[["1.5", "2.0"], ["3.0", "4.0"]]]]
    assert row["x"]["got"] == [[[["1.5", "2.0"], ["3.0", "nan"]]]]
    assert row["x"]["inputs"] == [None]  # too large to be shown
    assert row["x"]["wrong"] == [result.witness.wrong, result.witness.total]


def test_arrays_are_in_the_fewest_digits_of_their_type():
    arrays = [np.array([0.1, 1 / 3], name) for name in ("f2", "f4", "f8", ml_dtypes.bfloat16)]
    assert array_texts(pack_outputs(arrays)) == [
        ["0.1", "0.3333"], ["0.1", "0.33333334"], ["0.1", "0.3333333333333333"], ["0.1", "0.334"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "one",
    [
        Returned("f9", (1,), b""),
        Returned("f4", (1,), b"no zlib"),
        Returned("f32", (2,), zlib.compress(b"\0" * 4)),
        Returned("f32", (2,), zlib.compress(b"\0" * 9)),
        Returned("f32", (1 << 40,), zlib.compress(b"\0" * 9)),
        Returned("f32", (-1, -1), zlib.compress(b"\0" * 4)),
        Returned("f32", (), zlib.compress(b"\0" * 4)),
    ],
)
def test_an_array_that_a_log_spoils_is_left_out(one):
    assert array_texts([one]) == [None]


@FEW
@given(hostile_runs())
def test_whatever_a_log_says_the_data_stays_data(log):
    text = render(log)
    assert len(Page(text).all("script")) == 1 + bool(log.results)
    assert not log.results or len(vectors(text)["rows"]) == len(log.results)


def test_names():
    assert is_addressable("f32-1x1-ramp-0a1b2c3d")
    assert not any(is_addressable(text) for text in ("", 'a"b', "a b", "ä", "x" * 300))
