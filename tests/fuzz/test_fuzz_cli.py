"""``conformance fuzz`` as users run it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import tiers
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.cli.fuzz import _print_cause, _seconds
from conformance.cli.text import slug
from conformance.errors import UsageError
from conformance.fuzz import database
from conformance.log.causes import Cause
from conformance.log.reader import read
from conformance.model import Case
from conformance.specification import find_spec
from conformance.suite.store import open_suite

HERE = Path(__file__).parent
MAIN = "from conformance.cli import main; main()"

PLANTED = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from mutant_backends import Mutant

class Lib(Mutant):
    def __init__(self):
        super().__init__("AvgPool-14", "first-element-never-read")
        self.name = "lib"
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib.py").write_text(PLANTED)
    return tmp_path


def fuzz(*words: str) -> Result:
    return CliRunner().invoke(main, ["fuzz", *words])


FIND = ("--backend", "lib.py:Lib", "--op", "AvgPool-14", "--cases", "60")


class TestFound:
    @pytest.fixture
    def result(self) -> Result:
        found = fuzz(*FIND, "--seed", "1")
        assert found.exit_code == 1, found.output
        return found

    def test_everything_that_was_found(self, result: Result, elsewhere: Path) -> None:
        out = elsewhere / "reports" / "fuzz-lib"
        assert "1. The check for the beginning" in result.stdout
        assert "AvgPool-14 of f32 data 1x1x2 (ramp)" in result.stdout
        assert "60 cases" in result.stdout
        assert "1 minimal case\n" in result.stdout
        assert "seed 1\n" in result.stderr
        run = read(out / "run.jsonl")
        (finding,) = run.findings
        assert finding.diagnosis is not None
        assert [one["id"] for one in finding.diagnosis["faults"]] == ["first-element-never-read"]
        assert (out / "index.html").is_file()
        suite = open_suite(out / "suite")
        assert suite.verify() == ()
        assert suite.get(finding.smallest).inputs[0].size == 2
        script = out / "scripts" / f"{finding.smallest}.py"
        ended = subprocess.run([sys.executable, str(script)], capture_output=True, check=False)
        assert ended.returncode == 1
        self.check_takes_the_suite(result)

    def check_takes_the_suite(self, result: Result) -> None:
        command = re.search(r"conformance (check .*)", result.stdout)
        assert command is not None
        again = CliRunner().invoke(main, command[1].split())
        assert again.exit_code == 1
        suite = ["--suite", "reports/fuzz-lib/suite", "--executor", "inline"]
        honest = CliRunner().invoke(main, ["check", "--backend", "reference", *suite])
        assert honest.exit_code == 0
        assert "no claim (a suite of failures that a search found)" in honest.stdout

    @pytest.mark.exhaustive
    def test_the_same_seed_gives_the_same_suite(self, result: Result, elsewhere: Path) -> None:
        again = fuzz(*FIND, "--seed", "1", "--out", "again")
        assert again.exit_code == 1
        first, second = (open_suite(Path(one)) for one in ("reports/fuzz-lib/suite", "again/suite"))
        assert first.digest == second.digest

    def test_a_folder_that_is_no_suite_is_not_replaced(self, elsewhere: Path) -> None:
        (elsewhere / "mine" / "suite").mkdir(parents=True)
        (elsewhere / "mine" / "suite" / "thesis.txt").write_text("precious")
        found = fuzz(*FIND, "--out", "mine")
        assert found.exit_code == 2
        assert (elsewhere / "mine" / "suite" / "thesis.txt").read_text() == "precious"


def known(cause: Cause) -> bool:
    """Whether core still has the vectors that show a cause: samples are older than it."""
    ids = {entry.id for entry in tiers.core().manifest.vectors}
    return all(one.smallest in ids for one in cause.findings)


def test_what_several_operators_share_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    run = read(HERE.parents[1] / "reports" / "sample" / "openvino" / "run.jsonl.gz")
    shared = max(filter(known, run.causes), key=lambda one: len(one.operators))
    assert len(shared.operators) > 1
    _print_cause(1, shared, tiers.core(), {})
    shown, others = capsys.readouterr().out.split("   also in ")
    (first,) = (op for op in shared.operators if f"   {op} of " in shown)
    assert set(others.strip().split(", ")) == set(shared.operators) - {first}
    sizes = [tiers.core().get(one.smallest).inputs[0].size for one in shared.findings]
    (id_,) = re.findall(r"--only (\S+)", shown)
    assert tiers.core().get(id_).inputs[0].size == min(sizes)


def test_more_known_bugs_than_are_named_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    run = read(HERE.parents[1] / "reports" / "sample" / "openvino" / "run.jsonl.gz")
    cause = next(one for one in run.causes if one.kind == "value" and known(one))
    told = {"sentence": "", "faults": [], "alternatives": [{}] * 4}
    findings = tuple(replace(one, diagnosis=told) for one in cause.findings)
    _print_cause(1, replace(cause, findings=findings), tiers.core(), {})
    assert "1. 4 known bugs give these outputs: wrong values." in capsys.readouterr().out


SHORT = """
from unittest.mock import patch
from conformance.backends import numpy as plain
from conformance.backends.capabilities import Capabilities

def means(data, spans, divisor):
    result = plain.np.empty(data.shape[:2] + plain.lengths(spans), data.dtype)
    for at, window in plain.windows(spans):
        taps = data[window]
        count = divisor or taps[0, 0].size
        if taps.shape[-1] > 4 and taps.shape[-1] % 4:
            taps = taps[..., :-1]
        result[at] = taps.sum(axis=(2, 3)) / plain.np.float32(count)
    return result

class Short(plain.NumPy):
    name = "short"
    capabilities = Capabilities(operators=("AvgPool-1",), dtypes=("f32",), ranks=(4,))

    def run(self, op, inputs, attributes):
        with patch.object(plain, "means", means):
            return super().run(op, inputs, attributes)
"""


def test_a_name_agrees_with_what_failed_before_it_was_minimal(elsewhere: Path) -> None:
    """A loop in steps of 4 whose rest ends one tap early: with rows of 5 it looks like a loop
    that leaves out the rest, with rows of 7 it does not."""
    spec = find_spec("AvgPool-1")
    attributes = {
        "kernel": [2, 7],
        "strides": [1, 1],
        "pads_begin": [0, 0],
        "pads_end": [0, 0],
        "exclude-pad": True,
    }
    case = Case("AvgPool-1", {"T": "f32"}, {"data": (1, 1, 3, 9)}, attributes)
    database.keep_failures(Path("known"), spec, [case], [])
    (elsewhere / "short.py").write_text(SHORT)
    found = fuzz(
        "--backend", "short.py:Short", "--op", spec.op, "--cases", "1", "--database", "known"
    )
    assert found.exit_code == 1, found.output
    assert "1. No known bug: wrong values.\n   AvgPool-1 of f32 data 1x1x1x5 (ramp)" in found.stdout
    assert "2. " not in found.stdout
    assert "1 minimal case\n" in found.stdout
    run = read(Path("reports/fuzz-short/run.jsonl"))
    assert not any((one.diagnosis or {}).get("faults") for one in run.findings)
    assert case.id in {name for one in run.findings for name in one.ids}


class TestEarlierFailures:
    @pytest.mark.exhaustive
    def test_are_tried_first_without_a_seed(self, elsewhere: Path) -> None:
        assert fuzz(*FIND).exit_code == 1
        (file,) = (elsewhere / ".conformance" / "fuzz").iterdir()
        assert file.name.startswith("AvgPool-14-")
        again = fuzz(*FIND[:-2], "--cases", "1")
        assert again.exit_code == 1
        assert "first seen after 1 case and" in again.stdout

    @pytest.mark.exhaustive
    def test_are_left_alone_with_a_seed(self, elsewhere: Path) -> None:
        assert fuzz(*FIND, "--seed", "1").exit_code == 1
        found = fuzz("--backend", "numpy", "--op", "AvgPool-14", "--cases", "5", "--seed", "2")
        assert found.exit_code == 0

    @pytest.mark.exhaustive
    def test_that_are_damaged_are_told_and_left_out(self, elsewhere: Path) -> None:
        assert fuzz(*FIND).exit_code == 1
        (file,) = (elsewhere / ".conformance" / "fuzz").iterdir()
        file.write_bytes(b"{}\n")
        found = fuzz("--backend", "numpy", "--op", "AvgPool-14", "--cases", "5")
        assert found.exit_code == 0
        assert "warning: earlier failures are not tried" in found.stderr


FLAKY = """
from conformance.backends.numpy import NumPy

class Flaky(NumPy):
    name, calls = "flaky", 0

    def run(self, op, inputs, attributes):
        self.calls += 1
        outputs = super().run(op, inputs, attributes)
        return [one + 1 for one in outputs] if self.calls % 10 == 0 else outputs
"""


@pytest.mark.exhaustive
def test_what_does_not_fail_again_is_told(elsewhere: Path) -> None:
    (elsewhere / "flaky.py").write_text(FLAKY)
    found = fuzz("--backend", "flaky.py:Flaky", "--op", "AvgPool-1", "--cases", "60", "--seed", "1")
    assert found.exit_code == 1
    assert "Failed once, passed when rerun: AvgPool-1 of" in found.stdout


class TestNothingFound:
    def test_is_no_proof(self, elsewhere: Path) -> None:
        found = fuzz("--backend", "numpy", "--op", "Adaptive*", "--cases", "60", "--seed", "1")
        assert found.exit_code == 0
        assert "nothing found, which does not prove conformance" in found.stdout
        assert "conformant" not in found.stdout.replace("conformance", "")
        assert re.search(r"AdaptiveAvgPool-8 +\d+ cases of rank", found.stdout)
        assert not (elsewhere / "reports").exists()


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--backend", "numpy", "--op", "NoPool"), "NoPool"),
            (("--backend", "numpy", "--op", "MaxPool-1"), "declares none of these operators"),
            (("--backend", "numpy", "--time", "soon"), "is not a time"),
            (("--backend", "no.such.module:Lib"), "no.such.module"),
            (("--backend", "numpy", "--level", "perhaps"), "perhaps"),
        ],
    )
    def test_ends_with_2(self, words: tuple[str, ...], message: str) -> None:
        found = fuzz(*words)
        assert found.exit_code == 2
        assert message in found.stderr

    @pytest.mark.parametrize(
        ("text", "seconds"), [("30s", 30), ("2m", 120), ("1.5h", 5400), ("7", 7), (None, 60)]
    )
    def test_times(self, text: str | None, seconds: float) -> None:
        assert _seconds(text) == seconds

    @pytest.mark.parametrize("text", ["", "s", "-1s", "1d", "0s", "nan", "1e9"])
    def test_no_times(self, text: str) -> None:
        with pytest.raises(UsageError):
            _seconds(text)

    @pytest.mark.parametrize(
        ("backend", "name"),
        [
            ("torch", "torch"),
            ("path/to/mylib.py:MyLib", "mylib"),
            ("pkg.mod:Lib", "pkg.mod-Lib"),
            ("exec:./runner --flag", "runner"),
            ("exec:", "backend"),
            ("../..", "backend"),
        ],
    )
    def test_names_of_folders(self, backend: str, name: str) -> None:
        assert slug(backend) == name


@pytest.mark.exhaustive
def test_an_interrupted_search_leaves_what_it_found(elsewhere: Path) -> None:
    command = [sys.executable, "-c", MAIN, "fuzz", *FIND[:-2], "--time", "100s"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    time.sleep(12)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=100)
    assert process.returncode == 130, stderr
    assert "1. The check for the beginning" in stdout
    assert "it was interrupted" in stdout
    assert open_suite(elsewhere / "reports" / "fuzz-lib" / "suite").verify() == ()
    assert read(elsewhere / "reports" / "fuzz-lib" / "run.jsonl").findings
