"""What a process at level 1 can do, and what it cannot: each attack runs in namespaces of its own,
on files of a temporary folder. Skipped where level 1 cannot be had."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.kernels import isolation, jail
from conformance.kernels.isolation import KernelIsolation, KernelSandbox, Way, best_here

BEGIN = """
import ctypes, json, mmap, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(what):
    try:
        what()
    except OSError as error:
        return os.strerror(error.errno)
    return "done"
def call(*words):
    if libc.syscall(*words) < 0:
        raise OSError(ctypes.get_errno(), "")
"""
UTIMENSAT = {"x86_64": 280, "aarch64": 88}
UNSHARE = {"x86_64": 272, "aarch64": 97}


@pytest.fixture
def level1():
    if best_here().level < 1:
        pytest.skip(f"level 1 cannot be had here: {best_here().missing}")
    return best_here()


def done(how, script, *words, memory=None, disk=None, readable=()):
    """A process at a level that runs a script; its folder is gone when it has ended."""
    with pytest.MonkeyPatch.context() as patch, KernelSandbox(how, memory) as box:
        if disk is not None:
            patch.setattr(isolation, "MAX_DISK", disk)
        command = [sys.executable, "-I", "-B", "-c", BEGIN + script, *map(str, words)]
        return subprocess.run(
            box.command(command, [str(one) for one in readable]),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def told(*words, **more):
    found = done(*words, **more)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


CHANGES = """
file = sys.argv[1]
there = os.open(file, os.O_RDONLY)
name = os.fsencode(file)
found = {
    "chmod": tried(lambda: os.chmod(file, 0o600)),
    "fchmod": tried(lambda: os.fchmod(there, 0o600)),
    "fchmodat2": tried(lambda: call(452, -100, name, 0o600, 0)),
    "chown": tried(lambda: os.chown(file, os.getuid(), os.getgid())),
    "fchown": tried(lambda: os.fchown(there, os.getuid(), os.getgid())),
    "utime": tried(lambda: os.utime(file)),
    "utimensat": tried(lambda: call(int(sys.argv[2]), -100, name, None, 0)),
    "futimens": tried(lambda: os.utime(there, (0, 0))),
    "setxattr": tried(lambda: os.setxattr(file, "user.note", b"1")),
    "fsetxattr": tried(lambda: os.setxattr(there, "user.note", b"1")),
    "removexattr": tried(lambda: os.removexattr(file, "user.kept")),
    "truncate": tried(lambda: os.truncate(file, 0)),
    "rename": tried(lambda: os.rename(file, file + "2")),
    "link": tried(lambda: os.link(file, file + "3")),
}
print(json.dumps(found))
"""


def test_no_file_outside_can_be_changed_in_any_way(level1, tmp_path):
    file = tmp_path / "file"
    file.write_text("kept")
    if os.geteuid() == 0:  # it would be allowed to, were it not isolated
        os.chown(file, jail.NOBODY, jail.NOBODY)
    file.chmod(0o666)
    try:
        os.setxattr(file, "user.kept", b"1")
    except OSError:
        pytest.skip("this file system has no attributes")
    before = file.stat()
    found = told(level1, CHANGES, file, UTIMENSAT[os.uname().machine], readable=[file])
    assert "done" not in found.values(), found
    # Where the owner may do it only a file system that cannot be written refuses it.
    assert {found[name] for name in ("chmod", "fchmodat2", "chown", "utimensat", "setxattr")} == {
        "Read-only file system"
    }
    assert file.stat() == before
    assert os.listxattr(file) == ["user.kept"]


INSIDE = """
os.mkdir("folder")
open("file", "w").write("1")
os.chmod("file", 0o700)
os.utime("file", (0, 0))
from multiprocessing import Pool
with Pool(2) as pool:
    squares = pool.map(abs, [-1, -2])
print(json.dumps([os.getuid(), os.stat("file").st_mode & 0o777, squares]))
"""


def test_its_own_folder_and_processes_are_its_own(level1):
    assert told(level1, INSIDE) == [jail.NOBODY, 0o700, [1, 2]]


WALLS = """
def clone3():
    call(435, ctypes.create_string_buffer(88), 88)
import socket
found = {
    "user namespace": tried(lambda: call(int(sys.argv[3]), 0x10000000)),
    "clone3": tried(clone3),
    "memfd": tried(lambda: os.memfd_create("a")),
    "socket": tried(lambda: socket.socket()),
    "a folder beside": tried(lambda: os.listdir(sys.argv[1])),
    "the host's files": os.path.exists(sys.argv[2]),
}
print(json.dumps(found))
"""


def test_what_leads_around_the_limits_is_refused(level1, tmp_path):
    program = tmp_path / "program"
    program.write_text("")
    (tmp_path / "secret").write_text("")
    words = tmp_path, tmp_path / "secret", UNSHARE[os.uname().machine]
    found = told(level1, WALLS, *words, readable=[program])
    assert found == {
        "user namespace": "Operation not permitted",
        "clone3": "Function not implemented",
        "memfd": "Operation not permitted",
        "socket": "Operation not permitted",
        "a folder beside": "Permission denied",
        "the host's files": False,
    }


def test_a_program_reads_itself_and_what_is_named(tmp_path):
    for name in ("program", "libown.so", "named.txt", "expected.json"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    with KernelSandbox(KernelIsolation(0)) as box:
        box.program(f"exec:{tmp_path}/program {tmp_path}/named.txt")
        (file,) = box.private.glob("jail-*.json")
        readable = json.loads(file.read_text())["readable"]
    own = {Path(one).name for one in readable if Path(one).is_relative_to(tmp_path)}
    assert own == {"program", "libown.so", "named.txt"}
    assert str(tmp_path) not in readable


FORKS = """
count = 0
try:
    while count < 1000:
        if os.fork() == 0:
            signal.pause()
        count += 1
except OSError:
    pass
print(json.dumps(count))
"""


def test_processes_have_a_bound(level1):
    assert 100 < told(level1, FORKS) < 512


FILLS = """
written = 0
def fill():
    global written
    for number in range(40):
        with open(sys.argv[1] + f"/{number}", "wb", 0) as file:
            for _ in range(10):
                written += file.write(b"1" * 100_000)
found = tried(fill)
print(json.dumps([found, written]))
"""


@pytest.mark.parametrize("place", [".", "/dev/shm"])
def test_what_is_written_has_a_bound(level1, place):
    found, written = told(level1, FILLS, place, disk=1 << 23)
    assert found == "No space left on device"
    assert written <= 1 << 23


BALLOONS = {
    "private": "kept = bytearray(1 << 30)",
    "shared": """
kept = []
for _ in range(1000):
    kept.append(mmap.mmap(-1, 1 << 20))
    kept[-1].write(b"1" * (1 << 20))
""",
    "children": """
for _ in range(20):
    if os.fork() == 0:
        kept = bytearray(os.urandom(1 << 20) * 50)
        signal.pause()
signal.pause()
""",
}


@pytest.mark.parametrize(
    ("how", "told"),
    [("private", "MemoryError"), ("shared", "allowed (--memory)"), ("children", "(--memory)")],
)
def test_memory_has_a_bound_for_all_processes_together(level1, how, told):
    found = done(level1, BALLOONS[how], memory=200 << 20)
    assert found.returncode != 0
    assert told in found.stderr


def test_root_is_never_mapped(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(jail.LIBC, "unshare", lambda _: pytest.fail("it was tried"))
    with pytest.raises(OSError, match="root would own its files"):
        jail.new_namespaces(["user"])


def test_what_cannot_be_had_is_level_0_with_the_reason(monkeypatch):
    monkeypatch.setattr(isolation, "_failure", lambda _: "no user namespaces")
    found = best_here.__wrapped__()
    assert (found.level, found.way) == (0, None)
    assert found.missing == "no user namespaces" or not jail.landlock_version()
    assert not any(way.root_mounts and "user" in way.namespaces for way in isolation.WAYS)
    assert isinstance(isolation.WAYS[0], Way)
