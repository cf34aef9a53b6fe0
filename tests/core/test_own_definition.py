"""The operator of the guide works as it says: its file, and its values."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import conformance
from conformance.cli import main
from conformance.errors import InvalidCase, UsageError

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "own.LocallyConnected.yaml"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLE, tmp_path))


def test_its_values_are_those_of_loops(file: Path) -> None:
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-4, 5, s).astype(np.float32) for s in ((2, 3, 4, 7), (3, 3, 2, 3, 2, 3)))
    (output,) = conformance.reference(str(file), [x, w, None], {"strides": [1, 2]})
    expected = np.zeros((2, 2, 3, 3))
    for i, j in np.ndindex(3, 3):
        patch = x[:, :, i : i + 2, 2 * j : 2 * j + 3]
        expected[:, :, i, j] = np.einsum("ncab,mcab->nm", patch, w[i, j])
    np.testing.assert_array_equal(output, expected)


def test_it_is_checked(file: Path) -> None:
    result = CliRunner().invoke(main, ["spec", "lint", str(file)])
    assert result.exit_code == 0
    # Its filters differ from place to place, so no transform of them serves a tile.
    assert result.output.startswith(
        f"{file}: ok, defines Y of X, W, B\n"
        f"{file}: precision tiled does not apply, no taps are shared by windows\n"
    )
    assert "mutants of the catalogue do not apply:\n    missing role: " in result.output
    file.write_text(file.read_text("utf-8").replace("B[m]", "B[q]"), "utf-8")
    result = CliRunner().invoke(main, ["spec", "lint", str(file)])
    assert result.exit_code == 2
    assert f"{file}:25:23: unknown name 'q'" in result.output


def test_what_does_not_fit_is_said(file: Path) -> None:
    x, w = np.zeros((1, 1, 4), np.float32), np.zeros((2, 1, 1, 2), np.float32)
    with pytest.raises(InvalidCase, match="a-filter-for-each-place does not hold"):
        conformance.reference(str(file), [x, w], {})
    with pytest.raises(InvalidCase, match="W is f64 where the specification says f32"):
        conformance.reference(str(file), [x, w.astype(np.float64)], {})
    with pytest.raises(InvalidCase, match="has 3 inputs: X, W, B; 4 are given"):
        conformance.reference(str(file), [x, w, None, x], {})


def test_a_shipped_definition_is_known_by_its_name() -> None:
    x, w = np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 3, 3), np.float32)
    (output,) = conformance.reference("onnx.Conv-22", [x, w], {"pads": [1, 1, 1, 1]})
    assert output.dtype == np.float64
    assert output[0, 0].tolist() == [[4, 6, 4], [6, 9, 6], [4, 6, 4]]
    with pytest.raises(UsageError, match=r"there is no operator 'onnx\.Conf-22'") as caught:
        conformance.reference("onnx.Conf-22", [x, w], {})
    assert caught.value.hint == "did you mean 'onnx.Conv-22'?"


def test_integers_too_large_for_their_type_wrap_around() -> None:
    large = np.full((1, 2), 2**30, np.int32)
    (output,) = conformance.reference("onnx.MatMul-13", [large, np.full((2, 1), 3, np.int32)], {})
    assert output.tolist() == [[6 * 2**30 - 2**33]]
