"""The executor protocol: how a run calls its backend, and the queue of its requests."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from conformance.backends.backend_name import display_name
from conformance.backends.capabilities import Capabilities
from conformance.backends.components import Component
from conformance.backends.layouts import TensorLayout
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.grade.outcome import Outcome, describe_exception
from conformance.model import Vector
from conformance.run.environment import of_process
from conformance.run.independent_calls import IndependentCalls
from conformance.safe_text import foreign


@dataclass(frozen=True)
class Identity:
    """What a backend says of itself before the run; ``capabilities`` None if it declares none.

    ``facts`` are for the run log only, as is ``process``, what
    :func:`conformance.run.environment.of_process` tells where the backend runs. ``pieces`` is what
    it is made of, None where nobody asked, and ``beside`` what lies beside it
    (:mod:`conformance.backends.components`).
    """

    name: str
    version: str
    capabilities: Capabilities | None = None
    facts: dict[str, str] = field(default_factory=dict, compare=False)
    process: dict[str, Any] = field(default_factory=dict, compare=False)
    pieces: tuple[Component, ...] | None = None
    beside: tuple[Component, ...] = field(default=(), compare=False)


class Reason(enum.Enum):
    """Why a backend is called on a vector."""

    FIRST = enum.auto()
    """Its first call."""
    REPEAT = enum.auto()
    """Another call on the same inputs, sent right after the first."""
    COUNTERPART = enum.auto()
    """A negative test: this is the valid case that it was made from, sent right after it."""
    CONFIRMATION = enum.auto()
    """Its outputs are wrong: whether they always are is seen in a second call."""


@dataclass(eq=False)
class Request:
    """A call of a backend on ``vector``, whose inputs lie in the layout that the backend declares.

    It is waiting, then sent to a worker, then answered (``response``), then taken (``outcome``). A
    worker that is lost gives back what it has not answered: that is waiting again.
    """

    vector: Vector
    reason: Reason = Reason.FIRST
    arrangement: TensorLayout | None = None
    """How the vector was changed for that layout; None if it was not."""
    number: int = 0
    is_sent: bool = False
    response: Outcome | None = None
    """How the call ended, its outputs as the backend gave them."""
    is_spared: bool = False
    """Whether the response is that of an earlier call on the same vector."""
    outcome: Outcome | None = None
    """The response, its outputs as specified."""

    @property
    def is_waiting(self) -> bool:
        """Whether it is still to be sent."""
        return not self.is_sent and self.response is None


class Executor(ABC):
    """How a backend is called. A context manager: the backend is there within.

    ``requests`` are the calls whose outcome was not taken yet, oldest first: the one queue of a
    run. Outcomes are taken in that order. At most ``ahead`` vectors more than the one whose outcome
    is taken may be under way. A backend that is given up is not called any more: then each outcome
    is ``ABANDONED``, and its message says why. ``independent`` asks for several calls of each
    vector. ``probes`` gives vectors from all over the run, laid out for the backend, by which one
    that is dead can be told from one that fails on the first few. ``waiting`` is called again and
    again while one that can end a call waits for the backend; what it raises ends the wait.
    """

    identity: Identity
    ahead: int = 0
    independent: IndependentCalls | None = None
    probes: Callable[[], Iterable[Vector]] = staticmethod(tuple)
    waiting: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self) -> None:
        self.requests: deque[Request] = deque()

    def __enter__(self) -> Self:
        """Make the backend ready and learn its identity. Raises :class:`BackendError`."""
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End what runs, and drop what was not started yet."""
        self.requests.clear()

    def submit(self, request: Request) -> None:
        """Put a request at the end of the queue; this does not wait."""
        self.requests.append(request)

    @abstractmethod
    def wait_for(self, request: Request) -> Outcome:
        """Wait for the oldest request. Only Ctrl-C is raised."""

    def take(self) -> tuple[Request, Outcome]:
        """Take the oldest request from the queue, with its response."""
        request = self.requests[0]
        response = self.wait_for(request)
        self.requests.popleft()
        return request, response

    def call(self, vector: Vector) -> Outcome:
        """Call the backend on a vector as it is, while the queue is empty."""
        self.submit(Request(vector))
        return self.take()[1]

    def allow(self, seconds: float) -> None:  # noqa: B027 - nothing can be done about most
        """Limit each call to some seconds from now on, if longer ones can be ended."""

    def farewell(self) -> tuple[str, ...]:
        """Announce that no more calls follow; return what was wrong with ended processes."""
        return ()

    def fresh(self) -> Executor | None:
        """Return another executor of the same backend in a new process; None if impossible."""
        return None

    def settings(self) -> dict[str, Any]:
        """Return how the backend is called, as options of the run log."""
        return {"executor": "inline", "jobs": 1, "timeout": None, "memory": None, "env": None}


def identity_of(backend: Backend, spec: str = "") -> Identity:
    """Identify a backend object in this process, named by ``spec`` if by anything."""
    return Identity(
        name=foreign(display_name(backend.name, spec)) or "?",
        version=foreign(backend.version) or "?",
        capabilities=capabilities_of(backend),
        facts=_facts(backend),
        process=of_process(),
    )


def _facts(backend: Backend) -> dict[str, str]:
    try:
        return environment_of(backend)
    except Exception as error:  # a backend's own code: what it cannot tell is no reason to stop
        return {"error": describe_exception(error)}
