"""The executor protocol: how a run calls its backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from conformance.backends.backend_name import told
from conformance.backends.capabilities import Capabilities
from conformance.backends.pieces import Piece
from conformance.backends.protocol import Backend, capabilities_of, environment_of
from conformance.grade.outcome import Outcome, describe
from conformance.model import Vector
from conformance.run.environment import of_process
from conformance.safe_text import foreign


@dataclass(frozen=True)
class Identity:
    """What a backend says of itself before the run; ``capabilities`` None if it declares none.

    ``facts`` are for the run log only, as is ``process``, what
    :func:`conformance.run.environment.of_process` tells where the backend runs. ``pieces`` is what
    it is made of, None where nobody asked, and ``beside`` what lies beside it
    (:mod:`conformance.backends.pieces`).
    """

    name: str
    version: str
    capabilities: Capabilities | None = None
    facts: dict[str, str] = field(default_factory=dict, compare=False)
    process: dict[str, Any] = field(default_factory=dict, compare=False)
    pieces: tuple[Piece, ...] | None = None
    beside: tuple[Piece, ...] = field(default=(), compare=False)


class Executor(ABC):
    """How a backend is called. A context manager: the backend is there within.

    Vectors are handed over one by one; their outcomes are taken in the same order. At most
    ``ahead`` vectors more than the one whose outcome is taken may be under way. A backend that is
    given up is not asked any more: then each outcome is ``ABANDONED``, and its message says why.
    ``probes`` gives vectors from all over the run, by which one that is dead can be told from one
    that fails on the first few. ``waiting`` is called again and again while one that can end a
    call waits for the backend; what it raises ends the wait.
    """

    identity: Identity
    ahead: int = 0
    as_specified: bool = False
    """Whether it converts a layout that its backend declares by itself."""
    probes: Callable[[], Iterable[Vector]] = staticmethod(tuple)
    waiting: Callable[[], None] = staticmethod(lambda: None)

    def __enter__(self) -> Self:
        """Make the backend ready and learn its identity. Raises :class:`BackendError`."""
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End what runs, and drop what was not started yet."""

    @abstractmethod
    def submit(self, vector: Vector) -> None:
        """Hand over one vector; this does not wait."""

    @abstractmethod
    def take(self) -> Outcome:
        """Wait for the oldest vector whose outcome was not taken. Only Ctrl-C is raised."""

    def allow(self, seconds: float) -> None:  # noqa: B027 - nothing can be done about most
        """Give each call so many seconds from now on, where one that takes longer can be ended."""

    def farewell(self) -> tuple[str, ...]:
        """Tell it that no more is asked; what was wrong with how processes of it ended."""
        return ()

    def fresh(self) -> Executor | None:
        """Another executor of the same backend, in a process that was asked nothing; None where
        there is no such process."""
        return None

    def settings(self) -> dict[str, Any]:
        """How the backend is called, as options of the run log."""
        return {"executor": "inline", "jobs": 1, "timeout": None, "memory": None, "env": None}


def identity_of(backend: Backend, spec: str = "") -> Identity:
    """The identity of a backend object in this process, named by ``spec`` if by anything."""
    return Identity(
        name=foreign(told(backend.name, spec)) or "?",
        version=foreign(backend.version) or "?",
        capabilities=capabilities_of(backend),
        facts=_facts(backend),
        process=of_process(),
    )


def _facts(backend: Backend) -> dict[str, str]:
    try:
        return environment_of(backend)
    except Exception as error:  # a backend's own code: what it cannot tell is no reason to stop
        return {"error": describe(error)}
