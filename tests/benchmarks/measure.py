"""What the benchmarks share: timing side by side, fresh processes, and the one table of results.

Other work on the machine only ever adds time, so the minimum is the figure to quote; median and
maximum show how quiet the machine was. Ratios are taken of runs that follow each other directly.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from typing import NamedTuple

from conformance.run.environment import fingerprint, of_process

Times = list[float]

PACKAGES = ("numpy", "hypothesis", "openvino", "torch")

# A process begins its life with the memory of the one that starts it, so a small one lies between.
PROBE = """
import resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def interleaved(
    runs: int, calls: dict[str, Callable[[], object]], batch: int = 1
) -> dict[str, Times]:
    """Seconds of each call, ``runs`` times in turn, after one round to warm up.

    With ``batch`` each time is the mean of so many calls in a row.
    """
    for call in calls.values():
        call()
    times: dict[str, Times] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(batch):
                call()
            times[name].append((time.perf_counter() - start) / batch)
    return times


def timed(runs: int, call: Callable[[], object], batch: int = 1) -> Times:
    """Seconds of one call alone; see :func:`interleaved`."""
    return interleaved(runs, {"": call}, batch)[""]


class Cost(NamedTuple):
    """What a command took: seconds, seconds of processor time, peak resident bytes.

    Processor time is that of all its processes, memory that of the largest one.
    """

    seconds: float
    processor: float
    peak: int


def in_fresh_process(command: Sequence[str], *, codes: Sequence[int] = (0,)) -> Cost:
    """The cost of a command. Raises RuntimeError for an exit code that is not among ``codes``."""
    probe = [sys.executable, "-c", PROBE, *command]
    code, seconds, processor, peak = subprocess.run(
        probe, check=True, capture_output=True, text=True
    ).stdout.split()
    if int(code) not in codes:
        raise RuntimeError(f"exit code {code}: {' '.join(command)}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(float(seconds), float(processor), int(peak) * unit)


def python(code: str, *arguments: str) -> list[str]:
    """The command that runs some Python code."""
    return [sys.executable, "-c", code, *arguments]


def conformance(*arguments: str, checkout: str | None = None) -> list[str]:
    """The command line of this project, or of another checkout of it, in this interpreter."""
    path = "" if checkout is None else f"import sys; sys.path.insert(0, {checkout!r}); "
    return python(f"{path}from conformance.cli import main; main()", *arguments)


def show(label: str, values: Sequence[float], unit: str, note: str = "") -> None:
    """One line of the table: minimum, median and maximum of ``values``."""
    found = (min(values), statistics.median(values), max(values))
    print(f"  {label:44}{''.join(map(_figure, found))}  {unit:12}{note}".rstrip(), flush=True)


def show_one(label: str, value: float, unit: str, note: str = "") -> None:
    """One line of the table for what was measured once, or does not vary."""
    print(f"  {label:44}{_figure(value):>33}  {unit:12}{note}".rstrip(), flush=True)


def rates(times: Times, count: int) -> list[float]:
    """How many a second, from the times that ``count`` of them took."""
    return [count / seconds for seconds in times]


def ratios(of: Times, to: Times) -> list[float]:
    """The quotient of each pair of times that were taken in turn."""
    return [a / b for a, b in zip(of, to, strict=True)]


def installed(package: str) -> bool:
    """Whether an optional package is there, without importing it."""
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def absent(package: str) -> None:
    """The line in place of measurements that need an optional package."""
    print(f"  {package} is not installed", flush=True)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """torch computes on one thread within; no more than that where it is not installed."""
    if not installed("torch"):
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def title(text: str) -> None:
    """The line above a group of measurements."""
    print(f"\n{text}", flush=True)


def run(*benches: Callable[[], None]) -> None:
    """The table of some benchmarks, below a line that says what it was measured on."""
    facts = fingerprint(of_process())
    versions = [f"{name} {metadata.version(name)}" for name in PACKAGES if installed(name)]
    print(f"{facts['processor']['model']}, {facts['cores']['usable']} cores; {facts['python']}")
    print(", ".join(versions))
    print(f"{'':46}{'min':>11}{'median':>11}{'max':>11}")
    for bench in benches:
        bench()


def _figure(value: float) -> str:
    return f"{value:11,.0f}" if value >= 100 else f"{value:11.3g}"
