"""What a backend calls itself reaches no terminal as it is, whatever the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main

HOSTILE = """
from conformance.backends.reference import Reference

class Evil(Reference):
    name = "evil\\n::error::forged\\x1b[2J\\u202ename"
    version = "1\\r\\n2\\x07"

    def environment(self):
        return {"a\\nb": "c\\x1b[31m"}

    def run(self, *question):
        return [output + 1 for output in super().run(*question)]
"""

FORMATS = ("badge", "github", "json", "junit", "sarif", "summary", "terminal")


def clean(text: str) -> bool:
    """Whether it holds nothing that a terminal, or a runner of workflows, would act on."""
    forged = [line for line in text.splitlines() if line.startswith("::error::forged")]
    return not forged and all(c.isprintable() or c == "\n" for c in text)


@pytest.fixture
def run(small_suite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("hostile.py").write_text(HOSTILE)

    def command(*words: str) -> Result:
        found = CliRunner().invoke(main, words)
        assert clean(found.stdout), words
        assert clean(found.stderr), words
        return found

    return command


def test_a_name_reaches_no_terminal(run: Any, small_suite: Any) -> None:
    suite, log = ("--suite", str(small_suite.path)), "out/run.jsonl"
    backend = ("--backend", "hostile.py:Evil")
    wanted = [word for name in FORMATS for word in ("--format", f"{name}=as.{name}")]
    assert run("check", *suite, *backend, "--out", "out", *wanted).exit_code == 1
    for name in FORMATS:
        assert clean(Path(f"as.{name}").read_text("utf-8")), name
    assert run("check", *suite, *backend, "--out", "out", "--resume").exit_code == 1
    assert run("report", log).exit_code == 0
    assert run("compare", log, log).exit_code == 0
    assert run("baseline", "--from", log, "--out", "known.yaml").exit_code == 0
    assert clean(Path("known.yaml").read_text("utf-8"))
    vector = small_suite.manifest.vectors[0].id
    assert run("show", vector, *suite, *backend).exit_code == 0
    assert run("repro", vector, *suite, *backend).exit_code == 0
    inline = ("--executor", "inline")
    for k in ("1", "2"):
        run("check", *suite, *backend, *inline, "--out", k, "--shard", f"{k}/2")
    merged = run("merge", "1/run.jsonl", "2/run.jsonl", "--out", "all", *suite)
    assert merged.exit_code == 1


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("check", "evil\n::error::forged.py"),
        ("show", "evil\x1b[2J.py"),
        ("repro", "evil\x1b[2J.py"),
    ],
)
def test_a_path_reaches_no_terminal(run: Any, small_suite: Any, command: str, path: str) -> None:
    Path(path).write_text(HOSTILE)
    vector = [] if command == "check" else [small_suite.manifest.vectors[0].id]
    found = run(command, *vector, "--suite", str(small_suite.path), "--backend", f"{path}:Evil")
    assert found.exit_code == 2
    assert "characters that cannot be printed" in found.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--backend", "numpy", "--suite", "no\x1b[2J"),
        ("report", "no\x1b[2J"),
        ("compare", "no\x1b[2J", "no\x1b[2J"),
        ("check", "--backend", "numpy", "--known-failures", "no\x1b[2J"),
    ],
)
def test_no_other_path_either(run: Any, words: tuple[str, ...]) -> None:
    assert run(*words).exit_code == 2
