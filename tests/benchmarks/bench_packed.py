"""Packed suites: writing, opening and checking many vectors, on disk and in memory.

    python tests/benchmarks/bench_packed.py                 # 4,000 vectors in a temporary folder
    python tests/benchmarks/bench_packed.py 100000 FOLDER   # so many; FOLDER is kept and used again

Drawn f32 images of four operators, checked with numpy in one process. What the folder form costs is
measured on a part of them. The last lines say what a million vectors would take: what grows with
their number in proportion, what does not as it is.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import measure

from conformance.backends.numpy import OPERATORS
from conformance.report.vector_table import MAX_ROWS
from conformance.suite.containers import open_container
from conformance.suite.packing import pack_suite, unpack_suite
from conformance.suite.store import Suite, open_suite

BACKEND = f"{Path(__file__).with_name('images.py')}:Images"
VECTORS = 4_000
PART = 2_000
"""Vectors of which both forms are written, opened and read."""

MILLION = 1_000_000
RUNS = 3


def written(folder: Path, count: int) -> measure.Cost | None:
    """The cost of a drawn suite; None where it is there."""
    if (folder / "manifest.json").exists():
        return None
    ops = [word for op in OPERATORS for word in ("--op", op)]
    each = str(count // len(OPERATORS))
    words = ("generate", "--drawn", each, "--for", BACKEND, *ops, "--out", str(folder))
    return measure.in_fresh_process(measure.conformance(*words))


def checked(folder: Path, *ops: str) -> measure.Cost:
    """The cost of a check with a run log and a page."""
    with tempfile.TemporaryDirectory() as report:
        words = ("check", "--suite", str(folder), "--backend", BACKEND, "--executor", "inline")
        named = [word for op in ops for word in ("--op", op)]
        return measure.in_fresh_process(
            measure.conformance(*words, *named, "--out", report), codes=(0, 1)
        )


def on_disk(folder: Path) -> int:
    """The bytes that the files of a folder take on the disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def seconds(call: Callable[[], Any]) -> float:
    """What a call takes where nothing is in memory yet."""
    open_container.cache_clear()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def both_forms(suite: Suite) -> None:
    """A part of the suite, written, opened and read as a folder and packed."""
    listed = tuple(suite.manifest.of(suite.manifest.ops[:1])[:PART])
    op = suite.manifest.ops[0]
    manifest = replace(
        suite.manifest,
        listed=listed,
        strength={op: suite.manifest.strength[op]},
        specifications={op: suite.manifest.specifications[op]},
    )
    part = replace(suite, manifest=manifest)
    with tempfile.TemporaryDirectory() as there:
        forms = {
            "packed": (pack_suite, Path(there) / "packed"),
            "folder": (unpack_suite, Path(there) / "folder"),
        }
        takes: dict[str, dict[str, float]] = {}
        for name, (write, path) in forms.items():
            takes[name] = {"writing": seconds(lambda w=write, p=path: w(part, p))}  # type: ignore[misc]
            takes[name]["opening"] = min(seconds(lambda p=path: open_suite(p)) for _ in range(RUNS))  # type: ignore[misc]
            made = open_suite(path)
            takes[name]["reading"] = min(
                seconds(lambda s=made: sum(1 for _ in s.vectors()))  # type: ignore[misc]
                for _ in range(RUNS)
            )
            takes[name]["disk"] = on_disk(path)
    for what, unit in (("writing", "s"), ("opening", "s"), ("reading", "s"), ("disk", "bytes")):
        one, other = takes["packed"][what], takes["folder"][what]
        note = f"{one / other:.2g} of the folder's {other:.3g}"
        measure.show_one(f"{what} {len(listed)}, packed", one, unit, note)


def bench(count: int = VECTORS, kept: Path | None = None) -> None:
    """Writing, opening, confirming and checking one suite, and what a million would take."""
    with tempfile.TemporaryDirectory() as there:
        folder = Path(there) / "suite" if kept is None else kept
        measure.title(f"Packed: {count} f32 images of {len(OPERATORS)} operators")
        cost = written(folder, count)
        suite = open_suite(folder)
        count = len(suite)
        if cost is not None:
            note = f"-j 1; {cost.processor:.0f} s of processor time, {cost.peak / 1e6:.0f} MB"
            measure.show_one("drawing and writing", cost.seconds, "s", note)
        disk = on_disk(folder)
        measure.show_one("on disk", disk / 1e6, "MB", f"{disk / count:.0f} bytes a vector")
        head = sum((folder / name).stat().st_size for name in ("manifest.json", "ids.npy"))
        measure.show_one("  of which manifest.json and ids.npy", head / 1e6, "MB")
        opening = min(seconds(lambda: open_suite(folder)) for _ in range(RUNS))
        measure.show_one("opening", opening, "s")
        sought = suite.manifest.vectors[count // 2].id
        measure.show_one("finding one id", seconds(lambda: open_suite(folder).get(sought)), "s")
        confirming = seconds(suite.manifest.confirm)
        measure.show_one("confirming what the manifest states", confirming, "s")
        fewer = len(suite.manifest.of(OPERATORS[:1]))
        some, whole = checked(folder, OPERATORS[0]), checked(folder)
        for number, one in ((fewer, some), (count, whole)):
            note = f"{one.processor:.0f} s of processor time, {one.peak / 1e6:.0f} MB"
            measure.show_one(f"checking {number}", one.seconds, "s", note)
        more = (whole.peak - some.peak) / (count - fewer)
        # The first results are kept as they are, so few vectors tell nothing of many.
        tells = min(fewer, MAX_ROWS) == MAX_ROWS
        if tells:
            measure.show_one("  memory of each further vector", more, "bytes")
        both_forms(suite)
        measure.title(
            "A million, in proportion (opening: its manifest is parsed, no container read)"
        )
        for what, value, unit in (
            ("drawing, processor time", cost and cost.processor / count * MILLION / 3600, "h"),
            ("on disk", disk / count * MILLION / 1e9, "GB"),
            ("confirming", confirming / count * MILLION, "s"),
            ("checking, processor time", whole.processor / count * MILLION / 3600, "h"),
            (
                "memory of the check",
                (whole.peak + more * (MILLION - count)) / 1e6 if tells else None,
                "MB",
            ),
        ):
            if value is not None:
                measure.show_one(what, value, unit)


if __name__ == "__main__":
    words = sys.argv[1:]
    number = int(words[0]) if words else VECTORS
    measure.run(lambda: bench(number, Path(words[1]) if len(words) > 1 else None))
