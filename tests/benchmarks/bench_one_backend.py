"""What a suite for one backend takes, has and proves: selected anew, and completed.

    python tests/benchmarks/bench_one_backend.py

For a C library behind ctypes, torch, and a backend with same and valid padding alone. Strength is
that of the weakest element type and rank in a check.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

import conformance
from conformance.choices import SuiteName
from conformance.suite.store import Suite, open_suite

HERE = Path(__file__).parent / "one_backend" / "backends.py"
BACKENDS = {
    "C library, AvgPool-1": (f"{HERE}:CLibrary", "AvgPool-1"),
    "torch, torch.max_pool-2": ("torch", "torch.max_pool-2"),
    "torch, torch.avg_pool-2": ("torch", "torch.avg_pool-2"),
    "same and valid, AvgPool-1": (f"{HERE}:Modes", "AvgPool-1"),
}


def command(*words: str) -> float:
    """Seconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(["conformance", *words], check=True, capture_output=True)
    return time.perf_counter() - began


def graded(backend: str, op: str, suite: Suite | None) -> tuple[str, str]:
    """How many value vectors are graded, and how strong that is."""
    run = conformance.check(suite, backend, ops=[op], executor="inline")
    strength = run.log.evidence.headline
    return f"{run.footer['counts'][op]['graded']}", f"{strength}, {run.log.verdict}"


def main() -> None:
    print("| backend | suite | seconds | vectors | kB | graded | strength |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for label, (backend, op) in BACKENDS.items():
        count, strength = graded(backend, op, None)
        print(f"| {label} | shipped | | | | {count} | {strength} |", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for how, words in (
                ("`generate --for`", ("generate", "--for", backend, "--op", op)),
                ("shipped, completed", ("suite", "complete", "--for", backend, "--op", op)),
            ):
                out = Path(folder) / how.split()[-1].strip("`-")
                seconds = command(*words, "-j", "2", "--out", str(out))
                suite = open_suite(out if out.exists() else None)
                new = [e for e in suite.manifest.vectors if SuiteName.COMPLEMENT in e.suites]
                new = new or ([*suite.manifest.vectors] if "for" in how else [])
                size = sum(entry.bytes for entry in new) / 1000
                count, strength = graded(backend, op, suite)
                print(
                    f"| {label} | {how} | {seconds:.0f} | {len(new)} | {size:.0f} | {count} "
                    f"| {strength} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
