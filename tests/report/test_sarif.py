"""SARIF: valid by the standard's schema, within GitHub's limits, the same alert in every run."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import runs
import sample_runs
from hypothesis import given
from jsonschema import Draft7Validator

from conformance.model import Finding, Result
from conformance.report.ci import sarif
from conformance.report.ci.sarif import render

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-schema-2.1.0.json").read_text())
VALIDATOR = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)


def rendered(log):
    document = json.loads(render(log))
    VALIDATOR.validate(document)
    (run,) = document["runs"]
    return run


def fingerprints(run):
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]


@pytest.mark.parametrize("kind", ["passing", "hostile", *runs.RED])
def test_valid_and_what_github_asks_for(kind):
    events = runs.RED[kind]() if kind in runs.RED else getattr(sample_runs, kind)()
    run = rendered(runs.run(events))
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        for text in (rule["shortDescription"], rule["fullDescription"], rule["help"]):
            assert 0 < len(text["text"]) <= 1024
        assert len(rule["properties"]["tags"]) <= 10
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"]
        assert location["physicalLocation"]["region"]["startLine"] == 1
    assert len(set(fingerprints(run))) == len(run["results"])


@runs.FEW
@given(log=runs.hostile_runs())
def test_valid_whatever_a_backend_says(log):
    for result in rendered(log)["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii()
        assert ".." not in uri.split("/")
        assert not uri.startswith("/")
        text = result["message"]["text"]
        assert "](" not in text
        rest = text.replace("{{", "").replace("}}", "")
        assert "{" not in rest
        assert "}" not in rest


def test_one_result_a_cause_worst_first():
    log = runs.run(sample_runs.failing())
    run = rendered(log)
    assert [r["ruleId"] for r in run["results"]] == [cause.id for cause in log.causes]
    for result, cause in zip(run["results"], log.causes, strict=True):
        assert result["message"]["text"].splitlines()[0] == f"{cause.headline}."
        assert cause.findings[0].reproduce in result["message"]["text"]
        assert result["properties"]["vectors"] == len(cause.vectors)
        rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert rule["shortDescription"]["text"] == f"{cause.title}."
    assert run["invocations"][0]["executionSuccessful"] is True
    assert run["invocations"][0]["exitCode"] == 1


def test_it_points_at_the_backend():
    run = rendered(runs.run(sample_runs.failing()))
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in run["results"]
    }
    assert uris == {"examples/backend.py"}


@pytest.mark.parametrize(
    ("spec", "uri"),
    [
        ("./a b/c.py:Mine", "a%20b/c.py"),
        ("a\\c.py:Mine", "a/c.py"),
        ("openvino", "conformance/AvgPool-1"),
        ("pkg.module:Mine", "conformance/AvgPool-1"),
        ("/abs/c.py:Mine", "conformance/AvgPool-1"),
        ("C:\\abs\\c.py:Mine", "conformance/AvgPool-1"),
        ("../c.py:Mine", "conformance/AvgPool-1"),
    ],
)
def test_where_it_points_otherwise(spec, uri):
    log = runs.run(sample_runs.failing())
    log = replace(log, header={**log.header, "backend": {**log.header["backend"], "spec": spec}})
    result = rendered(log)["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


class TestFingerprints:
    @staticmethod
    def prints(*findings):
        log = runs.run(sample_runs.failing())
        return fingerprints(rendered(replace(log, findings=findings)))

    def test_counts_and_the_smallest_vector_do_not_matter(self):
        finding = runs.run(sample_runs.failing()).findings[0]
        few = replace(
            finding, title="3 of 25", ids=finding.ids[:3], smallest=finding.ids[2], edges=()
        )
        assert self.prints(finding) == self.prints(few)

    def test_nor_does_whether_it_is_known(self):
        log = runs.all_known()
        new = runs.run(sample_runs.failing())
        assert fingerprints(rendered(log)) == fingerprints(rendered(new))

    def test_an_address_in_an_exception_does_not_matter(self):
        first, second = (
            "RuntimeError at 0x7f12, shape 3, 4",
            "RuntimeError at 0x8e99, shape 5, 6, 7",
        )
        _, raised, _ = runs.run(sample_runs.failing()).findings
        assert self.prints(replace(raised, message=first)) == self.prints(
            replace(raised, message=second)
        )

    def test_what_failed_does(self):
        finding, raised, _ = runs.run(sample_runs.failing()).findings
        different = [
            finding,
            replace(finding, kind="index"),
            replace(finding, kind="shape"),
            *sample_runs.distinct(finding, 2),
            raised,
            replace(raised, message="ValueError: something else"),
        ]
        assert len({self.prints(one)[0] for one in different}) == len(different)


@pytest.mark.parametrize("kind", sorted(runs.QUIET))
def test_what_is_wrong_with_the_run_is_a_result_and_a_failed_invocation(kind):
    run = rendered(runs.run(runs.RED[kind]()))
    assert (run["results"][0]["ruleId"], run["results"][0]["level"]) == ("conformance/run", "error")
    (invocation,) = run["invocations"]
    assert invocation["toolExecutionNotifications"][0]["level"] == "error"
    ran_to_its_end = kind == "exit code 1"
    assert invocation["executionSuccessful"] is ran_to_its_end


def test_a_conformant_run_has_no_result():
    run = rendered(runs.run(sample_runs.passing()))
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True
    assert run["invocations"][0]["toolExecutionNotifications"] == []


def test_known_failures_are_suppressed_with_their_reason():
    for result in rendered(runs.all_known("see issue 7"))["results"]:
        (suppression,) = result["suppressions"]
        assert suppression["justification"] == "see issue 7"


def test_what_only_a_should_breaks_is_a_warning():
    log = runs.run(sample_runs.failing())
    mild = replace(log, results=tuple(replace(result, level="should") for result in log.results))
    assert rendered(mild)["results"][0]["level"] == "warning"


class TestLimits:
    def test_results(self, monkeypatch):
        monkeypatch.setattr(sarif, "MAX_RESULTS", 5)
        log = runs.run(sample_runs.failing())
        run = rendered(replace(log, findings=sample_runs.distinct(log.findings[0], 9)))
        assert len(run["results"]) == 5
        told = run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"]
        assert told == "4 results left out; the run log has all."

    @pytest.mark.exhaustive
    def test_compressed_size(self, monkeypatch):
        monkeypatch.setattr(sarif, "MAX_COMPRESSED", 100_000)
        noise = random.Random(1)
        log = runs.run(sample_runs.failing())
        findings = [
            replace(one, message="".join(noise.choices("0123456789abcdef", k=900)))
            for one in sample_runs.distinct(log.findings[0], 1000)
        ]
        text = render(replace(log, findings=tuple(findings)))
        kept = json.loads(text)["runs"][0]["results"]
        assert len(gzip.compress(text.encode())) <= 100_000
        assert 50 <= len(kept) < 1000
        assert kept[0]["message"]["text"].endswith("…")

    def test_texts(self):
        events = sample_runs.hostile("{" * 5000)
        assert any(isinstance(event, Finding) for event in events)
        assert any(isinstance(event, Result) for event in events)
        run = rendered(runs.run(events))
        for rule in run["tool"]["driver"]["rules"]:
            assert len(rule["fullDescription"]["text"]) <= 1024
