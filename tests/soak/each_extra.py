"""Each extra alone: the tests that need it, in an environment with it and ``test``, nothing else.

    python tests/soak/each_extra.py               # all but tvm, in some minutes
    python tests/soak/each_extra.py torch jax
    python tests/soak/each_extra.py --touched     # as in CI: at most two that a change touches

A test that takes for granted what another extra brings fails here. Exits with 1 if one does.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from change import ROOT, changed, turn

sys.path.insert(0, str(ROOT / "tests"))

from needs import MODULES

EXTRAS = [extra for extra in MODULES if extra not in ("dev", "tvm")]
"""``dev`` is no framework, and tvm is large and seldom there."""

CONSTRAINTS = ROOT / ".ci" / "constraints.txt"


def uses(file: Path, extra: str) -> bool:
    """Whether a Python file says that it needs an extra, or imports what the extra installs."""
    if file.suffix != ".py" or not file.is_file():
        return False
    text = file.read_text("utf-8")
    imported = re.search(rf"^\s*(import|from) {MODULES[extra][0]}\b", text, re.MULTILINE)
    return bool(imported) or ("needs" in text and f'"{extra}"' in text)


def own_tests(extra: str) -> list[Path]:
    return [file for file in sorted((ROOT / "tests").rglob("test_*.py")) if uses(file, extra)]


def touched(files: list[Path], number: int) -> list[str]:
    """At most two of the extras that these files use, or, of all, the one whose turn it is."""
    found = [extra for extra in EXTRAS if any(uses(file, extra) for file in files)]
    first = number % len(found or EXTRAS)
    return (found[first:] + found[:first])[:2] or [EXTRAS[first]]


def passes(extra: str) -> bool:
    """Whether the tests that need an extra pass in a new environment, which has nothing else."""
    started = time.monotonic()
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "-c", str(CONSTRAINTS)]
        subprocess.run([*pip, "-e", f".[{extra},test]"], cwd=ROOT, env=environ, check=True)
        installed = time.monotonic()
        words = [python, "-m", "pytest", "-q", "--extra", extra, *map(str, own_tests(extra))]
        passed = subprocess.run(words, cwd=ROOT, env=environ, check=False).returncode == 0
    ended = time.monotonic()
    times = f"{installed - started:.0f} s to install, {ended - installed:.0f} s to test"
    print(f"{extra} alone: {'passed' if passed else 'FAILED'} ({times})", flush=True)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("extras", nargs="*", metavar="EXTRA")
    parser.add_argument("--touched", action="store_true", help="at most two that a change touches")
    asked = parser.parse_args()
    if unknown := set(asked.extras) - MODULES.keys():
        parser.error(f"no extra {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}")
    extras = asked.extras or EXTRAS
    if asked.touched:
        extras = touched(changed(), turn())
    failed = [extra for extra in extras if not passes(extra)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
