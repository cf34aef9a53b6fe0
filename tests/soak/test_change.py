"""What a change touches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import change
import pytest
from change import changed


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
