"""The committed runs of real backends: pages come from their logs, and diagnoses are right."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import tiers

from conformance.log.reader import RunLog, read
from conformance.model import FAILED
from conformance.report import comparison_page, terminal
from conformance.report.matrix import Column
from conformance.report.page import FILE, render
from conformance.report.terminal import summary

SAMPLES = Path(__file__).parents[2] / "reports" / "sample"
COMPARED = ("openvino", "torch")
NAMES = (*COMPARED, "openvino-onnx", "onnxruntime", "onnx-reference")

NAMED = {
    # What is told in reports/sample/README.md, and found in source or by hand.
    "openvino": {
        "f64-clamped-and-summed-in-f32",
        "f64-clamped-to-f32",
        "float32-quotient",
        "float32-quotient-ends-beyond-data",
        "i32-averaged-in-f32-and-clamped",
        "i32-sums-of-one-channel-wrap",
        "i64-read-as-i32",
    },
    "openvino-onnx": {
        "ceil-mode-rounds-up-whatever-auto-pad",
        "divisor-counts-overhang",
        "f64-clamped-and-summed-in-f32",
        "f64-clamped-to-f32",
        "search-begins-at-lowest",
        "search-takes-only-more-than-lowest",
        "storage-order-transposes-indices",
        "unpadded-overrunning-window-scaled-up",
    },
    "onnxruntime": {
        "same-forgets-dilations",
        "same-forgets-dilations-and-cuts-windows",
        "search-begins-at-lowest",
    },
    "onnx-reference": {
        "global-over-last-two-dimensions",
        "nan-left-out-like-padding",
        "nan-left-out-of-mean",
        "overhang-split-between-ends",
        "same-forgets-dilations-in-right-shape",
        "strided-same-below-zero",
        "strided-same-lower-like-upper-of-fewer",
        "sums-in-own-type",
        "sums-of-bf16-in-own-type",
        "unstrided-index-looked-up-in-output",
        "valid-forgets-dilations-and-leaves-zeros",
    },
    "torch": {"overrunning-window-scaled-up", "sums-in-own-type"},
}
UNNAMED = {"openvino": 1, "openvino-onnx": 22, "onnx-reference": 30, "torch": 4}
"""Vectors with wrong values, indices or shapes that no mutant of the catalogue is named for."""


@cache
def sample(name: str) -> RunLog:
    return read(SAMPLES / name / "run.jsonl.gz")


@cache
def page_of(name: str) -> str:
    return render(sample(name))


@pytest.mark.parametrize("name", tiers.first(NAMES))
def test_every_log_makes_its_pages(name: str) -> None:
    run, text = sample(name), page_of(name)
    assert text.rstrip().endswith("</html>")
    assert run.results[-1].id in text


def test_the_committed_page_is_that_of_its_log_byte_for_byte() -> None:
    assert (SAMPLES / "openvino" / FILE).read_text("utf-8") == page_of("openvino")


def test_so_is_the_page_that_compares_them() -> None:
    runs = [Column(sample(name)) for name in COMPARED]
    page = (SAMPLES / comparison_page.FILE).read_text("utf-8")
    assert comparison_page.render(runs) == page


def test_the_document_shows_what_the_terminal_prints() -> None:
    page = (SAMPLES.parents[1] / "docs" / "diagnosis.md").read_text("utf-8")
    example = page.partition("```text\n")[2].partition("```")[0]
    printed = summary(sample("torch"))
    assert example.startswith("  1. ")
    assert f"\n\n{example}" in printed
    source = Path(terminal.__file__).read_text("utf-8")
    told = page.partition("Each cause begins")[2].partition("\n\n")[0]
    labels = re.findall(r"`([^`]+)`", told)
    assert len(labels) >= 7
    assert all(f'_field("{label}"' in source for label in labels)


@pytest.mark.parametrize("name", NAMES)
def test_the_faults_that_are_named_are_those_found_by_hand(name: str) -> None:
    run = sample(name)
    told = [one for finding in run.findings for one in (finding.diagnosis or {}).get("faults", ())]
    assert {fault["id"] for fault in told} == NAMED[name]
    wrong = [one for one in run.findings if one.kind in ("value", "index", "shape")]
    unnamed = [one for one in wrong if not (one.diagnosis or {}).get("faults")]
    assert sum(len(one.ids) for one in unnamed) == UNNAMED.get(name, 0)
    assert UNNAMED.get(name, 0) <= 0.05 * sum(len(one.ids) for one in wrong)


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_of_the_document_add_up_to_the_failures(name: str) -> None:
    """Each section of the README with a log has a row for each cause, and their sum is told."""
    text = (SAMPLES / "README.md").read_text("utf-8")
    told = dict(re.findall(r"--out ([a-z-]+) +# +([\d,]+)", text))
    run = sample(name)
    failed = sum(one.status in FAILED for one in run.results)
    assert int(told[name].replace(",", "")) == failed
    rows = [
        sum(int(number.replace(",", "")) for number in re.findall(r"\| ([\d,]+) \| `", section))
        for section in text.split("\n## ")[1:]
    ]
    assert failed in rows


def test_counts_of_a_cause_of_several_operators_say_of_which_they_are() -> None:
    lines = [" ".join(text.split()) for text in summary(sample("openvino")).split("\n\n")]
    f64 = next(text for text in lines if "5 operators, " in text and "f64" in text)
    assert " because AvgPool-1: " in f64
    i64 = next(text for text in lines if "i64 input is narrowed to i32: MaxPool-14" in text)
    assert " because Equal on 26 of 53 failing vectors" in i64
