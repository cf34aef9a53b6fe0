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
    """The Python of a virtual environment, given by its folder or by that Python itself.

    Raises :class:`UsageError` where there is none.
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
    """What starts ``main`` of a module of this package with its arguments: in ``python``, or (None)
    as this process is.

    In this Python it looks for modules where this process does, in another where that does by
    itself.
    """
    if python is None:
        boot = _BOOT.format(module=module)
        return [sys.executable, "-c", boot, str(len(words)), *words, *sys.path]
    return [str(python), foreign_python.__file__, module, *words]


def tied(words: Sequence[str]) -> list[str]:
    """What starts a program so that it ends with this process, where the system can see to that."""
    if sys.platform != "linux":
        return list(words)
    return [sys.executable, *ISOLATED, tie.__file__, str(os.getpid()), *words]
