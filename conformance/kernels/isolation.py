"""The isolation of a kernel's process, and whether this machine can provide it."""

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

from conformance import resources
from conformance.backends.program import MARK, command_line
from conformance.errors import UsageError
from conformance.kernels import jail
from conformance.suite.vector_cache import cache_folder

HERE = Path(__file__).parent
PROBE_SECONDS = 60.0

SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf.d", "/opt/cuda")
READABLE_FACTS = (
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
PASSED_VARIABLES = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
"""Variables of the host's environment that a kernel's process gets."""

LIMITS = {"core": 0, "fsize": 1 << 28, "nofile": 256, "nproc": 512}
MAX_MEMORY = 8 << 30
"""Bytes that the processes of a kernel may take together, by default."""

MAX_DISK = 1 << 29
"""Bytes that a kernel may write at level 1, in its folder and in shared memory each."""

PACKAGES = ("numpy", "ml_dtypes", "torch")
"""Packages that a kernel may need and that may lie outside this Python."""

NAMESPACES = ("pid", "network", "ipc")


@dataclass(frozen=True)
class Way:
    """A way to provide level 1.

    As root it mounts and then becomes another user; else it stays the user. ``namespaces`` are made
    first, ``inner`` when root has become the other user. No way maps the user 0: it could change
    what root owns.
    """

    other_user: bool
    root_mounts: bool
    namespaces: tuple[str, ...]
    inner: tuple[str, ...] = ()


WAYS = (
    Way(True, True, NAMESPACES, ("user",)),
    Way(True, True, NAMESPACES),
    Way(True, False, ("user", *NAMESPACES)),
    Way(False, False, ("user", *NAMESPACES)),
)
"""The ways to provide level 1, best first."""

MEANS_TEXT = {
    "user": "user namespace",
    "pid": "process namespace",
    "network": "no network",
    "ipc": "no shared memory",
}


@dataclass(frozen=True)
class KernelIsolation:
    """A level, and its means; ``missing`` says why it is not a higher one."""

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


def choose_isolation(level: int | None, required: int, *, program: bool) -> KernelIsolation:
    """Choose the isolation of a run.

    Args:
        level: the requested level; None for the best of 0 and 1.
        required: the lowest level that is accepted.

    Raises:
        UsageError: the level is not available.
    """
    if level == 2:
        if not program:
            raise UsageError(
                "isolation 2 is a container of your own, which a file has not",
                hint='start it as a program: --isolation 2 "exec:docker run -i --rm ..."',
            )
        return KernelIsolation(2)
    best = KernelIsolation(0) if level == 0 else best_here()
    required_level = max(required, level or 0)
    if best.level < required_level:
        why = best.missing or f"isolation {level} was asked for"
        raise UsageError(
            f"isolation {required_level} is required and cannot be had: {why}",
            hint="run where user namespaces and Landlock are allowed, or use a container of your "
            'own: --isolation 2 "exec:..."',
        )
    return best


@cache
def best_here() -> KernelIsolation:
    """Return level 1 if this machine can isolate Python and numpy so."""
    if sys.platform != "linux":
        return KernelIsolation(0, missing="it needs Linux")
    version = jail.landlock_version()
    if not version:
        return KernelIsolation(0, missing="the system has no Landlock")
    if os.uname().machine not in jail.REFUSED:
        return KernelIsolation(0, missing=f"no filter of system calls for {os.uname().machine}")
    missing = ""
    for way in WAYS:
        if way.other_user != (os.geteuid() == 0):
            continue
        means = (
            *(["another user"] if way.other_user else []),
            *(MEANS_TEXT[name] for name in (*way.inner, *way.namespaces)),
            "read-only files",
            "no sockets and keyrings",
            f"Landlock {version}",
            "limits",
        )
        isolation = KernelIsolation(1, means, way=way)
        failure = _failure(isolation)
        if not failure:
            return isolation
        missing = missing or failure
    return KernelIsolation(0, missing=missing)


def _failure(isolation: KernelIsolation) -> str:
    """Return why a process cannot be isolated so; empty if it can."""
    with KernelSandbox(isolation) as sandbox:
        command = sandbox.command([sys.executable, "-I", "-B", "-c", "import numpy"])
        try:
            result = subprocess.run(  # noqa: S603 - no shell
                command, capture_output=True, timeout=PROBE_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)[:200]
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    return (
        ""
        if result.returncode == 0
        else (lines[-1] if lines else f"exit {result.returncode}")[:200]
    )


class KernelSandbox:
    """A folder for a kernel's process, and a folder of the host. A context manager.

    The kernel's process may read ``folder`` and write in its ``work``; the host's folder
    ``private`` is closed to other users. ``memory`` in bytes bounds what each of its processes may
    allocate, and what they take together.
    """

    def __init__(self, isolation: KernelIsolation, memory: int | None = None) -> None:
        self.isolation = isolation
        self._memory = MAX_MEMORY if memory is None else memory
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

    def __enter__(self) -> KernelSandbox:
        return self

    def __exit__(self, *_error: object) -> None:
        for folder in (self.private, self.folder, self._root):
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, name: str, text: str) -> Path:
        """Write a file into the kernel's folder that its process may read."""
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        file.chmod(0o644)
        return file

    def kernel(self, name: str, source: str, op: str, convention: str, claims: str) -> list[str]:
        """Return the command that serves a kernel of this source, isolated."""
        file = self.put(name, source)
        runner = [sys.executable, "-I", "-B", str(self.folder / "runner.py")]
        return self.command([*runner, str(file), op, convention, claims])

    def program(self, spec: str) -> list[str]:
        """Return the command that starts the program of ``exec:...``, isolated.

        It can read itself, the shared objects beside it and the files that the command names.
        """
        arguments = command_line(spec)
        path = shutil.which(arguments[0])
        assert path is not None
        program = Path(path).absolute()
        files = [Path(word).absolute() for word in arguments[1:] if Path(word).is_file()]
        resolved = [str(Path(a).absolute()) if Path(a).is_file() else a for a in arguments[1:]]
        libraries = {
            path for file in (program, program.resolve()) for path in file.parent.glob("*.so*")
        }
        needed = [program, *files, *sorted(libraries)]
        readable = [str(path) for link in needed for path in (link, link.resolve())]
        return self.command([str(program), *resolved], readable)

    def command(self, command: Sequence[str], readable: Sequence[str] = ()) -> list[str]:
        """Return the command line of a process that is isolated and runs a command."""
        file = self.private / f"jail-{secrets.token_hex(4)}.json"
        file.write_text(json.dumps(self._config(command, readable)), encoding="utf-8")
        return [sys.executable, "-I", "-B", str(HERE / "jail.py"), str(file)]

    def left_processes(self) -> bool:
        """Return whether the kernel's process left others behind."""
        return self.notes.is_file() and jail.LEFT in self.notes.read_text(encoding="utf-8")

    def changed_input_late(self) -> bool:
        """Return whether the kernel changed an input after its call."""
        return self.notes.is_file() and jail.LATE in self.notes.read_text(encoding="utf-8")

    def _config(self, command: Sequence[str], readable: Sequence[str]) -> Mapping[str, Any]:
        hidden = [
            *(HERE.parent, resources.directory("specs"), resources.directory("vectors")),
            *(cache_folder(), self.private),
        ]
        python_folders = (sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parent))
        roots = dict.fromkeys((*SYSTEM, *python_folders, *package_folders()))
        way = self.isolation.way
        return {
            "level": self.isolation.level,
            "command": list(command),
            "environment": self._environment(),
            "folder": str(self.work),
            "notes": str(self.notes),
            "limits": self._limits,
            "memory": self._memory,
            "disk": MAX_DISK,
            "root": str(self._root),
            **({} if way is None else asdict(way)),
            "readable": [
                *(str(p) for root in roots for p in paths_without(Path(root), hidden)),
                *READABLE_FACTS,
                str(self.folder),
                *readable,
            ],
            "listed": list(roots),
            "devices": list(DEVICES),
        }

    def _environment(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
        folder = str(self.work)
        fixed = {"HOME": folder, "TMPDIR": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        return passed | fixed


def package_folders() -> list[str]:
    """Return folders of packages outside this Python, where a path file names them."""
    specs = [importlib.util.find_spec(name) for name in PACKAGES]
    folders = [Path(spec.origin).parents[1] for spec in specs if spec is not None and spec.origin]
    return [str(spec) for spec in folders if spec.name in ("site-packages", "dist-packages")]


def paths_without(root: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """Yield the paths below a root that together are all of it except hidden ones."""
    real = root.resolve()
    hidden_paths = [path.resolve() for path in hidden]
    if real in hidden_paths:
        return
    if not any(path.is_relative_to(real) for path in hidden_paths):
        yield root
        return
    for inner in sorted(real.iterdir()):
        yield from paths_without(inner, hidden)


def backend_name_of(arguments: Sequence[str]) -> str:
    """Return a command line as the name of a backend."""
    return MARK + shlex.join(arguments)
