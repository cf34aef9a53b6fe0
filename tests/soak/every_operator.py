"""Generate the core suite of every operator, the shipped ones and those on demand, and measure it.

    python tests/soak/every_operator.py --jobs 2     # a minute or two an operator
    python tests/soak/every_operator.py 'onnx.Global*' --jobs 2

An operator passes if its suite is generated, lists the targets that its vectors meet, kills no
mutant that is said to be impossible to kill, and is fit; what is wrong is printed. Exits with 1 if
one does not.
"""

from __future__ import annotations

import argparse
import fnmatch
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conformance.specification import shipped_operators
from conformance.suite.store import open_suite

MEASURES = (("suite", "coverage"), ("suite", "audit", "--parts"), ("suite", "lint"))


def conformance(*words: object) -> subprocess.CompletedProcess[str]:
    """One command, in a process of its own."""
    command = [sys.executable, "-c", "from conformance.cli import main; main()", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def fit(op: str, folder: Path, jobs: int, seed: int) -> bool:
    """Whether all that is measured of one operator's suite is as it should be."""
    started = time.monotonic()
    made = conformance("generate", "--op", op, "--out", folder, "--seed", seed, "-j", jobs)
    if made.returncode:
        print(f"{op}: not generated\n{made.stdout}{made.stderr}", flush=True)
        return False
    minutes = (time.monotonic() - started) / 60
    suite = open_suite(folder)
    size = sum(entry.bytes for entry in suite.manifest.vectors) / 1e6
    failed = []
    for words in MEASURES:
        given = (folder,) if "lint" in words else ("--suite", folder)
        shown = conformance(*words, *given)
        if shown.returncode:
            failed.append(f"{' '.join(words)}:\n{shown.stdout}{shown.stderr}")
    verdict = "fit" if not failed else "NOT FIT"
    print(f"{op:30} {len(suite):4} vectors {size:5.2f} MB {minutes:5.1f} minutes  {verdict}")
    print("\n".join(failed), end="", flush=True)
    return not failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("patterns", nargs="*", default=["*"], help="operators, as in 'onnx.*'")
    parser.add_argument("--jobs", type=int, default=1, help="processes that generate")
    parser.add_argument("--seed", type=int, default=0, help="of the selection")
    asked = parser.parse_args()
    ops = [
        op for op in shipped_operators() if any(fnmatch.fnmatch(op, one) for one in asked.patterns)
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = [fit(op, Path(folder) / op, asked.jobs, asked.seed) for op in ops]
    return 0 if found and all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
