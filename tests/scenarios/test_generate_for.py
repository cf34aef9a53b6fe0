"""``conformance generate --for``: a suite that asks a backend what it declares, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.suite.store import open_suite

# What is declared is narrowed in tests/generate/test_narrow.py, and asked in test_complete.py.
pytestmark = pytest.mark.exhaustive

OP = "onnx.GlobalMaxPool-22"
CODE = f"""\
import numpy as np
from conformance.backends import Capabilities, Exclusion

class Right:
    name, version = "right", "1"
    capabilities = Capabilities(
        operators=("{OP}",), dtypes=("f32",), ranks=(3,),
        excluding=(Exclusion("one image at a time, of many channels", "C > 6 and N > 1"),),
    )

    def run(self, op, inputs, attributes):
        return [inputs[0].max(axis=2, keepdims=True)]

class Tail(Right):
    name = "tail"

    def run(self, op, inputs, attributes):
        data = inputs[0]
        return [data[:, :, : max(1, data.shape[2] // 4 * 4)].max(axis=2, keepdims=True)]

class Nothing(Right):
    name = "nothing"
    capabilities = Capabilities(operators=("LayerNorm-1",))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("for")
    (folder / "mine.py").write_text(CODE)
    asked = ["--for", f"{folder / 'mine.py'}:Right", "--out", str(folder / "suite")]
    result = CliRunner().invoke(main, ["generate", *asked])
    return folder, result


def check(folder: Path, backend: str) -> Result:
    words = ["check", "--backend", f"{folder / 'mine.py'}:{backend}", "--executor", "inline"]
    return CliRunner().invoke(main, [*words, "--suite", str(folder / "suite")])


def test_it_holds_what_is_declared_and_nothing_else(made: tuple[Path, Result]) -> None:
    folder, result = made
    assert result.exit_code == 0, result.output
    suite = open_suite(folder / "suite")
    assert suite.manifest.ops == (OP,)
    cases = [suite.read(entry).case for entry in suite.manifest.vectors]
    assert len(cases) > 10
    assert {case.types["T"] for case in cases} == {"f32"}
    shapes = [next(iter(case.shapes.values())) for case in cases]
    assert {len(shape) for shape in shapes} == {3}
    assert not [shape for shape in shapes if shape[0] > 1 and shape[1] > 6]


def test_a_right_backend_is_asked_all_of_it_with_full_strength(made: tuple[Path, Result]) -> None:
    folder, _ = made
    result = check(folder, "Right")
    assert result.exit_code == 0, result.output
    assert "CONFORMANT" in result.output
    assert "100 %" in result.output
    assert "unsupported" not in result.output.lower()


def test_a_wrong_one_is_refused(made: tuple[Path, Result]) -> None:
    result = check(made[0], "Tail")
    assert result.exit_code == 1
    assert "tail" in result.output


def test_a_backend_that_declares_none_of_the_operators_is_an_error(
    made: tuple[Path, Result],
) -> None:
    folder, _ = made
    asked = ["--for", f"{folder / 'mine.py'}:Nothing", "--out", str(folder / "none")]
    result = CliRunner().invoke(main, ["generate", *asked])
    assert result.exit_code == 2
    assert "declares none of these operators" in result.output
    assert not (folder / "none").exists()
