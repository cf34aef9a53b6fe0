"""Ask the solver again for the proofs that are kept: those that a change touches, and some in turn.

    python tests/soak/each_proof.py            # all operators, in six minutes on two cores
    python tests/soak/each_proof.py --touched  # as in CI: a fifth, and what a change touches

Exits as ``conformance suite coverage --prove`` does: with 1 if a proof is not confirmed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from change import ROOT, changed, share, turn

from conformance.spec.loader import lineage, shipped_operators

PARTS = 5


def touched(files: Iterable[Path], number: int) -> list[str]:
    """Operators whose specification or proofs these files hold, and a part of the others.

    Recorded cases need none: other tests look whether they show what is not proven.
    """
    specs = ROOT / "specs"
    hold = (specs, specs / "proofs")
    own = {file.stem for file in files if file.parent in hold}
    in_turn = share(shipped_operators(), PARTS, number)
    return [
        op for op in shipped_operators() if op in in_turn or not own.isdisjoint((op, *lineage(op)))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--touched", action="store_true", help="a fifth, and what a change touches")
    ops = touched(changed(), turn()) if parser.parse_args().touched else list(shipped_operators())
    command = ["conformance", "suite", "coverage", "--prove", "-j", "2"]
    for op in ops:
        command += ["--op", op]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
