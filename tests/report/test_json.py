"""The JSON document: valid by the published schema, and nothing of the log is lost in it."""

from __future__ import annotations

import json

import pytest
import runs
import sample_runs
from hypothesis import given
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from conformance.json_schema import load_schema
from conformance.log.encoding import encode
from conformance.log.events import finding_event, result_event
from conformance.report.ci.json import render

LOG = Resource.from_contents(load_schema("log/run-log.schema.json").rules)
SCHEMA = load_schema("report/report.schema.json").rules
VALIDATOR = Draft202012Validator(
    SCHEMA, registry=Registry().with_resource("../log/run-log.schema.json", LOG)
)


def rendered(log):
    text = render(log)
    assert text.isascii()
    document = json.loads(text)
    VALIDATOR.validate(document)
    return document


def test_the_schema_is_one_and_refers_to_the_one_of_the_log():
    Draft202012Validator.check_schema(SCHEMA)
    assert not VALIDATOR.is_valid({})
    document = rendered(runs.run(sample_runs.passing()))
    document["results"][0]["status"] = "great"
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("kind", ["passing", "hostile", *runs.RED])
def test_the_whole_log(kind):
    log = runs.run(runs.RED[kind]() if kind in runs.RED else getattr(sample_runs, kind)())
    document = rendered(log)
    assert document["header"] == json.loads(encode(log.header))
    assert document["footer"] == (None if log.footer is None else json.loads(encode(log.footer)))
    assert document["results"] == [json.loads(encode(result_event(r))) for r in log.results]
    assert document["findings"] == [json.loads(encode(finding_event(f))) for f in log.findings]
    assert document["problems"] == list(log.problems)
    assert document["verdict"] == log.verdict
    assert document["gate_met"] is (kind == "passing")


@runs.FEW
@given(log=runs.hostile_runs())
def test_whatever_a_backend_says(log):
    document = rendered(log)
    assert [result["id"] for result in document["results"]] == [r.id for r in log.results]


def test_a_green_document_without_a_footer_is_refused():
    document = rendered(runs.run(sample_runs.passing())) | {"footer": None}
    assert not VALIDATOR.is_valid(document)
