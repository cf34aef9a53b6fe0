"""Selects the Python of a worker: this one, or that of a virtual environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.errors import UsageError
from conformance.run import foreign_python, tie

WORKER = "conformance.run.worker"

ISOLATED = ("-I", "-S", "-E")
"""A Python that starts quickly and looks at nothing of its user's."""

_BOOT = """
import sys
count = int(sys.argv.pop(1))
sys.argv[1 + count :], sys.path[:] = [], sys.argv[1 + count :]
from {module} import main
main()
"""


def python_of(env: str) -> Path:
    """Return the Python of a virtual environment, given by its folder or its Python.

    Raises:
        UsageError: there is no such Python.
    """
    if not env or not env.isprintable():
        raise UsageError(
            f"{env[:200]!a} names no environment", hint="name the folder of a virtual environment"
        )
    place = Path(env).expanduser()
    python = place / "bin" / "python" if place.is_dir() else place
    if not place.exists():
        raise UsageError(
            f"there is no environment {env}",
            hint=f"python -m venv {env} makes one; then install numpy, ml_dtypes and the backend",
        )
    if not python.is_file() or not os.access(python, os.X_OK):
        raise UsageError(
            f"{env} is no virtual environment: {python} cannot be run",
            hint="name the folder that python -m venv made, or the Python in it",
        )
    return python.absolute()  # not resolved: by this path Python knows its environment


def command(python: Path | None, words: Sequence[str], *, module: str = WORKER) -> list[str]:
    """Return the command that starts ``main`` of a module of this package.

    Args:
        python: the Python that runs it, which looks for modules where it does by itself; None
            means this Python, which looks where this process does.
        words: the arguments.
    """
    if python is None:
        boot = _BOOT.format(module=module)
        return [sys.executable, "-c", boot, str(len(words)), *words, *sys.path]
    return [str(python), foreign_python.__file__, module, *words]


def tied(words: Sequence[str]) -> list[str]:
    """Return the command that starts a program and ends it with this process.

    Not every system can end it; then the program is started as it is.
    """
    if sys.platform != "linux":
        return list(words)
    return [sys.executable, *ISOLATED, tie.__file__, str(os.getpid()), *words]
