"""Annotations, as the runner reads them: no text becomes a command, and none is lost unsaid."""

from __future__ import annotations

from dataclasses import replace

import pytest
import runs
import sample_runs
from hypothesis import given
from runner import commands

from conformance.report.ci.github import MAX_PER_LEVEL, render


def annotations(log):
    return commands(render(log))


@runs.FEW
@given(log=runs.hostile_runs())
def test_only_our_own_commands_come_out(log):
    text = render(log)
    found = commands(text)
    assert len(found) == len(text.splitlines())
    assert {command.name for command in found} <= {"error", "warning", "notice"}
    assert found[-1].name == "notice"
    for command in found:
        assert set(command.properties) <= {"file", "line", "title"}
        assert "\n" not in command.properties["title"]


@pytest.mark.parametrize("text", ["100% of a: b, c\nnext", "%0A%25::x", "a]b;c", "x=y,z=1"])
def test_texts_arrive_as_they_were(text):
    log = runs.run(sample_runs.failing())
    title = text.replace("\n", " ")
    told = {"faults": [{"id": "a-bug", "says": title}]}
    finding = replace(log.findings[0], diagnosis=told, message=text)
    first = annotations(replace(log, findings=(finding,)))[0]
    assert first.properties["title"] == f"{title}: AvgPool-1, 10 vectors"
    assert text in first.data


def test_causes_come_worst_first_with_what_they_take_to_be_understood():
    log = runs.run(sample_runs.failing())
    *found, notice = annotations(log)
    assert [c.name for c in found] == ["error"] * 3
    for command, cause in zip(found, log.causes, strict=True):
        assert command.properties["title"] == cause.headline
        assert command.properties["file"] == "examples/backend.py"
        assert f"reproduce: {cause.findings[0].reproduce}" in command.data
    assert "got: 8.444445 (4,427,423 ULP, 0.33 relative)" in found[0].data
    assert notice.properties["title"] == "conformance: Not conformant"


def test_a_cause_names_its_operators_and_where_it_was_fixed():
    log = runs.run(sample_runs.failing())
    fault = {"id": "a-bug", "says": "A bug.", "fixed": {"runtime": "1.2"}}
    first, second, _ = (replace(f, diagnosis={"faults": [fault]}) for f in log.findings)
    (command, _) = annotations(replace(log, findings=(first, second)))
    assert command.properties["title"] == "A bug: 2 operators, 15 vectors"
    assert "fixed in runtime 1.2" in command.data
    assert f"operators: {first.op}, {second.op}" in command.data


def many(count):
    log = runs.run(sample_runs.failing())
    return replace(log, findings=sample_runs.distinct(log.findings[0], count))


@pytest.mark.parametrize(("count", "more"), [(10, None), (11, "1 cause"), (1500, "1,490 causes")])
def test_no_more_than_are_shown_and_the_rest_is_counted(count, more):
    *found, notice = annotations(many(count))
    assert len(found) == MAX_PER_LEVEL
    assert [c.properties["title"] for c in found] == [
        f"Bug {n:04}: AvgPool-1, 10 vectors" for n in range(10)
    ]
    assert (f"More: {more};" in notice.data) if more else ("More" not in notice.data)


def test_what_nothing_explains_is_no_cause():
    log = many(11)
    last = replace(log.findings[-1], diagnosis=None)
    *_, notice = annotations(replace(log, findings=(*log.findings[:-1], last)))
    assert "More: 1 unexplained failure group; see the report." in notice.data


def test_the_run_itself_comes_before_its_causes():
    log = replace(many(20), footer=None)
    found = annotations(log)
    assert [c.name for c in found] == ["error"] * MAX_PER_LEVEL + ["notice"]
    assert found[0].data.startswith("Cut short: ")
    assert "More: 11 causes; see the report." in found[-1].data


def test_what_only_a_should_breaks_is_a_warning():
    log = runs.run(sample_runs.failing())
    mild = replace(log, results=tuple(replace(result, level="should") for result in log.results))
    assert annotations(mild)[0].name == "warning"


def test_lengths():
    for command in annotations(runs.run(sample_runs.hostile("x" * 100_000))):
        assert len(command.properties["title"]) <= 255
        assert len(command.data) < 64_000


def test_a_conformant_run_is_one_notice():
    (notice,) = annotations(runs.run(sample_runs.passing()))
    assert (notice.name, notice.properties["title"]) == ("notice", "conformance: Conformant")
