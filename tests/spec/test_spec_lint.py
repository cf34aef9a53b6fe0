"""``conformance spec lint`` on several files; what it finds in one is in tests/core."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from spec_examples import EXAMPLE, spoiled

from conformance.cli.spec import spec as spec_group
from conformance.specification import shipped_operators


def run(*arguments: str) -> Result:
    return CliRunner().invoke(spec_group, ["lint", *arguments])


@pytest.mark.exhaustive
def test_the_command_checks_what_is_shipped() -> None:
    result = run()
    assert result.exit_code == 0
    said = [line.split(": ")[1].split(",")[0] for line in result.output.splitlines()]
    assert said.count("ok") == len(shipped_operators())


def test_the_command_shows_every_file_and_every_problem(tmp_path: Path) -> None:
    good, bad = (tmp_path / name / "own.BlockMean-1.yaml" for name in ("good", "bad"))
    for path, text in (
        (good, EXAMPLE),
        (bad, spoiled(("rest: size % block", "rest: size % blok"), ("<= size", "<= sise"))),
    ):
        path.parent.mkdir()
        path.write_text(text)
    result = run(*map(str, (good, bad)))
    assert result.exit_code == 2
    lines = result.output.splitlines()
    assert f"{good}: ok, defines result of data" in lines
    assert f"{bad}:14:16: unknown name 'blok'" in lines
    assert "    hint: did you mean 'block'?" in lines
    assert lines[-1] == f"{bad}: 2 problems"


def test_a_missing_file_is_wrong_usage(tmp_path: Path) -> None:
    result = run(str(tmp_path / "none.yaml"))
    assert result.exit_code == 2
    assert "none.yaml: no such file" in result.output


def test_help_shows_examples() -> None:
    assert "conformance spec lint" in run("--help").output
