"""Starts the process of a kernel with as little as it needs, and ends all that it leaves.

This file stands alone, as :mod:`conformance.kernels.runner` does, and runs before it. Its argument
is a JSON file that says what to start and how to isolate it. At level 1 every means that the file
names is had or nothing is started.

The kernel's process gets a scrubbed environment, no open files but its three pipes, and a folder
that is not the host's. A process between it and the host ends what it leaves behind.
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

CLONE = {"user": 0x10000000, "pid": 0x20000000, "network": 0x40000000, "ipc": 0x08000000}
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 38, 4, 36
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
# Bits of access in the order of the kernel's header: how many each ABI knows.
EXECUTE, WRITE, READ, READ_DIR = 1, 2, 4, 8
KNOWN = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP = 3
SCOPES = 3
"""No abstract sockets and no signals beyond the domain, from ABI 6 on."""

# By machine: what the audit interface calls it, and the numbers of connect, socket, io_uring_setup,
# and of add_key, request_key, keyctl: keyrings outlive a process, and no namespace holds them.
REFUSED = {
    "x86_64": (0xC000003E, (42, 41, 425, 248, 249, 250)),
    "aarch64": (0xC00000B7, (203, 198, 425, 217, 218, 219)),
}
PR_SET_SECCOMP, FILTER = 22, 2
LOAD, EQUAL, ABOVE, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050001
FOREIGN = 0x40000000
"""Numbers of system calls from here on belong to another interface of x86."""

LEFT = "left processes behind"
NOBODY = 65534
LIBC = ctypes.CDLL(None, use_errno=True)


def call(name: str, result: int) -> int:
    """Raises OSError for the result of a function of the C library that says so."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def close_all() -> None:
    """Close everything that a parent left open but the pipes."""
    for descriptor in map(int, os.listdir("/proc/self/fd") if os.path.isdir("/proc") else ()):
        if descriptor > 2:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def new_namespaces(names: list[str]) -> None:
    """Leave the host's; the next child is the first process of the new ones."""
    flags = 0
    for name in names:
        flags |= CLONE[name]
    uid, gid = os.getuid(), os.getgid()
    call("unshare", LIBC.unshare(flags))
    if "user" in names:
        for file, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{NOBODY} {uid} 1"),
            ("gid_map", f"{NOBODY} {gid} 1"),
        ):
            with open(f"/proc/self/{file}", "w") as stream:
                stream.write(text)


def other_user() -> None:
    """Become nobody, which root can."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # else its own files in /proc belong to root


def landlock_version() -> int:
    """The ABI of Landlock, 0 where there is none."""
    return max(0, int(LIBC.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


def landlock(readable: list[str], listed: list[str], writable: list[str]) -> None:
    """Allow access to these paths alone: to read and run, to list, to write."""
    version = landlock_version()
    if not version:
        raise OSError(0, "Landlock is not there")
    handled = (1 << KNOWN.get(version, 16)) - 1
    attributes = struct.pack("<QQQ", handled, TCP, SCOPES)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = call(
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
        done = LIBC.syscall(ADD_RULE, ruleset, 1, ctypes.c_char_p(rule), 0)
        os.close(descriptor)
        call(f"Landlock for {path}", done)
    call("no new privileges", LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    call("Landlock", LIBC.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def without_sockets() -> bool:
    """Refuse new sockets and connections, one with a path leads out of any namespace, and keyrings.

    False where the numbers of this machine's system calls are not known.
    """
    if os.uname().machine not in REFUSED:
        return False
    interface, refused = REFUSED[os.uname().machine]
    last = len(refused) + 1  # jumps count from the next instruction; the last but one allows
    steps = [(LOAD, 0, 0, 4), (EQUAL, 0, last + 2, interface), (LOAD, 0, 0, 0)]
    steps += [(ABOVE, last, 0, FOREIGN)]
    steps += [(EQUAL, last - 1 - i, 0, number) for i, number in enumerate(refused)]
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *one) for one in steps))
    program = ctypes.create_string_buffer(
        struct.pack("<HxxxxxxQ", len(steps), ctypes.addressof(code))
    )
    call("no new privileges", LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    call("seccomp", LIBC.prctl(PR_SET_SECCOMP, FILTER, program, 0, 0))
    return True


def limit(limits: dict[str, int]) -> None:
    """Lower the limits of this process and of those that it starts."""
    for name, most in limits.items():
        which = getattr(resource, f"RLIMIT_{name.upper()}")
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))


def confined(config: Config) -> None:
    """What every kernel's process gets, in the process that becomes it."""
    os.chdir(config["folder"])
    limit(config["limits"])
    if config["level"] == 1:
        landlock(config["readable"], config["listed"], config["writable"])
        without_sockets()
    call("no new privileges", LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def end_the_rest() -> bool:
    """End the processes that the kernel's process left, which are children of this one now.

    Returns whether there were some. In a namespace of its own they end with this process.
    """
    found = False
    for _ in range(100):  # those that one of them leaves come here next
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue  # it had ended by itself
        except ChildProcessError:
            return found
        found = True
        if os.getpid() == 1:
            return True
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as stream:
                left = [int(word) for word in stream.read().split()]
        except OSError:
            return True
        for one in left:
            os.kill(one, signal.SIGKILL)
        time.sleep(0.01)
    return found


def guard(config: Config, notes: int) -> int:
    """Start the kernel's process, wait for it, end what it leaves; how it ended."""
    call("subreaper", LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    pid = os.fork()
    if pid == 0:
        try:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if notes >= 0:
                os.close(notes)
            confined(config)
            os.execve(config["command"][0], config["command"], config["environment"])
        except OSError as error:
            os.write(2, f"the kernel's process could not be isolated: {error}\n".encode())
        finally:
            os._exit(96)
    os.closerange(0, 2)  # so that the pipes close with the kernel's process
    ended, status = 0, 0
    while ended != pid:  # others that it left come here too
        ended, status = os.wait()
    if end_the_rest() and notes >= 0:
        os.write(notes, f"{LEFT}\n".encode())
    return status


def code_of(status: int) -> int:
    """How a process ended, as an exit code of a shell."""
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def isolate(config: Config) -> None:
    """Level 1: another user, new namespaces. A failure is told by OSError."""
    names = config["namespaces"]
    if "user" in names:
        if config["other_user"]:
            other_user()
        new_namespaces(names)
    else:  # which takes the rights of root
        new_namespaces(names)
        other_user()


def main() -> None:
    """Do what the file says."""
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
        os._exit(code_of(guard(config, notes)))
    os.closerange(0, 2)
    code = code_of(os.waitpid(pid, 0)[1])
    if code > 128:  # the host is to see the signal
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), code - 128)
    os._exit(code)


if __name__ == "__main__":
    main()
