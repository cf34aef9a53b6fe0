from __future__ import annotations

import gc
import json
import shutil
import signal
import weakref
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
import tiers

from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.reference import Reference
from conformance.check_options import CheckOptions
from conformance.errors import SuiteError, Unsupported, UsageError
from conformance.json_schema import load_schema
from conformance.log.events import finding_event, result_event
from conformance.model import Finding, Result, Status
from conformance.run.check_vector import VectorChecker
from conformance.run.engine import RunContext, run, selected
from conformance.run.interruption import Interruption
from conformance.suite.evaluation import Work
from conformance.suite.store import open_suite


class Changed(Reference):
    """The reference, with ``change`` between it and the world."""

    name = "changed"

    def __init__(self, change=lambda op, outputs: outputs):
        self.change = change
        self.calls = []

    def run(self, op, inputs, attributes):
        self.calls.append(op)
        return self.change(op, super().run(op, inputs, attributes))


def events(suite, backend, *, command=(), **options):
    return list(run(suite, backend, CheckOptions(**options), RunContext(command=command)))


def results(found):
    return [event for event in found if isinstance(event, Result)]


def statuses(found):
    return [event.status.value for event in results(found)]


def off_by_one(op, outputs):
    return [np.nextafter(outputs[0], np.inf, dtype=outputs[0].dtype), *outputs[1:]]


def test_a_right_backend_passes(small_suite):
    found = events(small_suite, Reference(), level="should", precision="exact")
    assert statuses(found) == ["pass"] * 8
    header, footer = found[0], found[-1]
    assert [event["event"] for event in (header, footer)] == ["header", "footer"]
    assert len(found) == 10
    assert (footer["verdict"], footer["exit_code"]) == ("conformant", 0)
    assert footer["precision_reached"] == {"f32": "exact", "f64": "exact", "f16": "exact"}


def test_every_event_satisfies_the_schema_of_the_log(small_suite):
    capable = Changed(off_by_one)
    capable.capabilities = Capabilities(dtypes=("f32", "f64"))
    for event in events(small_suite, capable, precision="exact", command=("check",)):
        if isinstance(event, Result):
            event = result_event(event)
        elif isinstance(event, Finding):
            event = finding_event(event)
        schema = load_schema("log/run-log.schema.json", event["event"])
        assert schema.first_problem(json.loads(json.dumps(event))) is None


def test_a_should_vector_is_not_run_at_must(small_suite):
    backend = Changed()
    found = events(small_suite, backend)
    assert statuses(found)[-1] == "skipped"
    assert len(backend.calls) == 9  # two of them valid cases of negative tests


def test_findings_name_the_failures_and_the_command(small_suite):
    found = events(small_suite, Changed(off_by_one), precision="exact", command=("check", "b"))
    failed = {r.id for r in results(found) if r.status is Status.FAIL}
    findings = [event for event in found if isinstance(event, Finding)]
    assert failed
    assert {i for finding in findings for i in finding.ids} == failed
    assert all(f.reproduce == f"check b --op {f.op} --only {f.smallest}" for f in findings)
    assert found[-1]["exit_code"] == 1


def test_what_is_not_declared_is_not_run(small_suite):
    backend = Changed()
    backend.capabilities = Capabilities(
        operators=("AdaptiveAvgPool-8", "AvgPool-1"),
        dtypes=("f32", "f64"),
        excluding=(Exclusion("no ceil", "rounding_type == ceil", op="AvgPool-1"),),
    )
    found = events(small_suite, backend)
    reasons = [r.message for r in results(found) if r.status is Status.UNSUPPORTED]
    assert any("f16" in reason for reason in reasons)
    assert "no ceil" in reasons
    assert set(backend.calls) == {"AdaptiveAvgPool-8"}
    assert found[0]["backend"]["capabilities"]["dtypes"] == ["f32", "f64"]
    assert found[-1]["verdict"] == "conformant"
    assert found[-1]["counts"]["AdaptiveMaxPool-8"]["graded"] == 0


def refuse(op, outputs):
    raise Unsupported("not today")


def test_unsupported_without_any_declaration_is_unsupported(small_suite):
    found = events(small_suite, Changed(refuse), ops=["AdaptiveMaxPool-8"])
    assert statuses(found) == ["unsupported"]
    assert found[0]["backend"]["capabilities"] is None
    assert (found[-1]["verdict"], found[-1]["exit_code"]) == ("nothing graded", 1)


def test_unsupported_outside_the_declaration_is_an_error(small_suite):
    backend = Changed(refuse)
    backend.capabilities = Capabilities()
    (result,) = results(events(small_suite, backend, ops=["AdaptiveMaxPool-8"]))
    assert (result.status, result.kind) == (Status.ERROR, "undeclared-unsupported")
    assert "not today" in result.message


@pytest.mark.parametrize(("most", "told"), [(2, True), (4, False)])
def test_who_declares_nothing_is_told_how_to_ask_few(small_suite, monkeypatch, most, told):
    said = []
    monkeypatch.setattr("conformance.run.engine.MANY_OPERATORS", most)
    next(run(small_suite, Reference(), context=RunContext(work=Work(say=said.append))))
    assert said == told * [
        "the backend does not declare its operators: it is asked all 3; --op names some"
    ]


def test_a_negative_test_that_cannot_be_written_is_unsupported():
    """Whatever was declared, which speaks of valid cases."""
    smoke = tiers.smoke()
    listed = tuple(e for e in smoke.manifest.listed if e.op == "AvgPool-1" and e.reject)
    suite = replace(smoke, manifest=replace(smoke.manifest, listed=listed))
    backend = Changed(refuse)
    backend.run = lambda op, inputs, attributes: refuse(op, inputs)
    backend.capabilities = Capabilities()
    found = {one.status for one in results(events(suite, backend)) if one.level == "must"}
    assert found == {Status.UNSUPPORTED}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"level": "shall"}, "level"),
        ({"precision": "f32=nearly"}, "precision"),
        ({"repeat": 0}, "repeat"),
        ({"ops": ["AvgPool-2"]}, "AvgPool-2"),
        ({"only": ["nothing"]}, "nothing"),
    ],
)
def test_a_wrong_question_is_found_before_the_header(small_suite, options, says):
    stream = run(small_suite, Reference(), CheckOptions(**options))
    with pytest.raises(UsageError, match=says) as caught:
        next(stream)
    assert caught.value.hint


def test_a_damaged_vector_ends_the_run_without_a_footer(small_suite, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(small_suite.path, copy)
    suite = open_suite(copy)
    victim = copy / suite.manifest.vectors[2].path
    content = bytearray(victim.read_bytes())
    content[-30] ^= 1
    victim.write_bytes(content)
    stream = run(suite, Reference())
    seen = list(islice(stream, 3))
    assert statuses(seen) == ["pass", "pass"]
    with pytest.raises(SuiteError):
        next(stream)
    assert list(stream) == []


class TestInterruption:
    def test_before_cases_are_evaluated_none_is(self, small_suite, monkeypatch):
        interruption, evaluated = Interruption(), []
        monkeypatch.setattr(VectorChecker, "evaluate", lambda *asked: evaluated.append(asked))

        def selecting(*asked):
            if not interruption.requested:
                interruption.note(signal.SIGTERM)
            return selected(*asked)

        monkeypatch.setattr("conformance.run.engine.selected", selecting)
        with pytest.raises(KeyboardInterrupt):
            next(run(small_suite, Reference(), interruption=interruption))
        assert not evaluated

    def test_a_case_that_cannot_be_evaluated_leaves_no_header(self, small_suite, monkeypatch):
        def damaged(*asked):
            raise SuiteError("damaged")

        monkeypatch.setattr(VectorChecker, "evaluate", damaged)
        with pytest.raises(SuiteError, match="damaged"):
            next(run(small_suite, Reference()))

    def test_during_a_call_it_ends_the_run_with_what_was_found(self, small_suite):
        calls = []

        def change(op, outputs):
            calls.append(op)
            if len(calls) == 5:  # each of the first two is called again, since it is wrong
                raise KeyboardInterrupt
            return off_by_one(op, outputs)

        found = events(small_suite, Changed(change), precision="exact")
        assert statuses(found) == ["fail", "fail"]
        assert any(isinstance(event, Finding) for event in found)
        assert found[-1]["interrupted"] is True
        assert found[-1]["exit_code"] == 130

    def test_between_calls_it_is_noted(self, small_suite):
        interruption = Interruption()
        found = []
        for event in run(small_suite, Reference(), interruption=interruption):
            found.append(event)
            if len(results(found)) == 2 and not interruption.requested:
                interruption.note(signal.SIGINT)
        assert statuses(found) == ["pass", "pass"]
        assert found[-1]["verdict"] == "interrupted"

    def test_a_backend_that_swallows_it_does_not_stop_it(self, small_suite):
        interruption = Interruption()

        def change(op, outputs):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                return outputs

        with pytest.raises(KeyboardInterrupt), interruption.listening():
            found = list(run(small_suite, Changed(change), interruption=interruption))
        assert statuses(found) == ["pass"]
        assert found[-1]["interrupted"] is True


class TestEnvironment:
    def test_a_backend_tells_its_own(self, small_suite):
        backend = Changed()
        backend.environment = lambda: {"threads": 4}
        header = next(run(small_suite, backend))
        assert header["environment"]["backend"] == {"threads": "4"}
        assert header["environment"]["packages"]["numpy"] == np.__version__
        assert header["environment"]["cores"]["usable"] >= 1

    def test_what_it_cannot_tell_does_not_stop_the_run(self, small_suite):
        def environment():
            raise OSError("no device")

        backend = Changed()
        backend.environment = environment
        header = next(run(small_suite, backend))
        assert header["environment"]["backend"] == {"error": "OSError: no device"}


def test_only_one_vector_is_in_memory(small_suite):
    alive = []
    most = []

    def read(entry):
        gc.collect()
        most.append(sum(ref() is not None for ref in alive))
        vector = small_suite.read(entry)
        alive.append(weakref.ref(vector))
        return vector

    parts = {name: getattr(small_suite, name) for name in ("manifest", "name", "digest", "specs")}
    parts |= {"outline": small_suite.outline, "ready": small_suite.ready}
    gc.freeze()  # what is there already need not be searched each time
    try:
        assert len(list(run(SimpleNamespace(**parts, read=read), Reference()))) == 10
    finally:
        gc.unfreeze()
    assert most == [0] * 8
