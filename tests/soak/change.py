"""What a change touches, for long runs that CI does a part of each time."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def git(*words: str) -> str:
    """What git says; nothing where it has no answer, as in a shallow clone."""
    told = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return told.stdout.strip()


def changed() -> list[Path]:
    """What has changed since the branch left ``main``, or on ``main`` itself in the last commit."""
    base = git("merge-base", "HEAD", "main")
    since = base if base not in ("", git("rev-parse", "HEAD")) else "HEAD~1"
    return [ROOT / name for name in git("diff", "--name-only", since).splitlines()]


def turn() -> int:
    """A number that the commit decides: which part is done this time."""
    return int(git("rev-parse", "HEAD"), 16)
