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

DOCUMENT = Path(__file__).parents[2] / "docs" / "spec-format.md"
BLOCK, POOL = "my.BlockMean-1", "my.AvgPool-1"

DIALECT = f"""\
format: 1
extends: AvgPool-1
op: {POOL}
document: {{title: Our pooling, url: "https://example.org/our-pooling"}}
types: {{T: [f32]}}
attributes: {{step: {{as: strides}}}}
inputs:
  - name: data
    type: T
    shape: [N, C, size]
    rank: [4, 4]
    patterns: [ramp, normal, negative]
reject: {{kernel-short: {{ranks: [4]}}, strides-short: {{ranks: [4]}}}}
"""

BACKEND = f"""\
import numpy as np
from conformance.backends.capabilities import Capabilities, Exclusion
from conformance.backends.numpy import avg_pool, means


class Ours:
    '''Means of blocks, and a pooling that counts padding whatever it is told.'''

    name, version = "ours", "1"
    capabilities = Capabilities(
        operators=("my.*",),
        dtypes=("f32",),
        excluding=(Exclusion("several images", op="{BLOCK}", when="N > 1"),),
    )

    def run(self, op, inputs, attributes):
        (data,) = inputs
        if op == "{BLOCK}":
            block = attributes["block"]
            if len(block) != data.ndim - 2 or not all(
                0 < k <= size for k, size in zip(block, data.shape[2:])
            ):
                raise ValueError("no such block")
            spans = [
                [(i * k, i * k + k) for i in range(size // k)]
                for k, size in zip(block, data.shape[2:])
            ]
            return [means(data, spans, None)]
        named = {{name.replace("-", "_"): value for name, value in attributes.items()}}
        return [avg_pool(data, strides=named.pop("step"), **named | {{"exclude_pad": False}})]
"""


def conformance(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A smoke suite of both, by another process, and without its specifications.

    Nothing is tried against mutants that survive; tests/own tries as much as users do.
    """
    folder = tmp_path_factory.mktemp("specifications")
    (example,) = re.findall(
        r"```yaml\n(format: 1\nop: BlockMean-1\n.*?)```", DOCUMENT.read_text(), re.S
    )
    example = example.replace("op: BlockMean-1", f"op: {BLOCK}")
    texts = {BLOCK: example.replace("rank: [3, 4]", "rank: [3, 3]"), POOL: DIALECT}
    words = []
    for op, text in texts.items():
        (folder / f"{op}.yaml").write_text(text)
        words += ["--op", str(folder / f"{op}.yaml")]
    out = tmp_path_factory.mktemp("elsewhere") / "suite"
    words += ["--suite", "smoke", "--seed", "3", "--out", str(out)]
    quick = "from conformance.generate import plan; plan.hunt = lambda *_: []; "
    program = quick + "from conformance.cli import main; main()"
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
    assert list(suite.specs) == [BLOCK, POOL]
    assert suite.specs[POOL].attributes[4].name == "step"
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
    assert any(op == BLOCK and "several images" in message for op, message in reasons)


def test_the_page_names_the_mutant_and_the_interpretations_in_words(
    checked: tuple[Result, Path],
) -> None:
    _, folder = checked
    (finding,) = (one for one in events(folder, "finding") if one["kind"] == "value")
    assert finding["op"] == POOL
    assert "Padding is counted although exclude-pad is true." in json.dumps(finding["diagnosis"])
    page = (folder / "index.html").read_text("utf-8")
    assert "<h3>Padding is counted although exclude-pad is true</h3>" in page
    (footer,) = events(folder, "footer")
    asked = {(one["op"], one["question"]) for one in footer["readings"]}
    assert (BLOCK, "elements that fill no block") in asked
    assert (POOL, "value of a window without data, padding not counted") in asked


def test_it_is_audited_and_its_coverage_measured(suite: Suite) -> None:
    audited = conformance("suite", "audit", "--suite", suite.path, "--op", POOL)
    assert re.search(rf"{re.escape(POOL)}: \d+ of \d\d\d ", audited.output)
    part = conformance(
        "suite", "audit", "--suite", suite.path, "--op", POOL, "--dtypes", "f32", "--ranks", 4
    )
    assert "selected part: " in part.output
    covered = conformance("suite", "coverage", "--suite", suite.path)
    assert "lists coverage targets that" not in covered.output
    edges = len(suite.specs[POOL].edges)
    assert re.search(rf"{re.escape(POOL)} +4 .* of +{edges} ", covered.output)


def test_it_is_shown_and_has_a_page(suite: Suite, tmp_path: Path) -> None:
    vector = next(one for one in suite.manifest.vectors if one.op == POOL and one.reject is None)
    shown = conformance("show", vector.id, "--suite", suite.path)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert "window" in shown.stdout
    assert conformance("spec", "docs", "--suite", suite.path, "--out", tmp_path).exit_code == 0
    assert tiny.content(tmp_path).keys() == {f"{POOL}.html", f"{BLOCK}.html", "index.html"}
    page = (tmp_path / f"{POOL}.html").read_text("utf-8")
    assert vector.id in page
    assert "Padding is counted although exclude-pad is true." in page


def test_a_script_says_where_it_is_specified(checked: tuple[Result, Path], suite: Suite) -> None:
    _, folder = checked
    (finding,) = (one for one in events(folder, "finding") if one["kind"] == "value")
    backend = f"{folder.parent / 'ours.py'}:Ours"
    words = ("--backend", backend, "--suite", suite.path)
    script = conformance("repro", finding["smallest"], *words)
    assert script.exit_code == 0, script.output
    assert "# Specified in: Our pooling\n# https://example.org/our-pooling\n" in script.stdout
