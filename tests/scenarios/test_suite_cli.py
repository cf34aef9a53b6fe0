"""A suite that is not as it was made is refused by ``check`` and described by ``suite lint``."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.suite.archive import read_zip, write_zip
from conformance.suite.store import Suite, open_suite

Spoil = Callable[[Path], str]


class Trap:
    """Writes a file as soon as somebody unpickles it."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


@pytest.fixture
def folder(small_suite: Suite, tmp_path: Path) -> Path:
    shutil.copytree(small_suite.path, tmp_path / "suite")
    return tmp_path / "suite"


def check(folder: Path, *more: object) -> Result:
    words = ["check", "--backend", "reference", "--suite", folder, *more]
    return CliRunner().invoke(main, list(map(str, words)))


def lint(*words: object) -> Result:
    return CliRunner().invoke(main, ["suite", "lint", *map(str, words)])


def first(folder: Path) -> Path:
    return min(folder.rglob("f32-*ties*.npz"))


def changed(folder: Path) -> str:
    """One bit of a vector."""
    content = bytearray(first(folder).read_bytes())
    content[len(content) // 2] ^= 1
    first(folder).write_bytes(content)
    return first(folder).name


def shortened(folder: Path) -> str:
    """A vector that ends early."""
    first(folder).write_bytes(first(folder).read_bytes()[:-1])
    return first(folder).name


def missing(folder: Path) -> str:
    name = first(folder).name
    first(folder).unlink()
    return name


def extra(folder: Path) -> str:
    shutil.copy(first(folder), first(folder).with_name("mine.npz"))
    return "mine.npz"


def pickled(folder: Path) -> str:
    """A member with Python objects, in a file that the manifest was made to list."""
    buffer = io.BytesIO()
    np.save(buffer, np.array([Trap(folder.parent / "trapped")], object), allow_pickle=True)
    file = first(folder)
    members = read_zip(file.read_bytes(), limit=2**24)
    members["input_0.npy"] = buffer.getvalue()
    file.write_bytes(write_zip(list(members.items())))
    _relist(folder, file)
    return file.name


def swapped(folder: Path) -> str:
    """Another vector under this one's name, in a file that the manifest was made to list."""
    file = first(folder)
    shutil.copy(min(other for other in folder.rglob("*.npz") if other != file), file)
    _relist(folder, file)
    return file.name


def cut(folder: Path) -> str:
    manifest = folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:-100])
    return "manifest.json"


def emptied(folder: Path) -> str:
    (folder / "manifest.json").write_bytes(b"")
    return "manifest.json"


def unlisted(folder: Path) -> str:
    """A manifest without one vector, so that a short suite would look whole."""
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["vectors"][0]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return "manifest.json"


def newer(folder: Path) -> str:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "format": 2}))
    return "manifest.json"


def gone(folder: Path) -> str:
    (folder / "manifest.json").unlink()
    return "manifest.json"


def _relist(folder: Path, file: Path) -> None:
    content = file.read_bytes()
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = next(one for one in manifest["vectors"] if one["id"] == file.stem)
    entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest))


DAMAGE = [
    changed, shortened, missing, extra, pickled, swapped, cut, emptied, unlisted, newer, gone
]  # fmt: skip


@pytest.mark.parametrize("spoil", DAMAGE)
def test_damage_is_refused(folder: Path, spoil: Spoil, tmp_path: Path) -> None:
    """A log, if the damage showed only on the way, never says that all was well."""
    name, report = spoil(folder), tmp_path / "report"
    checked = check(folder, "--out", report)
    assert "hint: " in checked.stderr
    for shown in (checked, lint(folder)):
        assert shown.exit_code == 2
        assert name in shown.output
        assert "Traceback" not in shown.output
        assert not (folder.parent / "trapped").exists()
    assert not (report / "index.html").exists()
    if (report / "run.jsonl").exists():
        again = CliRunner().invoke(main, ["report", str(report / "run.jsonl")])
        assert "conformant with" not in again.stdout


class TestLint:
    def test_a_suite_that_is_fit(self, folder: Path) -> None:
        assert check(folder).exit_code == 0
        shown = lint(folder)
        assert shown.exit_code == 0
        counts = "5 value vectors, 3 negative tests, 0 withdrawn"
        assert shown.stdout == f"{open_suite(folder).path}: ok, {counts}\n"

    @pytest.mark.exhaustive
    def test_the_shipped_suite_is_fit(self) -> None:
        shown = lint()
        assert shown.exit_code == 0, shown.output
        assert "/cases: ok, " in shown.stdout.replace("\\", "/")

    def test_all_problems_are_listed_and_counted(self, folder: Path) -> None:
        files = sorted(folder.rglob("*.npz"))[:2]
        for file in files:
            file.write_bytes(file.read_bytes()[:-1] + b"?")
        shown = lint(folder)
        assert shown.exit_code == 2
        for file in files:
            assert file.name in shown.stdout
        assert shown.stdout.splitlines()[-1].endswith(": 2 problems")

    @pytest.mark.parametrize("name", ["smok", "no/such/folder"])
    def test_no_suite(self, name: str) -> None:
        shown = lint(name)
        assert shown.exit_code == 2
        assert "hint: " in shown.stderr
