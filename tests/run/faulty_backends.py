"""Backends in files of their own: plain numpy, spoiled in one way each."""

from __future__ import annotations

import ctypes
import os
import subprocess
import time
from pathlib import Path

import numpy as np

from conformance.backends.numpy import NumPy


def size(inputs):
    return inputs[0].shape[-1]


class CrashesOnTenths(NumPy):
    def run(self, op, inputs, attributes):
        if size(inputs) % 10 == 0:
            ctypes.string_at(0)
        return super().run(op, inputs, attributes)


class Dead(NumPy):
    def run(self, op, inputs, attributes):
        os._exit(7)


class FailsAtFirst(NumPy):
    """Crashes on all rows but the longest ones."""

    def run(self, op, inputs, attributes):
        if size(inputs) < 45:
            os._exit(7)
        return super().run(op, inputs, attributes)


class Wedges(NumPy):
    """Takes a device with it half-way, which no new process has back."""

    def run(self, op, inputs, attributes):
        gone = Path(os.environ["DEVICE_IS_GONE"])
        if size(inputs) == 20:
            gone.touch()
        if gone.exists():
            os._exit(7)
        return super().run(op, inputs, attributes)


class OtherEachTime(NumPy):
    """Its version is the process that it is in; it crashes on short rows."""

    version = str(os.getpid())

    def run(self, op, inputs, attributes):
        if size(inputs) < 20:
            os._exit(7)
        return super().run(op, inputs, attributes)


class OnlyOnce(FailsAtFirst):
    """Cannot be loaded a second time."""

    def __init__(self):
        with Path(os.environ["ONLY_ONCE"]).open("x"):
            pass


class StartsEveryOtherTime(NumPy):
    """Loads the first time, and then every second time; crashes on some rows."""

    def __init__(self):
        with Path(os.environ["STARTS"]).open("a+") as file:
            file.write(".")
            file.seek(0)
            if len(file.read()) % 2 == 0:
                raise RuntimeError("the device is busy")

    def run(self, op, inputs, attributes):
        if size(inputs) in (10, 20, 30, 40):
            os._exit(7)
        return super().run(op, inputs, attributes)


class StartsAnother(NumPy):
    """Leaves a process behind where it crashes, which holds none of its pipes."""

    def run(self, op, inputs, attributes):
        if size(inputs) == 20:
            quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            started = subprocess.Popen(["sleep", "60"], **quiet)
            Path(os.environ["PIDS"]).write_text(str(started.pid))
            os._exit(7)
        return super().run(op, inputs, attributes)


class Exclusive(NumPy):
    """Can be loaded in one process only, which works."""

    def __init__(self):
        with Path(os.environ["ONLY_ONCE"]).open("x"):
            pass


class CrashesWhenLoaded(NumPy):
    def __init__(self):
        os.write(2, b"no driver\n")
        os.abort()


class InterruptsItself(NumPy):
    def __init__(self):
        raise KeyboardInterrupt


class NeverLoaded(NumPy):
    def __init__(self):
        time.sleep(1000)


class Unspeakable(NumPy):
    def __init__(self):
        class Nothing(Exception):
            def __str__(self):
                raise RuntimeError

        raise Nothing


class Slow(NumPy):
    """Tells which process it is in, then takes its time."""

    def run(self, op, inputs, attributes):
        with Path(os.environ["PIDS"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
        ctypes.PyDLL(None).sleep(1000)


class HangsOnTen(NumPy):
    """Tells each size that it is asked; never answers on a row of ten."""

    def run(self, op, inputs, attributes):
        with Path(os.environ["ASKED"]).open("a") as file:
            file.write(f"{size(inputs)}\n")
        if size(inputs) == 10:
            time.sleep(1000)
        return super().run(op, inputs, attributes)


class Unsteady(NumPy):
    """Another first element in each call on long rows; some rows fail now and then."""

    calls = 0

    def run(self, op, inputs, attributes):
        outputs = super().run(op, inputs, attributes)
        self.calls += 1
        if size(inputs) > 45:
            outputs[0].reshape(-1)[0] = self.calls
        elif size(inputs) == 40 and self.calls % 2:
            raise ValueError("sometimes")
        return outputs


class Threads(NumPy):
    def environment(self):
        return {name: os.environ.get(name, "") for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}


class Leaks(NumPy):
    """Keeps 100 MB from each call on a long row, and takes as long as the host takes to see it."""

    kept = ()

    def run(self, op, inputs, attributes):
        if size(inputs) > 45:
            self.kept = (*self.kept, np.ones(12_500_000))
            time.sleep(0.3)
        return super().run(op, inputs, attributes)


def mylib(op, inputs, attributes):
    """A plain function."""
    return NumPy().run(op, inputs, attributes)
