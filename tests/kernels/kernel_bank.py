"""The bank of exploits and of honest odd kernels: what their files say, and how they are graded."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance import check, load_suite
from conformance.backends.capabilities import Capabilities
from conformance.challenge.digests import HashingExecutor
from conformance.challenge.select_suite import select_suite
from conformance.errors import BackendError, UsageError
from conformance.grade.precision import parse_precision
from conformance.kernels import KernelRun, grade_kernel
from conformance.kernels.isolation import KernelIsolation, KernelSandbox, backend_name_of
from conformance.model import FAILED, Result
from conformance.run.executor import Executor
from conformance.run.executor_options import Isolation
from conformance.run.independent_calls import IndependentCalls
from conformance.specification import find_spec
from conformance.suite.store import Suite, open_suite

HERE = Path(__file__).parent
OPERATOR = "onnx.GlobalAveragePool-22"


@dataclass(frozen=True)
class Kernel:
    """One file. ``level`` is the isolation at which an exploit has to be refused."""

    path: Path
    about: str
    level: int = 0
    op: str = OPERATOR
    suite: str = "smoke"
    timeout: float = 30.0
    precision: str = "standard"
    convention: str = "auto"
    needs: str = ""
    public: str = ""
    """Whether the published core suite ``refuses`` it or ``passes`` it, as measured."""
    challenge: str = ""
    """Whether a fresh challenge ``refuses`` it, or ``passes: `` and why, as measured."""
    missed: str = ""
    """Why grade-kernel does not refuse it either, if it does not."""

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def through(self) -> str:
        """Why a fresh challenge lets an exploit through; empty if it does not."""
        return self.challenge.partition("passes: ")[2]

    @property
    def guide_only(self) -> bool:
        """Whether somebody wrote it who saw the guide alone."""
        return self.path.parent.name == "guide_only"


def read(path: Path) -> Kernel:
    """A kernel with what the last paragraph of its docstring says, ``name: value`` by line."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    about, _, fields = text.rpartition("\n\n")
    told = dict(line.split(": ", 1) for line in fields.splitlines())
    known = {"level": int, "timeout": float}
    more = {name: known.get(name, str)(value) for name, value in told.items()}
    return Kernel(path, " ".join(about.split()), **more)


def kernels(kind: str) -> list[Kernel]:
    """All ``exploits`` or all ``honest`` kernels, those of others too."""
    return [read(path) for path in sorted((HERE / kind).rglob("*.py"))]


def graded(kernel: Kernel, level: int, seed: int | None = None) -> KernelRun:
    """The verdict of grade-kernel at a level of isolation."""
    return grade_kernel(
        kernel.path,
        op=kernel.op,
        suite=kernel.suite,
        isolation=level,
        timeout=kernel.timeout,
        precision=kernel.precision,
        convention=kernel.convention,
        seed=seed,
    )


def public(kernel: Kernel) -> str:
    """Whether ``conformance check`` on the published core suite passes or refuses a kernel."""
    return checked(kernel, lambda _: published(), lambda executor: executor)


@cache
def published() -> Suite:
    """The shipped core suite."""
    return load_suite()


def challenged(
    kernel: Kernel,
    folder: Path,
    seed: int,
    suite: str = "core",
    claims: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Whether ``conformance challenge run`` passes or refuses a kernel.

    The suite is selected as a challenge does it, for what the kernel declares, and ``claims``
    besides. But its seed is given: kernels with the same operator and declaration share one, which
    lies in ``folder``.
    """
    spec = find_spec(kernel.op)

    def selected(declared: Capabilities | None) -> Suite:
        told = "" if declared is None else json.dumps(declared.to_json(), sort_keys=True)
        name = f"{suite}-{seed}-{spec.op}-{sha256(told.encode()).hexdigest()[:8]}"
        place = folder / name / "suite"
        if place.exists():
            return open_suite(place)
        return select_suite(
            {spec.op: spec},
            place,
            suite=suite,
            seed=seed,
            declared=declared,
            processes=1,
            progress=lambda *_: None,
        )

    def twice(executor: Executor) -> Executor:
        executor.independent = IndependentCalls("must", parse_precision(kernel.precision))
        return executor

    return checked(kernel, selected, twice, claims)


class Wrong(Exception):
    """A vector that failed: the rest of the run would not make it right."""


def checked(
    kernel: Kernel,
    suite_for: Callable[[Capabilities | None], Suite],
    asking: Callable[[Executor], Executor],
    claims: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Whether a kernel passes or is refused on the suite for what it declares.

    It is run as a challenge runs a program. The program is the runner of grade-kernel, which calls
    kernel files, at level 0, so that what a kernel leaves behind is ended.
    """

    def stop(event: object) -> None:
        if isinstance(event, Result) and event.status in FAILED:
            raise Wrong

    with KernelSandbox(KernelIsolation(0)) as box:
        source = kernel.path.read_text(encoding="utf-8")
        told = json.dumps(dict(claims))
        words = box.kernel(kernel.path.name, source, kernel.op, kernel.convention, told)
        runner = Isolation("process", 1, kernel.timeout, hashed=True)
        try:
            with runner.executor_for(backend_name_of(words)) as loaded:
                identity = loaded.identity
            suite = suite_for(identity.capabilities)
            hashing = HashingExecutor(runner.executor_for(backend_name_of(words)), identity.pieces)
            run = check(
                suite,
                asking(hashing),
                ops=[kernel.op],
                precision=kernel.precision,
                on_event=stop,
            )
        except (Wrong, BackendError, UsageError):
            return "refuses"
        return "passes" if run.footer["exit_code"] == 0 else "refuses"


def reasons(run: KernelRun) -> str:
    """The kinds of failure, for people who read a failing test."""
    found = {(one.kind, one.message[:200]) for one in run.run.results if one.kind}
    return f"{run.run.footer['sentence']} {sorted(found)[:4]} {run.remarks}"
