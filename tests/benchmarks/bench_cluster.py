"""Two Dask workers against one, side by side: drawing a suite, and auditing it.

    python tests/benchmarks/bench_cluster.py 2000 FOLDER    # vectors, and where they may be written
    python tests/benchmarks/bench_cluster.py 2000 FOLDER --rounds 3

Elapsed seconds are from the first piece to the last, once workers have done one piece each and so
have loaded what they need. They depend on what else the machine does. *Busiest* is the processor
seconds of the worker that had most: what would have elapsed with a core for each.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil

from conformance import parallel
from conformance.audit import audit_suite as audits
from conformance.cluster.workers import Cluster, connected
from conformance.generate.drawn import Drawing, draw_all, pieces
from conformance.specification import find_spec
from conformance.suite.packing import Packer
from conformance.suite.store import open_suite

OP = "AvgPool-1"
AUDITED = 400
"""Vectors of core that are audited, 40 to a piece."""

PIECE = 100
"""Vectors of a container: less than usual, so that a short run has enough pieces."""


def drawings(count: int, folder: Path) -> list[Drawing]:
    folder.mkdir(parents=True)
    spec = find_spec(OP)
    return [
        replace(pieces(spec, PIECE, root=0, folder=folder)[0], number=number)
        for number in range(1, count // PIECE + 1)
    ]


def measured(cluster: Cluster, work: Callable[[], object]) -> tuple[float, float]:
    """Elapsed seconds, and processor seconds of the busiest worker."""
    processes = [psutil.Process(w["pid"]) for w in pids(cluster)]
    before = [sum(one.cpu_times()[:2]) for one in processes]
    began = time.perf_counter()
    work()
    elapsed = time.perf_counter() - began
    after = [sum(one.cpu_times()[:2]) for one in processes]
    return elapsed, max(b - a for a, b in zip(before, after, strict=True))


def pids(cluster: Cluster) -> list[dict[str, int]]:
    info = cluster._client.run(lambda dask_worker: {"pid": __import__("os").getpid()})
    return list(info.values())


def nobody(*_: object) -> None:
    pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("vectors", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    suite = open_suite()
    listed = [one for one in suite.manifest.of([OP]) if one.reject is None][:AUDITED]
    several = replace(suite, manifest=replace(suite.manifest, listed=tuple(listed)))
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for turn in range(asked.rounds):
        for count in (1, 2):
            with connected(f"local:{count}") as cluster:
                warm = drawings(PIECE * 2, asked.folder / f"warm-{turn}-{count}")
                tasks = [replace(one, count=2) for one in warm]
                list(parallel.run(tasks, processes=cluster, progress=nobody, total=2))
                folder = asked.folder / f"drawn-{turn}-{count}"
                work = drawings(asked.vectors, folder)

                def draw(
                    work: list[Drawing] = work, folder: Path = folder, cluster: Cluster = cluster
                ) -> None:
                    draw_all(work, Packer(folder, {}), processes=cluster, progress=nobody)

                def audit(cluster: Cluster = cluster) -> None:
                    audits.audit(several, [OP], processes=cluster, progress=nobody)

                for name, one in (("drawn", draw), ("audit", audit)):
                    found.setdefault((name, count), []).append(measured(cluster, one))
                    print(name, count, found[name, count][-1], flush=True)
    for name in ("drawn", "audit"):
        for place, what in enumerate(("elapsed", "busiest")):
            one, two = (
                statistics.median(times[place] for times in found[name, count]) for count in (1, 2)
            )
            print(f"{name:6} {what}: {one:6.1f} s, {two:6.1f} s, ratio {one / two:.2f}")


if __name__ == "__main__":
    main()
