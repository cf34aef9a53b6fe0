"""A real run with the members that a diagnosis adds, made by hand: for tests of the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.log.reader import read
from conformance.log.run_log import RunLog
from conformance.model import GRADED, Finding, Result

SAMPLES = Path(__file__).parents[2] / "reports" / "sample"


FAULT = {
    "id": "divisor-clipped-to-data",
    "kind": "divisor",
    "says": "The divisor counts only taps on data where padding has to be counted.",
    "threads": [
        "https://github.com/example/runtime/issues/1234",
        "https://github.com/example/kernels/pull/99",
        "javascript:alert(1)",
    ],
    "look": "Where the kernel computes the number of elements of a window that overhangs.",
}
SECOND = {
    "id": "accumulates-in-type",
    "kind": "precision",
    "says": "Sums are kept in the element type.",
    "threads": [],
    "look": "",
}
MATCHED = {
    "sentence": "Windows that overhang the padded input are divided by too little: the divisor "
    "leaves out padding that exclude-pad=false counts.",
    "faults": [FAULT],
    "alternatives": [
        {"ids": ["divisor-from-output"], "says": ["The divisor comes from the output size."]},
        {"ids": ["a", "b"], "says": ["One thing.", "Another."]},
    ],
    "agree": {"equal": 41, "failing": 41, "bitwise": 38, "passing": 312, "consistent": 312},
    "scope": {"dtype": ["f16", "bf16"], "rank": [5]},
    "conditions": [],
    "separates": None,
}
UNMATCHED = {
    "sentence": "No fault of the catalogue answers like this.",
    "faults": [],
    "alternatives": [],
    "agree": None,
    "scope": {},
    "conditions": [
        {"name": "ceil-overrun", "holds": True, "about": "the last window overruns the input"},
        {"name": "batch", "holds": False, "about": ""},
    ],
    "separates": {"failing": 20, "of_failing": 20, "passing": 3, "of_passing": 312},
}
PLANE = {
    "expected": [["1", "2.5", "3"], ["7.5556", "8", "nan"]],
    "got": [["1", "2.5", "3"], ["17", "8", "0"]],
    "wrong": [[False, False, False], [True, False, True]],
}
ELEMENTS = [
    {
        "output": "result",
        "index": [0, 0, 1, n],
        "exact": "7.555555555555555",
        "rounded": "7.5555553",
        "lo": "7.5555549",
        "hi": "7.5555558",
        "got": "17.0",
        "ulp": ulp,
        "rounded_bits": "0x40f1c71c",
        "got_bits": "0x41880000",
    }
    for n, ulp in enumerate((9_876_543, "inf", None))
]
READS = {
    "output": "Y",
    "index": [0, 1, 0, 2],
    "tensors": [
        {
            "name": "X",
            "shape": [1, 2, 2, 5],
            "elements": 6,
            "padding": 3,
            "of_slices": 1,
            "slices": [
                {
                    "at": [0, 1],
                    "rows": [-1, 0, 1],
                    "columns": [0, 1, 2, 3, 4],
                    "counts": [[0, 1, 1, 1, 0], [0, 1, 1, 2, 0], [0, 1, 1, 1, 0]],
                    "values": [[""] * 5, ["1", "2.5", "-3", "4", "5"], ["6", "7", "8", "9", "10"]],
                }
            ],
        },
        {
            "name": "B",
            "shape": [7],
            "elements": 1,
            "padding": 0,
            "of_slices": 9,
            "slices": [
                {
                    "at": [],
                    "rows": [0],
                    "columns": [0, 1, 3],
                    "counts": [[0, 1, 0]],
                    "values": [["0.5", "1.5", "nan"]],
                }
            ],
        },
    ],
    "of_terms": 6,
    "terms": [["X[0, 1, 0, 1]", "W[1, 0, 1, 0]"], ["X[0, 1, 0, 2]", "W[1, 0, 1, 1]"]],
}
DETAIL = {"reads": READS, "plane": PLANE, "elements": ELEMENTS}


def diagnosed(finding: Finding, diagnosis: Any, **detail: Any) -> Finding:
    """The finding with a diagnosis, and more in its detail."""
    return replace(finding, diagnosis=diagnosis, detail={**finding.detail, **detail})


def measured(result: Result, within: Any) -> Result:
    """The result with its counts of elements by how much of the interval they use."""
    return replace(result, within=within)


def sample(name: str = "openvino") -> RunLog:
    """A sample run, its first findings diagnosed otherwise, its results measured."""
    run = read(SAMPLES / name / "run.jsonl.gz")
    first, second, third, *rest = run.findings
    findings = (
        diagnosed(first, MATCHED, **DETAIL),
        diagnosed(second, UNMATCHED, elements=ELEMENTS[:1]),
        diagnosed(third, {**MATCHED, "faults": [FAULT, SECOND], "alternatives": [], "agree": None}),
        *(diagnosed(one, None) for one in rest),
    )
    results = tuple(
        measured(result, _within(number, result))
        if result.status in GRADED and result.reject is None
        else result
        for number, result in enumerate(run.results)
    )
    return replace(run, findings=findings, results=results)


def _within(number: int, result: Result) -> list[int]:
    wrong = 0 if result.witness is None else result.witness.wrong
    return [result.size * 3, number % 7, number % 5, number % 3, number % 2, wrong]
