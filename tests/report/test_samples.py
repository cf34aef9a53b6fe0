"""The committed runs of real backends: pages come from their logs, and diagnoses are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.log.reader import read
from conformance.report import comparison_page, terminal
from conformance.report.matrix import Column
from conformance.report.page import FILE, render
from conformance.report.terminal import summary

SAMPLES = Path(__file__).parents[2] / "reports" / "sample"
SMOKE = ("torch-compile",)  # seconds a vector
COMPARED = ("openvino", "torch")
NAMES = (
    *COMPARED,
    "openvino-family",
    "openvino-onnx",
    "torch-own",
    "onnxruntime",
    "onnx-reference",
    "jax",
    *SMOKE,
)

NAMED = {
    # What was found by hand, and is told in reports/sample/README.md.
    "openvino": {
        "f64-clamped-and-summed-in-f32",
        "f64-clamped-to-f32",
        "float32-quotient",
    },
    "onnxruntime": {"same-forgets-dilations", "search-begins-at-lowest"},
    "openvino-onnx": {
        "divisor-clips-overhang-on-first-axis",
        "divisor-clips-overhang-on-last-axis",
        "padded-axes-alone-count-pads",
        "f64-clamped-and-summed-in-f32",
        "f64-clamped-to-f32",
        "search-begins-at-lowest",
        "index-of-channel-where-nothing-is-more",
    },
    "onnx-reference": {
        "sums-in-own-type",
        "sums-of-bf16-in-own-type",
        "overhang-split-between-ends",
        "nan-left-out-like-padding",
        "same-forgets-dilations-in-right-shape",
        "strided-same-below-zero",
        "strided-same-lower-like-upper-of-fewer",
    },
    "torch": {"sums-in-own-type-in-3d"},
    "torch-own": {"sums-in-own-type-in-3d", "sums-in-own-type", "overrunning-window-scaled-up"},
    "openvino-family": {
        "f64-clamped-and-summed-in-f32",
        "f64-clamped-to-f32",
        "float32-quotient",
        "i32-averaged-in-f32-and-clamped",
        "i32-sums-wrap-then-divided-in-f32",
        "i64-read-as-i32",
    },
    "torch-compile": {"overrunning-window-scaled-up"},
    "jax": {"sums-in-own-type"},
}
UNNAMED = {
    "openvino-family": 4,
    "openvino-onnx": 7,
    "onnxruntime": 2,
    "onnx-reference": 10,
    "torch-own": 2,
    "jax": 1,
}
"""Findings of wrong values or indices that no fault of the catalogue is named for."""


@pytest.mark.parametrize("name", NAMES)
def test_every_log_makes_its_pages(name: str) -> None:
    run = read(SAMPLES / name / "run.jsonl")
    text = render(run)
    assert text.rstrip().endswith("</html>")
    assert run.results[-1].id in text


def test_the_committed_page_is_that_of_its_log_byte_for_byte() -> None:
    text = render(read(SAMPLES / "openvino" / "run.jsonl"))
    assert (SAMPLES / "openvino" / FILE).read_text("utf-8") == text


def test_so_is_the_page_that_compares_them() -> None:
    runs = [Column(read(SAMPLES / name / "run.jsonl")) for name in COMPARED]
    page = (SAMPLES / comparison_page.FILE).read_text("utf-8")
    assert comparison_page.render(runs) == page


def test_the_document_shows_what_the_terminal_prints() -> None:
    page = (SAMPLES.parents[1] / "docs" / "diagnosis.md").read_text("utf-8")
    example = page.partition("```text\n")[2].partition("```")[0]
    printed = summary(read(SAMPLES / "torch" / "run.jsonl"))
    assert example.startswith("  1. ")
    assert f"\n\n{example}" in printed
    source = Path(terminal.__file__).read_text("utf-8")
    told = page.partition("Each cause begins")[2].partition("\n\n")[0]
    labels = re.findall(r"`([^`]+)`", told)
    assert len(labels) >= 7
    assert all(f'_field("{label}"' in source for label in labels)


@pytest.mark.parametrize("name", NAMES)
def test_the_faults_that_are_named_are_those_found_by_hand(name: str) -> None:
    run = read(SAMPLES / name / "run.jsonl")
    told = [one for finding in run.findings for one in (finding.diagnosis or {}).get("faults", ())]
    assert {fault["id"] for fault in told} == NAMED[name]
    wrong = [finding for finding in run.findings if finding.kind in ("value", "index")]
    unnamed = [one for one in wrong if not (one.diagnosis or {}).get("faults")]
    assert len(unnamed) == UNNAMED.get(name, 0)
