"""What a change touches, and which proofs CI asks for again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import change
import each_proof
import pytest
from change import ROOT, changed
from each_proof import PARTS

from conformance.spec.loader import shipped_operators


def test_every_proof_has_its_turn() -> None:
    found = [each_proof.touched([], number) for number in range(PARTS)]
    assert sorted(op for ops in found for op in ops) == sorted(shipped_operators())
    assert max(map(len, found)) < 8


def test_what_a_change_touches_is_asked_for_with_all_that_builds_on_it() -> None:
    specs = ROOT / "specs"
    files = [specs / "proofs" / "MaxPool-1.json", specs / "MaxPool-8.yaml", ROOT / "LICENSE"]
    files.append(specs / "cases" / "AvgPool-1.jsonl")
    in_turn = set(each_proof.touched([], 0))
    found = set(each_proof.touched(files, 0))
    assert found >= {"MaxPool-1", "MaxPool-8", "MaxPool-14"}
    assert not (found - in_turn) & {"AvgPool-1", "AdaptiveAvgPool-8"}


def test_a_change_is_the_branch_or_on_main_the_last_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change, "ROOT", tmp_path)
    assert changed() == []  # no repository

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str) -> None:
        (tmp_path / name).write_text(name)
        git("add", ".")
        git("-c", "user.name=n", "-c", "user.email=e", "commit", "-m", name)

    git("init", "-b", "main")
    commit("1.py")
    assert changed() == []  # nothing before it, as in a shallow clone
    commit("2.py")
    assert changed() == [tmp_path / "2.py"]
    git("switch", "-c", "branch")
    commit("3.py")
    commit("4.py")
    (tmp_path / "1.py").write_text("not committed")
    assert changed() == [tmp_path / name for name in ("1.py", "3.py", "4.py")]
