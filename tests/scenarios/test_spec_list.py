"""``conformance spec list``: the names that --op takes."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from conformance.cli import main
from conformance.specification import shipped_operators
from conformance.suite.store import open_suite

README = Path(__file__).parents[2] / "README.md"


def test_it_lists_every_operator_with_its_dialect() -> None:
    shown = CliRunner().invoke(main, ["spec", "list"])
    assert shown.exit_code == 0, shown.output
    lines = {line.split()[0]: line for line in shown.stdout.splitlines()}
    assert set(lines) == {*shipped_operators()}
    assert lines["ConvolutionBackpropData-1"].endswith(" cases  f16 bf16 f32 f64")
    assert "OpenVINO" in lines["AvgPool-1"]
    assert "ONNX" in lines["onnx.MaxPool-22"]
    assert "PyTorch" in lines["torch.avg_pool-2"]
    cases = len(open_suite().manifest.of(("AvgPool-1",)))
    assert f" {cases} cases  f16 bf16 f32 f64" in lines["AvgPool-1"]


def test_versions_are_in_their_order() -> None:
    shown = CliRunner().invoke(main, ["spec", "list"]).stdout.splitlines()
    found = [line.split()[0] for line in shown if line.startswith("MaxPool-")]
    assert found == ["MaxPool-1", "MaxPool-8", "MaxPool-14"]


def test_the_readme_uses_these_names() -> None:
    text = README.read_text("utf-8")
    table = text[text.index("## Operators") : text.index("## Your backend")]
    listed = set(re.findall(r"[A-Za-z][\w.]*-[0-9]+", table))
    assert len(listed) > 15
    names = {*shipped_operators()}
    assert listed <= names
    assert {*re.findall(r"--op ([\w.]+-[0-9]+)", text)} <= names
    assert f"`conformance spec list` lists all {len(names)}" in text


def test_a_link_in_a_circle_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    words = ["check", "--backend", "reference", "--op", "onnx.GlobalMaxPool-1", "--suite", "smoke"]
    for option in ("--out", "--format"):
        value = str(loop) if option == "--out" else f"junit={loop}"
        shown = CliRunner().invoke(main, [*words, "--executor", "inline", option, value])
        assert shown.exit_code in (0, 2), (option, shown.output)  # the link itself is replaced
        assert "Traceback" not in shown.output
