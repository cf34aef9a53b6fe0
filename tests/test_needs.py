"""What is skipped for want of an extra is said, with the command that installs it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import needs
import pytest

pytest_plugins = ["pytester"]

Run = Callable[..., pytest.RunResult]

TESTS = """
import importlib

import pytest

@pytest.fixture(params=[pytest.param("jax", marks=pytest.mark.needs("jax")), "none"])
def framework(request):
    return request.param

@pytest.mark.needs("torch")
@pytest.mark.parametrize("n", [1, 2])
def test_of_torch(n):
    importlib.import_module("torch_that_is_not_here")

@pytest.mark.needs("openvino", "torch")
def test_of_two():
    importlib.import_module("openvino_that_is_not_here")

def test_of_some(framework):
    pass

@pytest.mark.needs("chromium")
def test_of_pages():
    pass

def test_of_nothing():
    pytest.skip("because")
"""

LINE = (
    "tests skipped, by missing extra: chromium (1), jax (1), torch (3); to run them: "
    "pip install -e '.[jax,torch]' && apt-get install chromium"
)


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the tests above where openvino is the only extra."""
    plugin = Path(needs.__file__).read_text()
    plugin += "\ndef missing(need):\n    return need != 'openvino'\n"
    (pytester.path / "needs.py").write_text(plugin)
    pytester.makepyfile(TESTS)
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=":")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # finding others takes long
    return lambda *words: pytester.runpytest_subprocess("-p", "needs", "-p", "xdist", "-q", *words)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_last_lines_say_what_was_skipped_and_how_to_run_it(run: Run, workers: str) -> None:
    found = run("-n", workers)
    found.assert_outcomes(passed=1, skipped=6)
    assert found.outlines.count(LINE) == 1


def test_nothing_is_said_where_nothing_was_missing(run: Run) -> None:
    found = run("-k", "of_nothing")
    found.assert_outcomes(skipped=1, deselected=6)
    assert "missing extra" not in found.stdout.str()


def test_an_extra_asked_for_is_not_skipped(run: Run) -> None:
    found = run("--extra", "torch")
    found.assert_outcomes(failed=3, deselected=4)
    assert "No module named 'torch_that_is_not_here'" in found.stdout.str()


def test_an_extra_without_tests_is_an_error(run: Run) -> None:
    assert run("--extra", "tvm").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_every_extra_is_known() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert needs.MODULES.keys() == extras.keys() - {"generate", "test"}
