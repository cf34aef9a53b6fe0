"""``--env`` of ``show`` and ``repro``, and the commands in findings, which lead there."""

from __future__ import annotations

import os
import shlex

import pytest
import venvs
from click.testing import CliRunner

import conformance
from conformance.cli import main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as on POSIX")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("environments")


@pytest.fixture(scope="module")
def old(folder):
    return venvs.make(folder / "old", version="0.9", returned="[o + 1 for o in outputs]")


@pytest.fixture(scope="module")
def tiny(folder):
    return venvs.adapter(folder)


@pytest.fixture(scope="module")
def run(small_suite, tiny, old):
    return conformance.check(small_suite, tiny, env=old, level="should")


def invoked(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_command_of_a_finding_shows_what_failed_there(run, tiny, old):
    finding = run.findings[0]
    words = shlex.split(finding.detail["show"])
    assert words[:2] == ["conformance", "show"]
    assert words[words.index("--backend") + 1] == tiny
    assert words[words.index("--env") + 1] == str(old)
    assert words[words.index("--level") + 1] == "should"
    shown = invoked(*words[1:])
    assert shown.exit_code == 0, shown.output
    assert "tiny 0.9 fails at level should" in shown.stdout


def test_a_script_is_tried_there(run, small_suite, tiny, old, folder, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    vector, script = run.findings[0].smallest, tmp_path / "wrong.py"
    words = ("repro", vector, "--backend", tiny, "--suite", small_suite.path, "--env")
    without = invoked(*words, old, "--out", script)
    assert without.exit_code == 0, without.output
    assert "run once, it exits with 2" in without.output
    assert (
        "an import failed: ModuleNotFoundError(\"No module named 'conformance'\")" in without.output
    )

    having = venvs.make(
        folder / "having",
        version="0.9",
        returned="[o + 1 for o in outputs]",
        lent=(*venvs.LENT, "conformance"),
    )
    made = invoked(*words, having, "--out", script)
    assert made.exit_code == 0, made.output
    assert "run once, it exits with 1" in made.output
    head = script.read_text().partition("import ")[0]
    assert "tiny 0.9" in head
    assert "Run with Python " in head


def test_an_environment_without_the_backend_says_so(small_suite, tiny, folder, run):
    bare = venvs.make(folder / "bare")
    words = (run.findings[0].smallest, "--backend", tiny, "--suite", small_suite.path)
    for command in ("show", "repro"):
        told = invoked(command, *words, "--env", bare)
        assert told.exit_code == 2
        assert "no module named 'tinylib'" in told.output


def test_an_environment_without_numpy_says_so(small_suite, tiny, folder, run):
    empty = venvs.make(folder / "empty", lent=())
    words = (run.findings[0].smallest, "--backend", tiny, "--suite", small_suite.path)
    told = invoked("repro", *words, "--env", empty)
    assert told.exit_code == 2
    assert "there is no numpy and no ml_dtypes" in told.output


def test_an_environment_without_a_backend_is_a_mistake(small_suite, run, old):
    told = invoked("show", run.findings[0].smallest, "--suite", small_suite.path, "--env", old)
    assert told.exit_code == 2
    assert "--backend" in told.output
