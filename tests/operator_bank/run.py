"""Grade the bank's kernels by the shipped core, and print a line for each.

``python tests/operator_bank/run.py bugs`` says of every bug whether core refuses it, and what the
report names. ``right`` says which right kernels pass. Names of operators after that are a choice.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import elements_bank
import numpy as np
import rows_bank

import conformance
from conformance.backends import Capabilities
from conformance.log.causes import Cause, causes
from conformance.log.diagnosis import parse_diagnosis

BANKS = (rows_bank, elements_bank)


@dataclass
class Kernel:
    """A kernel of one operator as a backend."""

    name: str
    op: str
    kernel: Any
    dtypes: tuple[str, ...] = ("f32",)
    version: str = "1"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(operators=(self.op,), dtypes=self.dtypes)

    def run(self, _op: str, inputs: Sequence[Any], attributes: dict[str, Any]) -> list[Any]:
        """Compute the outputs as the kernel does; Max and Min take as many inputs as there are."""
        if self.op in ("onnx.Max-13", "onnx.Min-13"):
            inputs = [array for array in inputs if array is not None]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return list(self.kernel(list(inputs), dict(attributes)))


def bugs() -> Iterator[Kernel]:
    """Yield the wrong kernels; those of integers claim integers."""
    for bank in BANKS:
        for bug in bank.BUGS.values():
            dtypes = ("i8", "u8", "i32", "i64") if is_of_integers(bug.sentence) else ("f32",)
            yield Kernel(bug.name, f"onnx.{bug.op}", bug.kernel, dtypes)


def right() -> Iterator[Kernel]:
    """Yield the right kernels, each in its styles."""
    for bank in BANKS:
        for op, styles in bank.RIGHT.items():
            for style, kernel in styles.items():
                yield Kernel(f"{op} {style}", f"onnx.{op}", kernel)


def is_of_integers(sentence: str) -> bool:
    """Return whether a bug is one of whole numbers."""
    return any(word in sentence.lower() for word in ("integer", "int32", "int64", "uint8"))


def line(kernel: Kernel) -> str:
    """Return what a check by the shipped core says of a kernel."""
    run = conformance.check(None, kernel, ops=[kernel.op], dtypes=kernel.dtypes)
    counts = run.footer["counts"][kernel.op]
    wrong = counts["failed"] + counts["errors"]
    words = "; ".join(map(text, causes(run.findings, run.results)))
    verdict = "passes" if run.conformant else "refused"
    return f"{kernel.name} | {kernel.op} | {verdict} | {wrong} of {counts['graded']} | {words}"


def text(cause: Cause) -> str:
    """Return the mutants of a cause that is named, or its words."""
    ids: list[str] = []
    for finding in cause.findings:
        diagnosis = parse_diagnosis(finding.diagnosis)
        if cause.named and diagnosis:
            ids += [fault.id for fault in diagnosis.faults]
    return f"{', '.join(dict.fromkeys(ids)) or cause.title} ({len(cause.vectors)})"


def main() -> None:
    """Print the lines that are asked for."""
    kernels = {"bugs": bugs, "right": right}[sys.argv[1]]()
    for kernel in kernels:
        if not sys.argv[2:] or kernel.op in sys.argv[2:]:
            print(line(kernel), flush=True)


if __name__ == "__main__":
    main()
