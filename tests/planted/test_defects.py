"""The list of planted defects keeps up with the code: each can be planted, and still compiles."""

from __future__ import annotations

import ast
from collections import Counter

import planted
import pytest
import yaml

DEFECTS = planted.read()


def test_there_are_at_least_forty_with_names_of_their_own() -> None:
    assert len(DEFECTS) >= 40
    assert [name for name, count in Counter(one.id for one in DEFECTS).items() if count > 1] == []


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda one: one.id)
def test_each_can_be_planted(defect: planted.Defect) -> None:
    text = (planted.ROOT / defect.file).read_text("utf-8")
    changed = defect.planted(text)
    if defect.file.endswith(".py"):
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), "the code is the same"
    else:
        assert yaml.safe_load(changed) != yaml.safe_load(text), "the data are the same"


def test_all_packages_have_some() -> None:
    code = planted.ROOT / "conformance"
    packages = {path.parent.name for path in code.glob("*/__init__.py")}
    planted_in = {one.file.split("/")[1] for one in DEFECTS}
    assert packages - planted_in == set()


@pytest.mark.parametrize("text", ["", "a = 1; a = 1"])
def test_a_place_that_is_not_there_once_is_refused(text: str) -> None:
    defect = planted.Defect("some", "some.py", "a = 1", "a = 2", "why")
    with pytest.raises(ValueError, match=r"some: its old text occurs [02] times in some.py"):
        defect.planted(text)
