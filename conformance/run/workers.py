"""The workers of a run, and the vectors that each is running."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.backends.program import is_program
from conformance.dtypes import name_of
from conformance.errors import BackendError
from conformance.grade.outcome import MESSAGE_LIMIT, Ending, Outcome
from conformance.model import Vector
from conformance.run import messages
from conformance.run.framing import KNOCK, Malformed, after_knock
from conformance.run.limits import START
from conformance.run.process import WorkerProcess
from conformance.safe_text import number_of

DEPTH = 3
"""Questions that a worker may have: one that it works on, and others for when it is done."""


@dataclass(eq=False)
class Ticket:
    """A vector that was handed over, and its outcome once that is known.

    ``spared`` says that the outcome is that of an earlier call on the same vector.
    """

    number: int
    vector: Vector
    outcome: Outcome | None = None
    spared: bool = False


@dataclass(eq=False)
class Worker:
    """A worker process and its questions. ``spent`` counts seconds on the oldest one."""

    process: WorkerProcess
    ready: bool = False
    tickets: deque[Ticket] = field(default_factory=deque)
    spent: float = 0.0
    done: int = 0
    _knocked: bool = False

    def knock(self) -> None:
        """Send a program that has been silent the first byte of the first question."""
        if not self._knocked:
            self._knocked = True
            self.process.send(KNOCK)

    def ask(self, ticket: Ticket) -> None:
        """Send a question; it is worked on after those that were sent before."""
        if not self.tickets:
            self.spent = 0.0
        self.tickets.append(ticket)
        message = messages.question(ticket.number, ticket.vector)
        if self._knocked and not self.done and len(self.tickets) == 1:
            message = after_knock(message)
        self.process.send(message)

    def answered(self, header: dict[str, Any], payload: bytes, spent: float) -> None:
        """Take the answer to the oldest question, which took so many seconds.

        Raises Malformed if it is not one.
        """
        if not self.tickets:
            raise Malformed("a response to no request")
        ticket = self.tickets[0]
        inputs = len(ticket.vector.inputs)
        outcome = messages.answered(header, payload, ticket.number, inputs)
        # A program need not measure it. What is seen here includes the way there and back.
        ticket.outcome = outcome if outcome.seconds else replace(outcome, seconds=spent)
        self.tickets.popleft()
        self.done += 1

    def room(self) -> int:
        """Bytes of arrays that the next message may hold."""
        if not self.tickets:
            return 0
        return messages.MAX_OUTPUTS * messages.room(self.tickets[0].vector)

    def doing(self) -> str:
        """What the oldest question is, in one line."""
        case, inputs = self.tickets[0].vector.case, self.tickets[0].vector.inputs
        data = ", ".join(f"{name_of(array.dtype)}{list(array.shape)}" for array in inputs)
        given = ", ".join(f"{name}={value}" for name, value in case.attributes.items())
        text = f"running {case.op} on {data}" + (f" with {given}" if given else "")
        return f"{text[:MESSAGE_LIMIT]}; {number_of(self.done, 'vector')} before it in this process"


class Lost(Exception):
    """A worker that is no use any more: how its question ended, and why, unless it is dead."""

    def __init__(self, ending: Ending, why: str = "", *, error: BackendError | None = None) -> None:
        self.ending = ending
        self.why = why
        self.error = error


ECHOED = "the process sends back what it is sent,"
"""What is wrong with ``cat``."""


def unloadable(
    spec: str, why: str, words: str = "", *, introduced: bool = False, late: bool = False
) -> BackendError:
    """The error of a backend whose process was lost before it was there, or where it is
    ``introduced`` before it was asked anything; ``words`` are stderr's. Where it is ``late``,
    ``why`` says all.
    """
    said = f"\n{words}" if words else ""
    if is_program(spec):
        when = "after its hello, before any request" if introduced else "before its hello"
        when = "" if late else f" {when}"
        return BackendError(
            f"{spec}: {why}{when}{said}",
            hint="conformance protocol test shows what a program sends; see docs/protocol.md",
        )
    when = f" {'after' if introduced else 'while'} the backend was loaded"
    return BackendError(
        f"{spec}: {why}{'' if late else when}{said}",
        hint="import it and make one in Python by itself, where all that it writes can be seen; "
        f"if it takes more than {START:g} s, a longer --timeout holds for loading too",
    )
