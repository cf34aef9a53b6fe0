"""The workers of a run, and the requests that each has."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.backends.program import is_program
from conformance.dtypes import name_of
from conformance.errors import BackendError
from conformance.grade.outcome import MAX_MESSAGE, Ending
from conformance.run import messages, responses
from conformance.run.executor import Request
from conformance.run.framing import KNOCK, Malformed, after_knock
from conformance.run.limits import START
from conformance.run.process import WorkerProcess
from conformance.safe_text import number_of

DEPTH = 3
"""Requests that a worker may have: one that it works on, and others for when it is done."""


@dataclass(eq=False)
class Worker:
    """A worker process and the requests that it has. ``spent`` counts seconds on the oldest one."""

    process: WorkerProcess
    ready: bool = False
    requests: deque[Request] = field(default_factory=deque)
    spent: float = 0.0
    done: int = 0
    _knocked: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether it is ready and has nothing to do."""
        return self.ready and not self.requests

    def knock(self) -> None:
        """Send a program that has been silent the first byte of the first request."""
        if not self._knocked:
            self._knocked = True
            self.process.send(KNOCK)

    def send_request(self, request: Request) -> None:
        """Send a request; it is worked on after those that were sent before."""
        if not self.requests:
            self.spent = 0.0
        self.requests.append(request)
        request.is_sent = True
        message = messages.encode_request(request.number, request.vector)
        if self._knocked and not self.done and len(self.requests) == 1:
            message = after_knock(message)
        self.process.send(message)

    def take_response(self, header: dict[str, Any], payload: bytes, spent: float) -> None:
        """Take the response to the oldest request, which took so many seconds.

        Raises Malformed if it is not one.
        """
        if not self.requests:
            raise Malformed("a response to no request")
        request = self.requests[0]
        inputs = len(request.vector.arguments)
        outcome = responses.decode_response(header, payload, request.number, inputs)
        # A program need not measure it. What is seen here includes the way there and back.
        request.response = outcome if outcome.seconds else replace(outcome, seconds=spent)
        self.requests.popleft()
        self.done += 1

    def give_back(self) -> None:
        """Let the requests that it has wait for another worker."""
        for request in self.requests:
            request.is_sent = False
        self.requests.clear()

    def max_response_bytes(self) -> int:
        """Return how many bytes of arrays the next message may hold."""
        if not self.requests:
            return 0
        return messages.MAX_OUTPUTS * messages.max_output_bytes(self.requests[0].vector)

    def describe_current(self) -> str:
        """Say in a line what the oldest request is."""
        case, inputs = self.requests[0].vector.case, self.requests[0].vector.inputs
        data = ", ".join(f"{name_of(array.dtype)}{list(array.shape)}" for array in inputs)
        given = ", ".join(f"{name}={value}" for name, value in case.attributes.items())
        text = f"running {case.op} on {data}" + (f" with {given}" if given else "")
        return f"{text[:MAX_MESSAGE]}; {number_of(self.done, 'vector')} before it in this process"


class WorkerLost(Exception):
    """A worker that is no use any more: how its request ended, and why, unless it is dead."""

    def __init__(self, ending: Ending, why: str = "", *, error: BackendError | None = None) -> None:
        self.ending = ending
        self.why = why
        self.error = error


ECHOED = "the process sends back what it is sent,"
"""What is wrong with ``cat``."""


def load_error(
    spec: str, why: str, words: str = "", *, introduced: bool = False, late: bool = False
) -> BackendError:
    """Return the error of a backend whose process was lost before it could be called.

    Args:
        words: the lines of stderr.
        introduced: the process had identified the backend.
        late: ``why`` is the complete message.
    """
    stderr = f"\n{words}" if words else ""
    if is_program(spec):
        when = "after its hello, before any request" if introduced else "before its hello"
        when = "" if late else f" {when}"
        return BackendError(
            f"{spec}: {why}{when}{stderr}",
            hint="conformance protocol test shows what a program sends; see docs/protocol.md",
        )
    when = f" {'after' if introduced else 'while'} the backend was loaded"
    return BackendError(
        f"{spec}: {why}{'' if late else when}{stderr}",
        hint="import it and make one in Python by itself, where all that it writes can be seen; "
        f"if it takes more than {START:g} s, a longer --timeout holds for loading too",
    )
