"""``grade_kernel``, the Python interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import api
from conformance.errors import EXIT_NOT_CONFORMANT
from conformance.kernels.preparation import KernelRequest, PreparedKernel, prepare_kernel
from conformance.run.limits import DEFAULT_TIMEOUT


@dataclass(frozen=True)
class KernelRun:
    """A graded kernel.

    Attributes:
        run: its check.
        isolation: the level under which it ran; None for a callable in this process.
        seed: the seed of the data.
        remarks: sentences for people.
        left_behind: its process left others running, so it is refused.
        changed_late: an input was changed after the last call, so it is refused.
    """

    run: api.Run
    isolation: int | None
    seed: int
    remarks: tuple[str, ...]
    left_behind: bool
    changed_late: bool = False

    @property
    def passed(self) -> bool:
        """True if nothing is wrong with it and the strength suffices: exit code 0."""
        return self.exit_code == 0

    @property
    def conformant(self) -> bool:
        """True if :attr:`conformance.Run.conformant`, and it did nothing illicit later."""
        return self.run.conformant and not (self.left_behind or self.changed_late)

    @property
    def exit_code(self) -> int:
        """The exit code, as ``conformance check`` has it."""
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
    """Grade a kernel on data that it cannot know, in a process of its own.

    docs/grade-kernel.md says what a kernel file defines. Each vector is run twice.

    Args:
        kernel: the path of a Python file, its source (a text of several lines), ``exec:`` and the
            command of a program, or a callable, which is graded in this process without isolation.
        op: a shipped operator, or the path of a specification.
        convention: ``auto``, ``arrays`` (a function of numpy arrays), ``tensors`` (of torch
            tensors) or ``module`` (a class with ``forward``).
        suite: ``core``, or ``smoke`` for a first look, which claims nothing.
        seed: repeats an earlier run; leave it out, so that nobody can know the data.
        isolation: 0, 1 or, for a program, 2: your container; None takes the best of 0 and 1.
        require_isolation: refuses a lower level.
        dtypes: element types that are claimed; others are not tested.
        ranks: ranks that are claimed; others are not tested.
        timeout: seconds for a call.
        memory: bounds what its processes take together, in bytes or as ``"2G"``; 8 GiB by default.

    ``level``, ``precision``, ``jobs`` and ``on_event`` are those of :func:`conformance.check`.

    Raises:
        BackendError: the kernel cannot be read, or defines nothing that a convention takes.
        UsageError: an option makes no sense, or the isolation is not available.
        SpecError: a specification cannot be used.
    """
    request = KernelRequest(
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
    with prepare_kernel(kernel, request) as prepared:
        run = api.check(
            prepared.suite, prepared.executor, level=level, precision=precision, on_event=on_event
        )
        return make_run(prepared, run)


def make_run(prepared: PreparedKernel, run: api.Run) -> KernelRun:
    """Make the result of a check of a prepared kernel, before its folders are deleted."""
    remarks = tuple(prepared.remarks(run.footer["precision_reached"]))
    level = None if prepared.inline else prepared.isolation.level
    return KernelRun(
        run, level, prepared.seed, remarks, prepared.left_behind, prepared.changed_late
    )
