"""The main loop of a worker process, in which the backend runs.

Started by :mod:`conformance.run.process`, which knows how and hands two pipes over. The backend
shares this process, so nothing that comes out of the pipe of answers is trusted on the other side.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.backends import components
from conformance.backends.discovery import load_backend
from conformance.backends.protocol import Backend
from conformance.errors import BackendError, ConformanceError
from conformance.grade.outcome import Ending, Outcome, describe_exception
from conformance.run import framing, messages
from conformance.run.executor import identity_of
from conformance.run.inline import call
from conformance.run.process import HASHED

PR_SET_PDEATHSIG = 1
READ = 1 << 20


def main() -> None:
    """Serve as the arguments of this process say."""
    parent, questions, answers = (int(word) for word in sys.argv[1:4])
    spec, hashed = sys.argv[4], sys.argv[5:] == [HASHED]
    del sys.argv[1:]
    serve(parent, questions, answers, spec, hashed=hashed)


def serve(parent: int, questions: int, answers: int, spec: str, *, hashed: bool = False) -> None:
    """Load a backend, say who it is, and answer questions until there are no more.

    ``parent`` is the process to live for; ``questions`` and ``answers`` are file descriptors. Where
    ``hashed``, it also says what the backend is made of.
    """
    _prepare(parent, questions, answers)
    own = os.getpid()

    def send(message: bytes) -> None:
        if os.getpid() != own:  # a copy of this process that the backend made and let return
            os._exit(0)
        view = memoryview(message)
        while view:
            view = view[os.write(answers, view) :]

    backend = _load(spec, send, hashed=hashed)
    if backend is None:
        return
    inbox = framing.Inbox()
    while True:
        message = inbox.take(sys.maxsize)
        if message is None:
            data = os.read(questions, READ)
            if not data:
                return
            inbox.feed(data)
            continue
        header, payload = message
        send(_answer(backend, header, payload))


def _answer(backend: Backend, header: dict[str, Any], payload: bytes) -> bytes:
    try:
        inputs = messages.decode_request(header, payload)
        outcome = call(backend, header["op"], inputs, header["attributes"])
    except KeyboardInterrupt as error:
        # Ctrl-C does not reach this process: it is the backend's own, as any other exit is.
        outcome = Outcome(Ending.ABORTED, message=describe_exception(error))
    return messages.encode_response(header["number"], outcome, header["limit"])


def _load(spec: str, send: Callable[[bytes], None], *, hashed: bool) -> Backend | None:
    """The backend, after it was introduced; None after its failure was reported."""
    try:
        before = components.ProcessSnapshot.now() if hashed else None
        backend = load_backend(spec)
        try:
            identity = identity_of(backend, spec)
            if before is not None:
                made = components.python_components(spec, before)
                identity = replace(identity, pieces=made.pieces, beside=made.beside)
            message = messages.encode_hello(identity)
        except (TypeError, ValueError, RecursionError) as error:
            raise BackendError(
                f"{spec}: its description of itself is invalid: {describe_exception(error)}",
                hint="name, version, capabilities and environment() hold short texts and numbers",
            ) from error
    except ConformanceError as error:
        send(messages.encode_load_failure(error))
        return None
    except KeyboardInterrupt as error:
        # The backend's own, as in a call.
        why = f"{spec}: the backend raised {describe_exception(error)} while it was created"
        failure = BackendError(why, hint="raise another exception, or none")
        send(messages.encode_load_failure(failure))
        return None
    send(message)
    return backend


def _prepare(parent: int, questions: int, answers: int) -> None:
    """Make sure that this process outlives nobody and says where it crashed."""
    for descriptor in (questions, answers):
        os.set_inheritable(descriptor, False)
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # If memory runs out, this process is to go, not the one that keeps the log.
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    if os.getppid() != parent:
        os._exit(0)
    # A descriptor of its own, since a backend may close or redirect that of stderr.
    faulthandler.enable(file=os.dup(2), all_threads=False)
