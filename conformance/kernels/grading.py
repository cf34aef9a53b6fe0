"""Grades a kernel of unknown origin: a fresh suite, a process of its own, a verdict."""

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
from conformance.errors import BackendError, UsageError
from conformance.grade.precision import known, parse_precision, spell
from conformance.kernels import runner
from conformance.kernels.fresh import fresh_suite
from conformance.kernels.isolation import INLINE, Box, KernelIsolation, isolation, spec_of
from conformance.run.executor import Executor
from conformance.run.independent_calls import IndependentCalls
from conformance.run.inline import Inline
from conformance.run.limits import DEFAULT_TIMEOUT, START, Limits, parse_size
from conformance.run.worker_pool import ProcessExecutor
from conformance.spec import loader
from conformance.spec.model import OpSpec
from conformance.suite.store import Suite

MAX_SOURCE = 4 << 20
"""Bytes of a kernel's file."""

CONVENTIONS = ("auto", *runner.CONVENTIONS)
MOST_SEEDS = 1 << 32


@dataclass(frozen=True)
class KernelRequest:
    """How a kernel is graded. ``dtypes`` and ``ranks`` are what it claims, besides what its file
    says under ``CAPABILITIES``; empty ones claim all. ``seed`` None draws one."""

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


@dataclass(frozen=True)
class KernelName:
    """A kernel as its grader knows it: its file's name, and the SHA-256 of the file."""

    name: str
    sha256: str

    @property
    def sentence(self) -> str:
        return f"{self.name}, SHA-256 {self.sha256}"


class KernelProcesses(ProcessExecutor):
    """Processes of a kernel's file, of which name, version and claims are not theirs to tell."""

    def __init__(
        self, words: Sequence[str], limits: Limits, asked: KernelRequest, known: KernelName
    ):
        super().__init__(spec_of(words), limits, jobs=asked.jobs)
        self._asked, self._known = asked, known

    def __enter__(self) -> Self:
        super().__enter__()
        told = self.identity.capabilities
        claims: dict[str, Any] = {}
        if self._asked.dtypes:
            claims["dtypes"] = tuple(self._asked.dtypes)
        if self._asked.ranks:
            claims["ranks"] = tuple(self._asked.ranks)
        if claims:
            told = replace(told or Capabilities(), **claims)
        self.identity = replace(
            self.identity, name=self._known.name, version=self._known.sha256[:12], capabilities=told
        )
        return self


@dataclass
class Prepared:
    """A kernel that is ready to be graded: run :func:`conformance.check` on these two.

    ``left_behind`` is known when the executor has been closed.
    """

    suite: Suite
    executor: Executor
    how: KernelIsolation
    seed: int
    precision: str
    inline: bool = False
    kernel: KernelName | None = None
    _box: Box | None = field(default=None, repr=False)

    @property
    def left_behind(self) -> bool:
        """Whether the kernel's process left others running when it ended."""
        return self._box is not None and self._box.left()

    @property
    def changed_late(self) -> bool:
        """Whether an input was changed after the last call."""
        return self._box is not None and self._box.late()

    def remarks(self, reached: Mapping[str, Any]) -> list[str]:
        """What a verdict has to say besides; ``reached`` is the footer's ``precision_reached``."""
        where = (
            "Isolation: none; a callable was graded inline, in this process."
            if self.inline
            else (f"Isolation: {self.how.sentence}.")
        )
        told = [where, f"Seed: {self.seed} (data that the kernel could not know before)."]
        shown = ", ".join(f"{dtype} {one or 'less'}" for dtype, one in reached.items())
        told.append(f"Precision claimed: {self.precision}; shown: {shown or 'nothing'}.")
        if self.kernel is not None:
            told.append(f"Kernel: {self.kernel.sentence}.")
        if self.executor.independent is not None and self.executor.independent.remark:
            told.append(self.executor.independent.remark)
        if self.changed_late:
            told.append("Refused all the same: an input was changed after its call had returned.")
        if self.left_behind:
            told.append("Refused all the same: its process left others behind, which were ended.")
        return told


@contextmanager
def prepared(
    kernel: str | Path | Callable[..., Any],
    asked: KernelRequest,
    progress: parallel.Progress = lambda *_: None,
) -> Iterator[Prepared]:
    """A kernel, isolated, and a fresh suite for it. ``kernel`` as in :func:`grade_kernel`.

    Raises BackendError for a kernel that cannot be read, UsageError for what cannot be done.
    """
    known(asked.convention, CONVENTIONS, "convention")
    known(asked.suite, SHIPPED_SUITES, "suite")
    precision = parse_precision(asked.precision)
    spec = loader.find_spec(asked.op)
    seed = secrets.randbelow(MOST_SEEDS) if asked.seed is None else asked.seed
    if not 0 <= seed < MOST_SEEDS:
        raise UsageError(f"seed {seed}", hint="give a number from 0 to 4294967295, or none")
    inline = callable(kernel)
    program = isinstance(kernel, str) and is_program(kernel)
    if inline and asked.required:
        raise UsageError(
            f"isolation {asked.required} is required, and a callable is graded in this process",
            hint="give the kernel's file or source",
        )
    how = INLINE if inline else isolation(asked.isolation, asked.required, program=program)
    memory = parse_size(asked.memory) if isinstance(asked.memory, str) else asked.memory
    with Box(how, memory) as box:
        executor: Executor
        who: KernelName | None = None
        if inline:
            executor = _inline(kernel, asked)
        else:
            limits = Limits(asked.timeout, None, start=max(START, asked.timeout))
            executor, who = _processes(box, kernel, spec, asked, limits)
            with _processes(box, kernel, spec, asked, limits)[0]:
                pass  # one that cannot be loaded is told before a suite is made
        suite = fresh_suite(
            spec,
            box.private / "suite",
            seed=seed,
            suite=asked.suite,
            processes=asked.jobs,
            progress=progress,
        )
        executor.independent = IndependentCalls(asked.level, precision)
        yield Prepared(suite, executor, how, seed, spell(precision), inline, who, box)


def _processes(
    box: Box, kernel: Any, spec: OpSpec, asked: KernelRequest, limits: Limits
) -> tuple[ProcessExecutor, KernelName]:
    """What runs a kernel in the box, and the kernel as its files tell."""
    if isinstance(kernel, str) and is_program(kernel):
        words = box.program(kernel)
        name = command_line(kernel)[0]
        digest = sha256(Path(shutil.which(name) or name).read_bytes()).hexdigest()
        run = ProcessExecutor(spec_of(words), limits, jobs=asked.jobs)
        return run, KernelName(f"the program {Path(name).name}", digest)
    name, source = source_of(kernel)
    claims: dict[str, Any] = {}
    if asked.dtypes:
        claims["dtypes"] = list(asked.dtypes)
    if asked.ranks:
        claims["ranks"] = list(asked.ranks)
    words = box.kernel(name, source, spec.op, asked.convention, json.dumps(claims))
    known = KernelName(name, sha256(source.encode()).hexdigest())
    return KernelProcesses(words, limits, asked, known), known


def source_of(kernel: str | Path) -> tuple[str, str]:
    """The name of a kernel's file and its source: of a path, or of a text with several lines.

    Raises BackendError where it cannot be read.
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


def _inline(kernel: Any, asked: KernelRequest) -> Inline:
    """A callable under the conventions of a file."""
    from conformance.errors import Unsupported

    how = asked.convention
    if how == "auto":
        how = "module" if isinstance(kernel, type) else "arrays"
    bound = runner.Bound(kernel, how)

    class Backend:
        name = getattr(kernel, "__name__", "kernel")
        version = "unknown"
        capabilities = Capabilities(
            operators=(loader.find_spec(asked.op).op,),
            dtypes=tuple(asked.dtypes) or None,
            ranks=tuple(asked.ranks) or None,
        )

        def run(self, op: str, inputs: Any, attributes: Any) -> Any:  # noqa: ARG002
            try:
                return bound.run(inputs, attributes)
            except runner.Unsupported as error:
                raise Unsupported(str(error)) from error

    if not (asked.dtypes or asked.ranks):
        del Backend.capabilities
    return Inline(Backend())


__all__ = ["KernelRequest", "Prepared", "prepared"]
