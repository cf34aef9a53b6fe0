"""Each doubtful vector is found by the linter, and good ones are not."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vector_examples import FLOATS, index_vector, reject_vector, value_vector

from conformance.dtypes import DTYPES
from conformance.model import Answer, Case, Vector
from conformance.suite.lint import lint
from conformance.suite.store import open_suite
from conformance.suite.writer import write_suite

Array = np.ndarray[Any, Any]


def problems(folder: Path, *vectors: Vector) -> tuple[str, ...]:
    pairs = [(v, ("core",)) for v in vectors]
    return lint(write_suite(folder / "s", pairs, name="core-1", seed=0, versions={}))


def changed(vector: Vector, output: int = 0, **fields: Any) -> Vector:
    answers = list(vector.answers)
    answers[output] = dataclasses.replace(answers[output], **fields)
    return dataclasses.replace(vector, answers=tuple(answers), readings={})


def f32(*values: float) -> Array:
    return np.array(values, np.float32).reshape(1, 1, -1)


def i32(*values: int) -> Array:
    return np.array(values, np.int32).reshape(1, 1, 2, -1)


def test_good_vectors_have_no_problems(tmp_path: Path) -> None:
    good = [value_vector(dtype=dtype) for dtype in FLOATS]
    assert problems(tmp_path, *good, index_vector(), reject_vector()) == ()


def test_each_vector_that_is_asked_can_be_looked_at(tmp_path: Path) -> None:
    first, second, third = (value_vector(dtype=dtype) for dtype in FLOATS[:3])
    pairs = [(vector, ("core",)) for vector in (first, second, third)]
    write_suite(tmp_path / "s", pairs, name="core-1", seed=0, versions={})
    manifest = tmp_path / "s" / "manifest.json"
    withdrawn = f'"withdrawn": {{"{second.id}": "wrong"}}'
    manifest.write_text(manifest.read_text().replace('"withdrawn": {}', withdrawn))
    seen: list[Vector] = []
    assert lint(open_suite(tmp_path / "s"), seen.append) == ()
    assert {vector.id for vector in seen} == {first.id, third.id}


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"lo": f32(2.5, 3)}, "result: standard: lo <= rounded <= hi does not hold"),
        ({"hi": f32(1.5, 3)}, "result: standard: lo <= rounded <= hi does not hold"),
        ({"lo": f32(np.nan, 3)}, "result: standard: NaN is not at the same places"),
        ({"hi": f32(np.nan, 3)}, "result: standard: NaN is not at the same places"),
        (
            {"lo_native": f32(2.5, 3), "hi_native": f32(2.5, 3)},
            "result: native: lo <= rounded <= hi does not hold",
        ),
        ({"expected": np.array([[[2.1, 3.0]]])}, "result: rounded is not expected rounded"),
        ({"expected": np.array([[[np.nan, 3.0]]])}, "result: rounded is not expected rounded"),
        ({"expected": np.array([[[1e300, 3.0]]])}, "result: rounded is not expected rounded"),
        ({"open": np.zeros((1, 1, 2), np.uint8)}, "result: the open mask marks no element"),
    ],
)
def test_bounds_at_odds_with_the_value(
    tmp_path: Path, fields: dict[str, Any], problem: str
) -> None:
    vector = value_vector()
    (found,) = problems(tmp_path, changed(vector, **fields))
    assert found.startswith(f"AvgPool-1/{vector.id}.npz: {problem}")


def test_open_elements_may_hold_anything(tmp_path: Path) -> None:
    everything = {"lo": f32(9, 9), "expected": np.array([[[1e300, np.nan]]])}
    everything |= {"lo_native": f32(np.nan, 9), "hi_native": f32(9, 9)}
    mask = np.full((1, 1, 2), 7, np.uint8)
    assert problems(tmp_path, changed(value_vector(), **everything, open=mask)) == ()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinities_are_values(tmp_path: Path, dtype: str) -> None:
    vector = value_vector((np.inf, -np.inf, -np.inf), dtype=dtype)
    assert np.isnan(vector.answers[0].expected[0, 0, 0])
    assert problems(tmp_path, vector) == ()


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_value_twice_rounded_is_near_enough(tmp_path: Path, dtype: str) -> None:
    """Just above halfway between 1 and its neighbour: through float64 it may round down."""
    row = DTYPES[dtype]
    above = row.from_ordinals(row.ordinals(np.ones((1, 1, 1), row.numpy)) + 1)
    case = value_vector((1.0, 1.0), dtype=dtype)
    expected = np.array([[[1 + 2.0**-row.digits]]])
    fields = {"expected": expected, "rounded": above, "lo": above, "hi": above}
    assert problems(tmp_path, changed(case, **fields)) == ()


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        (i32(1, 2, 3, -1), "indices: expected is not among choices"),
        (i32(0, -1, 2, 3, -1, -1), "indices: choices fills up before an allowed value"),
        (i32(0, 3, 3, 3, -1, -1), "indices: choices names a value twice"),
    ],
)
def test_choices_at_odds_with_the_value(tmp_path: Path, choices: Array, problem: str) -> None:
    vector = changed(index_vector(), 1, choices=choices, open=None)
    (found,) = problems(tmp_path, vector)
    assert found.endswith(problem)


def test_a_reading_that_says_nothing_new(tmp_path: Path) -> None:
    vector = value_vector(readings={"clip-divisor": value_vector().answers})
    (found,) = problems(tmp_path, vector)
    assert found.endswith(
        "interpretation 'clip-divisor' gives the same outputs as the specification itself"
    )


def test_a_reading_is_checked_like_the_answers(tmp_path: Path) -> None:
    two = f32(2, 2)
    other = Answer("result", "f32", two.astype(np.float64), two, f32(3, 3), f32(3, 3))
    (found,) = problems(tmp_path, value_vector(readings={"clip-divisor": (other,)}))
    assert found.endswith(
        "interpretation 'clip-divisor': result: standard: lo <= rounded <= hi does not hold"
    )


def test_two_vectors_that_no_backend_can_tell_apart(tmp_path: Path) -> None:
    vector = value_vector()
    fields = {f.name: getattr(vector.case, f.name) for f in dataclasses.fields(Case)}
    case = Case(**(fields | {"seed": 99}))
    (found,) = problems(tmp_path, vector, dataclasses.replace(vector, id=case.id, case=case))
    assert found == f"AvgPool-1/{case.id}.npz: is a duplicate of {vector.id}"


def test_texts_that_say_nothing(tmp_path: Path) -> None:
    vector = value_vector(description="", source="", edges=(" begins with a space",))
    (found,) = problems(tmp_path, vector)
    assert "edges[0]: ' begins with a space' does not match" in found
    vector = value_vector(description="", source="")
    assert len(problems(tmp_path, vector)) == 2


def test_the_manifest_follows_its_schema(tmp_path: Path) -> None:
    case = Case("AvgPool-1", {"T": "f8"}, {"data": (1,)}, {}, reject="kernel")
    vector = Vector(case.id, case, "must", (), "A", "B", (np.zeros(1, np.float32),), ())
    (found,) = problems(tmp_path, vector)
    assert found.startswith("manifest.json: vectors[0].dtype: 'f8' is not one of")


def test_damaged_files_are_problems(tmp_path: Path) -> None:
    vector = value_vector()
    problems(tmp_path, vector, reject_vector())
    file = tmp_path / "s" / "AvgPool-1" / f"{vector.id}.npz"
    file.write_bytes(bytes(file.stat().st_size))
    (found,) = lint(open_suite(tmp_path / "s"))
    assert "the file is not the one that the manifest lists" in found
