"""Asks a backend for its ``reproduce()`` source in a separate process."""

from __future__ import annotations

import inspect
import json
import os
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.backends.axis_order import transposed
from conformance.backends.backend_name import display_name as name_with_options
from conformance.backends.capabilities import Capabilities
from conformance.backends.discovery import create, locate, resolve_adapter
from conformance.backends.program import command_line, is_program
from conformance.backends.protocol import capabilities_of
from conformance.errors import BackendError, ConformanceError
from conformance.model import Vector
from conformance.repro import program
from conformance.repro.native import SourceCall, native_call, split_imports
from conformance.repro.script_run import run_python
from conformance.run import framing, messages
from conformance.run.inline import fresh
from conformance.run.limits import Limits
from conformance.run.worker_python import command

MAX_RESPONSE = 4 << 20
"""Bytes that are read of a response; no script may be as long."""


@dataclass(frozen=True)
class BackendSource:
    """The source of a backend's call without this package.

    Attributes:
        backend: its name and version.
        declared: what it declares, such as the layout that the call wants.
    """

    backend: str
    call: SourceCall
    declared: Capabilities | None


def request_source(
    spec: str,
    vector: Vector,
    seconds: float,
    python: Path | None = None,
    images: Collection[str] = (),
) -> BackendSource:
    """Load a backend in another process and request its call on a vector.

    Args:
        spec: the name of the backend.
        python: the Python of the process; this one if None.
        images: the inputs that a layout by rank alone is of.

    Raises:
        BackendError: the backend cannot be loaded, no script can do what it does, or its process
            crashes or takes longer than ``seconds``.
    """
    if is_program(spec):
        return _program_source(spec, seconds)
    with tempfile.TemporaryDirectory() as folder:
        file, request_file = Path(folder) / "answer.json", Path(folder) / "question"
        request_file.write_bytes(messages.encode_request(0, vector))
        arguments = (
            str(file),
            spec if python is None else resolve_adapter(spec),
            str(request_file),
            json.dumps([[name, name in images] for name in vector.names]),
        )
        executable, *started = command(python, arguments, module=__name__)
        run = run_python(["-X", "faulthandler", *started], seconds, executable)
        response = _read(file)
    if "error" in response:
        raise BackendError(response["error"], hint=response.get("hint") or None)
    try:
        imports = split_imports("\n".join(response["imports"].splitlines()), spec).imports
        call = SourceCall(
            imports,
            split_imports(response["body"], spec).body,
            tuple(response["setup"].splitlines()),
            tuple(response["loading"].splitlines()),
            response["module"],
            response["folder"],
        )
        declared = json.loads(response["declared"])
        return BackendSource(
            response["backend"],
            call,
            None if declared is None else Capabilities.from_json(declared),
        )
    except KeyError:
        ending = f"{spec}: the process that asks for its call {run.ending}"
        raise BackendError(
            "\n".join((ending, *run.printed)),
            hint="import it and make one in Python by itself; --timeout gives it longer",
        ) from None


def _program_source(spec: str, seconds: float) -> BackendSource:
    """Return the source that sends a request to a program, as a run does."""
    # Not above: this module runs in other environments, too, which lack what that needs.
    from conformance.run.worker_pool import ProcessExecutor

    with ProcessExecutor(spec, Limits(seconds, None, start=seconds)) as executor:
        identity = executor.identity
    source = split_imports(inspect.getsource(program), program.__name__)
    # It starts before the call: one that does not is no wrong output.
    start = f"program = started({command_line(spec)!r})"
    body = "outputs = ask(program, op, inputs, attributes)"
    call = SourceCall(source.imports, body, ("", source.body, "", "", start))
    return BackendSource(f"{identity.name} {identity.version}", call, identity.capabilities)


def main() -> None:
    """Respond as the arguments of this process say."""
    arguments = sys.argv[1:5]
    del sys.argv[1:]
    respond(*arguments)


def respond(file: str, spec: str, request_path: str, names: str) -> None:
    """Write the source that :func:`request_source` reads, and end this process at once.

    Args:
        names: the names of the inputs that are given, as JSON; each with whether it is an image.
    """
    response: dict[str, str]
    try:
        inbox = framing.Inbox()
        inbox.feed(Path(request_path).read_bytes())
        request = inbox.take(sys.maxsize)
        assert request is not None
        header, payload = request
        origin = locate(spec)
        backend = create(origin)
        inputs, attributes = messages.decode_request(header, payload), fresh(header["attributes"])
        declared = capabilities_of(backend)
        given = [index for index, array in enumerate(inputs) if array is not None]
        for index, (name, is_image) in zip(given, json.loads(names), strict=True):
            array = inputs[index]
            if declared is not None and array is not None:
                order = declared.orders(header["op"], name, is_image=is_image).get(array.ndim)
                inputs[index] = array if order is None else transposed(array, order.axes)
        call = native_call(origin, backend, header["op"], inputs, attributes)
        response = {
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
        response = {"error": error.message, "hint": error.hint or ""}
    Path(file).write_text(json.dumps(response), encoding="ascii")
    os._exit(0)  # what the backend would do at the end of its process is nothing that is asked


def _read(file: Path) -> dict[str, str]:
    """Read the response of the process; empty if it is something else."""
    try:
        with file.open("rb") as stream:
            response: Any = json.loads(stream.read(MAX_RESPONSE))
    except (OSError, ValueError, RecursionError):
        return {}
    texts = isinstance(response, dict) and all(
        isinstance(value, str) for value in response.values()
    )
    return response if texts else {}
