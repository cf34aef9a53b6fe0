"""``grade_kernel``: the Python interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import api
from conformance.errors import EXIT_NOT_CONFORMANT
from conformance.kernels.preparation import KernelRequest, Prepared, prepared
from conformance.run.limits import DEFAULT_TIMEOUT


@dataclass(frozen=True)
class KernelRun:
    """A graded kernel: the ``run`` of its check, and what was special about it.

    ``isolation`` is the level under which it ran, None for a callable in this process; ``seed``
    that of the data; ``remarks`` are sentences for people. ``left_behind`` says that its process
    left others running, ``changed_late`` that an input was changed after the last call: for either
    it is refused.
    """

    run: api.Run
    isolation: int | None
    seed: int
    remarks: tuple[str, ...]
    left_behind: bool
    changed_late: bool = False

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong with it and the evidence suffices: exit code 0."""
        return self.exit_code == 0

    @property
    def conformant(self) -> bool:
        """As :attr:`conformance.Run.conformant`, and it is not refused for what it did later."""
        return self.run.conformant and not (self.left_behind or self.changed_late)

    @property
    def exit_code(self) -> int:
        """As ``conformance check`` has it."""
        code = int(self.run.footer["exit_code"])
        refused = self.left_behind or self.changed_late
        return EXIT_NOT_CONFORMANT if refused and not code else code


def grade_kernel(
    kernel: str | Path | Callable[..., Any],
    *,
    op: str,
    convention: str = "auto",
    level: str = "must",
    precision: str | Mapping[str, str] = "standard",
    suite: str = "core",
    seed: int | None = None,
    isolation: int | None = None,
    require_isolation: int = 0,
    dtypes: Sequence[str] = (),
    ranks: Sequence[int] = (),
    jobs: int = 1,
    timeout: float = DEFAULT_TIMEOUT,
    memory: int | str | None = None,
    on_event: Callable[[Any], None] | None = None,
) -> KernelRun:
    """Grade a kernel on data that it cannot have seen, in a process of its own.

    ``kernel`` is the path of a Python file, its source (a text of several lines), ``exec:`` and the
    command of a program, or a callable, which is graded in this process without isolation.
    docs/grade-kernel.md says what a file defines; ``convention`` is ``auto``, ``arrays`` (a
    function of numpy arrays), ``tensors`` (of torch tensors) or ``module`` (a class with
    ``forward``). ``op`` is a shipped operator or the path of a specification. ``suite`` is
    ``core``, or ``smoke`` for a first look, which claims nothing. ``dtypes`` and ``ranks`` are
    claimed, all else is not tested. ``isolation`` is 0, 1 or, for a program, 2: your container;
    None takes the best of 0 and 1, and ``require_isolation`` refuses less. ``memory`` bounds what
    its processes take together, in bytes or as ``"2G"``; 8 GiB if it is left out. ``seed`` repeats
    an earlier run; leave it out, so that nobody can know the data. ``level``, ``precision``,
    ``timeout`` (seconds for a call), ``jobs`` and ``on_event`` as in :func:`conformance.check`.
    Each vector is asked twice.

    Raises:
        BackendError: the kernel cannot be read, or defines nothing that a convention takes.
        UsageError: an option that makes no sense, or an isolation that cannot be had.
        SpecError: a specification that cannot be used.
    """
    asked = KernelRequest(
        op=op,
        convention=convention,
        level=level,
        precision=precision,
        suite=suite,
        seed=seed,
        isolation=isolation,
        required=require_isolation,
        dtypes=dtypes,
        ranks=ranks,
        jobs=jobs,
        timeout=timeout,
        memory=memory,
    )
    with prepared(kernel, asked) as ready:
        run = api.check(
            ready.suite, ready.executor, level=level, precision=precision, on_event=on_event
        )
        return finished(ready, run)


def finished(ready: Prepared, run: api.Run) -> KernelRun:
    """The result of a check of what was ``prepared``, before its folders are gone."""
    remarks = tuple(ready.remarks(run.footer["precision_reached"]))
    level = None if ready.inline else ready.how.level
    return KernelRun(run, level, ready.seed, remarks, ready.left_behind, ready.changed_late)
