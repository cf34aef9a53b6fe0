"""How far the process of a kernel is kept apart, and whether this machine can do it."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from conformance import data
from conformance.backends.program import MARK, command_line, is_program
from conformance.errors import UsageError
from conformance.kernels import jail

HERE = Path(__file__).parent
PROBE_SECONDS = 60.0

SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf.d", "/opt/cuda")
FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory", "/sys/devices/system")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
PASSED = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
"""Variables of the host's environment that a kernel's process gets."""

LIMITS = {"core": 0, "fsize": 1 << 28, "nofile": 256, "nproc": 512}

NAMESPACES = ("user", "pid", "network", "ipc")
WAYS: tuple[tuple[bool, tuple[str, ...]], ...] = (
    (True, NAMESPACES),
    (True, NAMESPACES[1:]),
    (False, NAMESPACES),
)
"""Whether to become another user, and which namespaces to make: the best way first."""

TOLD = {
    "user": "user namespace",
    "pid": "process namespace",
    "network": "no network",
    "ipc": "no shared memory",
}


@dataclass(frozen=True)
class KernelIsolation:
    """A level, and the means by which it is had; ``missing`` says why it is not a higher one."""

    level: int
    means: tuple[str, ...] = ()
    missing: str = ""
    other_user: bool = False
    namespaces: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The level for people, with what it protects from."""
        if self.level == 2:
            return "level 2 (your container: what it keeps apart is not tested here)"
        if self.level == 1:
            return f"level 1 ({', '.join(self.means)})"
        why = f"; level 1 cannot be had here: {self.missing}" if self.missing else ""
        return f"level 0 (a process: finds honest mistakes, no attacks{why})"


INLINE = KernelIsolation(0, missing="the kernel is a callable of this process")


def isolation(asked: int | None, required: int, *, program: bool) -> KernelIsolation:
    """The isolation of a run: the level that is ``asked``, None for the best of 0 and 1.

    Raises UsageError where ``required`` is more than can be had.
    """
    if asked == 2:
        if not program:
            raise UsageError(
                "isolation 2 is a container of your own, which a file has not",
                hint='start it as a program: --isolation 2 "exec:docker run -i --rm ..."',
            )
        return KernelIsolation(2)
    best = KernelIsolation(0) if asked == 0 else best_here()
    need = max(required, asked or 0)
    if best.level < need:
        why = best.missing or f"isolation {asked} was asked for"
        raise UsageError(
            f"isolation {need} is required and cannot be had: {why}",
            hint="run where user namespaces and Landlock are allowed, or use a container of your "
            'own: --isolation 2 "exec:..."',
        )
    return best


@cache
def best_here() -> KernelIsolation:
    """Level 1 where this machine allows it, tried once with a process of Python and numpy."""
    if sys.platform != "linux":
        return KernelIsolation(0, missing="it needs Linux")
    version = jail.landlock_version()
    if not version:
        return KernelIsolation(0, missing="the system has no Landlock")
    why = ""
    for other, names in WAYS:
        if other and os.geteuid() != 0:
            continue
        means = (
            *(["another user"] if other else []),
            *(TOLD[name] for name in names),
            *(["no sockets and keyrings"] if os.uname().machine in jail.REFUSED else []),
            f"Landlock {version}",
            "limits",
        )
        found = KernelIsolation(1, means, other_user=other, namespaces=names)
        failure = _tried(found)
        if not failure:
            return found
        why = why or failure
    return KernelIsolation(0, missing=why)


def _tried(found: KernelIsolation) -> str:
    """Why a process cannot be isolated so; empty where it can."""
    with Box(found) as box:
        words = box.command([sys.executable, "-I", "-B", "-c", "import numpy"])
        try:
            done = subprocess.run(  # noqa: S603 - no shell
                words, capture_output=True, timeout=PROBE_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)[:200]
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return "" if done.returncode == 0 else (lines[-1] if lines else f"exit {done.returncode}")[:200]


class Box:
    """A folder for a kernel's process, and one of the host's own. A context manager.

    The kernel's process may read ``folder`` and write in its ``work``; the host's folder
    ``private`` is closed to other users. ``memory`` bounds its address space, in bytes.
    """

    def __init__(self, how: KernelIsolation, memory: int | None = None) -> None:
        self.how = how
        self._limits = LIMITS | ({} if memory is None else {"as": memory})
        self.private = Path(tempfile.mkdtemp(prefix="conformance-host-"))
        self.folder = Path(tempfile.mkdtemp(prefix="kernel-"))
        self.work = self.folder / "work"
        self.work.mkdir()
        self.folder.chmod(0o755)
        self.work.chmod(0o777)  # the kernel's process may be another user's
        self.notes = self.private / "notes"
        for name in ("runner.py", "jail.py"):
            self.put(name, (HERE / name).read_text(encoding="utf-8"))

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_error: object) -> None:
        for folder in (self.private, self.folder):
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, name: str, text: str) -> Path:
        """A file in the kernel's folder that its process may read."""
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        file.chmod(0o644)
        return file

    def kernel(self, name: str, source: str, op: str, convention: str, claims: str) -> list[str]:
        """The command that serves a kernel of this source, isolated."""
        file = self.put(name, source)
        version = sha256(source.encode()).hexdigest()[:12]
        runner = [sys.executable, "-I", "-B", str(self.folder / "runner.py")]
        return self.command([*runner, str(file), version, op, convention, claims])

    def program(self, spec: str) -> list[str]:
        """The command that starts the program of ``exec:...``, isolated."""
        words = command_line(spec)
        found = shutil.which(words[0])
        assert found is not None
        program = Path(found).absolute()
        files = [Path(word).absolute() for word in words[1:] if Path(word).is_file()]
        named = {str(one) for one in files}
        rest = [
            str(Path(w).absolute()) if str(Path(w).absolute()) in named else w for w in words[1:]
        ]
        return self.command([str(program), *rest], [str(program.parent), *sorted(named)])

    def command(self, words: Sequence[str], readable: Sequence[str] = ()) -> list[str]:
        """The command line of a process that is isolated and does ``words``."""
        file = self.private / f"jail-{secrets.token_hex(4)}.json"
        file.write_text(json.dumps(self._config(words, readable)), encoding="utf-8")
        return [sys.executable, "-I", "-B", str(HERE / "jail.py"), str(file)]

    def left(self) -> bool:
        """Whether the kernel's process left others behind."""
        return self.notes.is_file() and jail.LEFT in self.notes.read_text(encoding="utf-8")

    def _config(self, words: Sequence[str], readable: Sequence[str]) -> Mapping[str, Any]:
        hidden = [HERE.parent, data.directory("specs"), data.directory("vectors"), self.private]
        roots = dict.fromkeys(
            (*SYSTEM, sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent))
        )
        return {
            "level": self.how.level,
            "command": list(words),
            "environment": self._environment(),
            "folder": str(self.work),
            "notes": str(self.notes),
            "limits": self._limits,
            "other_user": self.how.other_user,
            "namespaces": list(self.how.namespaces),
            "readable": [
                *(str(p) for root in roots for p in without(Path(root), hidden)),
                *FACTS,
                str(self.folder),
                *readable,
            ],
            "listed": list(roots),
            "writable": [str(self.work), *DEVICES],
        }

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in PASSED if name in os.environ}
        place = str(self.work)
        own = {"HOME": place, "TMPDIR": place, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        return kept | own


def without(root: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """The paths below a root that together are all of it but what is hidden."""
    real = root.resolve()
    there = [one.resolve() for one in hidden]
    if real in there:
        return
    if not any(one.is_relative_to(real) for one in there):
        yield root
        return
    for inner in sorted(real.iterdir()):
        yield from without(inner, hidden)


def spec_of(words: Sequence[str]) -> str:
    """A command line as the name of a backend."""
    return MARK + shlex.join(words)


__all__ = ["INLINE", "Box", "KernelIsolation", "best_here", "is_program", "isolation", "spec_of"]
