"""The guide to definitions: its examples are files that work, its tables list all that there is."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import conformance
from conformance.cli import main
from conformance.core.functions import FUNCTIONS
from conformance.log.reader import read

GUIDE = Path(__file__).parents[2] / "docs" / "definitions.md"
SCHEMA = GUIDE.parents[1] / "conformance" / "core" / "operator.schema.json"
EXAMPLES = GUIDE.parent / "examples"
TEXT = GUIDE.read_text("utf-8")
FILES = sorted(EXAMPLES.glob("*.yaml"))
LAYER, ATTENTION = (EXAMPLES / f"own.{op}.yaml" for op in ("LocallyConnected", "AttentionWeights"))


def section(title: str) -> str:
    return TEXT.partition(f"# {title}\n")[2].partition("\n#")[0]


def table(title: str) -> list[list[str]]:
    rows = re.findall(r"^\| (.*) \|$", section(title), re.MULTILINE)
    return [row.split(" | ") for row in rows[1:]]


def floats(*numbers: object) -> np.ndarray:
    return np.array(numbers, np.float32)


def test_its_examples_are_the_files() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert {file.read_text("utf-8") for file in FILES} == set(blocks[:2])
    assert len(FILES) == 2


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_short_and_sound(file: Path) -> None:
    assert len(file.read_text("utf-8").splitlines()) <= 40
    result = CliRunner().invoke(main, ["spec", "lint", str(file)])
    assert (result.exit_code, result.output.split(", ")[0]) == (0, f"{file}: ok")


@pytest.mark.parametrize(
    "command", [["lint", str(LAYER)], ["show", str(LAYER), "--section", "rules"]]
)
def test_what_commands_print(command: list[str]) -> None:
    result = CliRunner().invoke(main, ["spec", *command], env={"COLUMNS": "80"})
    assert result.output.replace(f"{EXAMPLES}/", "") in section("What to do with it")


def test_a_layer_by_hand() -> None:
    # Two places with a filter of two taps each: 1*1 + 2*2, and 3*10 + 4*20.
    x, w = floats([[1, 2, 3, 4]]), floats([[[1, 2]]], [[[10, 20]]])
    (output,) = conformance.reference(str(LAYER), [x, w, floats(0.5)], {"strides": [2]})
    assert output.tolist() == [[[5.5, 110.5]]]


def test_attention_by_hand() -> None:
    q, k = floats([0], [0]), floats([1], [2])
    (equal,) = conformance.reference(str(ATTENTION), [q, k, None], {})
    assert equal.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    (causal,) = conformance.reference(str(ATTENTION), [q, k, None], {"causal": True})
    assert causal.tolist() == [[1, 0], [0.5, 0.5]]
    (masked,) = conformance.reference(str(ATTENTION), [q, k, floats(0, -np.inf)], {})
    assert masked.tolist() == [[1, 0], [1, 0]]
    (scaled,) = conformance.reference(str(ATTENTION), [floats([4]), k, None], {"divisor": 2})
    np.testing.assert_allclose(scaled, [[1 / (1 + np.e**2), 1 / (1 + np.e**-2)]], rtol=1e-15)


def test_drawn_cases_on_the_backend_of_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(EXAMPLES / "own_backend.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    ops = [word for file in FILES for word in ("--op", str(file))]
    made = CliRunner().invoke(main, ["generate", *ops, "--drawn", "8", "--out", "my-suite"])
    assert made.exit_code == 0, made.output
    checked = ["check", "--backend", "own_backend.py:run", "--suite", "my-suite", "--out", "run"]
    assert CliRunner().invoke(main, checked).exit_code in (0, 1)
    results = read(tmp_path / "run" / "run.jsonl").results
    graded = [result for result in results if result.reject is None]
    assert len(graded) == 16
    assert {result.status for result in graded} == {conformance.model.Status.PASS}


def test_every_function_is_in_the_table() -> None:
    rows = [tuple(row) for row in table("The functions")]
    expected = [(f"`{row.signature}`", row.about) for row in FUNCTIONS.values()]
    assert rows[: len(expected)] == expected
    assert [name for name, _ in rows[len(expected) :]] == [
        "`has(B)`", "`rank_of(A)`", "`lowest(A)`", "`bottom(A)`",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("The sections", ["properties"]),
        ("Attributes", ["$defs", "attribute", "properties"]),
        ("Inputs", ["$defs", "input", "properties"]),
        ("The keys of a definition", ["$defs", "definition", "properties"]),
        ("Interpretations", ["$defs", "interpretation", "properties"]),
    ],
)
def test_every_key_is_taught(title: str, names: list[str]) -> None:
    keys = json.loads(SCHEMA.read_text("utf-8"))
    for name in names:
        keys = keys[name]
    assert [key for key in keys if not re.search(rf"\b{key}\b", section(title))] == []


@pytest.mark.parametrize("title", ["The sections", "Attributes", "Inputs"])
def test_examples_of_keys_use_them(title: str) -> None:
    for name, _, example in table(title):
        for text in re.findall(r"`([^`]*)`", example):
            assert json.dumps(yaml.safe_load(text))
            assert any(key in text for key in re.findall(r"`(\w+)`", name)), name
