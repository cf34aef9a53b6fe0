"""Prepares a kernel of unknown origin for grading: a fresh suite and a process of its own."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from conformance import parallel
from conformance.backends.capabilities import Capabilities
from conformance.backends.program import command_line, is_program
from conformance.choices import SHIPPED_SUITES
from conformance.core.operator import Operator
from conformance.errors import BackendError, UsageError
from conformance.grade.precision import check_choice, format_precision, parse_precision
from conformance.kernels import runner
from conformance.kernels.fresh import fresh_suite
from conformance.kernels.isolation import (
    INLINE,
    KernelIsolation,
    KernelSandbox,
    backend_name_of,
    choose_isolation,
)
from conformance.run.executor import Executor
from conformance.run.independent_calls import IndependentCalls
from conformance.run.inline import Inline
from conformance.run.limits import DEFAULT_TIMEOUT, START, Limits, parse_size
from conformance.run.worker_pool import ProcessExecutor
from conformance.specification import find_spec
from conformance.suite.store import Suite

MAX_SOURCE = 4 << 20
"""Bytes of a kernel's file."""

CONVENTIONS = ("auto", *runner.CONVENTIONS)
SEEDS = 1 << 32


@dataclass(frozen=True)
class KernelRequest:
    """The options of grading a kernel.

    Attributes:
        dtypes: element types that it claims, besides ``CAPABILITIES`` of its file; empty for all.
        ranks: ranks that it claims, likewise.
        seed: drawn if None.
    """

    op: str
    convention: str = "auto"
    level: str = "must"
    precision: str | Mapping[str, str] = "standard"
    suite: str = "core"
    seed: int | None = None
    isolation: int | None = None
    required: int = 0
    dtypes: Sequence[str] = ()
    ranks: Sequence[int] = ()
    jobs: int = 1
    timeout: float = DEFAULT_TIMEOUT
    memory: int | str | None = None

    @property
    def claims(self) -> dict[str, Any]:
        """The claimed element types and ranks, as capabilities declare them."""
        claims = {"dtypes": tuple(self.dtypes), "ranks": tuple(self.ranks)}
        return {key: values for key, values in claims.items() if values}


@dataclass(frozen=True)
class KernelName:
    """The name of a kernel's file, and the SHA-256 of the file."""

    name: str
    sha256: str

    @property
    def sentence(self) -> str:
        return f"{self.name}, SHA-256 {self.sha256}"


class KernelProcesses(ProcessExecutor):
    """Processes of a kernel's file, whose name, version and claims the grader states."""

    def __init__(
        self,
        arguments: Sequence[str],
        limits: Limits,
        request: KernelRequest,
        kernel_name: KernelName,
    ):
        super().__init__(backend_name_of(arguments), limits, jobs=request.jobs)
        self._request, self._kernel_name = request, kernel_name

    def __enter__(self) -> Self:
        super().__enter__()
        capabilities = self.identity.capabilities
        if claims := self._request.claims:
            capabilities = replace(capabilities or Capabilities(), **claims)
        self.identity = replace(
            self.identity,
            name=self._kernel_name.name,
            version=self._kernel_name.sha256[:12],
            capabilities=capabilities,
        )
        return self


@dataclass
class PreparedKernel:
    """A kernel that is ready to be graded: check ``suite`` on ``executor``."""

    suite: Suite
    executor: Executor
    isolation: KernelIsolation
    seed: int
    precision: str
    inline: bool = False
    kernel: KernelName | None = None
    _sandbox: KernelSandbox | None = field(default=None, repr=False)

    @property
    def left_behind(self) -> bool:
        """True if the kernel's process left others running, once it is closed."""
        return self._sandbox is not None and self._sandbox.left_processes()

    @property
    def changed_late(self) -> bool:
        """True if an input was changed after the last call."""
        return self._sandbox is not None and self._sandbox.changed_input_late()

    def remarks(self, reached: Mapping[str, Any]) -> list[str]:
        """Return remarks on a verdict; ``reached`` is ``precision_reached`` of the footer."""
        isolation = (
            "Isolation: none; a callable was graded inline, in this process."
            if self.inline
            else (f"Isolation: {self.isolation.sentence}.")
        )
        remarks = [isolation, f"Seed: {self.seed} (data that the kernel could not know before)."]
        shown_text = ", ".join(
            f"{dtype} {precision or 'less'}" for dtype, precision in reached.items()
        )
        remarks.append(f"Precision claimed: {self.precision}; shown: {shown_text or 'nothing'}.")
        if self.kernel is not None:
            remarks.append(f"Kernel: {self.kernel.sentence}.")
        independent = self.executor.independent
        if independent is not None and independent.remark:
            remarks.append(independent.remark)
        if self.changed_late:
            remarks.append(
                "Refused all the same: an input was changed after its call had returned."
            )
        if self.left_behind:
            remarks.append(
                "Refused all the same: its process left others behind, which were ended."
            )
        return remarks


@contextmanager
def prepare_kernel(
    kernel: str | Path | Callable[..., Any],
    request: KernelRequest,
    progress: parallel.Progress = lambda *_: None,
) -> Iterator[PreparedKernel]:
    """Isolate a kernel, as :func:`grade_kernel` takes it, and make a fresh suite for it.

    Raises:
        BackendError: the kernel cannot be read.
        UsageError: an option cannot be met.
    """
    check_choice(request.convention, CONVENTIONS, "convention")
    check_choice(request.suite, SHIPPED_SUITES, "suite")
    precision = parse_precision(request.precision)
    spec = find_spec(request.op)
    seed = secrets.randbelow(SEEDS) if request.seed is None else request.seed
    if not 0 <= seed < SEEDS:
        raise UsageError(f"seed {seed}", hint="give a number from 0 to 4294967295, or none")
    inline = callable(kernel)
    program = isinstance(kernel, str) and is_program(kernel)
    if inline and request.required:
        raise UsageError(
            f"isolation {request.required} is required, and a callable is graded in this process",
            hint="give the kernel's file or source",
        )
    isolation = (
        INLINE if inline else choose_isolation(request.isolation, request.required, program=program)
    )
    memory = parse_size(request.memory) if isinstance(request.memory, str) else request.memory
    with KernelSandbox(isolation, memory) as sandbox:
        executor: Executor
        kernel_name: KernelName | None = None
        if inline:
            executor = _inline_executor(kernel, request)
        else:
            limits = Limits(request.timeout, None, start=max(START, request.timeout))
            executor, kernel_name = _processes(sandbox, kernel, spec, request, limits)
            with _processes(sandbox, kernel, spec, request, limits)[0]:
                pass  # one that cannot be loaded is told before a suite is made
        suite = fresh_suite(
            spec,
            sandbox.private / "suite",
            seed=seed,
            suite=request.suite,
            processes=request.jobs,
            progress=progress,
        )
        executor.independent = IndependentCalls(request.level, precision)
        yield PreparedKernel(
            suite,
            executor,
            isolation,
            seed,
            format_precision(precision),
            inline,
            kernel_name,
            sandbox,
        )


def _processes(
    sandbox: KernelSandbox, kernel: Any, spec: Operator, request: KernelRequest, limits: Limits
) -> tuple[ProcessExecutor, KernelName]:
    """Return an executor of a kernel in the sandbox, and the kernel's name."""
    if isinstance(kernel, str) and is_program(kernel):
        arguments = sandbox.program(kernel)
        name = command_line(kernel)[0]
        digest = sha256(Path(shutil.which(name) or name).read_bytes()).hexdigest()
        executor = ProcessExecutor(backend_name_of(arguments), limits, jobs=request.jobs)
        return executor, KernelName(f"the program {Path(name).name}", digest)
    name, source = source_of(kernel)
    arguments = sandbox.kernel(
        name, source, spec.op, request.convention, json.dumps(request.claims)
    )
    kernel_name = KernelName(name, sha256(source.encode()).hexdigest())
    return KernelProcesses(arguments, limits, request, kernel_name), kernel_name


def source_of(kernel: str | Path) -> tuple[str, str]:
    """Return name and source of a kernel, from a path or several lines of text.

    Raises:
        BackendError: it cannot be read.
    """
    if isinstance(kernel, str) and "\n" in kernel:
        return "kernel.py", kernel
    path = Path(kernel)
    if path.suffix != ".py" or not path.is_file():
        raise BackendError(
            f"no file {path}" if not path.is_file() else f"{path} is no Python file",
            hint='give FILE.py, or a program as "exec:./runner"',
        )
    if not path.name.isprintable():
        raise BackendError("the kernel's file has a name that cannot be printed", hint="rename it")
    if path.stat().st_size > MAX_SOURCE:
        raise BackendError(f"{path}: more than {MAX_SOURCE} bytes", hint="give the kernel's source")
    try:
        return path.name, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BackendError(f"{path}: cannot be read: {error}", hint="save it as UTF-8") from error


def _inline_executor(kernel: Any, request: KernelRequest) -> Inline:
    """Return an executor of a callable under the conventions of a file."""
    from conformance.errors import Unsupported

    convention = request.convention
    if convention == "auto":
        convention = "module" if isinstance(kernel, type) else "arrays"
    bound = runner.BoundKernel(kernel, convention)

    class Backend:
        name = getattr(kernel, "__name__", "kernel")
        version = "unknown"
        capabilities = Capabilities(operators=(find_spec(request.op).op,), **request.claims)

        def run(self, op: str, inputs: Any, attributes: Any) -> Any:  # noqa: ARG002
            try:
                return bound.run(inputs, attributes)
            except runner.Unsupported as error:
                raise Unsupported(str(error)) from error

    if not request.claims:
        del Backend.capabilities
    return Inline(Backend())


__all__ = ["KernelRequest", "PreparedKernel", "prepare_kernel"]
