"""Speed and memory of a search on the backend numpy, in this process.

    python tests/benchmarks/bench_fuzz.py --minutes 30

Cases of a second of this process's CPU time, with all that belongs to them: drawing, data, exact
outputs, intervals, the call, judging, and what was covered. Memory is what the process holds after
each tenth of the time.
"""

from __future__ import annotations

import argparse
import time

import psutil

from conformance.backends.numpy import OPERATORS, NumPy
from conformance.fuzz.session import FuzzSession, SearchRequest, SearchResult
from conformance.grade.precision import DEFAULT_PRECISION, parse_precision
from conformance.run.inline import Inline
from conformance.specification import find_spec

TOLD = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--op", choices=OPERATORS, action="append")
    args = parser.parse_args()
    seconds = 60 * args.minutes
    question = SearchRequest(1, "must", parse_precision(DEFAULT_PRECISION), 10.0, seconds=seconds)
    process, began = psutil.Process(), time.process_time()
    told = [0]

    def tell(now: SearchResult) -> None:
        if now.seconds >= (told[0] + 1) * seconds / TOLD:
            told[0] += 1
            spent = time.process_time() - began
            held = process.memory_info().rss / 2**20
            print(
                f"{now.seconds:6.0f} s  {now.cases:8} cases  "
                f"{now.cases / spent:6.0f} a second of CPU  {held:6.0f} MiB",
                flush=True,
            )

    with Inline(NumPy()) as executor:
        session = FuzzSession(
            executor, {op: find_spec(op) for op in args.op or OPERATORS}, question, {}
        )
        outcome = session.run(tell)
    print(f"{outcome.cases} cases, until {outcome.ended}; {len(outcome.discoveries)} findings")


if __name__ == "__main__":
    main()
