"""A program as a backend: ``exec:`` and its command line."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from conformance.errors import BackendError

MARK = "exec:"


def is_program(spec: str) -> bool:
    """Return whether ``spec`` names a program, and not a Python object."""
    return spec.startswith(MARK)


def command_line(spec: str) -> list[str]:
    """Split the command in ``spec`` into words as a shell would; no shell runs it.

    The first word is a path, or the name of a program in the search path.

    Raises:
        BackendError: there is no such program.
    """
    try:
        words = shlex.split(spec.removeprefix(MARK))
    except ValueError as error:
        raise BackendError(f"{spec}: {error}", hint="close the quotes, or escape them") from error
    if not words:
        raise BackendError(f"{spec} names no program", hint='for example "exec:./runner --flag"')
    if shutil.which(words[0]) is None:
        is_file = Path(words[0]).is_file()
        raise BackendError(
            f"{spec}: {words[0]} cannot be run" if is_file else f"{spec}: no program {words[0]}",
            hint=f"make it executable: chmod +x {shlex.quote(words[0])}"
            if is_file
            else "give its path, as in exec:./runner; paths are relative to the current folder",
        )
    return words


def program_file(spec: str) -> Path | None:
    """Return the file of the program that ``spec`` names; None if there is none."""
    try:
        path = shutil.which(command_line(spec)[0])
    except BackendError:
        return None
    return None if path is None else Path(path)
