"""Options for isolating a backend, checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.backends.discovery import load_backend
from conformance.backends.program import is_program
from conformance.backends.protocol import as_backend
from conformance.check_options import OPTIONS, CheckOptions
from conformance.errors import UsageError
from conformance.grade.precision import check_choice
from conformance.run.executor import Executor
from conformance.run.inline import Inline
from conformance.run.limits import DEFAULT_TIMEOUT, START, Limits, parse_size, spell_size
from conformance.run.worker_pool import ProcessExecutor

TRUSTED = ("reference", "numpy")
"""Backends of this package that compute in plain Python and numpy and need no watching."""


@dataclass(frozen=True)
class Isolation:
    """What is asked for; None stands for the default.

    ``executor`` is ``process`` or ``inline``, ``jobs`` the number of processes, ``timeout`` the
    seconds for a vector, ``memory`` the bytes of resident memory for a process, as a number or as
    in ``"2G"``, ``env`` the folder of a virtual environment that the processes run in.
    ``hashed`` asks what the backend is made of, which only processes of its own can say.
    ``variables`` are set in the environment of these processes.
    """

    executor: str | None = None
    jobs: int | None = None
    timeout: float | None = None
    memory: int | str | None = None
    env: str | None = None
    hashed: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, options: CheckOptions) -> Isolation:
        """Take what the options of a check say of it."""
        return cls(
            options.executor, options.jobs, options.timeout, options.memory, options.env_name
        )

    def executor_for(self, backend: object) -> Executor:
        """Make the executor of a backend, given as an object or by name.

        An executor stays as it is. Only a named backend can be loaded in another process.

        Raises:
            UsageError: the options cannot be followed for this backend.
            BackendError: the backend cannot be used.
        """
        if isinstance(backend, Executor):
            return backend
        bounds = (self.jobs, self.timeout, self.memory, self.env)
        named = isinstance(backend, str)
        if self.executor is not None:
            kind = check_choice(self.executor, OPTIONS["executor"].choices, "executor")
        elif named and os.name == "posix":
            plain = backend in TRUSTED and set(bounds) == {None} and not self.hashed
            kind = "inline" if plain else "process"
        else:
            kind = "inline"
        if kind == "inline" and isinstance(backend, str) and is_program(backend):
            raise UsageError(
                f"{backend} is a program: it runs in a process of its own",
                hint="leave --executor out",
            )
        if kind == "process":
            if not isinstance(backend, str):
                raise UsageError(
                    "a backend given as an object cannot be loaded in another process",
                    hint='name it, as in "mypackage.adapter:MyLib" or "mylib.py:MyLib"',
                )
            timeout = DEFAULT_TIMEOUT if self.timeout is None else self.timeout
            jobs = 1 if self.jobs is None else self.jobs
            limits = Limits(timeout, self._bytes(), start=max(START, timeout))
            return ProcessExecutor(
                backend,
                limits,
                jobs=jobs,
                env=self.env,
                hashed=self.hashed,
                variables=self.variables,
            )
        if bounds not in ((None, None, None, None), (1, None, None, None)):
            raise UsageError(
                "jobs, timeout, memory and env need processes of their own for the backend",
                hint="leave them out, or use the executor 'process' with a backend that has a name",
            )
        if isinstance(backend, str):
            return Inline(load_backend(backend), backend)
        return Inline(as_backend(backend))

    def _bytes(self) -> int | None:
        return parse_size(self.memory) if isinstance(self.memory, str) else self.memory


def words(backend: str, settings: Mapping[str, Any]) -> list[str]:
    """Return the arguments that give an executor these settings, without ``jobs``.

    Args:
        settings: those of :meth:`conformance.run.executor.Executor.settings`, or as many of them
            as a log has; defaults are left out.
    """
    arguments: list[str] = []
    usual = "inline" if backend in TRUSTED else "process"
    if settings.get("executor", usual) != usual:
        arguments += ["--executor", settings["executor"]]
    if settings.get("timeout") not in (None, DEFAULT_TIMEOUT):
        arguments += ["--timeout", f"{settings['timeout']:g}"]
    if settings.get("memory") is not None:
        arguments += ["--memory", spell_size(settings["memory"])]
    if settings.get("env") is not None:
        arguments += ["--env", settings["env"]]
    return arguments
