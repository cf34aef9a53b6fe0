"""The fingerprint of a process: versions, code and specifications that results depend on."""

from __future__ import annotations

import hashlib
import platform
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from conformance import __version__
from conformance.resources import directory

PACKAGES = ("numpy", "ml_dtypes", "hypothesis", "z3-solver", "distributed")


@cache
def fingerprint() -> Mapping[str, str]:
    """Return what this process would compute with, by name."""
    here = Path(__file__).resolve().parents[1]
    return {
        "conformance": __version__,
        "code": _digest(here, here.rglob("*.py")),
        "specifications": _digest(directory("specs"), directory("specs").rglob("*.yaml")),
        "python": platform.python_version(),
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        **{name: _version(name) for name in PACKAGES},
    }


def fingerprint_differences(expected: Mapping[str, str], actual: Mapping[str, str]) -> list[str]:
    """Describe where another process differs, a sentence for each difference."""
    return [
        f"{name} is {actual.get(name, 'missing')[:80]}, here {value}"
        for name, value in expected.items()
        if actual.get(name) != value
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _digest(root: Path, files: Iterable[Path]) -> str:
    """Return the start of a SHA-256 over names and content."""
    sha256 = hashlib.sha256()
    for file in sorted(files):
        sha256.update(f"{file.relative_to(root).as_posix()}\0".encode())
        sha256.update(hashlib.sha256(file.read_bytes()).digest())
    return sha256.hexdigest()[:12]
