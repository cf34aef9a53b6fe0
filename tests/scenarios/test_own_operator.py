"""An operator of one's own, from its specification to a script for an issue, with the YAML gone.

A suite carries what it was made from, so every command treats the operator as a shipped one.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tiny
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.suite.store import Suite, open_suite

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "own.LocallyConnected.yaml"
LOCAL, POOL = EXAMPLE.stem, "my.AvgPool-1"

DIALECT = f"""\
extends: AvgPool-1
op: {POOL}
document: {{title: Our pooling, url: "https://example.org/our-pooling"}}
types: {{T: [f32]}}
attributes: {{strides: null, step: {{as: strides, per: axis, min: 1}}}}
inputs:
  - name: data
    type: T
    shape: [N, C, size]
    rank: [4, 4]
    patterns: [ramp, normal, negative]
"""

BACKEND = f"""\
import numpy as np
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.numpy import avg_pool
from conformance.specification import outputs, find_spec


class Ours:
    '''The layer as it is specified, and a pooling that pads at the other end.'''

    name, version = "ours", "1"
    capabilities = Capabilities(
        operators=("my.*", "own.*"),
        dtypes=("f32",),
        excluding=(Exclusion("several images", op="{LOCAL}", when="N > 1"),),
    )

    def run(self, op, inputs, attributes):
        if op == "{LOCAL}":
            return outputs(find_spec("{EXAMPLE}"), inputs, attributes)
        (data,) = inputs
        named = {{name.replace("-", "_"): value for name, value in attributes.items()}}
        ends = {{"pads_begin": named["pads_end"], "pads_end": named["pads_begin"]}}
        return [avg_pool(data, strides=named.pop("step"), **named | ends)]
"""


def conformance(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A smoke suite of both, by another process, and without its specifications.

    It is of few draws; tests/own makes as many as users do.
    """
    folder = tmp_path_factory.mktemp("specifications")
    example = EXAMPLE.read_text("utf-8").replace("[f16, bf16, f32, f64]", "[f32]")
    texts = {LOCAL: example, POOL: DIALECT}
    words = []
    for op, text in texts.items():
        (folder / f"{op}.yaml").write_text(text)
        words += ["--op", str(folder / f"{op}.yaml")]
    out = tmp_path_factory.mktemp("elsewhere") / "suite"
    words += ["--suite", "smoke", "--seed", "3", "--out", str(out)]
    few = "from conformance.generate import suite as generation; generation.SMOKE_POOL = 150; "
    program = few + "from conformance.cli import main; main()"
    command = [sys.executable, "-c", program, "generate", *words]
    subprocess.run(command, check=True, capture_output=True)
    for op in texts:
        (folder / f"{op}.yaml").unlink()
    return open_suite(out)


@pytest.fixture(scope="module")
def checked(suite: Suite) -> tuple[Result, Path]:
    """A check of a backend that declares what it supports, and what it wrote."""
    folder = suite.path.parent
    (folder / "ours.py").write_text(BACKEND)
    words = ("--backend", f"{folder / 'ours.py'}:Ours", "--suite", suite.path)
    return conformance("check", *words, "--out", folder / "report"), folder / "report"


def events(folder: Path, kind: str) -> list[dict[str, object]]:
    lines = (folder / "run.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def test_the_suite_carries_both(suite: Suite) -> None:
    assert sorted(suite.specs) == [POOL, LOCAL]
    assert suite.specs[POOL].spelled["step"].name == "strides"
    assert len(suite.specs.faults(POOL)) > 100
    shown = conformance("suite", "lint", suite.path)
    assert shown.exit_code == 0, shown.output


def test_what_is_declared_is_held_against_its_specification(
    checked: tuple[Result, Path], suite: Suite
) -> None:
    found, folder = checked
    assert found.exit_code == 1, found.output
    reasons = {
        (one["op"], one["message"])
        for one in events(folder, "result")
        if one["status"] == "unsupported"
    }
    assert any(op == LOCAL and "several images" in message for op, message in reasons)


def test_the_page_names_the_mutant_and_the_interpretations_in_words(
    checked: tuple[Result, Path],
) -> None:
    _, folder = checked
    (finding,) = (one for one in events(folder, "finding") if one["kind"] == "value")
    assert finding["op"] == POOL
    assert "pads_begin and pads_end have changed places." in json.dumps(finding["diagnosis"])
    page = (folder / "index.html").read_text("utf-8")
    assert "<h3>pads_begin and pads_end have changed places</h3>" in page
    (footer,) = events(folder, "footer")
    asked = {(one["op"], one["question"]) for one in footer["readings"]}
    assert (POOL, "ceil with auto_pad valid") in asked


def test_it_is_audited_and_its_coverage_measured(suite: Suite) -> None:
    audited = conformance("suite", "audit", "--suite", suite.path, "--op", LOCAL)
    assert re.search(rf"{re.escape(LOCAL)}: \d+ of \d\d\d ", audited.output)
    part = conformance(
        "suite", "audit", "--suite", suite.path, "--op", LOCAL, "--dtypes", "f32", "--ranks", 4
    )
    assert "selected part: " in part.output
    covered = conformance("suite", "coverage", "--suite", suite.path)
    assert "lists coverage targets that" not in covered.output
    assert re.search(rf"{re.escape(POOL)} +4 .* of +\d\d\d ", covered.output)


def test_it_is_shown_and_has_a_page(suite: Suite, tmp_path: Path) -> None:
    vector = next(one for one in suite.manifest.vectors if one.op == POOL and one.reject is None)
    shown = conformance("show", vector.id, "--suite", suite.path)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert f"{POOL} of f32 data " in shown.stdout
    assert conformance("spec", "docs", "--suite", suite.path, "--out", tmp_path).exit_code == 0
    assert tiny.content(tmp_path).keys() == {f"{POOL}.html", f"{LOCAL}.html", "index.html"}
    page = (tmp_path / f"{POOL}.html").read_text("utf-8")
    assert "Our pooling" in page
    assert "step" in page


def test_a_script_says_where_it_is_specified(checked: tuple[Result, Path], suite: Suite) -> None:
    _, folder = checked
    (finding,) = (one for one in events(folder, "finding") if one["kind"] == "value")
    backend = f"{folder.parent / 'ours.py'}:Ours"
    words = ("--backend", backend, "--suite", suite.path)
    script = conformance("repro", finding["smallest"], *words)
    assert script.exit_code == 0, script.output
    assert "# Specified in: Our pooling\n# https://example.org/our-pooling\n" in script.stdout
