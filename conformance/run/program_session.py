"""A conversation with one program, message by message, for `conformance protocol test`."""

from __future__ import annotations

import select
from time import monotonic, sleep
from types import TracebackType
from typing import Self

from conformance.errors import BackendError
from conformance.grade.outcome import Outcome
from conformance.model import Vector
from conformance.run import framing, messages, responses
from conformance.run.executor import Identity
from conformance.run.process import DYING, WorkerProcess
from conformance.run.workers import ECHOED
from conformance.safe_text import number_of

TICK = 0.05

QUIET = 0.3
"""Seconds in which nothing is to happen."""

PAYLOAD = 1 << 28
"""Bytes of arrays that an answer may have."""


class Trouble(Exception):
    """A program that does not keep to the protocol; the text says how."""


class Conversation:
    """A new process of the program ``spec``. A context manager: the process ends with it.

    Each answer may take ``seconds``. What goes wrong is raised as :class:`Trouble`.
    """

    def __init__(self, spec: str, seconds: float) -> None:
        self._seconds = seconds
        self._process = WorkerProcess(spec, {})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()

    def hello(self) -> Identity:
        """Read how the program identifies itself."""
        try:
            header, _ = self._receive("no hello message")
            return responses.decode_hello(header, program=True)
        except BackendError as error:
            raise Trouble(error.message) from error

    def quiet(self) -> None:
        """Check that the program does nothing before the first request.

        Raises:
            Trouble: it does.
        """
        process, end = self._process, monotonic() + QUIET
        while monotonic() < end and not process.comes_to_an_end(TICK / 5):
            pass
        if len(process.inbox):
            raise Trouble(
                f"the process sent {process.inbox.unasked()} after its hello, before any request; "
                "print nothing on stdout"
            )
        if process.ended():
            process.kill(DYING)
            raise Trouble(
                self._with_words(
                    f"{process.how_it_ended()} after its hello, before any request; "
                    "read requests until the end of input"
                )
            )

    def say(self, data: bytes, *pieces: bytes) -> None:
        """Send bytes, then each of some pieces a little later."""
        for piece in (data, *pieces):
            self._process.send(piece)
            end = monotonic() + self._seconds
            while self._process.sending and monotonic() < end:
                sleep(TICK / 10)
                self._process.receive()  # it may answer before it has read all
                self._process.flush()
            sleep(TICK if pieces else 0)

    def answer(self, number: int, vector: Vector) -> Outcome:
        """Read the response to a request."""
        header, payload = self._receive("there is no answer")
        return responses.decode_response(header, payload, number, len(vector.arguments))

    def ask(self, number: int, vector: Vector) -> Outcome:
        """Send a question, and take its answer."""
        self.say(messages.encode_request(number, vector))
        return self.answer(number, vector)

    def farewell(self) -> str:
        """Close the stream of questions, and tell how the program ends."""
        process, end = self._process, monotonic() + self._seconds
        process.hang_up()
        while not process.comes_to_an_end(TICK) and monotonic() < end:
            pass
        if wrong := process.wrong_at_the_end(self._seconds):
            raise Trouble(self._with_words(f"{wrong}; return 0 from main at the end of input"))
        return "exit code 0"

    def _receive(self, otherwise: str) -> tuple[framing.Header, bytes]:
        process, end = self._process, monotonic() + self._seconds
        try:
            while (message := process.inbox.take(PAYLOAD)) is None:
                if process.ended() or process.closed:
                    if (message := process.inbox.take(PAYLOAD)) is not None:
                        break
                    process.kill(DYING)
                    raise Trouble(self._with_words(f"{otherwise}: {self._how_it_ended()}"))
                if monotonic() > end:
                    if not len(process.inbox) and self._echoes():
                        raise Trouble(f"{otherwise}: {ECHOED} as cat does")
                    begun = (
                        f"; {number_of(len(process.inbox), 'byte')} of it came"
                        if len(process.inbox)
                        else ""
                    )
                    raise Trouble(f"{otherwise} within {self._seconds:g} s{begun}")
                ready, _, _ = select.select([process.answers, process.stderr], [], [], TICK)
                if process.answers in ready:
                    process.receive()
                if process.stderr in ready and not process.listen():
                    sleep(TICK)
        except framing.Malformed as error:
            raise Trouble(f"it sent {error}") from error
        return message

    def _echoes(self) -> bool:
        self._process.send(framing.KNOCK)
        self._process.comes_to_an_end(QUIET)
        return self._process.inbox.echoes()

    def _how_it_ended(self) -> str:
        how, left = self._process.how_it_ended(), self._process.inbox
        if not len(left):
            return how
        text = left.printed()
        came = f"it printed {text!r}" if text else f"{number_of(len(left), 'byte')} of an answer"
        return f"{how}, after {came}"

    def _with_words(self, text: str) -> str:
        return self._process.describe_end(text)
