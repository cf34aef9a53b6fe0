"""Starts the process of a kernel with as little as it needs, and ends all that it leaves.

This file stands alone, as :mod:`conformance.kernels.runner` does, and runs before it. Its argument
is a JSON file that says what to start and how to isolate it. At level 1 all means in the file are
applied, or nothing is started.

The kernel's process gets a scrubbed environment, no open files but its three pipes, and a folder
that is not the host's. At level 1 its root holds only what it may read, read-only, so no mode,
owner, time or attribute of a file can be changed either, which Landlock does not refuse; its
folder is a file system of its own, of limited size. Two processes are between it and the host:
the inner one ends what it leaves behind, the outer one watches how much memory all of it takes.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import struct
import sys
import time
from typing import Any

Config = dict[str, Any]

CLONE = {
    "user": 0x10000000,
    "pid": 0x20000000,
    "network": 0x40000000,
    "ipc": 0x08000000,
    "mount": 0x00020000,
}
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
MNT_DETACH = 2
MOUNT_SETATTR, READ_ONLY, EVERYWHERE, HERE = 442, 1, 0x8000, -100
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 38, 4, 36
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
# Bits of access in the order of the kernel's header: how many each ABI knows.
EXECUTE, WRITE, READ, READ_DIR = 1, 2, 4, 8
ACCESS_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP = 3
SCOPES = 3
"""No abstract sockets and no signals beyond the domain, from ABI 6 on."""

# By machine: what the audit interface calls it, and the numbers of system calls. Refused are
# connect, socket and io_uring_setup; add_key, request_key and keyctl, since keyrings outlive a
# process and no namespace holds them; memfd_create, memfd_secret and shmget, whose memory no limit
# counts; unshare and setns.
REFUSED = {
    "x86_64": (0xC000003E, (42, 41, 425, 248, 249, 250, 319, 447, 29, 272, 308)),
    "aarch64": (0xC00000B7, (203, 198, 425, 217, 218, 219, 279, 447, 194, 97, 268)),
}
CLONES = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435
"""It hides its flags from a filter; the C library calls clone where it is told of none."""

PR_SET_SECCOMP, FILTER = 22, 2
LOAD, EQUAL, ABOVE, SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026
FOREIGN = 0x40000000
"""Numbers of system calls from here on belong to another interface of x86."""

LEFT = "left processes behind"
LATE = "changed an input late"
LATE_CODE = 97
"""The exit code of the runner that says so."""

TICK = 0.05
"""Seconds between two checks of the memory of the kernel's processes."""

NOBODY = 65534
LIBC = ctypes.CDLL(None, use_errno=True)


def check_result(name: str, result: int) -> int:
    """Check the result of a function of the C library.

    Raises:
        OSError: it failed.
    """
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def close_all() -> None:
    """Close everything that a parent left open but the pipes."""
    for descriptor in map(int, os.listdir("/proc/self/fd") if os.path.isdir("/proc") else ()):
        if descriptor > 2:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def new_namespaces(names: list[str]) -> None:
    """Leave the host's namespaces; the next child is the first process of the new ones."""
    flags = 0
    for name in names:
        flags |= CLONE[name]
    uid, gid = os.getuid(), os.getgid()
    if "user" in names and 0 in (uid, gid):
        raise OSError(0, "root would own its files in a user namespace too")
    check_result("unshare", LIBC.unshare(flags))
    if "user" in names:
        for file, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{NOBODY} {uid} 1"),
            ("gid_map", f"{NOBODY} {gid} 1"),
        ):
            with open(f"/proc/self/{file}", "w") as stream:
                stream.write(text)


def become_other_user() -> None:
    """Become nobody, which root can."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # else its own files in /proc belong to root


def landlock_version() -> int:
    """Return the ABI of Landlock, 0 without it."""
    return max(0, int(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


def landlock(readable: list[str], listed: list[str], writable: list[str]) -> None:
    """Allow access to these paths alone: to read and run, to list, to write."""
    version = landlock_version()
    if not version:
        raise OSError(0, "Landlock is not there")
    handled = (1 << ACCESS_BITS.get(version, 16)) - 1
    attributes = struct.pack("<QQQ", handled, TCP, SCOPES)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = check_result(
        "Landlock",
        LIBC.syscall(CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(size), 0),
    )
    rules = [(path, EXECUTE | READ | READ_DIR) for path in readable]
    rules += [(path, READ_DIR) for path in listed] + [(path, handled) for path in writable]
    for path, access in rules:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if not os.path.isdir(path):
            access &= EXECUTE | WRITE | READ | 1 << 14
        if not access & handled:
            os.close(descriptor)
            continue
        rule = struct.pack("<Qi", access & handled, descriptor)
        result = LIBC.syscall(ADD_RULE, ruleset, 1, ctypes.c_char_p(rule), 0)
        os.close(descriptor)
        check_result(f"Landlock for {path}", result)
    check_result("no new privileges", LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    check_result("Landlock", LIBC.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system, or with MS_BIND what is at a path."""
    names = [None if name is None else os.fsencode(name) for name in (source, target, kind)]
    flag_bits = ctypes.c_ulong(flags)
    check_result(f"mount {target}", LIBC.mount(*names, flag_bits, os.fsencode(options) or None))


def new_root(config: Config) -> None:
    """Make a root of the paths that may be read or written. Nothing in it can be changed.

    This process is in a mount namespace of its own, and may mount there.
    """
    root = config["root"]
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("none", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m")
    paths = [*config["readable"], *config["devices"]]
    for path in sorted(paths, key=lambda path: path.count("/")):  # a folder before what is in it
        if os.path.lexists(path) and not path.startswith("/proc/"):
            bind(path, root + path)
    for path in ("/proc", "/dev/shm", config["folder"]):  # noqa: S108 - a place to mount at
        os.makedirs(root + path, exist_ok=True)
    attributes = struct.pack("<QQQQ", READ_ONLY | MS_NOSUID, 0, 0, 0)
    result = LIBC.syscall(
        MOUNT_SETATTR, HERE, os.fsencode(root), EVERYWHERE, ctypes.c_char_p(attributes), 32
    )
    check_result("mount read-only", result)
    options = f"mode=1777,size={config['disk']},nr_inodes=65536"
    for path in (config["folder"], "/dev/shm"):  # noqa: S108
        mount("none", root + path, "tmpfs", MS_NOSUID | MS_NODEV, options)
    try:
        mount("none", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    except OSError:  # parts of it are hidden here, so it has to be the one that is there
        mount("/proc", root + "/proc", None, MS_BIND | MS_REC)
    os.chdir(root)
    check_result("pivot_root", LIBC.syscall(PIVOT_ROOT[os.uname().machine], b".", b"."))
    check_result("umount", LIBC.umount2(b".", MNT_DETACH))
    os.chdir("/")


def bind(path: str, target: str) -> None:
    """Mount a path of the host at a new target; links become links."""
    if os.path.lexists(target):
        return  # a folder above it is there already
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(path, target, None, MS_BIND | MS_REC)


def filter_calls() -> bool:
    """Refuse the system calls of :data:`REFUSED`, and clones into a user namespace.

    Returns:
        False if the numbers of this machine's system calls are not known.
    """
    machine = os.uname().machine
    if machine not in REFUSED:
        return False
    interface, refused = REFUSED[machine]
    unknown, refuse, allow = (RETURN, 0, 0, UNKNOWN), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)
    # A jump counts from the next instruction: each refusal follows its test.
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, interface), refuse, (LOAD, 0, 0, 0)]
    steps += [(ABOVE, 0, 1, FOREIGN), refuse, (EQUAL, 0, 1, CLONE3), unknown]
    for number in refused:
        steps += [(EQUAL, 0, 1, number), refuse]
    steps += [(EQUAL, 0, 3, CLONES[machine]), (LOAD, 0, 0, 16), (SET, 0, 1, CLONE["user"]), refuse]
    steps += [allow]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(
        struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code))
    )
    check_result("no new privileges", LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    check_result("seccomp", LIBC.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0))
    return True


def set_limits(limits: dict[str, int]) -> None:
    """Lower the limits of this process and of those that it starts."""
    for name, maximum in limits.items():
        resource_id = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(resource_id)[1]
        maximum = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        resource.setrlimit(resource_id, (maximum, maximum))


def confine(config: Config) -> None:
    """Confine the process that becomes a kernel's."""
    os.chdir(config["folder"])
    set_limits(config["limits"])
    if config["level"] == 1:
        writable = [config["folder"], "/dev/shm", *config["devices"]]  # noqa: S108
        landlock(config["readable"], config["listed"], writable)
        filter_calls()
    check_result("no new privileges", LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def end_remaining() -> bool:
    """End the processes that the kernel's process left, which are children of this one now.

    In a namespace of its own they end with this process.

    Returns:
        Whether it left any.
    """
    has_ended = False
    for _ in range(100):  # those that one of them leaves come here next
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue  # it had ended by itself
        except ChildProcessError:
            return has_ended
        has_ended = True
        if os.getpid() == 1:
            return True
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as stream:
                pids = [int(word) for word in stream.read().split()]
        except OSError:
            return True
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return has_ended


def guard(config: Config, notes: int) -> int:
    """Start the kernel's process, wait for it, end what it leaves; return its status."""
    check_result("subreaper", LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    if config["level"] == 1:
        new_namespaces(["mount"])
        new_root(config)
        if config["root_mounts"]:
            become_other_user()
            new_namespaces(config["inner"])
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # it is lost with a new user
        LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    pid = os.fork()
    if pid == 0:
        try:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if notes >= 0:
                os.close(notes)
            confine(config)
            os.execve(config["command"][0], config["command"], config["environment"])
        except OSError as error:
            os.write(2, f"the kernel's process could not be isolated: {error}\n".encode())
        finally:
            os._exit(96)
    os.closerange(0, 3)  # so that the pipes close with the kernel's process
    ended, status = 0, 0
    while ended != pid:  # others that it left come here too
        ended, status = os.wait()
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == LATE_CODE:
        os.write(notes, f"{LATE}\n".encode())
    if end_remaining():
        os.write(notes, f"{LEFT}\n".encode())
    return status


def children(pid: int) -> list[int]:
    """Return the existing processes that a process started."""
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                pids += map(int, file.read().split())
    return pids


def resident_bytes(pid: int) -> int:
    """Return the memory of a process and its descendants; shared memory counts for each."""
    size = 0
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm") as file:
        size = int(file.read().split()[1]) * resource.getpagesize()
    return size + sum(map(resident_bytes, children(pid)))


def shared_bytes(pid: int) -> int:
    """Return the memory of a process and its descendants, shared memory divided among them.

    It takes longer.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            lines = [line.split() for line in file]
        size = next(int(fields[1]) << 10 for fields in lines if fields[0] == "Pss:")
    except PermissionError:
        return resident_bytes(pid)
    except (OSError, StopIteration):
        return 0  # it has ended
    return size + sum(map(shared_bytes, children(pid)))


def watch(pid: int, maximum: int) -> int:
    """Wait for the guard; end the kernel's processes if they take too much memory.

    Returns:
        The status of the guard.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        pids = children(pid)
        size = sum(map(resident_bytes, pids))
        if size > maximum:
            size = sum(map(shared_bytes, pids))
        if size > maximum:
            message = (
                f"the kernel's processes took {size >> 20} MiB of memory; {maximum >> 20} MiB are"
            )
            os.write(2, f"{message} allowed (--memory)\n".encode())
            for child in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        signal.sigtimedwait([signal.SIGCHLD], TICK)


def exit_code(status: int) -> int:
    """Return how a process ended, as an exit code of a shell."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def isolate(config: Config) -> None:
    """Make new namespaces for the next child, for level 1.

    Root mounts what another user's process sees before it becomes that user, see :func:`guard`.

    Raises:
        OSError: it failed.
    """
    if config["other_user"] and not config["root_mounts"]:
        become_other_user()
    new_namespaces(config["namespaces"])


def main() -> None:
    """Start and isolate what the configuration file says."""
    with open(sys.argv[1]) as stream:
        config = json.load(stream)
    if sys.platform != "linux":
        os.chdir(config["folder"])
        os.execve(config["command"][0], config["command"], config["environment"])
    close_all()
    notes = os.open(config["notes"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        if config["level"] == 1:
            isolate(config)
    except OSError as error:
        os.write(2, f"the kernel's process could not be isolated: {error}\n".encode())
        os._exit(96)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # set again: it is lost with a new user
    LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    # A signal to the first process of a namespace has no effect from within, so the process that
    # the host knows stays outside.
    pid = os.fork()
    if pid == 0:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        try:
            os._exit(exit_code(guard(config, notes)))
        except OSError as error:
            os.write(2, f"the kernel's process could not be isolated: {error}\n".encode())
        finally:
            os._exit(96)
    os.closerange(0, 2)
    code = exit_code(watch(pid, config["memory"]))
    if code > 128:  # the host is to see the signal
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), code - 128)
    os._exit(code)


if __name__ == "__main__":
    main()
