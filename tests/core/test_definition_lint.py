"""``spec lint`` of a definition: names to no purpose, and what drawn cases show."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main

TEXT = """
op: own.Scaled
types: {T: [f32], U: [f64]}
attributes:
  times: {default: 1, min: 0, max: 3}
  spare: {default: 1}
dims: {N: {}, M: {}}
inputs:
  - {name: X, type: T, shape: [N]}
  - {name: Z, type: T, shape: [N]}
let: {twice: 2 * times}
define:
  idle: {at: {i: N}, value: "X[i]"}
  Y:
    at: {i: N}
    over: {k: 2, j: 3}
    with: {left: i - 1}
    term: X[i] + k
    combine: sum
    finish: total * times
outputs: [{name: Y, type: T}]
"""
SOUND = TEXT
for removed in (
    ", U: [f64]",
    "  spare: {default: 1}\n",
    ", M: {}",
    "  - {name: Z, type: T, shape: [N]}\n",
    "let: {twice: 2 * times}\n",
    '  idle: {at: {i: N}, value: "X[i]"}\n',
    ", j: 3",
    "    with: {left: i - 1}\n",
):
    assert removed in SOUND
    SOUND = SOUND.replace(removed, "")


def lint(path: Path, text: str) -> tuple[int, list[str]]:
    path.write_text(text, "utf-8")
    result = CliRunner().invoke(main, ["spec", "lint", str(path)])
    lines = result.output.replace(f"{path}:", "").splitlines()
    return result.exit_code, [line for line in lines if "hint:" not in line]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "own.Scaled.yaml"


def test_names_that_nothing_speaks_of(path: Path) -> None:
    assert lint(path, TEXT) == (
        2,
        [
            "3:19: no tensor is of type 'U'",
            "6:3: nothing speaks of 'spare'",
            "7:15: nothing speaks of 'M'",
            "10:5: nothing reads 'Z'",
            "11:7: nothing speaks of 'twice'",
            "13:3: nothing speaks of 'idle'",
            "16:18: nothing in 'Y' speaks of 'j'",
            "17:12: nothing in 'Y' speaks of 'left'",
            " 8 problems",
        ],
    )
    code, lines = lint(path, SOUND)
    assert (code, lines[0]) == (0, " ok, defines Y of X")


def test_conditions_that_no_case_meets(path: Path) -> None:
    text = SOUND.replace("define:", "require: {never: N < times, not: times < N - 9}\ndefine:")
    assert lint(path, text) == (2, ["1:1: no drawn case meets the conditions", " 1 problem"])


def test_a_valid_case_without_a_value(path: Path) -> None:
    code, lines = lint(path, SOUND.replace("X[i] + k", "X[i + k]"))
    assert (code, lines[1]) == (2, " 1 problem")
    assert lines[0].startswith(
        "1:1: a valid case has no value: Y reads outside of X (own.Scaled of f32 X "
    )
