"""A challenge, from the secret to a record that others verify, and what does not verify."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from challenged import BACKEND, PROGRAM, Challenged, challenged, invoked, smaller

from conformance.backends import components
from conformance.challenge import verify_record
from conformance.challenge.record import ChallengeRecord, encode_record, parse_record
from conformance.challenge.secret import Secret
from conformance.challenge.verify_record import (
    Step,
    StepOutcome,
    VerifierInputs,
    verification_steps,
)
from conformance.log.reader import read as read_log
from conformance.model import Case
from conformance.run.executor import Executor
from conformance.run.executor_options import Isolation
from conformance.specification import find_spec
from conformance.suite.store import open_suite

ROOT = Path(__file__).parents[2]
STEPS = ["record", "commitment", "seed", "verdict", "vectors", "selection", "backend", "outputs"]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Challenged:
    with pytest.MonkeyPatch.context() as patch:
        smaller(patch)
        return challenged(tmp_path_factory.mktemp("challenge"))


@pytest.fixture(scope="module")
def verified(one: Challenged) -> str:
    """What is told where everything is checked."""
    with pytest.MonkeyPatch.context() as patch:
        smaller(patch)
        shown = invoked(
            *("verify", one.file, "--commitment", one.published),
            *("--backend", one.backend, "--op", one.spec),
        )
    assert shown.exit_code == 0, shown.output
    return shown.stdout


@pytest.fixture(autouse=True)
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    smaller(monkeypatch)


def steps(
    record: ChallengeRecord, one: Challenged, *, backend: bool = False, reselect: bool = False
) -> dict[str, Step]:
    def executor() -> Executor:
        return Isolation("process", hashed=True).executor_for(one.backend)

    means = VerifierInputs(
        find=lambda _: find_spec(one.spec),
        published=one.published,
        executor=executor if backend else None,
        reselect=reselect,
    )
    found = list(verification_steps(record, means))
    assert [step.name for step in found] == STEPS
    return {step.name: step for step in found}


def failed(found: dict[str, Step]) -> list[str]:
    return [step.name for step in found.values() if step.outcome is StepOutcome.FAILED]


def skipped(found: dict[str, Step]) -> list[str]:
    return [step.name for step in found.values() if step.outcome is StepOutcome.SKIPPED]


class TestARecord:
    def test_says_what_was_tested_and_how_it_ended(self, one: Challenged) -> None:
        record, log = one.record, read_log(one.folder / "out" / "run.jsonl")
        suite = open_suite(one.folder / "out" / "suite")
        assert record.commitment == one.published
        assert [case.case.id for case in record.cases] == [e.id for e in suite.manifest.vectors]
        assert suite.manifest.seed == record.seed
        assert {case.case.types["T"] for case in record.cases} == {"f32"}  # as it declares
        assert all(case.outputs for case in record.cases)
        assert record.conclusion["verdict"] == log.footer["verdict"]  # type: ignore[index]
        assert [(p.kind, p.name) for p in record.backend.pieces] == [
            ("file", "mean.py"),
            ("object", "Mean"),
        ]
        assert record.backend.digest in one.output

    def test_verifies_from_end_to_end(self, verified: str) -> None:
        lines = [line for line in verified.splitlines() if line[:1].strip()]
        assert [line.split()[0] for line in lines if line.split()[0] in STEPS] == STEPS
        assert verified.count(" ok ") == len(STEPS)
        assert "What was checked is right." in verified

    def test_says_what_was_not_checked(self, one: Challenged) -> None:
        shown = invoked("verify", one.file, "--op", one.spec, "--no-selection")
        assert shown.exit_code == 0
        assert "Not checked: selection, backend, outputs." in shown.stdout

    def test_verifies_elsewhere(self, one: Challenged, tmp_path: Path) -> None:
        done = self.elsewhere(one, tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "the same inputs and expected values" in done.stdout

    @pytest.mark.exhaustive
    def test_verifies_under_another_patch_version_of_numpy(
        self, one: Challenged, tmp_path: Path
    ) -> None:
        major, minor, patch = np.__version__.split(".")[:3]
        other = f"{major}.{minor}.{int(patch) - 1 if int(patch) else 1}"
        words = ("-q", "--no-deps", "-d", tmp_path, f"numpy=={other}")
        fetched = subprocess.run(
            [sys.executable, "-m", "pip", "download", *words], capture_output=True, check=False
        )
        wheels = list(tmp_path.glob("numpy-*.whl"))
        if fetched.returncode or not wheels:
            pytest.skip(f"numpy {other} cannot be fetched")
        zipfile.ZipFile(wheels[0]).extractall(tmp_path / "packages")
        done = self.elsewhere(one, tmp_path, "--no-selection", first=tmp_path / "packages")
        assert done.returncode == 0, done.stdout + done.stderr
        done = self.elsewhere(one, tmp_path, first=tmp_path / "packages")
        assert f"numpy {np.__version__}, here {other}" in " ".join(done.stdout.split())
        assert "the same inputs and expected values" in done.stdout

    def elsewhere(
        self, one: Challenged, folder: Path, *more: str, first: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The record and the specification in another folder, in another environment."""
        for file in (one.file, Path(one.spec)):
            shutil.copy(file, folder)
        more = more or (("--no-selection",) if first is None else ())
        code = "from conformance.cli import main; main()"
        words = ("challenge", "verify", "record.json", "--op", "Tiny-1.yaml", *more)
        return subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=folder,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.pathsep.join(map(str, filter(None, (first, ROOT)))),
                "PYTHONHASHSEED": "7",
                "LC_ALL": "C",
                "TZ": "Asia/Kathmandu",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def test_skips_the_selection_under_other_versions(
        self, one: Challenged, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here = {**one.record.versions, "numpy": "1.0"}
        monkeypatch.setattr(verify_record, "selection_versions", lambda: here)
        found = steps(one.record, one, reselect=True)
        assert not failed(found)
        assert found["selection"].outcome is StepOutcome.SKIPPED
        assert "here 1.0" in found["selection"].text


class TestAForgery:
    """A forger writes the digest of the record anew; each lie has the step that finds it."""

    def changed(
        self, of: Challenged | ChallengeRecord, number: int = 0, **other: object
    ) -> ChallengeRecord:
        """The record with one valid case changed, as a forger would write it."""
        record = of if isinstance(of, ChallengeRecord) else of.record
        cases = list(record.cases)
        place = [at for at, one in enumerate(cases) if one.case.reject is None][number]
        cases[place] = replace(cases[place], **other)
        return self.written(replace(record, cases=tuple(cases)))

    def valid(self, of: Challenged) -> Case:
        return next(one.case for one in of.record.cases if one.case.reject is None)

    def written(self, record: ChallengeRecord) -> ChallengeRecord:
        return parse_record(encode_record(record), "forged")

    def test_another_secret(self, one: Challenged) -> None:
        record = self.written(replace(one.record, secret="00" * 32))
        assert failed(steps(record, one)) == ["commitment", "seed"]

    def test_another_secret_with_its_commitment(self, one: Challenged) -> None:
        secret = Secret(bytes(32))
        seed = secret.seed(one.record.backend.digest)
        record = replace(one.record, secret="00" * 32, commitment=secret.commitment, seed=seed)
        found = steps(self.written(record), one, reselect=True)
        assert failed(found) == ["commitment", "selection"]

    def test_another_backend(self, one: Challenged) -> None:
        other = components.Component("file", "mean.py", "1" * 64)
        backend = replace(one.record.backend, pieces=(other,))
        assert failed(steps(self.written(replace(one.record, backend=backend)), one)) == ["seed"]

    def test_other_expected_values(self, one: Challenged) -> None:
        found = steps(self.changed(one, content="0" * 32), one, backend=True, reselect=True)
        assert failed(found) == ["vectors"]
        assert skipped(found) == ["selection", "backend", "outputs"]

    def test_another_case(self, one: Challenged) -> None:
        case = self.valid(one)
        record = self.changed(one, case=replace(case, seed=case.seed + 1))
        assert failed(steps(record, one)) == ["vectors"]

    @pytest.fixture
    def selected_before(self, one: Challenged, monkeypatch: pytest.MonkeyPatch) -> None:
        """The selection that a test from end to end makes again is not made for each lie."""
        suite = open_suite(one.folder / "out" / "suite")
        monkeypatch.setattr(verify_record, "select_suite", lambda *_, **__: suite)

    @pytest.mark.usefixtures("selected_before")
    def test_fewer_cases(self, one: Challenged) -> None:
        record = self.written(replace(one.record, cases=one.record.cases[1:]))
        assert not failed(steps(record, one))
        assert failed(steps(record, one, reselect=True)) == ["selection"]

    @pytest.mark.usefixtures("selected_before")
    def test_more_strength(self, one: Challenged) -> None:
        record = self.written(replace(one.record, killed={"Tiny-1": (9, 9)}))
        assert failed(steps(record, one, reselect=True)) == ["selection"]

    def test_other_outputs_and_results_are_found_by_running_again_alone(
        self, one: Challenged
    ) -> None:
        first = self.changed(one, outputs="0" * 64)
        assert not failed(steps(first, one))
        record = self.changed(replace(one.record, cases=first.cases), 1, status="fail")
        assert record.conclusion["verdict"] == "not conformant"
        found = steps(record, one, backend=True)
        assert failed(found) == ["outputs"]
        assert f"2 of {len(record.cases)} cases" in found["outputs"].text

    @pytest.mark.parametrize(
        "shape", [(1 << 40,), (1 << 31, 1 << 31), (0, 1)], ids=["one", "large", "empty"]
    )
    def test_a_case_that_cannot_be_evaluated(self, one: Challenged, shape: tuple[int, ...]) -> None:
        case = replace(self.valid(one), shapes={"data": shape})
        found = steps(self.changed(one, case=case), one)
        assert failed(found) == ["vectors"]
        assert "is no case of Tiny-1" in found["vectors"].text


class TestTheBackend:
    def test_with_other_bytes_is_another_one(self, one: Challenged, tmp_path: Path) -> None:
        changed = BACKEND.replace("OFFSET = 0", "OFFSET = 1")
        (tmp_path / "mean.py").write_text(changed, encoding="utf-8")
        words = ("verify", one.file, "--op", one.spec, "--no-selection")
        shown = invoked(*words, "--backend", f"{tmp_path / 'mean.py'}:Mean")
        assert shown.exit_code == 1
        assert "backend     FAILED    it is made of other files: mean.py" in shown.stdout
        assert "outputs     FAILED" in shown.stdout
        assert "The record does not verify: backend, outputs." in shown.stdout

    KEEPS = """
KEPT = {}


class Keeps(Mean):
    def run(self, op, inputs, attributes):
        key = inputs[0].shape, inputs[0].dtype, str(attributes)
        if key not in KEPT:
            KEPT[key] = super().run(op, inputs, attributes)
        return KEPT[key]
"""
    ONCE = """
SEEN = set()


class Once(Mean):
    def run(self, op, inputs, attributes):
        right = super().run(op, inputs, attributes)
        key = inputs[0].tobytes(), inputs[0].shape, str(attributes)
        if key in SEEN:
            return [right[0] + 1]
        SEEN.add(key)
        return right
"""

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("code", [KEEPS, ONCE], ids=["shape", "content"])
    def test_that_knows_an_earlier_call_is_refused(self, code: str, tmp_path: Path) -> None:
        file = tmp_path / "other.py"
        file.write_text(BACKEND + code, encoding="utf-8")
        name = f"{file}:{code.partition('class ')[2].partition('(')[0]}"
        one = challenged(tmp_path, backend=name)
        assert one.record.conclusion["verdict"] == "not conformant"
        shown = invoked("verify", one.file, "--op", one.spec, "--backend", name, "--no-selection")
        assert shown.exit_code == 0, shown.output

    def test_gets_other_data_of_the_same_shapes_in_succession(self, one: Challenged) -> None:
        cases = [listed.case for listed in one.record.cases]
        again = [replace(b, seed=a.seed) == a for a, b in pairwise(cases) if a.seed != b.seed]
        assert any(again)

    @pytest.mark.exhaustive
    def test_that_computes_elsewhere_gets_a_log_and_no_verdict(self, tmp_path: Path) -> None:
        one = challenged(tmp_path, "--remote", "--suite", "smoke")
        assert one.record.conclusion["verdict"] is None
        assert "no claim (not hashed)" in one.record.conclusion["claim"]
        assert "not hashed" in one.output
        assert read_log(tmp_path / "out" / "run.jsonl").complete
        assert not failed(steps(one.record, one))

    @pytest.mark.needs("cc")
    def test_is_a_program(self, tmp_path: Path) -> None:
        source, program = tmp_path / "mean.c", tmp_path / "mean"
        source.write_text(PROGRAM)
        header = ROOT / "clients" / "c"
        subprocess.run(["cc", f"-I{header}", "-o", program, source, "-lm"], check=True)
        one = challenged(tmp_path, backend=f"exec:{program}")
        assert one.record.conclusion["verdict"] == "conformant"
        assert [(own.kind, own.name) for own in one.record.backend.pieces] == [("file", "mean")]
        shown = invoked(
            *("verify", one.file, "--op", one.spec),
            *("--no-selection", "--backend", f"exec:{program}"),
        )
        assert shown.exit_code == 0, shown.output
        assert "backend     ok        the same, 1 piece" in shown.stdout
        assert "outputs     ok" in shown.stdout


class TestTheSecret:
    def test_is_for_its_owner_alone_and_never_replaced(self, tmp_path: Path) -> None:
        file = tmp_path / "secret.json"
        shown = invoked("new", "--out", file)
        assert file.stat().st_mode & 0o777 == 0o600
        before = file.read_bytes()
        secret = Secret(bytes.fromhex(before.decode().split('"')[5]))
        assert shown.stdout == f"{secret.commitment}\n"
        assert secret.data.hex() not in shown.output + repr(secret)
        again = invoked("new", "--out", file)
        assert again.exit_code == 2
        assert file.read_bytes() == before

    def test_gives_another_seed_to_each_backend(self) -> None:
        one, other = Secret(bytes(32)), Secret(bytes(31) + b"\1")
        seeds = {secret.seed(digest * 32) for secret in (one, other) for digest in ("00", "01")}
        assert len(seeds) == 4
        assert all(0 <= seed < 1 << 64 for seed in seeds)
        assert one.seed("00" * 32) == Secret(bytes(32)).seed("00" * 32)

    def test_has_to_be_that_of_the_commitment(self, tmp_path: Path) -> None:
        file = tmp_path / "secret.json"
        invoked("new", "--out", file)
        words = ("--backend", "numpy", "--op", "AvgPool-1", "--out", tmp_path / "out")
        shown = invoked("run", "--secret", file, "--commitment", "0" * 64, *words)
        assert shown.exit_code == 2
        assert "its commitment is" in shown.output
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        "content",
        [b"", b"{}", b'{"format": 1, "secret": "00"}', b'{"format": 2}', b"[" * 5000, b" " * 9999],
    )
    def test_in_a_file_of_another_form(self, tmp_path: Path, content: bytes) -> None:
        file = tmp_path / "secret.json"
        file.write_bytes(content)
        words = ("--backend", "numpy", "--op", "AvgPool-1", "--out", tmp_path / "out")
        shown = invoked("run", "--secret", file, *words)
        assert shown.exit_code == 2
        assert "error: " in shown.output

    def test_is_used_once_for_a_folder(self, one: Challenged) -> None:
        words = ("--backend", one.backend, "--op", one.spec, "--out", one.folder / "out")
        shown = invoked("run", "--secret", one.folder / "secret.json", *words)
        assert shown.exit_code == 2
        assert "a challenge is run once" in shown.output


class TestTheDocument:
    TEXT = (ROOT / "docs" / "challenge.md").read_text("utf-8")

    def blocks(self, language: str) -> list[str]:
        return re.findall(rf"^```{language}\n(.*?)^```", self.TEXT, re.MULTILINE | re.DOTALL)

    def test_computes_commitment_and_seed_without_this_package(
        self, one: Challenged, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(one.file.parent)
        (code,) = self.blocks("python")
        assert "conformance" not in code.replace("opconform", "")
        found: dict[str, object] = {}
        exec(compile(code, "challenge.md", "exec"), found)
        assert found["record"]["seed"] == one.record.seed  # type: ignore[index]

    def test_shows_the_steps_as_they_are_told(self, verified: str) -> None:
        (shown,) = self.blocks("text")

        def plain(text: str) -> list[str]:
            whole = re.sub(r"\n +", " ", text)
            lines = [re.sub(r"\d[\d.]*|s\b", "", line) for line in whole.splitlines()]
            return [line for line in lines if not line.startswith("selection")]

        assert plain(shown) == plain(verified)[: len(STEPS) - 1]

    def test_explains_every_key(self, one: Challenged) -> None:
        listed = self.TEXT[self.TEXT.index("| key | meaning |") :].split("\n\n")[0]
        keys = {key for row in listed.splitlines()[2:] for key in re.findall(r"`(\w+)`", row)}
        said = {*json.loads(one.file.read_bytes())} - {"format", "tool", "sha256"}
        assert said <= keys
