"""Virtual environments of old and present wheels, made once and kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

FILE = Path(__file__).parent / "environments.yaml"
ALWAYS = ("ml_dtypes",)
"""What any backend's environment needs besides numpy."""


def environments() -> dict[str, list[str]]:
    """The packages of each environment, by its name."""
    read: dict[str, list[str]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return read


def made(name: str, folder: Path) -> Path:
    """The environment ``name`` under ``folder``, installed unless it is there already.

    It has the Python that runs this. Raises :class:`subprocess.CalledProcessError` where a package
    has no wheel for it.
    """
    place = folder / name
    wanted = "\n".join((*environments()[name], *ALWAYS)) + "\n"
    done = place / "installed.txt"
    if done.is_file() and done.read_text(encoding="utf-8") == wanted:
        return place
    subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
    install = (place / "bin" / "python", "-m", "pip", "install", "--quiet")
    subprocess.run([*install, "--only-binary", ":all:", *wanted.split()], check=True)
    done.write_text(wanted, encoding="utf-8")
    return place
