"""Choices: their words, and the published schemas that list them too."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import conformance
from conformance.choices import LEVEL_HELP, LEVELS, PRECISIONS, SHIPPED_SUITES, SuiteName, sentences
from conformance.pytest_plugin import pytest_addoption
from conformance.verdict import NO_CLAIM

SCHEMAS = sorted(Path(conformance.__file__).parent.rglob("*.json"))


def listed(rules: object) -> list[list[str]]:
    """Every list of values in a schema."""
    if isinstance(rules, list):
        return [values for item in rules for values in listed(item)]
    if not isinstance(rules, dict):
        return []
    return [
        v for key, value in rules.items() for v in ([value] if key == "enum" else listed(value))
    ]


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
@pytest.mark.parametrize("names", [PRECISIONS, LEVELS, SHIPPED_SUITES])
def test_schemas_list_the_same(path: Path, names: tuple[str, ...]) -> None:
    for values in listed(json.loads(path.read_text("utf-8"))):
        if names[0] in values and names[1] in values:
            assert {*values} - {None, "open", "may"} == {*names}


def test_words_as_sentences() -> None:
    assert sentences(LEVEL_HELP) == (
        "must: any allowed interpretation of the document passes. should: only the expected one."
    )


def test_suites_without_a_claim() -> None:
    assert NO_CLAIM["smoke"] == "the smoke suite"
    assert sorted(NO_CLAIM) == ["drawn", "fuzz", "large", "smoke"]
    assert SuiteName.CORE not in NO_CLAIM


def test_the_plugin_of_pytest_says_the_same() -> None:
    """It spells them itself: a session that tests no backend must import nothing."""
    options: dict[str, dict[str, Any]] = {}
    group = SimpleNamespace(addoption=lambda name, **facts: options.update({name: facts}))
    pytest_addoption(cast("pytest.Parser", SimpleNamespace(getgroup=lambda *_: group)))
    level = options["--conformance-level"]
    assert tuple(level["choices"]) == LEVELS
    assert level["help"] == f"{sentences(LEVEL_HELP)} Default: must."
