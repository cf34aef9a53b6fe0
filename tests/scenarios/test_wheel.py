"""The wheel holds all that is needed, and works where there is no checkout."""

from __future__ import annotations

import email
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import tiers
import tiny

from conformance.suite.store import open_suite

ROOT = Path(__file__).resolve().parents[2]
RUN = "from conformance.cli import main; main()"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    built = subprocess.run(
        [sys.executable, "-c", code, folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder / built.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked as an installer does it."""
    folder = tmp_path_factory.mktemp("environment") / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, cwd: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_it_holds(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = {f"conformance/{file}" for file in _files(ROOT / "conformance")}
    data = {
        f"conformance/_data/{part}/{file}"
        for part in ("specs", "clients")
        for file in _files(ROOT / part)
    }
    assert package | data <= names
    assert wheel.stat().st_size < 12e6
    assert {name for name in names if ".dist-info/" not in name} == package | data
    for ending in (".py", "py.typed", ".schema.json", ".html.j2", ".css"):
        assert any(name.endswith(ending) for name in package), ending


def test_what_it_says_of_itself(wheel: Path) -> None:
    import conformance

    with zipfile.ZipFile(wheel) as archive:
        named = {name.partition(".dist-info/")[2]: name for name in archive.namelist()}
        metadata = email.message_from_bytes(archive.read(named["METADATA"]))
        entry_points = archive.read(named["entry_points.txt"]).decode()
        licences = {file: archive.read(named[f"licenses/{file}"]) for file in metadata_files(named)}
    assert metadata["Name"] == "opconform"
    assert metadata["Version"] == conformance.__version__
    assert metadata["License-Expression"]
    assert licences["LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert licences["vectors/LICENSE"] == (ROOT / "vectors" / "LICENSE").read_bytes()
    assert "conformance = conformance.cli:main" in entry_points
    assert "[conformance.backends]" in entry_points


def metadata_files(named: dict[str, str]) -> set[str]:
    return {name.removeprefix("licenses/") for name in named if name.startswith("licenses/")}


@pytest.mark.exhaustive
class TestAway:
    def test_a_backend_is_checked_without_a_checkout(
        self, installed: Path, tmp_path: Path, exhaustive: bool
    ) -> None:
        code = "import conformance; print(conformance.__file__); " + RUN
        suite = tiers.suite(exhaustive).name
        words = ("check", "--backend", "numpy", "--suite", suite, "--out", "out")
        shown = run(installed, tmp_path, code, *words)
        assert shown.returncode == 0, shown.stderr
        assert Path(shown.stdout.splitlines()[0]).is_relative_to(installed)
        assert "numpy" in shown.stdout.splitlines()[-1]
        page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
        assert str(ROOT) not in page
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    @pytest.mark.parametrize(
        "words",
        [
            ("spec", "lint"),
            ("backends",),
            ("suite", "coverage", "--help"),
            pytest.param(("suite", "lint", "smoke"), marks=pytest.mark.exhaustive),
            pytest.param(
                ("suite", "audit", "--op", "onnx.GlobalMaxPool-1"),
                marks=pytest.mark.exhaustive,
            ),
        ],
        ids=" ".join,
    )
    def test_the_shipped_files_are_found(
        self, installed: Path, tmp_path: Path, words: tuple[str, ...]
    ) -> None:
        shown = run(installed, tmp_path, RUN, *words)
        assert shown.returncode == 0, shown.stderr
        assert str(ROOT) not in shown.stdout
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.exhaustive
    def test_a_suite_is_generated_as_in_the_checkout(self, installed: Path, tmp_path: Path) -> None:
        tiny.write(tmp_path)
        for place, out in ((installed, "one"), (ROOT, "other")):
            words = ("generate", "--op", "Tiny-1.yaml", "--out", out)
            shown = run(place, tmp_path, tiny.MAIN, *words)
            assert shown.returncode == 0, shown.stderr
            if place == installed:
                assert {path.name for path in tmp_path.iterdir()} == {"Tiny-1.yaml", "one"}
        assert tiny.content(tmp_path / "one") == tiny.content(tmp_path / "other")

    def test_the_shipped_suite_is_that_of_the_checkout(
        self, installed: Path, tmp_path: Path
    ) -> None:
        code = "import conformance; print(conformance.load_suite().digest)"
        assert run(installed, tmp_path, code).stdout.strip() == open_suite().digest


def _files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}
