"""A log cannot be edited into a gate that passes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import sample_runs

from conformance.log.reader import read
from conformance.model import Result, Status


@pytest.fixture
def lines(tmp_path):
    """A run whose only failures are known ones, as the lines of its log."""
    results = list(sample_runs.passes(60))
    head = sample_runs.header(sample_runs.by_op(results))
    name = "known.yaml:3"
    wrong = {"status": Status.FAIL, "kind": "value", "reading": None, "known": name}
    for place in (0, 6, 12):
        results[place] = replace(results[place], **wrong)
    head["options"] |= sample_runs.GATE | {"require": None}
    known = [
        sample_runs.known_failure(name, failures=3),
        sample_runs.known_failure("known.yaml:9", problems=["matches nothing: ..."]),
    ]
    foot = sample_runs.footer(results, head) | {"exit_code": 0, "known_failures": known}
    path = sample_runs.write(tmp_path / "run.jsonl", [head, *results, foot])
    return [json.loads(line) for line in path.read_text().splitlines()]


def problems(tmp_path, lines):
    path = tmp_path / "edited.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = read(path)
    assert run.verdict == ("inconsistent" if run.problems else "not conformant")
    return " ".join(run.problems)


def marked(lines):
    return [line for line in lines if line.get("known")]


def test_a_sound_log(tmp_path, lines):
    assert problems(tmp_path, lines) == ""


def test_a_mark_removed(tmp_path, lines):
    marked(lines)[0]["known"] = None
    found = problems(tmp_path, lines)
    assert "the footer counts 3 known, the results show 2" in found
    assert "known.yaml:3: the footer counts 3 failures, 2 marked." in found
    assert "The exit code is 0, but 1 new failure." in found


def test_a_failure_added_to_a_run_that_passed(tmp_path, lines):
    fresh = next(line for line in lines if line.get("status") == "pass" and not line["reject"])
    fresh |= {"status": "fail", "kind": "value", "reading": None}
    assert "1 new failure" in problems(tmp_path, lines)


def test_a_mark_on_what_did_not_fail(tmp_path, lines):
    passed = next(line for line in lines if line.get("status") == "pass")
    passed["known"] = "known.yaml:3"
    assert "Marked as known failures: 1 result that did not fail." in problems(tmp_path, lines)


def test_a_mark_of_no_entry(tmp_path, lines):
    marked(lines)[0]["known"] = "elsewhere.yaml:1"
    assert "does not list: elsewhere.yaml:1" in problems(tmp_path, lines)


def test_an_entry_that_expired(tmp_path, lines):
    lines[-1]["known_failures"][0]["expired"] = True
    assert "known.yaml:3: expired, and excuses failures." in problems(tmp_path, lines)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda head, foot: head["options"].update(strict=True), "which strict does not allow"),
        (lambda head, foot: foot.pop("known_failures"), "on whether the run had known_failures"),
        (lambda head, foot: head["options"].pop("known_failures"), "had known_failures"),
        (lambda head, foot: head["options"].update(require="r.yaml"), "the run had require"),
        (
            lambda head, foot: (
                head["options"].update(require="r.yaml"),
                foot.update(required=[sample_runs.requirement("r.yaml:2", unsupported=["a"])]),
            ),
            "something that is required is not supported",
        ),
        (lambda head, foot: foot.update(interrupted=True), "the run was interrupted"),
    ],
)
def test_the_ends_disagree(tmp_path, lines, change, why):
    change(lines[0], lines[-1])
    assert why in problems(tmp_path, lines)


def test_no_vector_passed(tmp_path):
    result = next(r for r in sample_runs.passes(3) if not r.reject)
    failed = replace(result, status=Status.FAIL, kind="value", known="known.yaml:3")
    head = sample_runs.header(sample_runs.by_op([failed]))
    head["options"] |= sample_runs.GATE | {"require": None}
    foot = sample_runs.footer([failed], head) | {"exit_code": 0}
    foot["known_failures"] = [sample_runs.known_failure("known.yaml:3", failures=1)]
    run = read(sample_runs.write(tmp_path / "run.jsonl", [head, failed, foot]))
    assert run.problems == ("The exit code is 0, but no vector with values passed.",)


def test_an_exit_code_of_zero_for_a_run_that_failed(tmp_path):
    events = sample_runs.failing()
    events[-1]["exit_code"] = 0
    run = read(sample_runs.write(tmp_path / "run.jsonl", events))
    assert "The exit code is 0, but" in run.problems[0]
    assert isinstance(events[1], Result)
