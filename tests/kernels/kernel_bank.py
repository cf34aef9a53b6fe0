"""The bank of exploits and of honest odd kernels: what their files say, and how they are graded."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from pathlib import Path

from conformance import check, load_suite
from conformance.grade.precision import parse_precision
from conformance.kernels import KernelRun, grade_kernel
from conformance.kernels.isolation import Box, KernelIsolation, spec_of
from conformance.model import FAILED
from conformance.run.limits import Limits
from conformance.run.pool import ProcessExecutor
from conformance.run.single import Examiner

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
    missed: str = ""
    """Why grade-kernel does not refuse it either, if it does not."""

    @property
    def name(self) -> str:
        return self.path.stem

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
    suite, precision = load_suite(), parse_precision(kernel.precision)
    claims = json.dumps({})
    with Box(KernelIsolation(0)) as box:
        source = kernel.path.read_text(encoding="utf-8")
        words = box.kernel(kernel.path.name, source, kernel.op, kernel.convention, claims)
        spec = spec_of(words)
        with ProcessExecutor(spec, Limits(kernel.timeout)) as executor:
            examiner = Examiner(executor, suite.specs, "must", precision)
            for vector in suite.vectors([kernel.op]):
                if examiner.ask(vector)[0].status in FAILED:
                    return "refuses"  # as a whole check would, which takes longer
        run = check(suite, spec, ops=[kernel.op], timeout=kernel.timeout)
        return "passes" if run.footer["exit_code"] == 0 else "refuses"


def reasons(run: KernelRun) -> str:
    """The kinds of failure, for people who read a failing test."""
    found = {(one.kind, one.message[:200]) for one in run.run.results if one.kind}
    return f"{run.run.footer['sentence']} {sorted(found)[:4]} {run.remarks}"
