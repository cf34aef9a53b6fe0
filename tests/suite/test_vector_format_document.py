"""docs/vector-format.md shows a real file, and its grader works."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vector_examples import members_of, value_vector

from conformance.json_schema import load_schema
from conformance.model import Vector
from conformance.suite import manifest
from conformance.suite.vector_file import FORMAT, encode_vector

DOCUMENT = Path(__file__).parents[2] / "docs" / "vector-format.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert found
    return found[1]


def shown() -> Vector:
    """The vector of the page: bounds one neighbour to each side."""
    vector = value_vector()
    (answer,) = vector.answers
    assert answer.rounded is not None
    lo, hi = (np.nextafter(answer.rounded, np.float32(to)) for to in (-np.inf, np.inf))
    return dataclasses.replace(vector, answers=(dataclasses.replace(answer, lo=lo, hi=hi),))


@pytest.fixture
def wrong_elements(tmp_path: Path) -> Callable[[Vector, list[list[float]]], int]:
    names: dict[str, Any] = {}
    exec(block("python"), names)

    def count(vector: Vector, outputs: list[list[float]]) -> int:
        (tmp_path / "vector.npz").write_bytes(encode_vector(vector))
        found: int = names["wrong_elements"](tmp_path / "vector.npz", outputs)
        return found

    return count


def test_the_case_is_a_real_one() -> None:
    assert json.loads(block("json")) == json.loads(members_of(encode_vector(shown()))["case.json"])
    assert f"{shown().id}.npz" in TEXT


@pytest.mark.parametrize(
    ("got", "wrong"),
    [
        ([2.0, 3.0], 0),
        ([2.0000002, 3.0], 0),
        ([2.0000005, 3.0], 1),
        ([float("nan"), float("inf")], 2),
    ],
)
def test_the_grader_judges(
    wrong_elements: Callable[[Vector, list[list[float]]], int], got: list[float], wrong: int
) -> None:
    assert wrong_elements(shown(), [got]) == wrong


def test_the_grader_expects_nan_where_the_vector_does(
    wrong_elements: Callable[[Vector, list[list[float]]], int],
) -> None:
    vector = value_vector((np.nan, 1.0, 2.0))
    assert wrong_elements(vector, [[float("nan"), 1.5]]) == 0
    assert wrong_elements(vector, [[0.0, 1.5]]) == 1


def test_every_key_is_explained() -> None:
    explained = set(re.findall(r"`(\w+)`", TEXT))
    case, listing = (
        load_schema(f"suite/schemas/{name}.json").rules for name in ("case", "manifest")
    )
    keys = {*case["properties"], *listing["properties"]}
    for part in ("input", "output", "floatArrays", "integerArrays"):
        keys |= {*case["$defs"][part]["properties"]}
    keys |= {*listing["$defs"]["vector"]["properties"]}
    assert keys - explained == set()
    assert FORMAT == manifest.FORMAT == 1
