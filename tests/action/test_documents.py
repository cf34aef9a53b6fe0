"""The workflows in the documentation are valid, and use the action as it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from conformance.report.registry import FORMATS, report_format

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "ci-formats.md").read_text("utf-8")
WORKFLOWS = re.findall(
    r"<!-- tests/action/test_documents.py checks this -->\n```yaml\n(.*?)```", TEXT, re.DOTALL
)
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def test_there_are_two():
    assert len(WORKFLOWS) == TEXT.count("on: [push, pull_request]") == 2


def test_valid_by_the_schema_of_workflows(tmp_path):
    files = [tmp_path / f"{number}.yml" for number in range(len(WORKFLOWS))]
    for file, text in zip(files, WORKFLOWS, strict=True):
        file.write_text(text)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    command += ["vendor.github-workflows", *map(str, files)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stdout + shown.stderr


@pytest.mark.parametrize("text", WORKFLOWS)
def test_inputs_of_the_action_exist(text):
    steps = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"]]
    ours = [step for step in steps if step.get("uses", "").startswith("owner/conformance@")]
    assert ours
    for step in ours:
        assert set(step["with"]) <= set(ACTION["inputs"])
        assert {"backend", "merge"} & set(step["with"])


def test_every_format_and_its_file_is_told():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", TEXT, re.MULTILINE)[: len(FORMATS)])
    assert set(rows) == set(FORMATS)
    for name in set(FORMATS) - {"github"}:
        assert report_format(name).FILE in rows[name]
