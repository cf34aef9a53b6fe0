"""What results depend on besides the task: versions, the code and the specifications."""

from __future__ import annotations

import hashlib
import platform
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from conformance import __version__
from conformance.data import directory

PACKAGES = ("numpy", "ml_dtypes", "hypothesis", "z3-solver", "distributed")


@cache
def fingerprint() -> Mapping[str, str]:
    """What this process would compute with, by name."""
    here = Path(__file__).resolve().parents[1]
    return {
        "conformance": __version__,
        "code": _digest(here, here.rglob("*.py")),
        "specifications": _digest(directory("specs"), directory("specs").rglob("*.yaml")),
        "python": platform.python_version(),
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        **{name: _version(name) for name in PACKAGES},
    }


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Where another process differs, a sentence for each."""
    return [
        f"{name} is {found.get(name, 'missing')[:80]}, here {value}"
        for name, value in expected.items()
        if found.get(name) != value
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _digest(root: Path, files: Iterable[Path]) -> str:
    """The start of a SHA-256 over names and content."""
    found = hashlib.sha256()
    for file in sorted(files):
        found.update(f"{file.relative_to(root).as_posix()}\0".encode())
        found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:12]
