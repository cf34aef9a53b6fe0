"""How far the process of a kernel is kept apart, and whether this machine can do it."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance import data
from conformance.backends.program import MARK, command_line, is_program
from conformance.errors import UsageError
from conformance.kernels import jail
from conformance.suite import vector_cache

HERE = Path(__file__).parent
PROBE_SECONDS = 60.0

SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf.d", "/opt/cuda")
FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory", "/sys/devices/system")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
PASSED = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
"""Variables of the host's environment that a kernel's process gets."""

LIMITS = {"core": 0, "fsize": 1 << 28, "nofile": 256, "nproc": 512}
MEMORY = 8 << 30
"""Bytes that the processes of a kernel may take together, where nothing else is asked."""

DISK = 1 << 29
"""Bytes that a kernel may write at level 1, in its folder and in shared memory each."""

PACKAGES = ("numpy", "ml_dtypes", "torch")
"""What a kernel may need that may lie elsewhere than this Python."""

APART = ("pid", "network", "ipc")


@dataclass(frozen=True)
class Way:
    """How level 1 is made: as root, which mounts and then becomes another user, or as a user.

    ``namespaces`` are made first, ``inner`` ones when root has become the other user. No way maps
    the user 0: it could change what root owns.
    """

    other_user: bool
    root_mounts: bool
    namespaces: tuple[str, ...]
    inner: tuple[str, ...] = ()


WAYS = (
    Way(True, True, APART, ("user",)),
    Way(True, True, APART),
    Way(True, False, ("user", *APART)),
    Way(False, False, ("user", *APART)),
)
"""The best way first."""

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
    way: Way | None = None

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
    if os.uname().machine not in jail.REFUSED:
        return KernelIsolation(0, missing=f"no filter of system calls for {os.uname().machine}")
    why = ""
    for way in WAYS:
        if way.other_user != (os.geteuid() == 0):
            continue
        means = (
            *(["another user"] if way.other_user else []),
            *(TOLD[name] for name in (*way.inner, *way.namespaces)),
            "read-only files",
            "no sockets and keyrings",
            f"Landlock {version}",
            "limits",
        )
        found = KernelIsolation(1, means, way=way)
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
    ``private`` is closed to other users. ``memory`` in bytes bounds what each of its processes may
    allocate, and what they take together.
    """

    def __init__(self, how: KernelIsolation, memory: int | None = None) -> None:
        self.how = how
        self._memory = MEMORY if memory is None else memory
        self._limits = LIMITS | {"data": self._memory}
        self._root = Path(tempfile.mkdtemp(prefix="kernel-root-"))
        self._root.chmod(0o755)
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
        for folder in (self.private, self.folder, self._root):
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
        runner = [sys.executable, "-I", "-B", str(self.folder / "runner.py")]
        return self.command([*runner, str(file), op, convention, claims])

    def program(self, spec: str) -> list[str]:
        """The command that starts the program of ``exec:...``, isolated.

        It can read itself, the shared objects beside it and the files that the command names.
        """
        words = command_line(spec)
        found = shutil.which(words[0])
        assert found is not None
        program = Path(found).absolute()
        files = [Path(word).absolute() for word in words[1:] if Path(word).is_file()]
        named = {str(one) for one in files}
        rest = [
            str(Path(w).absolute()) if str(Path(w).absolute()) in named else w for w in words[1:]
        ]
        beside = {one for file in (program, program.resolve()) for one in file.parent.glob("*.so*")}
        needed = [program, *files, *sorted(beside)]
        readable = [str(one) for link in needed for one in (link, link.resolve())]
        return self.command([str(program), *rest], readable)

    def command(self, words: Sequence[str], readable: Sequence[str] = ()) -> list[str]:
        """The command line of a process that is isolated and does ``words``."""
        file = self.private / f"jail-{secrets.token_hex(4)}.json"
        file.write_text(json.dumps(self._config(words, readable)), encoding="utf-8")
        return [sys.executable, "-I", "-B", str(HERE / "jail.py"), str(file)]

    def left(self) -> bool:
        """Whether the kernel's process left others behind."""
        return self.notes.is_file() and jail.LEFT in self.notes.read_text(encoding="utf-8")

    def late(self) -> bool:
        """Whether the kernel changed an input after its call, as its runner saw at the end."""
        return self.notes.is_file() and jail.LATE in self.notes.read_text(encoding="utf-8")

    def _config(self, words: Sequence[str], readable: Sequence[str]) -> Mapping[str, Any]:
        hidden = [
            *(HERE.parent, data.directory("specs"), data.directory("vectors")),
            *(vector_cache.folder(), self.private),
        ]
        own = (sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent))
        roots = dict.fromkeys((*SYSTEM, *own, *packages()))
        way = self.how.way
        return {
            "level": self.how.level,
            "command": list(words),
            "environment": self._environment(),
            "folder": str(self.work),
            "notes": str(self.notes),
            "limits": self._limits,
            "memory": self._memory,
            "disk": DISK,
            "root": str(self._root),
            **({} if way is None else asdict(way)),
            "readable": [
                *(str(p) for root in roots for p in without(Path(root), hidden)),
                *FACTS,
                str(self.folder),
                *readable,
            ],
            "listed": list(roots),
            "devices": list(DEVICES),
        }

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in PASSED if name in os.environ}
        place = str(self.work)
        own = {"HOME": place, "TMPDIR": place, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        return kept | own


def packages() -> list[str]:
    """The folders of packages that lie elsewhere than this Python, where a path file says so."""
    found = [importlib.util.find_spec(name) for name in PACKAGES]
    places = [Path(one.origin).parents[1] for one in found if one is not None and one.origin]
    return [str(one) for one in places if one.name in ("site-packages", "dist-packages")]


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
