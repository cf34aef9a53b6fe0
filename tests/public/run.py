"""Grades backends with the faults of public reports by the shipped core.

python tests/public/run.py            # the table of README.md, in minutes
python tests/public/run.py ncnn xla   # of those whose names begin so
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from graded import KINDS, said
from reported import REPORTS


def main(wanted: Sequence[str]) -> int:
    print("| report | asked | failing | | causes, with their vectors |\n|---|---|---|---|---|")
    every = []
    for one in REPORTS.values():
        if one.id.startswith(tuple(wanted) or ""):
            every.append(said(one))
            print(every[-1].row, flush=True)
    fresh = [told for told in every if not told.report.known]
    counts = (f"{sum(told.kind == kind for told in fresh)} {kind}" for kind in KINDS)
    print(f"\n{len(fresh)} whose mechanism was new: {', '.join(counts)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
