"""A worker process as seen from the run: pipes, and what it says on stderr.

Nothing here waits for the worker, except for one that is being ended.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from conformance.backends.program import command_line, is_program
from conformance.errors import UsageError
from conformance.run import framing
from conformance.run.stderr import Stderr
from conformance.run.worker_python import command, tied

READ = 1 << 20
PIPE_SIZE = 1 << 20
F_SETPIPE_SZ = 1031
PIPES, SPARE = 3, 20
"""File descriptors that a worker takes in this process, and those that all else takes at most."""

NO_STREAMS = (subprocess.DEVNULL, subprocess.DEVNULL)

HASHED = "hashed"
"""The argument by which a worker of ours is asked what its backend is made of."""

DYING = 1.0
"""Seconds that the end of a process may take."""

ENDING = 10.0
"""Seconds that a program may take to end after the last request."""


def check_descriptors(jobs: int) -> None:
    """Check that this process may open the pipes of ``jobs`` workers.

    Raises:
        UsageError: it may not.
    """
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = PIPES * jobs + SPARE
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        raise UsageError(
            f"{jobs} worker processes take {needed} file descriptors, and {allowed} are allowed",
            hint=f"allow more with ulimit -n {max(1024, needed)}, or use fewer processes",
        )


class WorkerProcess:
    """A process that answers questions: a program, or one of ours that loads the backend ``spec``.

    ``variables`` are added to its environment; ``python`` is another Python than this one to load
    the backend with. A program reads questions from stdin and writes answers to stdout; a backend
    in Python may print, so a process of ours has pipes of its own. It has a process group of its
    own, so that Ctrl-C does not reach it and what it starts is ended with it. ``closed`` says that
    no more can come.

    Raises OSError where it cannot be started, and :class:`BackendError` for a program that is not
    there.
    """

    def __init__(
        self,
        spec: str,
        variables: Mapping[str, str],
        python: Path | None = None,
        *,
        hashed: bool = False,
    ) -> None:
        with ExitStack() as ours, ExitStack() as theirs:
            theirs_in, self.questions = _pipe(theirs, ours)
            self.answers, theirs_out = _pipe(ours, theirs)
            pipes = (theirs_in, theirs_out)
            own: tuple[int, ...]
            if is_program(spec):
                words, streams, own = tied(command_line(spec)), pipes, ()
            else:
                more = (HASHED,) if hashed else ()
                words = command(python, (str(os.getpid()), *map(str, pipes), spec, *more))
                streams, own = NO_STREAMS, pipes
            self._process = subprocess.Popen(  # noqa: S603 - no shell
                words,
                stdin=streams[0],
                stdout=streams[1],
                stderr=subprocess.PIPE,
                env={**os.environ, **variables},
                pass_fds=own,
                start_new_session=True,
                bufsize=0,
            )
            ours.pop_all()  # now closed by kill
        assert self._process.stderr is not None
        self.stderr = self._process.stderr.fileno()
        for descriptor in (self.questions, self.answers, self.stderr):
            os.set_blocking(descriptor, False)
            _enlarge(descriptor)
        self.pid = self._process.pid
        self.inbox = framing.Inbox()
        self.closed = False
        self._listening = [self.stderr]
        self._outgoing: deque[memoryview] = deque()
        self._words = Stderr()
        self._code: int | None = None

    @property
    def sending(self) -> bool:
        """Whether something waits to be written."""
        return bool(self._outgoing)

    def send(self, message: bytes) -> None:
        """Write a message as far as the pipe takes it; the rest waits for :meth:`flush`."""
        self._outgoing.append(memoryview(message))
        self.flush()

    def flush(self) -> None:
        """Write what the pipe takes now."""
        while self._outgoing:
            try:
                written = os.write(self.questions, self._outgoing[0])
            except BlockingIOError:
                return
            except OSError:  # it does not read any more; what it answered before still counts
                self._outgoing.clear()
                return
            rest = self._outgoing[0][written:]
            if rest:
                self._outgoing[0] = rest
            else:
                self._outgoing.popleft()

    def receive(self) -> None:
        """Take in what came from the pipe of answers, at most one piece."""
        data = _read(self.answers)
        if data:
            self.inbox.feed(data)
        elif data is not None:
            self.closed = True

    def listen(self) -> bool:
        """Take in what came from stderr, at most one piece; False once it is closed."""
        data = _read(self.stderr)
        if data:
            self._words.feed(data)
        return data != b""

    def ended(self) -> bool:
        """Return whether the process has ended, after taking in all of its output."""
        if self._process.poll() is None:
            return False
        for _ in range(2):  # a pipe holds no more than one piece, and its end
            self.receive()
        return True

    def resident(self) -> int:
        """Return the resident memory of the process in bytes; 0 if it is gone."""
        import psutil

        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def show_traceback(self, patience: float = 0.5) -> None:
        """Abort the process, whose fault handler then reports its position.

        Args:
            patience: seconds to wait for the report.
        """
        with suppress(OSError):
            self._process.send_signal(signal.SIGABRT)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)

    def hang_up(self) -> None:
        """Close the input of an idle worker, so that it ends by itself."""
        os.close(self.questions)
        self.questions = -1

    def comes_to_an_end(self, wait: float) -> bool:
        """Wait some seconds and return whether the process ended; its output is taken in."""
        streams = [] if self.closed else [self.answers]
        ready, _, _ = select.select([*streams, *self._listening], [], [], wait)
        if self.answers in ready:
            self.receive()
        if self.stderr in ready and not self.listen():
            self._listening = []
        if not streams and not self._listening:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(wait)
        return self.ended()

    def wrong_at_the_end(self, seconds: float) -> str:
        """Return what is wrong with how the process ended, or that it still runs.

        Args:
            seconds: the time that it had after the end of its input.

        Returns:
            Empty for exit code 0 and no output without a request.
        """
        self._code = self._process.poll()
        if self._code is None:
            return f"{seconds:g} s after the end of its input the process still runs"
        if self._code:
            return f"at the end of its input {self.how_it_ended()}"
        return f"the process sent {self.inbox.unasked()}" if len(self.inbox) else ""

    def kill(self, patience: float = 0.0) -> None:
        """End the process and all in its group, at once or after ``patience`` seconds."""
        with suppress(subprocess.TimeoutExpired):
            self._code = self._process.wait(patience)
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(DYING)  # one that the kernel cannot end is left to itself
        self.listen()
        for descriptor in (self.questions, self.answers):
            with suppress(OSError):
                os.close(descriptor)
        self.questions = self.answers = -1
        assert self._process.stderr is not None
        self._process.stderr.close()

    def how_it_ended(self) -> str:
        """Describe how the process ended before :meth:`kill` was called."""
        code = self._code
        if code is None:
            return "the process closed the pipe for its answers"
        if code >= 0:
            return f"the process ended with exit code {code}"
        with suppress(ValueError):
            name = signal.Signals(-code).name
            why = " (the system may have run out of memory)" if name == "SIGKILL" else ""
            return f"the process was killed by {name} ({signal.strsignal(-code)}){why}"
        return f"the process was killed by signal {-code}"

    def last_words(self) -> str:
        """Return the last lines of stderr; printable."""
        return self._words.last_words()

    def describe_end(self, how: str, doing: str = "") -> str:
        """Describe the end: how, why by its stderr, during which call, and its last lines."""
        why, words = self._words.decisive(), self._words.last_words()
        lines = (how, why and f"stderr says: {why}", doing, words and f"stderr:\n{words}")
        return "\n".join(filter(None, lines))


def _read(descriptor: int) -> bytes | None:
    """What can be read now; nothing (b"") at the end, None if there is nothing yet."""
    try:
        return os.read(descriptor, READ)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _pipe(reader: ExitStack, writer: ExitStack) -> tuple[int, int]:
    """A pipe whose ends are closed by these two."""
    ends = os.pipe()
    reader.callback(os.close, ends[0])
    writer.callback(os.close, ends[1])
    return ends


def _enlarge(descriptor: int) -> None:
    """Give a pipe room, so that neither side waits for the other while it has something to do."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # the system's limit for one user may be used up
            fcntl.fcntl(descriptor, F_SETPIPE_SZ, PIPE_SIZE)
