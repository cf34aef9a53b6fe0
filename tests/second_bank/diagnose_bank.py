"""What is said of each mistake of the second bank, beside what the mistake is.

    python tests/second_bank/diagnose_bank.py [mistake ...]

Whether a sentence is true of a mistake was judged by reading both: TRUE_OF says which faults are. A
mistake that is not in it is in no catalogue, and no fault named of it is true.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from measure_bank import BANKS

import conformance

TRUE_OF = {
    "same-always-excludes": {"same-pads-never-counted"},
    "same-pads-ignore-stride": {"same-whatever-the-stride"},
    "same-pads-go-negative": {"same-below-zero"},
    "valid-keeps-explicit-pads": {"valid-uses-given-pads"},
    "ceil-drops-window-in-padding": {"ceil-drops-window-in-end-padding"},
    "padding-seen-at-begin-only": {"pads-count-if-begin-is-padded"},
    "clamped-loads-masked-by-product": {"infinity-times-padding"},
    "divisor-in-eight-bits": {"divisor-wraps-at-8-bits"},
    "ordinary-pooling-instead": {"one-kernel-for-all-windows"},
    "end-rounded-down": {"ends-rounded-down"},
    "one-window-length": {"ends-of-largest-window"},
    "ratio-in-single-precision": {"float32-ratio"},
    "sum-in-storage-type": {"sums-in-own-type"},
    "double-through-single": {"f64-read-as-f32"},
    "thread-remainder-unwritten": {"last-planes-unwritten"},
    "starts-at-lowest-finite": {"search-begins-at-lowest"},
    "index-starts-at-zero": {"index-zero-of-minus-infinity"},
    "last-maximum-wins": {"last-of-equals"},
    "signed-zeros-ordered": {"minus-zero-below-zero"},
    "bfloat16-through-float16": {"bf16-read-as-f16"},
    "row-tail-lanes-hold-zero": {"spare-lanes-hold-zero-8"},
    "index-counts-batch-and-channel": {"index-over-whole-input"},
    "index-held-in-value-type": {"index-kept-in-f16", "index-kept-in-bf16"},
    "index-pointer-stays-in-first-batch": {"index-of-first-image-only"},
}


def told(finding: Any) -> Iterator[str]:
    """The lines on one finding: the faults with their evidence, or the conditions."""
    count, diagnosis = len(finding.ids), finding.diagnosis
    if diagnosis is None:
        yield f"  {count:4} {finding.kind}: nothing"
        return
    faults = "+".join(fault["id"] for fault in diagnosis["faults"])
    yield f"  {count:4} {finding.kind}: {faults or 'where'}: {diagnosis['sentence']}"
    if agree := diagnosis["agree"]:
        yield (
            f"       equal on {agree['equal']} of {agree['failing']} ({agree['bitwise']} bit for "
            f"bit), consistent with {agree['consistent']} of {agree['passing']}"
        )
    for other in diagnosis["alternatives"]:
        yield f"       or {'+'.join(other['ids'])}: {' '.join(other['says'])}"


def verdict(findings: Collection[Any], true: Collection[str]) -> str:
    """How what is said of a backend compares with the faults that are true of it."""
    told = [finding.diagnosis for finding in findings if finding.diagnosis is not None]
    named = [[fault["id"] for fault in one["faults"]] for one in told if one["faults"]]
    if not findings:
        return "not noticed"
    if any(fault not in true for faults in named for fault in faults):
        return "wrongly named"
    if any(one["scope"] for one in told if one["faults"]):
        return "rightly named, of too few places"
    if named:
        return "rightly named" if len(named) == len(findings) else "rightly named, in part"
    return "conditions only" if told else "nothing"


def main(wanted: list[str]) -> None:
    """Print what each mistake, or each that is ``wanted``, is and is said to be; then a table."""
    suite = conformance.load_suite("core")
    counts: Counter[tuple[str, str]] = Counter()
    for op, bank in BANKS.items():
        for mistake in bank.MISTAKES:
            if wanted and mistake.id not in wanted:
                continue
            mistake.forget()
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run = conformance.check(suite, mistake.run, ops=[op])
            found = verdict(run.findings, TRUE_OF.get(mistake.id, ()))
            counts[op, found] += 1
            seconds = time.perf_counter() - start
            print(f"{op} {mistake.id} ({found}; {seconds:.0f} s): {mistake.says}")
            for finding in run.findings:
                print(*told(finding), sep="\n")
            print(flush=True)
    for (op, found), count in sorted(counts.items()):
        print(f"{op:18} {found:34} {count:3}")


if __name__ == "__main__":
    main(sys.argv[1:])
