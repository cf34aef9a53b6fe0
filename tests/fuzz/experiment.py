"""How soon a search finds a planted bug, and how small the case is that it shows.

    python tests/fuzz/experiment.py --catalogue 300 --held-out 50 --seconds 60 --write

puts the table into docs/fuzz.md; less can be asked for. Each bug is an implementation in Python and
numpy of one operator, called in this process. Those of the catalogue are drawn from the mutants
that vectors of the shipped suite kill at level must. The held-out ones are those of
tests/second_bank, written by somebody who saw neither the catalogue nor the vectors; the search
is guided by the catalogue alone. A bug that is not found counts in the median with all its time.
Seconds are of CPU time, which other programs change least; a search has one process and one thread.
"""

from __future__ import annotations

import argparse
import random
import shlex
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutant_backends import Function, Mutant

from conformance.fuzz.session import FuzzSession, SearchRequest, SearchResult
from conformance.generate import recorded
from conformance.grade.precision import DEFAULT_PRECISION, parse_precision
from conformance.run.inline import Inline
from conformance.specification import find_spec

sys.path.insert(0, str(Path(__file__).parents[1] / "second_bank"))
import bank_adaptive_avg_pool
import bank_adaptive_max_pool
import bank_avg_pool
from allowed_at_must import ALLOWED

DOCUMENT = Path(__file__).parents[2] / "docs" / "fuzz.md"
BEGIN, END = "<!-- experiment -->", "<!-- end of experiment -->"
SEED = 17
SLOWEST_MACHINE = 20
"""Elapsed seconds that a search may take for each of its CPU time."""

OPERATORS = (
    "AvgPool-1",
    "AvgPool-14",
    "MaxPool-8",
    "MaxPool-14",
    "AdaptiveAvgPool-8",
    "AdaptiveMaxPool-8",
    "onnx.AveragePool-19",
    "onnx.MaxPool-12",
    "torch.max_pool-2",
)
HELD_OUT = {
    "AvgPool-1": bank_avg_pool,
    "AdaptiveAvgPool-8": bank_adaptive_avg_pool,
    "AdaptiveMaxPool-8": bank_adaptive_max_pool,
}


@dataclass(frozen=True)
class Search:
    """One search for one bug: ``seconds`` of CPU time until its case was minimal."""

    op: str
    bug: str
    found: bool
    seconds: float
    cases: int
    elements: int
    calls: int
    named: bool


def catalogue(count: int) -> Iterator[tuple[str, str, Any]]:
    """Mutants, as many of each operator, one more of the first."""
    for number, op in enumerate(OPERATORS):
        known = recorded.read(op)
        assert known is not None
        killed = sorted({name for one in known.recorded for name in {*one.kills} - {*one.excused}})
        each = count // len(OPERATORS) + (number < count % len(OPERATORS))
        for name in random.Random(f"{SEED}/{op}").sample(killed, min(each, len(killed))):
            yield op, name, Mutant(op, name)


def held_out(count: int) -> Iterator[tuple[str, str, Any]]:
    """Implementations of the second bank that are wrong at level must."""
    every = [(op, one) for op, bank in HELD_OUT.items() for one in bank.MISTAKES]
    drawn = random.Random(SEED).sample(every, len(every))
    for op, one in [(op, one) for op, one in drawn if one.id not in ALLOWED][:count]:
        one.forget()  # those with a cache start with an empty one
        yield op, one.id, Function(op, one.id, one.run)


def searched(op: str, bug: str, backend: Any, seconds: float) -> Search:
    """Search until a first cause is found and its case is minimal."""
    question = SearchRequest(
        SEED, "must", parse_precision(DEFAULT_PRECISION), 10.0, seconds=SLOWEST_MACHINE * seconds
    )
    began = time.process_time()

    def stop(now: SearchResult) -> None:
        if now.discoveries or time.process_time() - began >= seconds:
            raise KeyboardInterrupt

    with Inline(backend) as executor:
        outcome = FuzzSession(executor, {op: find_spec(op)}, question, {}).run(stop)
    spent = time.process_time() - began
    if not outcome.discoveries:
        return Search(op, bug, False, spent, outcome.cases, 0, 0, False)
    first = min(outcome.discoveries, key=lambda one: one.cases)
    size = first.vector.inputs[0].size
    named = bug in first.cause.mutants
    return Search(op, bug, True, spent, first.cases, size, first.calls, named)


def row(title: str, found: Sequence[Search], seconds: float) -> str:
    """What is told of some searches."""
    times = sorted(one.seconds if one.found else seconds for one in found)
    there = [one for one in found if one.found]
    sizes = sorted(one.elements for one in there) or [0]
    return (
        f"| {title} | {len(found)} | {len(there)} | {statistics.median(times):.1f} s "
        f"| {times[int(0.95 * (len(times) - 1))]:.1f} s "
        f"| {statistics.median(one.cases for one in found):.0f} "
        f"| {statistics.median(sizes):.0f} | {sizes[int(0.95 * (len(sizes) - 1))]} "
        f"| {statistics.median([one.calls for one in there] or [0]):.0f} |"
    )


def main() -> None:
    """Print a line for each search and the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogue", type=int, default=300)
    parser.add_argument("--held-out", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = [
        "| bugs | searches | found | median time | 95 % within | cases, median "
        "| input elements of the minimal case, median | 95 % at most | calls to minimise, median |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    left = []
    for title, bugs in (
        ("mutants of the catalogue", catalogue(args.catalogue)),
        ("held-out implementations", held_out(args.held_out)),
    ):
        found = []
        for op, bug, backend in bugs:
            one = searched(op, bug, backend, args.seconds)
            print(one, flush=True)
            found.append(one)
        left += [f"{one.op} `{one.bug}`" for one in found if not one.found]
        if found:
            rows.append(row(title, found, args.seconds))
    command = shlex.join(["python", "tests/fuzz/experiment.py", *sys.argv[1:]])
    rows += ["", f"Not found within {args.seconds:g} s: {', '.join(left) or 'none'}.", ""]
    rows += [f"    {command}"]
    print("\n".join(rows))
    if args.write:
        text = DOCUMENT.read_text()
        head, tail = text.partition(BEGIN)[0], text.partition(END)[2]
        DOCUMENT.write_text(f"{head}{BEGIN}\n" + "\n".join(rows) + f"\n{END}{tail}")


if __name__ == "__main__":
    main()
