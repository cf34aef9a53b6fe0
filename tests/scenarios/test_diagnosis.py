"""A backend with a fault of the catalogue is told so wherever a run is shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import conformance
from conformance.cli import main
from conformance.log.reader import read
from conformance.log.run_log import RunLog
from conformance.model import Finding
from conformance.report.registry import report_format
from conformance.specification import find_spec, mutants_of
from conformance.suite.store import open_suite

COUNTS_NO_PADDING = """
from conformance.backends.numpy import NumPy

class Faulty(NumPy):
    name = "faulty"
    def run(self, op, inputs, attributes):
        return super().run(op, inputs, {**attributes, "exclude-pad": True})
"""
FAULT = next(
    one for one in mutants_of(find_spec("AvgPool-1")) if one.id == "exclude-pad-taken-for-true"
)

NARROW = ("--op", "AvgPool-1", "--dtypes", "f32", "--ranks", "4", "--executor", "inline")
"""Vectors enough to name the mutant."""


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("backend") / "faulty.py"
    file.write_text(COUNTS_NO_PADDING)
    return f"{file}:Faulty"


@pytest.fixture(scope="module")
def folder(backend: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    command = ["check", "--backend", backend, *NARROW, "--out", str(folder)]
    assert CliRunner().invoke(main, command).exit_code == 1
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> RunLog:
    return read(folder / "run.jsonl")


def the_finding(run: RunLog) -> Finding:
    """What the fault itself is; where the padding exceeds the kernel, the backend refuses."""
    return next(finding for finding in run.findings if finding.kind == "value")


def test_exceptions_are_told_by_where_they_are_raised(run: RunLog) -> None:
    (finding,) = (finding for finding in run.findings if finding.kind == "raised")
    assert finding.diagnosis is not None
    told = [(one["name"], one["holds"]) for one in finding.diagnosis["conditions"]]
    assert told == [("a case outside of the profile pads-below-kernel", True)]
    assert finding.diagnosis["separates"]["passing"] == 0


def test_the_log_names_the_fault_with_its_evidence(run: RunLog) -> None:
    finding = the_finding(run)
    told = finding.diagnosis
    assert told is not None
    assert told["faults"] == [
        {
            "id": FAULT.id,
            "kind": FAULT.kind,
            "says": FAULT.description,
            "threads": list(FAULT.threads),
            "look": "",  # of other kinds of bugs, which give the same, elsewhere
        }
    ]
    # Large cases that pass are not held against it.
    small = {one.id for one in open_suite().manifest.of(("AvgPool-1",)) if not one.is_large}
    results = [result for result in run.results if result.reject is None]
    failed = [r for r in results if r.kind == "value" and r.returned is not None]
    passed = [r for r in results if r.status == "pass" and r.id in small]
    agree = told["agree"]
    assert agree["equal"] == len(finding.ids) > 50
    assert agree["failing"] == len(failed)
    assert agree["consistent"] == agree["passing"] == len(passed)
    assert told["scope"] == {}


@pytest.mark.parametrize("name", ["junit", "sarif", "github", "summary", "terminal", "html"])
def test_every_format_tells_it(run: RunLog, name: str) -> None:
    text = " ".join(report_format(name).render(run).split())
    assert FAULT.description.rstrip(".") in text
    assert f"Equal on {len(the_finding(run).ids)} of" in text


def test_the_fault_is_drawn_beside_what_is_right(run: RunLog) -> None:
    finding = the_finding(run)
    assert finding.witness is not None
    assert finding.detail["elements"][0]["got"] == finding.witness.got
    plane = finding.detail["plane"]
    assert plane["wrong"]
    # What the mutant gives is what came, to the last bit or two.
    pairs = zip(np.ravel(plane["given"]), np.ravel(plane["got"]), strict=True)
    assert all(float(given) == pytest.approx(float(got), rel=1e-6) for given, got in pairs)


@pytest.mark.exhaustive
def test_shards_that_are_merged_are_diagnosed_like_a_whole_run(
    backend: str, folder: Path, tmp_path: Path
) -> None:
    for part in ("1/2", "2/2"):
        command = ["check", "--backend", backend, *NARROW]
        out = tmp_path / part[0]
        assert (
            CliRunner().invoke(main, [*command, "--shard", part, "--out", str(out)]).exit_code == 1
        )
    merged = conformance.merge([tmp_path / "1" / "run.jsonl", tmp_path / "2" / "run.jsonl"])
    whole = read(folder / "run.jsonl")
    assert [f.diagnosis for f in merged.findings] == [f.diagnosis for f in whole.findings]


@pytest.mark.exhaustive
def test_a_run_that_goes_on_is_diagnosed_like_one_that_never_stopped(
    backend: str, folder: Path, tmp_path: Path
) -> None:
    lines = (folder / "run.jsonl").read_bytes().splitlines(keepends=True)
    failed = next(i for i, line in enumerate(lines) if json.loads(line).get("kind") == "value")
    (tmp_path / "run.jsonl").write_bytes(b"".join(lines[: failed + 1]))
    command = ["check", "--backend", backend, *NARROW]
    done = CliRunner().invoke(main, [*command, "--out", str(tmp_path), "--resume"])
    assert done.exit_code == 1, done.output
    told = [finding.diagnosis for finding in read(tmp_path / "run.jsonl").findings]
    assert told == [finding.diagnosis for finding in read(folder / "run.jsonl").findings]
