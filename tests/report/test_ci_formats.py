"""What holds of every format for CI: never green by accident, and the same for the same log."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
import runs
import sample_runs
from hypothesis import given
from runner import commands

from conformance.log.reader import read
from conformance.report.registry import FORMATS, report_format


def render(name, log):
    return report_format(name).render(log)


def is_green(name, text):
    """Whether somebody who sees only this format would take the run for a success."""
    if name == "junit":
        root = ET.fromstring(text)
        return not root.findall(".//failure") and not root.findall(".//error")
    if name == "sarif":
        (run,) = json.loads(text)["runs"]
        errors = [r for r in run["results"] if r["level"] == "error" and not r.get("suppressions")]
        return not errors
    if name == "github":
        return not [c for c in commands(text) if c.name == "error"]
    if name == "summary":
        return "❌" not in text
    if name == "badge":
        return json.loads(text)["color"] != "red"
    if name == "json":
        return json.loads(text)["gate_met"]
    if name == "html":
        return 'class="verdict good"' in text
    return "CONFORMANT." in text and "NOT CONFORMANT" not in text


@pytest.mark.parametrize("name", FORMATS)
def test_a_conformant_run_is_green(name):
    assert is_green(name, render(name, runs.run(sample_runs.passing())))


@pytest.mark.parametrize("kind", runs.RED)
@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"html", "terminal"}))
def test_nothing_else_is(name, kind):
    assert not is_green(name, render(name, runs.run(runs.RED[kind]())))


@pytest.mark.parametrize("name", FORMATS)
def test_a_log_that_ends_at_any_line_is_never_green(name, tmp_path):
    path = sample_runs.write(tmp_path / "run.jsonl", sample_runs.passing(10))
    lines = path.read_bytes().splitlines(keepends=True)
    for end in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:end]))
        assert not is_green(name, render(name, read(path)))


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"html", "terminal"}))
def test_known_failures_alone_are_no_alarm_and_told(name):
    text = render(name, runs.all_known("see issue 7"))
    assert is_green(name, text)
    if name in ("junit", "sarif", "summary"):
        assert "see issue 7" in text
    if name == "github":
        assert "known" in commands(text)[-1].data


@pytest.mark.parametrize("name", FORMATS)
def test_same_log_same_text(name):
    log = runs.run(sample_runs.failing())
    assert render(name, log) == render(name, runs.run(sample_runs.failing()))


@pytest.mark.parametrize("name", FORMATS)
@runs.FEW
@given(log=runs.hostile_runs())
def test_whatever_a_backend_says_it_can_be_written_and_seen(name, log):
    text = render(name, log)
    text.encode("utf-8")
    unseen = {c for c in text if not c.isprintable()} - {"\n"}
    assert unseen == set()
    if name in ("github", "json"):
        assert not re.search(r"\r|\x85|\u2028", text)
