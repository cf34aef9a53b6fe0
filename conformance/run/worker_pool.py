"""Runs a backend in a pool of worker processes, any of which may be lost.

The pools that others keep (concurrent.futures, loky, pebble, billiard) unpickle what comes back
from a worker, and most give up when one dies; so this one is our own. It is one loop over
non-blocking pipes in the thread of the run: what a worker does or leaves undone cannot block it.
"""

from __future__ import annotations

import os
import selectors
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, islice
from time import monotonic
from typing import Any, Self

from conformance.backends.components import program_components
from conformance.backends.discovery import resolve_adapter
from conformance.backends.program import is_program
from conformance.errors import BackendError, UsageError
from conformance.grade.outcome import PROCESS_LOST, Ending, Outcome
from conformance.model import Vector
from conformance.run import framing, responses
from conformance.run.environment import usable_cores
from conformance.run.executor import Executor, Identity, Request
from conformance.run.limits import Limits, shown_size
from conformance.run.process import DYING, ENDING, WorkerProcess, check_descriptors
from conformance.run.worker_python import python_of
from conformance.run.workers import DEPTH, ECHOED, Worker, WorkerLost, load_error
from conformance.threads import shares

TICK = 0.05
"""Seconds after which workers are looked at, if nothing happens before."""

FAREWELL = 2.0
"""Seconds in which idle workers may end by themselves."""

STARTS = 2
"""How often in a row a new worker may fail to start."""

PATIENCE = 3
"""How many vectors in a row a backend may lose before others are tried: it may be dead."""

TRIED = 3
"""How many others are tried. One that answers none of them is given up after six starts in all."""

QUIET = 0.1
"""Seconds after its hello in which a program is to do nothing."""

ECHO = 1.0
"""Seconds of silence after which a program is looked at: does it send back what it is sent?"""


class ProcessExecutor(Executor):
    """Runs the backend that ``spec`` names in ``jobs`` processes and asks them in turn.

    ``env`` is another virtual environment than this one for them to run in. A process that crashes,
    hangs, takes too much memory or talks nonsense loses the vector that it was working on, and is
    replaced. With ``hashed`` its identity says what it is made of, and all processes have to agree.
    ``variables`` are set in their environment.
    POSIX only. Raises :class:`UsageError` elsewhere, and for an ``env`` that is none.
    """

    def __init__(
        self,
        spec: str,
        limits: Limits,
        *,
        jobs: int = 1,
        env: str | None = None,
        hashed: bool = False,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        if os.name != "posix":
            raise UsageError(
                "backends can be run in processes of their own on Linux and macOS only",
                hint="use --executor inline; a crash of the backend then ends the run",
            )
        if jobs < 1:
            raise UsageError(f"{jobs} jobs", hint="give the number of processes, as in -j 2")
        check_descriptors(jobs)
        if env is not None and is_program(spec):
            raise UsageError(
                f"{spec} is a program, which needs no Python environment",
                hint="leave --env out",
            )
        super().__init__()
        self.spec = spec
        self.limits = limits
        self.jobs = jobs
        self.env = env
        self._hashed = hashed
        self._python = None if env is None else python_of(env)
        self._words = spec if env is None else resolve_adapter(spec)
        self.ahead = DEPTH * jobs - 1
        self._asked_for = dict(variables or {})
        self._variables = shares(jobs, usable_cores() or 1, os.environ) | dict(variables or {})
        self._given_up = ""
        self._introduction: Identity | None = None
        self._entered = False
        self._endings: list[str] = []
        self._workers: list[Worker] = []
        self._room = jobs
        self._failed_starts = 0
        self._numbers = self._silent = 0
        self._pending: deque[Request] = deque()
        self._survived: tuple[Vector, ...] = ()
        self._clock = self._weighed = monotonic()
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Self:
        try:
            for _ in range(self._room):
                self._start()
            while self._introduction is None:
                self._round()
            end = monotonic() + (QUIET if is_program(self.spec) else 0.0)
            while (left := end - monotonic()) > 0:
                self._round(wait=left)
            self._entered = True
        except BaseException:
            self.close()
            raise
        self.identity = self._introduction
        return self

    def fresh(self) -> ProcessExecutor:
        """Start another process with the same limits and environment."""
        return ProcessExecutor(
            self.spec, self.limits, env=self.env, hashed=self._hashed, variables=self._asked_for
        )

    def submit(self, request: Request) -> None:
        super().submit(request)
        self._numbers += 1
        request.number = self._numbers
        if self._given_up:
            request.response = Outcome(Ending.ABANDONED, message=self._given_up)
        else:
            self._pending.append(request)
            self._round(wait=0)

    def wait_for(self, request: Request) -> Outcome:
        while request.response is None:
            self._round()
        if request.response.ending not in PROCESS_LOST:
            self._silent, self._survived = 0, (request.vector,)
        elif not request.is_spared:
            self._silent += 1
            if self._silent == PATIENCE:
                self._try_others()
        return request.response

    def _try_others(self) -> None:
        """Give the backend up if it is lost on others too; the last that it survived is one."""
        for vector in islice(chain(self._survived, self.probes()), TRIED):
            if self._answers(vector):
                self._silent, self._survived = 0, (vector,)
                return
        self._give_up("the backend lost its process on every vector that was tried")

    def _in_doubt(self) -> bool:
        """Whether others are tried before any vector is sent again: then nothing is started."""
        missing = max(0, PATIENCE - self._silent)
        next_ones = islice((each for each in self.requests if not each.is_spared), missing)
        lost = [
            each for each in next_ones if each.response and each.response.ending in PROCESS_LOST
        ]
        return len(lost) == PATIENCE - self._silent

    def allow(self, seconds: float) -> None:
        self.limits = replace(self.limits, timeout=seconds)

    def settings(self) -> dict[str, Any]:
        return {
            "executor": "process",
            "jobs": self.jobs,
            "timeout": self.limits.timeout,
            "memory": self.limits.memory,
            "env": self.env,
        }

    def _answers(self, vector: Vector) -> bool:
        """Whether the backend survives a vector in a new process."""
        try:
            with ProcessExecutor(self.spec, self.limits, env=self.env) as fresh:
                return fresh.call(vector).ending not in PROCESS_LOST
        except BackendError:
            return False

    def _give_up(self, reason: str) -> None:
        """Send the backend nothing any more."""
        self._given_up = reason
        for request in self.requests:
            request.response = request.response or Outcome(Ending.ABANDONED, message=reason)
        while self._workers:
            self._end(self._workers[0])

    def _round(self, wait: float = TICK) -> None:
        """Hand out questions, move bytes, take answers, and part with lost workers."""
        self.waiting()
        self._hand_out()
        for key, _ in self._selector.select(wait):
            if key.data() is False:  # at its end a pipe can be read for ever
                self._selector.unregister(key.fd)
        now = monotonic()
        # Time in which nobody looked, or this process was stopped, is not the worker's.
        spent, self._clock = min(now - self._clock, 2 * TICK), now
        weigh = self.limits.memory is not None and now - self._weighed >= TICK
        self._weighed = now if weigh else self._weighed
        for worker in list(self._workers):
            if worker not in self._workers:
                break  # all were ended: the backend has been given up
            worker.spent += spent
            try:
                self._hear(worker)
                self._check(worker, weigh=weigh)
            except WorkerLost as lost:
                self._replace(worker, lost)
        self._hand_out()

    def _hear(self, worker: Worker) -> None:
        """Take what a worker has answered. Raises WorkerLost if nothing more can come."""
        process = worker.process
        over = process.ended() or process.closed
        try:
            while message := process.inbox.take(worker.max_response_bytes()):
                spent, worker.spent = worker.spent, 0.0
                if worker.ready:
                    worker.take_response(*message, spent)
                    self._failed_starts = 0
                else:
                    self._introduced(worker, message[0])
            if worker.is_idle and len(process.inbox):
                raise framing.Malformed(process.inbox.unasked())
        except framing.Malformed as error:
            raise WorkerLost(Ending.CRASHED, f"the process sent {error}") from error
        if over:
            raise WorkerLost(Ending.CRASHED)

    def _check(self, worker: Worker, *, weigh: bool) -> None:
        """Raises WorkerLost for a worker that takes more time or memory than it may."""
        if not worker.ready and worker.spent > ECHO and is_program(self.spec):
            worker.knock()
            if worker.spent > 2 * ECHO and worker.process.inbox.echoes():
                raise WorkerLost(Ending.CRASHED, ECHOED)
        # Once an answer has begun to come, it has as long again to arrive.
        patience = self.limits.timeout * (2 if len(worker.process.inbox) else 1)
        if not worker.ready and worker.spent > self.limits.start:
            what = "no hello message" if is_program(self.spec) else "not loaded"
            raise WorkerLost(Ending.HUNG, f"{what} within {self.limits.start:g} s")
        if worker.ready and worker.requests and worker.spent > patience:
            raise WorkerLost(Ending.HUNG, f"no answer within {self.limits.timeout:g} s")
        most = self.limits.memory
        if weigh and most is not None and (taken := worker.process.resident()) > most:
            why = f"the process took {shown_size(taken)} of memory; {shown_size(most)} are allowed"
            raise WorkerLost(Ending.MEMORY, why)

    def _introduced(self, worker: Worker, header: dict[str, Any]) -> None:
        """Learn who the backend is. Raises WorkerLost if it is another one than elsewhere."""
        try:
            identity = responses.decode_hello(header, program=is_program(self.spec))
        except BackendError as error:
            raise WorkerLost(Ending.CRASHED, error=error) from error
        if self._hashed and is_program(self.spec):
            made = program_components(self.spec, worker.process.pid)
            identity = replace(identity, pieces=made.pieces, beside=made.beside)
        if self._introduction is None:
            self._introduction = identity
        elif identity != self._introduction:
            self._give_up(
                "a new process of the backend declares other capabilities than the first one, "
                "or another name or version, or is made of other files, so their answers do not "
                "belong together"
            )
            return
        worker.ready = True

    def _replace(self, worker: Worker, lost: WorkerLost) -> None:
        """Part with a worker: its loss answers its oldest request, the others are sent again."""
        if worker not in self._workers:
            return  # the backend was given up meanwhile
        if lost.ending is Ending.HUNG:
            worker.process.show_traceback()
        known = lost.why or lost.error  # else how it ends by itself is what to tell
        self._end(worker, patience=0.0 if known else DYING)
        why = lost.why or worker.process.how_it_ended()
        words = worker.process.describe_end("")
        if not worker.ready:
            late = lost.ending is Ending.HUNG
            self._not_started(lost.error or load_error(self.spec, why, words, late=late))
        elif not worker.requests and not worker.done:
            self._not_started(load_error(self.spec, why, words, introduced=True))
        elif not worker.requests:
            self._endings.append(worker.process.describe_end(f"between two requests {why}"))
        else:
            self._failed_starts = 0
            message = worker.process.describe_end(why, worker.describe_current())
            request = worker.requests.popleft()
            request.response = Outcome(lost.ending, message=message, seconds=worker.spent)
            self._pending.extendleft(reversed(worker.requests))
            worker.give_back()
            self._spare(request)

    def _spare(self, lost: Request) -> None:
        """A vector that is run several times and was lost once is lost: the rest is not run."""
        for request in self.requests:
            if request.vector is lost.vector and request.is_waiting:
                request.response, request.is_spared = lost.response, True

    def _not_started(self, error: BackendError) -> None:
        """Before the run that is the end of it; else other workers go on, if there are some."""
        if self.env is not None:
            error = BackendError(f"in {self.env}: {error.message}", hint=error.hint)
        if not self._entered and not self._workers:
            raise error
        self._failed_starts += 1
        if self._failed_starts < STARTS:
            return
        if self._workers:
            self._room = len(self._workers)
        else:
            self._give_up(f"the backend could not be started again: {error.message}")

    def _hand_out(self) -> None:
        """Start workers where some are missing, and give each as much to do as the others."""
        while self._waiting() and len(self._workers) < self._room and not self._in_doubt():
            self._start()
        ready = [worker for worker in self._workers if worker.ready]
        while ready and (request := self._waiting()):
            worker = min(ready, key=lambda worker: len(worker.requests))
            if len(worker.requests) == DEPTH:
                break
            worker.send_request(request)
        for worker in ready:
            self._await_room(worker.process)

    def _waiting(self) -> Request | None:
        """The oldest request that no worker has."""
        while self._pending and not self._pending[0].is_waiting:
            self._pending.popleft()
        return self._pending[0] if self._pending else None

    def _await_room(self, process: WorkerProcess) -> None:
        """Watch the pipe of questions just as long as something waits to be written."""
        watched = process.questions in self._selector.get_map()
        if process.sending and not watched:
            self._selector.register(process.questions, selectors.EVENT_WRITE, process.flush)
        elif watched and not process.sending:
            self._selector.unregister(process.questions)

    def _start(self) -> None:
        try:
            process = WorkerProcess(self._words, self._variables, self._python, hashed=self._hashed)
        except OSError as error:
            why = f"no process could be started ({error.strerror or error})"
            self._not_started(load_error(self.spec, why))
            return
        self._workers.append(Worker(process))
        self._selector.register(process.answers, selectors.EVENT_READ, process.receive)
        self._selector.register(process.stderr, selectors.EVENT_READ, process.listen)

    def _end(self, worker: Worker, patience: float = 0.0) -> None:
        """End a worker, which may take ``patience`` seconds to end by itself."""
        process = worker.process
        for descriptor in (process.questions, process.answers, process.stderr):
            if descriptor >= 0 and descriptor in self._selector.get_map():
                self._selector.unregister(descriptor)
        process.kill(patience)
        self._workers.remove(worker)

    def farewell(self) -> tuple[str, ...]:
        """Let idle programs end by themselves, as they do at the end of their input."""
        idle = [worker for worker in self._workers if worker.is_idle and worker.done]
        for worker in idle if is_program(self.spec) else ():
            worker.process.hang_up()
        end = monotonic() + ENDING
        for worker in idle if is_program(self.spec) else ():
            while not worker.process.comes_to_an_end(TICK) and monotonic() < end:
                self.waiting()
            wrong = worker.process.wrong_at_the_end(ENDING)
            self._end(worker)
            if wrong:
                self._endings.append(worker.process.describe_end(wrong))
        return tuple(dict.fromkeys(self._endings))

    def close(self) -> None:
        """End all workers: those with something to do at once, idle ones by themselves."""
        idle = [worker for worker in self._workers if worker.is_idle]
        for worker in idle:
            worker.process.hang_up()
        while self._workers:
            worker = self._workers[-1]
            self._end(worker, patience=FAREWELL if worker in idle else 0.0)
        self._selector.close()
