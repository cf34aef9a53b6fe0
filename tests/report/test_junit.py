"""JUnit XML: valid by a schema that others use, complete, and unbreakable from outside."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
import runs
import sample_runs
import xmlschema
from hypothesis import given

from conformance.model import Status
from conformance.report.ci.junit import render
from conformance.safe_text import visible

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "schemas" / "junit-10.xsd")
ENDS = {
    Status.PASS: None,
    Status.FAIL: "failure",
    Status.ERROR: "error",
    Status.UNSUPPORTED: "skipped",
    Status.SKIPPED: "skipped",
}


def end(case):
    return case[0].tag if len(case) else None


@pytest.mark.parametrize("kind", ["passing", "hostile", *runs.RED])
def test_valid(kind):
    events = runs.RED[kind]() if kind in runs.RED else getattr(sample_runs, kind)()
    SCHEMA.validate(ET.ElementTree(ET.fromstring(render(runs.run(events)))))


@runs.FEW
@given(log=runs.hostile_runs())
def test_valid_whatever_a_backend_says(log):
    root = ET.fromstring(render(log))
    SCHEMA.validate(ET.ElementTree(root))
    names = [c.get("name") for c in root.iter("testcase") if c.get("name") != "the run"]
    by_op = sorted(log.results, key=lambda r: list(log.tallies).index(r.op))
    assert names == [visible(" ".join(r.id.splitlines())) for r in by_op]


def test_every_vector_in_the_suite_of_its_operator():
    log = runs.run(sample_runs.failing())
    root = ET.fromstring(render(log))
    shown = {
        (suite.get("name"), case.get("name")): end(case)
        for suite in root
        for case in suite.iter("testcase")
    }
    assert shown == {(result.op, result.id): ENDS[result.status] for result in log.results}


def test_counts_are_those_of_its_cases():
    for suite in ET.fromstring(render(runs.run(sample_runs.failing()))):
        ends = Counter(end(case) for case in suite.iter("testcase"))
        assert int(suite.get("tests")) == ends.total()
        assert int(suite.get("failures")) == ends["failure"]
        assert int(suite.get("errors")) == ends["error"]
        assert int(suite.get("skipped")) == ends["skipped"]


def test_an_operator_ends_with_the_causes_of_its_failures():
    log = runs.run(sample_runs.failing())
    for suite in ET.fromstring(render(log)).iter("testsuite"):
        told = suite.find("system-out").text.splitlines()[1:]
        of = [cause.headline for cause in log.causes if suite.get("name") in cause.operators]
        assert told == of


def test_a_failure_says_what_the_finding_says():
    log = runs.run(sample_runs.failing())
    failure = next(ET.fromstring(render(log)).iter("failure"))
    assert failure.get("type") == "value"
    said = "Wrong values, not explained: result: 3 of 12 elements are wrong"
    assert failure.get("message") == said
    for part in (
        "exact: 12.666666666666666",
        "accepted: [12.666666, 12.666668]",
        "got: 8.444445 (4,427,423 ULP)",
        log.findings[0].title,
        log.causes[0].headline,
        log.findings[0].reproduce,
    ):
        assert part in failure.text


@pytest.mark.parametrize("kind", sorted(runs.QUIET))
def test_what_is_wrong_with_the_run_is_an_error_of_its_own(kind):
    first = ET.fromstring(render(runs.run(runs.RED[kind]())))[0]
    assert (first.get("name"), first.get("tests"), first.get("errors")) == ("conformance", "1", "1")
    (case,) = first.iter("testcase")
    assert end(case) == "error"
    assert case[0].get("message")


def test_known_failures_are_skipped_with_their_reason():
    log = runs.all_known("see issue 7")
    cases = {c.get("name"): c for c in ET.fromstring(render(log)).iter("testcase")}
    for result in log.results:
        if result.status in (Status.FAIL, Status.ERROR):
            (told,) = cases[result.id]
            assert (told.tag, told.get("message")) == ("skipped", "known failure: see issue 7")
