"""docs/ci.md: its files can be loaded, its tables name every key that there is."""

from __future__ import annotations

import re
from pathlib import Path

from gate_files import written

from conformance.grade.gate import load_known, load_required
from conformance.grade.known_failures import NARROWING
from conformance.json_schema import load_schema
from conformance.specification import shipped_specs

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")


def examples():
    return re.findall(r"^```yaml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_examples_load(tmp_path):
    known, required = examples()
    assert len(load_known(written(tmp_path, known), shipped_specs()).entries) == 3
    assert len(load_required(written(tmp_path, required), shipped_specs()).entries) == 3


def test_every_key_is_explained():
    schemas = load_schema("grade/expectations.schema.json").rules["$defs"]
    entry = schemas["known"]["properties"]["known"]["items"]["properties"]
    for key in entry:
        assert f"`{key}`" in TEXT
    assert set(NARROWING) <= entry.keys()
    assert schemas["require"]["properties"]["require"]["items"]["properties"].keys() <= entry.keys()
