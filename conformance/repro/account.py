"""A backend asked for its call in a process of its own, which it may crash or hang."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.backends.discovery import create, locate
from conformance.errors import BackendError, ConformanceError
from conformance.repro.native import Call, native_call, parted
from conformance.repro.trial import run_apart
from conformance.run.inline import fresh
from conformance.suite.store import open_suite

MAX_ANSWER = 4 << 20
"""Bytes that are read of an answer; no script may be as long."""

_BOOT = """
import sys
words, sys.path[:] = sys.argv[1:5], sys.argv[5:]
del sys.argv[1:]
from conformance.repro.account import answer
answer(*words)
"""


@dataclass(frozen=True)
class Account:
    """How a backend is called without this package; ``backend`` is its name and version."""

    backend: str
    call: Call


def account(spec: str, suite: Path, vector_id: str, seconds: float) -> Account:
    """Load the backend ``spec`` elsewhere, and ask for its call on a vector of the suite there.

    Raises:
        BackendError: it cannot be loaded, no script can do what it does, or its process crashes
            or takes longer than ``seconds``.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answer.json"
        words = (str(file), spec, str(suite), vector_id)
        ended = run_apart(["-X", "faulthandler", "-c", _BOOT, *words, *sys.path], seconds)
        told = _read(file)
    if "error" in told:
        raise BackendError(told["error"], hint=told.get("hint") or None)
    try:
        imports = parted("\n".join(told["imports"].splitlines()), spec).imports
        call = Call(imports, parted(told["body"], spec).body, tuple(told["setup"].splitlines()))
        return Account(told["backend"], call)
    except KeyError:
        ending = f"{spec}: the process that asks for its call {ended.ending}"
        raise BackendError(
            "\n".join((ending, *ended.printed)),
            hint="import it and make one in Python by itself; --timeout gives it longer",
        ) from None


def answer(file: str, spec: str, suite: str, vector_id: str) -> None:
    """Write into ``file`` what :func:`account` reads, and end this process without ceremony."""
    told: dict[str, str]
    try:
        vector = open_suite(Path(suite)).find(vector_id)
        origin = locate(spec)
        backend = create(origin)
        attributes = fresh(vector.case.attributes)
        call = native_call(origin, backend, vector.case.op, list(vector.inputs), attributes)
        told = {
            "backend": f"{backend.name} {backend.version}",
            "imports": "\n".join(call.imports),
            "setup": "\n".join(call.setup),
            "body": call.body,
        }
    except ConformanceError as error:
        told = {"error": error.message, "hint": error.hint or ""}
    Path(file).write_text(json.dumps(told), encoding="ascii")
    os._exit(0)  # what the backend would do at the end of its process is nothing that is asked


def _read(file: Path) -> dict[str, str]:
    """What the process wrote; nothing where that is no answer, since the backend lived there."""
    try:
        with file.open("rb") as opened:
            told: Any = json.loads(opened.read(MAX_ANSWER))
    except (OSError, ValueError, RecursionError):
        return {}
    texts = isinstance(told, dict) and all(isinstance(value, str) for value in told.values())
    return told if texts else {}
