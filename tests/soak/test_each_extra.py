"""Which extras ``each_extra.py`` takes for a change."""

from __future__ import annotations

import subprocess
from pathlib import Path

import each_extra
import pytest
from each_extra import EXTRAS, ROOT, changed, own_tests, touched

BACKENDS = ROOT / "conformance" / "backends"


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_adapter_touches_its_extra_and_tests_it(extra: str) -> None:
    adapter = BACKENDS / f"{extra.replace('-', '_')}.py"
    assert extra in touched([adapter], 0)
    assert "backends" in {file.parent.name for file in own_tests(extra)}


def test_of_many_that_are_touched_two_are_taken_and_each_in_turn() -> None:
    files = [BACKENDS / f"{name}.py" for name in ("torch", "jax", "ncnn")]
    found = [touched(files, turn) for turn in range(3)]
    assert found == [["torch", "jax"], ["jax", "ncnn"], ["ncnn", "torch"]]


def test_one_in_turn_where_no_extra_is_touched() -> None:
    files = [ROOT / "README.md", ROOT / "conformance" / "model.py", ROOT / "deleted.py"]
    assert [touched(files, turn) for turn in range(len(EXTRAS))] == [[one] for one in EXTRAS]


def test_a_change_is_the_branch_or_on_main_the_last_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(each_extra, "ROOT", tmp_path)
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
