"""A backend that answers rightly and, on some vectors, does all the harm that it can.

What it does is told by the size of the data: ``SIZES`` names the sizes that something is wrong
with. All others are answered by plain numpy.
"""

from __future__ import annotations

import ctypes
import fcntl
import locale
import os
import signal
import sys
import threading
import time
from contextlib import suppress

import numpy as np

from conformance.backends import Capabilities, Exclusion
from conformance.backends.numpy import NumPy

NASTY = "\x1b[31m\x00</script><b onload=x>\u202e\ud800\r\nlast"
OUT = 2
"""The size of the result on its axis."""

kept = []


def segfault(outputs, inputs):
    ctypes.string_at(0)


def abort(outputs, inputs):
    os.abort()


def exit_in_the_middle(outputs, inputs):
    os._exit(0)


def loop(outputs, inputs):
    while True:
        pass


def hold_the_interpreter(outputs, inputs):
    ctypes.PyDLL(None).sleep(1000)


def stop_itself(outputs, inputs):
    os.kill(os.getpid(), signal.SIGSTOP)


def ignore_signals_and_loop(outputs, inputs):
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    loop(outputs, inputs)


def recurse(outputs, inputs):
    recurse(outputs, inputs)


def overflow_the_stack(outputs, inputs):
    sys.setrecursionlimit(10**9)
    again = ctypes.CFUNCTYPE(None)(lambda: again())
    again()


def take_all_memory(outputs, inputs):
    while True:
        kept.append(np.ones(1 << 21))
        time.sleep(0.005)


def shout_on_stdout(outputs, inputs):
    os.write(1, b"\x1b[31m\x00garbage\n" * 800_000)
    print("x" * 1_000_000, flush=True)
    return outputs


def shout_on_stderr(outputs, inputs):
    for _ in range(100):
        os.write(2, b"\x1b[31m\x00</script>\n" * 6_000)
    return outputs


def die_with_words(outputs, inputs):
    sys.stderr.write(f"{NASTY}\nthe device is gone\n".encode("utf-8", "replace").decode())
    sys.stderr.flush()
    os.abort()


def raise_nasty(outputs, inputs):
    raise ValueError(NASTY)


def raise_unspeakable(outputs, inputs):
    class Unspeakable(Exception):
        def __str__(self):
            raise RuntimeError("not even this")

    raise Unspeakable


def raise_of_a_nasty_type(outputs, inputs):
    raise type(NASTY.replace("\x00", "").replace("\ud800", "") * 1000, (Exception,), {})(
        "x" * 10**6
    )


def sys_exit(outputs, inputs):
    sys.exit(0)


def interrupt(outputs, inputs):
    raise KeyboardInterrupt


def wrong_dtype(outputs, inputs):
    return [outputs[0].astype(np.float64)]


def big_endian(outputs, inputs):
    return [outputs[0].astype(">f4")]


def objects(outputs, inputs):
    return [outputs[0].astype(object)]


def structured(outputs, inputs):
    return [outputs[0].view([("x", "<f4")])]


def a_matrix(outputs, inputs):
    return [np.asmatrix(outputs[0].reshape(-1))]


def nested_lists(outputs, inputs):
    return [outputs[0].tolist()]


def nothing(outputs, inputs):
    return None


def a_generator(outputs, inputs):
    return (output for output in outputs)


def something_nasty(outputs, inputs):
    return type(NASTY.replace("\x00", "").replace("\ud800", ""), (), {})()


def an_extra_output(outputs, inputs):
    return [*outputs, outputs[0]]


def a_flood_of_outputs(outputs, inputs):
    return outputs * 100_000


def no_outputs(outputs, inputs):
    return []


def far_too_large(outputs, inputs):
    return [np.broadcast_to(np.float32(1), (10**6, 10**6))]


def large(outputs, inputs):
    return [np.ones(30_000_000, np.float32)]


def view_of_the_input(outputs, inputs):
    inputs[0][..., :OUT] = outputs[0]
    return [inputs[0][..., :OUT]]


def write_the_input(outputs, inputs):
    inputs[0][:] = 7
    return outputs


def keep_and_change(outputs, inputs):
    kept.append(outputs[0])
    threading.Timer(0.05, lambda: outputs[0].fill(99)).start()
    return outputs


def leave_threads(outputs, inputs):
    def spin():
        while True:
            time.sleep(0.001)

    for daemon in (True, False):
        threading.Thread(target=spin, daemon=daemon).start()
    return outputs


def change_the_folder(outputs, inputs):
    os.chdir("/")
    os.umask(0o777)
    os.environ.clear()
    return outputs


def change_the_arithmetic(outputs, inputs):
    for rounding in (0x400, 0x800, 0xC00000):  # towards an infinity: x86, x86, Arm
        ctypes.CDLL(None).fesetround(rounding)
    np.seterr(all="raise")
    np.set_printoptions(threshold=0)
    return outputs


def change_the_locale(outputs, inputs):
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        break
    return outputs


def handle_signals(outputs, inputs):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    return outputs


def close_the_streams(outputs, inputs):
    with suppress(OSError):  # what another vector did in this process
        os.close(1)
        os.close(2)
        sys.stdout.close()
    return outputs


def close_everything(outputs, inputs):
    os.closerange(3, 1000)
    return outputs


def close_everything_and_loop(outputs, inputs):
    os.closerange(3, 1000)
    loop(outputs, inputs)


def write_everywhere(outputs, inputs):
    for descriptor in range(3, 64):
        try:
            if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE:
                os.write(descriptor, b"\x00\x00\x00\x02\xff\xff\xff\xff" + b"garbage" * 10)
        except OSError:
            continue
    return outputs


def fork_and_return_twice(outputs, inputs):
    os.fork()
    return outputs


def leave_a_child_with_the_pipes(outputs, inputs):
    if os.fork() == 0:
        os.setsid()
        time.sleep(5)
        os._exit(0)
    os._exit(3)


PASS, FAIL, ERROR = "pass", "fail", "error"

BEHAVIOURS = {
    segfault: (ERROR, "crashed", "killed by SIGSEGV"),
    abort: (ERROR, "crashed", "killed by SIGABRT"),
    exit_in_the_middle: (ERROR, "crashed", "exit code 0"),
    loop: (ERROR, "hung", "in loop"),
    hold_the_interpreter: (ERROR, "hung", "in hold_the_interpreter"),
    stop_itself: (ERROR, "hung", "no answer within"),
    ignore_signals_and_loop: (ERROR, "hung", "no answer within"),
    recurse: (ERROR, "raised", "RecursionError"),
    overflow_the_stack: (ERROR, "crashed", "killed by SIGSEGV"),
    take_all_memory: (ERROR, "memory", "are allowed"),
    shout_on_stdout: (PASS, "", ""),
    shout_on_stderr: (PASS, "", ""),
    die_with_words: (ERROR, "crashed", "the device is gone"),
    raise_nasty: (ERROR, "raised", "ValueError: ?[31m?</script>"),
    raise_unspeakable: (ERROR, "raised", "Unspeakable (its message cannot be shown)"),
    raise_of_a_nasty_type: (ERROR, "raised", "?[31m</script>"),
    sys_exit: (ERROR, "aborted", "SystemExit"),
    interrupt: (ERROR, "aborted", "KeyboardInterrupt"),
    wrong_dtype: (ERROR, "dtype", "f64 instead of f32"),
    big_endian: (ERROR, "dtype", "f32 in foreign byte order instead of f32"),
    objects: (ERROR, "dtype", "object instead of f32"),
    structured: (ERROR, "dtype", "instead of f32"),
    a_matrix: (ERROR, "outputs", "of type numpy.matrix, not"),
    nested_lists: (ERROR, "outputs", "of type list, not"),
    nothing: (ERROR, "outputs", "returned NoneType, not a list"),
    a_generator: (ERROR, "outputs", "returned generator, not a list"),
    something_nasty: (ERROR, "outputs", "not a list"),
    an_extra_output: (ERROR, "outputs", "returned 2 outputs instead of 1"),
    a_flood_of_outputs: (ERROR, "outputs", "instead of 1"),
    no_outputs: (ERROR, "outputs", "returned 0 outputs instead of 1"),
    far_too_large: (ERROR, "shape", "(1000000, 1000000) instead of"),
    large: (ERROR, "shape", "(30000000,) instead of"),
    view_of_the_input: (FAIL, "input-changed", "changed its input 0"),
    write_the_input: (FAIL, "input-changed", "changed its input 0"),
    keep_and_change: (PASS, "", ""),
    leave_threads: (PASS, "", ""),
    change_the_folder: (PASS, "", ""),
    change_the_arithmetic: (PASS, "", ""),
    change_the_locale: (PASS, "", ""),
    handle_signals: (PASS, "", ""),
    close_the_streams: (PASS, "", ""),
    close_everything: (ERROR, "crashed", "the process"),
    close_everything_and_loop: (ERROR, "crashed", "closed the pipe for its answers"),
    write_everywhere: (ERROR, "crashed", "the process sent a message with a header of"),
    fork_and_return_twice: (PASS, "", ""),
    leave_a_child_with_the_pipes: (ERROR, "crashed", "exit code 3"),
}
"""What each does to the verdict of its vector: status, kind, and a part of the message."""

HANGING = {function for function, told in BEHAVIOURS.items() if told[1] == "hung"}

UNBEARABLE = {function for function, told in BEHAVIOURS.items() if told[1] in ("crashed", "hung")}
UNBEARABLE |= {take_all_memory, interrupt, fork_and_return_twice, leave_threads, handle_signals}
UNBEARABLE |= {change_the_folder, change_the_arithmetic, change_the_locale}
UNBEARABLE |= {close_the_streams, shout_on_stdout, shout_on_stderr}
"""What no other process should be made to bear."""

REJECTED = {1003: segfault, 1005: loop, 1007: sys_exit}
"""What is done in place of refusing what must be refused."""

SIZES = {2 * i + 3: function for i, function in enumerate(BEHAVIOURS)} | REJECTED
HONEST = [size + 1 for size in SIZES if size < 1000]


class Hostile(NumPy):
    """Its very introduction is hostile."""

    name = f"my{NASTY}"
    version = NASTY + "x" * 100_000
    capabilities = Capabilities(excluding=(Exclusion(NASTY, "any(size == 2)"),))

    def environment(self):
        print("starting", NASTY.encode("utf-8", "replace"))
        return {NASTY: NASTY, "long": "y" * 100_000}

    def run(self, op, inputs, attributes):
        for old in kept:
            old.fill(99)
        function = SIZES.get(inputs[0].shape[-1])
        if inputs[0].shape[-1] in REJECTED:
            return function(None, inputs)
        outputs = super().run(op, inputs, attributes)
        return outputs if function is None else function(outputs, inputs)


class Nasty(Hostile):
    """The same without a name."""

    name, version = "nasty", "1"
