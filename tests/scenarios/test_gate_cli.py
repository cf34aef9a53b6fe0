"""The gate of a vendor: only what is new fails it, and nothing that is wrong is ever green."""

from __future__ import annotations

import shutil
from pathlib import Path

import gated
import pytest
import yaml
from click.testing import CliRunner

from conformance.cli import main
from conformance.log.reader import read
from conformance.model import Status

CEIL = "wrong if ceil else outputs"
REFUSED = "refuse('no')"
CEIL_OR_CUBE = "wrong if ceil or cube else outputs"


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return gated.write(tmp_path_factory.mktemp("gated") / "suite")


@pytest.fixture
def check(suite, tmp_path):
    """Runs ``conformance check``; what it returned has its run log as ``log``."""

    def run(returned, *arguments, known=None, require=None, backend=None):
        report = tmp_path / "report"
        words = ["check", "--suite", str(suite.path), "--out", str(report)]
        words += ["--backend", backend or gated.backend(tmp_path, returned), *arguments]
        words += [] if "exit()" in returned else ["--executor", "inline"]  # it takes less time
        for option, text in (("--known-failures", known), ("--require", require)):
            if text is not None:
                file = tmp_path / f"{option[2:]}.yaml"
                file.write_text(text, encoding="utf-8")
                words += [option, str(file)]
        shutil.rmtree(report, ignore_errors=True)
        ran = CliRunner().invoke(main, words)
        if report.exists():
            ran.log = read(report / "run.jsonl")
            ran.page = (report / "index.html").read_text("utf-8")
            assert ran.log.problems == ()
            assert ran.log.footer["exit_code"] == ran.exit_code
        return ran

    return run


@pytest.fixture(scope="module")
def baselines():
    """The known failures of backends, by what these return: written once for all tests."""
    return {}


@pytest.fixture
def baseline(check, tmp_path, baselines):
    """The known failures that ``conformance baseline`` writes for a backend."""

    def write(returned, **how):
        if returned not in baselines or how:
            check(returned, **how)
            out = tmp_path / "baseline.yaml"
            out.unlink(missing_ok=True)
            log = str(tmp_path / "report" / "run.jsonl")
            ran = CliRunner().invoke(main, ["baseline", "--from", log, "--out", str(out)])
            assert ran.exit_code == 0, ran.stderr
            baselines[returned] = out.read_text("utf-8")
        return baselines[returned]

    return write


def one_line(text):
    return " ".join(text.split())


class TestKnownFailures:
    def test_a_baseline_lets_its_own_run_pass(self, check, baseline):
        known = baseline(CEIL)
        assert "wrong:" in known
        assert "reason: Fails on exactly the vectors with rounding_type == ceil." in known
        shown = check(CEIL, "--strict", known=known)
        assert shown.exit_code == 0
        assert "auses (" not in shown.stdout
        assert "Known failures (6 vectors)" in shown.stdout
        said = one_line(shown.stdout)
        assert "NO NEW FAILURES. Not conformant: 10 of 16 vectors passed, 6 failed" in said
        assert "6 failed (none of these new)" in said
        claim = shown.stdout.splitlines()[-1]
        assert "mine 1.0: NOT conformant with " in claim
        assert "6 known failures" in claim
        assert shown.log.verdict == "not conformant"
        assert {r.status for r in shown.log.results if r.known} == {Status.FAIL}
        assert '<section class="verdict known"' in shown.page
        assert ">No new failures</h1>" in shown.page
        assert "Known causes, 1 in all" in shown.page

    @pytest.mark.parametrize(
        "returned",
        [
            CEIL_OR_CUBE,
            "exit() if cube else outputs",
            "[] if half else wrong if ceil else outputs",
            "1 / 0 if half else [o.astype('f8') for o in outputs] if cube else outputs",
        ],
    )
    def test_so_does_that_of_any_broken_backend(self, check, baseline, returned):
        shown = check(returned, "--strict", known=baseline(returned))
        assert shown.exit_code == 0
        assert shown.log.tallies[gated.AVG].known + shown.log.tallies[gated.MAX].known > 0

    def test_so_does_that_of_a_rule_broken_throughout(self, check, baseline, tmp_path):
        gated.backend(tmp_path)
        how = {"backend": f"{tmp_path / 'mine.py'}:replaced"}
        known = baseline("", **how)
        shown = check("", "--strict", "--op", gated.AVG, known=known, **how)
        assert shown.log.tallies[gated.AVG].known >= 4
        assert shown.exit_code == 0

    def test_only_what_is_new_is_shown(self, check, baseline):
        shown = check(CEIL_OR_CUBE, known=baseline(CEIL))
        assert shown.exit_code == 1
        # What two failures among so few vectors have in common may be chance.
        assert "New causes (1 unexplained failure group), worst first" in shown.stdout
        findings = shown.stdout.split("New causes")[1].split("Known failures")[0]
        assert gated.MAX in findings
        assert gated.AVG not in findings
        assert "of these 6 known and 2 new" in one_line(shown.stdout)
        assert "NOT CONFORMANT" in shown.stdout
        assert [finding.op for finding in shown.log.findings] == [gated.MAX, gated.AVG]

    def test_a_crash_is_no_wrong_value(self, check, baseline):
        shown = check("exit() if ceil else outputs", known=baseline(CEIL))
        assert shown.exit_code == 1
        assert "of these" not in shown.stdout

    def test_what_passes_after_all_is_told_and_strict_fails(self, check, baseline):
        known = baseline(CEIL)
        shown = check("outputs", known=known)
        assert shown.exit_code == 0
        assert "Known failures out of date (1)" in shown.stdout
        assert "6 vectors pass unexpectedly" in one_line(shown.stdout)
        assert "conformant with" in shown.stdout.splitlines()[-1]
        shown = check("outputs", "--strict", known=known)
        assert shown.exit_code == 1
        assert "GATE NOT MET. Conformant: 16 of 16" in one_line(shown.stdout)
        assert "out of date, which strict does not allow." in one_line(shown.stdout)
        assert '<section class="verdict bad"' in shown.page
        assert "pass unexpectedly" in shown.page

    def test_an_expired_entry_excuses_nothing(self, check, baseline):
        known = baseline(CEIL)
        for day, code in (("2999-12-31", 0), ("2020-01-01", 1)):
            text = known.replace("    reason:", f"    expires: {day}\n    reason:")
            shown = check(CEIL, known=text)
            assert shown.exit_code == code
        assert "expired on 2020-01-01, so it excuses nothing" in one_line(shown.stdout)
        assert "New causes (1)" in shown.stdout

    def test_a_typing_error_is_told_and_strict_fails(self, check):
        known = "known:\n  - {edges: [no-such-edge], reason: x}\n"
        assert check("outputs", known=known).exit_code == 0
        shown = check("outputs", "--strict", known=known)
        assert shown.exit_code == 1
        assert "the suite has no edge no-such-edge" in shown.stdout

    def test_nothing_right_is_never_green(self, check, baseline):
        known = baseline("wrong")
        shown = check("wrong", known=known)
        assert shown.exit_code == 1
        assert "none of these new, but no value vector passed" in one_line(shown.stdout)
        assert '<section class="verdict bad"' in shown.page

    def test_nothing_graded_is_never_green(self, check):
        known = "known:\n  - {dtypes: [f16], reason: x}\n"
        assert check(REFUSED, known=known).exit_code == 1

    def test_a_whole_operator_is_refused_before_the_run(self, check, tmp_path):
        known = "known:\n  - {op: AvgPool-1, dtypes: [f16, f32], reason: x}\n"
        shown = check(CEIL, known=known)
        assert shown.exit_code == 2
        assert (
            "known-failures.yaml:2:5: this would excuse every vector of AvgPool-1" in shown.stderr
        )
        assert not (tmp_path / "report").exists()

    def test_a_wrong_file(self, check):
        shown = check(CEIL, known="known:\n  - {edge: [x], reason: y}\n")
        assert shown.exit_code == 2
        assert "known-failures.yaml:2:6: 'edge' is not known here" in shown.stderr
        assert "did you mean 'edges'?" in shown.stderr

    def test_a_file_that_is_not_there(self, check):
        shown = check(CEIL, "--known-failures", "none.yaml")
        assert (shown.exit_code, shown.stderr) == (2, "error: none.yaml: no such file\n")

    def test_two_files(self, check):
        words = ("--known-failures", "a.yaml", "--known-failures", "b.yaml")
        shown = check(CEIL, *words)
        assert shown.exit_code == 2
        assert shown.stderr.startswith("error: --known-failures is given 2 times\n")

    def test_strict_needs_known_failures(self, check):
        assert check(CEIL, "--strict").exit_code == 2


class TestRequire:
    FLOATS = "require:\n  - {op: AvgPool-1, dtypes: [f16, f32], ranks: [3, 4]}\n"

    def test_what_is_supported(self, check):
        shown = check("outputs", require=self.FLOATS)
        assert shown.exit_code == 0
        assert "Required: all supported (1)." in shown.stdout
        assert "Required support" in shown.page

    def test_a_failure_is_not_about_support(self, check):
        shown = check(CEIL, require=self.FLOATS)
        assert "Required: all supported (1)." in shown.stdout

    def test_what_the_backend_itself_refuses(self, check):
        shown = check(f"{REFUSED} if half else outputs", require=self.FLOATS)
        assert shown.exit_code == 1
        assert shown.log.verdict == "conformant"
        said = one_line(shown.stdout)
        assert "6 of 12 vectors unsupported: no (6)" in said
        assert "GATE NOT MET. Conformant: " in said
        assert "Required, but not supported: AvgPool-1, f16 or f32, rank 3 or 4." in said
        assert '<section class="verdict bad"' in shown.page

    def test_what_it_declares_not_to_support(self, check, tmp_path):
        spec = gated.backend(tmp_path)
        file = tmp_path / "mine.py"
        excluded = "Exclusion('no 2d', 'length(size) == 2')"
        declared = f"    capabilities = Capabilities(excluding=({excluded},))\n"
        file.write_text(file.read_text().replace("    def run(", declared + "    def run("))
        shown = check("", require=self.FLOATS, backend=spec)
        assert shown.exit_code == 1
        assert "4 of 12 vectors unsupported: no 2d (4)" in one_line(shown.stdout)

    @pytest.mark.parametrize(
        ("entry", "said"),
        [
            ("{op: AvgPool-1, ranks: [5]}", "this run has no vector of rank 5"),
            ("{op: AvgPool-1, dtypes: [bf16]}", "the suite has no type bf16"),
            ("{op: AvgPool-2}", "did you mean 'AvgPool-1'?"),
        ],
    )
    def test_what_no_vector_asks(self, check, entry, said):
        shown = check("outputs", require=f"require: [{entry}]")
        assert shown.exit_code == 1
        assert said in one_line(shown.stdout)

    def test_a_selection_that_leaves_it_out(self, check):
        assert check("outputs", "--op", gated.MAX, require=self.FLOATS).exit_code == 1


@pytest.fixture(scope="module")
def first(suite, tmp_path_factory):
    """The log of one check, for all."""
    folder = tmp_path_factory.mktemp("first")
    backend = gated.backend(folder, CEIL)
    words = ["--suite", str(suite.path), "--backend", backend, "--executor", "inline"]
    CliRunner().invoke(main, ["check", *words, "--out", str(folder)])
    return folder / "run.jsonl"


class TestBaseline:
    def baseline(self, *words):
        return CliRunner().invoke(main, ["baseline", *map(str, words)])

    @pytest.fixture
    def log(self, first, tmp_path):
        return Path(shutil.copy(first, tmp_path))

    def test_a_reason(self, log, tmp_path):
        out = tmp_path / "new" / "known.yaml"
        assert self.baseline("--from", log, "--out", out, "--reason", "see #12").exit_code == 0
        (entry,) = yaml.safe_load(out.read_text())["known"]
        assert entry["reason"] == "see #12"

    def test_without_one_it_is_the_diagnosis(self, log, tmp_path):
        self.baseline("--from", log, "--out", tmp_path / "known.yaml")
        (entry,) = yaml.safe_load((tmp_path / "known.yaml").read_text())["known"]
        assert entry["reason"] == "Fails on exactly the vectors with rounding_type == ceil."

    def test_somebodys_reasons_are_not_overwritten(self, log, tmp_path):
        out = tmp_path / "known.yaml"
        out.write_text("mine")
        shown = self.baseline("--from", log, "--out", out)
        assert shown.exit_code == 2
        assert "--force" in shown.stderr
        assert out.read_text() == "mine"
        assert self.baseline("--from", log, "--out", out, "--force").exit_code == 0
        assert out.read_text() != "mine"

    def test_a_run_without_failures(self, check, tmp_path):
        check("outputs")
        out = tmp_path / "known.yaml"
        log = tmp_path / "report" / "run.jsonl"
        assert self.baseline("--from", log, "--out", out).exit_code == 0
        assert check("outputs", "--strict", known=out.read_text()).exit_code == 0

    def test_a_log_that_is_not_whole(self, log, tmp_path):
        whole = log.read_bytes()
        for damaged in (whole[:-1], whole.replace(b'"status":"fail"', b'"status":"pass"', 1), b""):
            log.write_bytes(damaged)
            shown = self.baseline("--from", log, "--out", tmp_path / "known.yaml")
            assert shown.exit_code == 2
            assert "hint: " in shown.stderr
            assert not (tmp_path / "known.yaml").exists()

    def test_the_manifest_of_a_suite(self, suite, tmp_path):
        manifest = suite.path / "manifest.json"
        shown = self.baseline("--from", manifest, "--out", tmp_path / "known.yaml")
        assert shown.exit_code == 2
        assert f"{manifest}: this is the manifest of a suite, not a run log" in shown.stderr

    def test_reasons(self, log, tmp_path):
        words = ("--from", log, "--out", tmp_path / "known.yaml", "--reason", " ")
        assert self.baseline(*words).exit_code == 2
