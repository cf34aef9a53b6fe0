"""Asks a backend for its ``reproduce()`` source in a separate process."""

from __future__ import annotations

import inspect
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.backends.arranging import arranged
from conformance.backends.backend_name import told as name_with_options
from conformance.backends.capabilities import Capabilities
from conformance.backends.discovery import create, locate, place
from conformance.backends.program import command_line, is_program
from conformance.backends.protocol import capabilities_of
from conformance.errors import BackendError, ConformanceError
from conformance.model import Vector
from conformance.repro import program
from conformance.repro.native import SourceCall, native_call, parted
from conformance.repro.trial import run_apart
from conformance.run import framing, messages
from conformance.run.inline import fresh
from conformance.run.limits import Limits
from conformance.run.worker_pool import ProcessExecutor
from conformance.run.worker_python import command

MAX_ANSWER = 4 << 20
"""Bytes that are read of an answer; no script may be as long."""


@dataclass(frozen=True)
class Account:
    """How a backend is called without this package; ``backend`` is its name and version.

    ``declared`` is what it declares, which says the layout that the call wants.
    """

    backend: str
    call: SourceCall
    declared: Capabilities | None


def account(spec: str, vector: Vector, seconds: float, python: Path | None = None) -> Account:
    """Load the backend ``spec`` elsewhere, in ``python`` if given, and ask for its call on a vector
    there.

    Raises:
        BackendError: it cannot be loaded, no script can do what it does, or its process crashes
            or takes longer than ``seconds``.
    """
    if is_program(spec):
        return _program(spec, seconds)
    with tempfile.TemporaryDirectory() as folder:
        file, asked = Path(folder) / "answer.json", Path(folder) / "question"
        asked.write_bytes(messages.encode_request(0, vector))
        words = (str(file), spec if python is None else place(spec), str(asked))
        executable, *started = command(python, words, module=__name__)
        ended = run_apart(["-X", "faulthandler", *started], seconds, executable)
        told = _read(file)
    if "error" in told:
        raise BackendError(told["error"], hint=told.get("hint") or None)
    try:
        imports = parted("\n".join(told["imports"].splitlines()), spec).imports
        call = SourceCall(
            imports,
            parted(told["body"], spec).body,
            tuple(told["setup"].splitlines()),
            tuple(told["loading"].splitlines()),
            told["module"],
            told["folder"],
        )
        declared = json.loads(told["declared"])
        return Account(
            told["backend"], call, None if declared is None else Capabilities.from_json(declared)
        )
    except KeyError:
        ending = f"{spec}: the process that asks for its call {ended.ending}"
        raise BackendError(
            "\n".join((ending, *ended.printed)),
            hint="import it and make one in Python by itself; --timeout gives it longer",
        ) from None


def _program(spec: str, seconds: float) -> Account:
    """How a program is asked: as a run asks it."""
    with ProcessExecutor(spec, Limits(seconds, None, start=seconds)) as executor:
        who = executor.identity
    source = parted(inspect.getsource(program), program.__name__)
    # It starts before the call: one that does not is no wrong output.
    start = f"program = started({command_line(spec)!r})"
    body = "outputs = ask(program, op, inputs, attributes)"
    call = SourceCall(source.imports, body, ("", source.body, "", "", start))
    return Account(f"{who.name} {who.version}", call, who.capabilities)


def main() -> None:
    """Answer as the arguments of this process say."""
    words = sys.argv[1:4]
    del sys.argv[1:]
    answer(*words)


def answer(file: str, spec: str, asked: str) -> None:
    """Write into ``file`` what :func:`account` reads, and end this process without ceremony."""
    told: dict[str, str]
    try:
        inbox = framing.Inbox()
        inbox.feed(Path(asked).read_bytes())
        question = inbox.take(sys.maxsize)
        assert question is not None
        header, payload = question
        origin = locate(spec)
        backend = create(origin)
        inputs, attributes = messages.decode_request(header, payload), fresh(header["attributes"])
        declared = capabilities_of(backend)
        if declared is not None and (order := declared.order(inputs[0].ndim)) is not None:
            inputs[0] = arranged(inputs[0], order)
        call = native_call(origin, backend, header["op"], inputs, attributes)
        told = {
            "backend": f"{name_with_options(backend.name, spec)} {backend.version}",
            "imports": "\n".join(call.imports),
            "setup": "\n".join(call.setup),
            "loading": "\n".join(call.loading),
            "module": call.module,
            "folder": call.folder,
            "body": call.body,
            "declared": json.dumps(None if declared is None else declared.to_json()),
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
