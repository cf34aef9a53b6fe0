"""How strong the evidence is, as ``conformance check`` says it: its exit code, and each format."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import conformance
from conformance.cli import main
from conformance.model import Case
from conformance.specification import build, find_spec
from conformance.suite.store import Suite
from conformance.suite.survivors import Partition, Survivors, SurvivorTable
from conformance.suite.unreachable import Unreachable
from conformance.suite.writer import write_suite

AVG, ADAPTIVE, MAX = "AvgPool-1", "AdaptiveAvgPool-8", "AdaptiveMaxPool-8"
MUTANTS = [f"mutant-{number:02}" for number in range(40)]
CODE = """\
from conformance import Unsupported
from conformance.backends import Capabilities, Exclusion
from conformance.backends.reference import Reference

class Right:
    name, version = "right", "1"
    run = Reference().run

class Wrong(Right):
    name = "wrong"
    def run(self, op, inputs, attributes):
        outputs = Reference().run(op, inputs, attributes)
        return [outputs[0] + 1, *outputs[1:]] if op == "AdaptiveMaxPool-8" else outputs

class Narrow(Right):
    name = "narrow"
    capabilities = Capabilities(
        operators=("AdaptiveAvgPool-8",), excluding=(Exclusion("no f64 here", "T == f64"),)
    )

class Refuses(Right):
    name = "refuses"
    capabilities = Capabilities(
        excluding=(Exclusion("not of 6", "max(size) == 6", op="AdaptiveAvgPool-8"),)
    )

class Silent(Right):
    name = "silent"
    def run(self, op, inputs, attributes):
        if op == "AdaptiveAvgPool-8" and inputs[0].shape[-1] == 6:
            raise Unsupported("not of 6")
        return Reference().run(op, inputs, attributes)
"""


@pytest.fixture
def backend(tmp_path):
    (tmp_path / "mine.py").write_text(CODE)
    return lambda name: f"{tmp_path / 'mine.py'}:{name}"


MORE = Case(
    op=ADAPTIVE,
    types={"T": "f32", "T_SHAPE": "i64"},
    shapes={"data": (1, 2, 8)},
    attributes={},
    operands={"output_size": (4,)},
)
"""A second vector in f32 of rank 3, which kills ten mutants fewer than the first."""


@pytest.fixture
def suite(small_suite: Suite, tmp_path):
    """Writes the small suite and one vector more, with these many of 40 mutants killed by the
    vectors of AdaptiveAvgPool-8 of each type; the other operators kill all.
    """

    def write(*, f16=40, f32=40, f64=40, excused=0, name="small", known=True):
        count = {"f16": f16, "f32": f32, "f64": f64}
        vectors = [(small_suite.read(entry), entry.suites) for entry in small_suite.manifest.listed]
        vectors.append((build(find_spec(ADAPTIVE), MORE, "must"), ("core",)))
        kills, survivors = {}, {op: {} for op in (AVG, ADAPTIVE, MAX)}
        for vector, _ in vectors:
            case = vector.case
            if case.reject is None:
                dtype, fewer = case.types["T"], 10 * (case == MORE)
                killed = count[dtype] - fewer if case.op == ADAPTIVE else 40
                kills[vector.id] = tuple(MUTANTS[:killed])
                part = Partition(dtype, len(case.shapes["data"]))
                left = frozenset(MUTANTS[killed + fewer :])
                survivors[case.op][part] = Survivors(undetermined=left)
        strength = {op: Unreachable(parts=SurvivorTable(found)) for op, found in survivors.items()}
        return write_suite(
            tmp_path / f"suite-{name}",
            vectors,
            name=name,
            seed=0,
            versions={},
            kills=kills,
            excused={i: killed[:excused] for i, killed in kills.items()},
            strength=strength if known else {},
        ).path

    return write


def check(suite, backend, *more):
    words = ["check", "--suite", suite, "--backend", backend, "--executor", "inline", *more]
    return CliRunner().invoke(main, [str(word) for word in words])


def flat(text):
    """Text without the breaks that a terminal's width puts into it."""
    return " ".join(text.split())


def last(shown):
    return shown.stdout.splitlines()[-1]


def test_enough_is_conformant_and_says_how_strong_it_is(suite, backend):
    shown = check(suite(f64=39), backend("Right"))
    assert shown.exit_code == 0
    said = flat(shown.stdout)
    assert "CONFORMANT." in said
    assert (
        "Weakest evidence: AdaptiveAvgPool-8 in f64 of rank 3, 39 of 40 mutants killed (97.5 %)."
    ) in said
    assert "right 1: conformant with" in last(shown)
    assert ", strength 97.5 %, suite small" in last(shown)


def test_too_little_is_inconclusive_and_names_what_helps(suite, backend):
    shown = check(suite(f64=30, f16=37), backend("Right"))
    assert shown.exit_code == 4
    said = flat(shown.stdout)
    assert "INCONCLUSIVE." in said
    assert "CONFORMANT" not in said
    assert (
        "AdaptiveAvgPool-8 in f64 of rank 3, 30 of 40 mutants killed (75 %); 95 % are required; "
        "2 of 5 parts have too few."
    ) in said
    # To be pasted: on a line of its own, however long.
    (line,) = (one for one in shown.stdout.splitlines() if "--complete" in one)
    assert line.startswith(f"conformance check --backend {backend('Right')} --suite ")
    assert line.endswith(" --complete --out its-report")
    assert "AdaptiveAvgPool-8: f64 of rank 3 30/40; f16 of rank 3 37/40" in said
    assert last(shown).startswith("right 1: no claim (inconclusive); strength 75 %, suite small")


@pytest.mark.parametrize(
    ("percent", "code"), [("75", 0), ("75.1", 4), ("0", 0), ("100", 4), ("101", 2), ("-1", 2)]
)
def test_the_bar_can_be_set(suite, backend, percent, code):
    shown = check(suite(f64=30), backend("Right"), f"--min-strength={percent}")
    assert shown.exit_code == code, shown.output
    if code == 0:
        assert "right 1: conformant with" in last(shown)
        assert "strength 75 %" in last(shown)


def test_the_interface_of_python(suite, backend):
    path = suite(f64=30)
    weak = conformance.check(path, backend("Right"), executor="inline")
    assert (weak.conformant, weak.passed, weak.footer["exit_code"]) == (False, False, 4)
    enough = conformance.check(path, backend("Right"), executor="inline", min_strength=50)
    assert (enough.conformant, enough.passed) == (True, True)
    with pytest.raises(conformance.errors.UsageError, match="the minimum strength is 200"):
        conformance.check(path, backend("Right"), min_strength=200)


def test_what_is_excused_at_must_is_no_evidence_there(suite, backend):
    path = suite(excused=10)
    assert check(path, backend("Right"), "--level", "should").exit_code == 0
    assert check(path, backend("Right"), "--level", "must").exit_code == 4


def test_another_precision_is_said_to_be_measured_at_standard(suite, backend):
    shown = check(suite(), backend("Right"), "--precision", "f16=native")
    assert "(100 %, measured at standard)" in flat(shown.stdout)
    assert "strength 100 %, measured at standard, suite" in last(shown)


def test_a_suite_that_does_not_say_is_inconclusive(suite, backend):
    shown = check(suite(f64=0, known=False), backend("Right"))
    assert shown.exit_code == 4
    assert "Strength unknown: the suite does not say which mutants can show." in flat(shown.stdout)
    assert "To add the missing vectors: conformance check --backend" in flat(shown.stdout)
    assert "no claim (inconclusive); strength unknown, suite" in last(shown)


class TestWhatOutranksIt:
    def test_a_failure(self, suite, backend):
        shown = check(suite(f64=30), backend("Wrong"))
        assert shown.exit_code == 1
        assert "NOT CONFORMANT." in shown.stdout
        assert "Weakest" not in shown.stdout

    def test_known_failures_work_as_before(self, suite, backend, small_suite, tmp_path):
        entries = small_suite.manifest.vectors
        (name,) = (one.id for one in entries if one.op == MAX and one.reject is None)
        known = tmp_path / "known.yaml"
        known.write_text(f"known:\n  - {{vectors: [{name}], reason: a bug}}\n")
        shown = check(suite(f64=30), backend("Wrong"), "--known-failures", known)
        assert shown.exit_code == 0, shown.output
        assert "NO NEW FAILURES." in shown.stdout
        assert "NOT conformant" in last(shown)

    def test_something_required(self, suite, backend, tmp_path):
        (tmp_path / "need.yaml").write_text(f"require:\n  - {{op: {AVG}}}\n")
        shown = check(suite(f32=30), backend("Narrow"), "--require", tmp_path / "need.yaml")
        assert shown.exit_code == 1, shown.output
        assert "GATE NOT MET." in shown.stdout


class TestWhatIsNotClaimed:
    def test_a_type_that_is_left_out(self, suite, backend):
        shown = check(suite(f64=0), backend("Narrow"))
        assert shown.exit_code == 0, shown.output
        assert "AdaptiveAvgPool-8 in f16, f32 of rank 3, but" in last(shown)
        assert "for what is declared as excluded: no f64 here" in last(shown)
        assert "strength 100 %, suite" in last(shown)

    def test_a_restriction_that_the_suite_does_not_know_is_inconclusive(
        self, suite, backend, tmp_path
    ):
        """What is left of the part kills 30 of the 40 mutants of all of it."""
        out = ("--out", tmp_path / "out", "--format", "badge")
        shown = check(suite(), backend("Refuses"), *out)
        assert shown.exit_code == 4, shown.output
        assert (
            "Strength unknown in 1 of 5 parts: the suite does not say which mutants can show "
            "within what the backend declares."
        ) in flat(shown.stdout)
        assert "strength 100 %, unknown in 1 of 5 parts, suite" in last(shown)
        assert json.loads((tmp_path / "out" / "badge.json").read_text())["color"] == "yellow"
        page = (tmp_path / "out" / "index.html").read_text()
        assert "at least 75 %" in page

    def test_what_is_refused_and_was_not_declared_counts(self, suite, backend):
        shown = check(suite(), backend("Silent"))
        assert shown.exit_code == 4
        assert "AdaptiveAvgPool-8 in f32 of rank 3, 30 of 40" in flat(shown.stdout)


class TestNoClaim:
    @pytest.mark.parametrize(
        ("more", "why"),
        [
            (("--only", "f64-"), "a selection of vectors"),
            (("--shard", "1/2"), "shard 1/2 alone"),
        ],
    )
    def test_of_a_part_of_the_suite(self, suite, backend, more, why):
        shown = check(suite(f64=30), backend("Right"), *more)
        assert shown.exit_code == 0
        assert "NO FAILURES." in shown.stdout
        assert f"This run makes no claim: {why}." in flat(shown.stdout)
        assert "conformant" not in shown.stdout.lower()
        assert last(shown).startswith(f"right 1: no claim ({why}); suite small")

    def test_of_the_smoke_suite(self, suite, backend):
        shown = check(suite(f64=30, name="smoke"), backend("Right"))
        assert shown.exit_code == 0
        assert "This run makes no claim: the smoke suite." in flat(shown.stdout)
        assert "conformant" not in shown.stdout.lower()

    def test_a_failure_is_one_all_the_same(self, suite, backend):
        shown = check(suite(), backend("Wrong"), "--only", "f32-")
        assert shown.exit_code == 1
        assert "NOT CONFORMANT." in shown.stdout
        assert "NOT conformant with" in last(shown)
        assert "(must, standard, a selection of vectors)" in last(shown)
        assert "no claim" not in shown.stdout

    def test_a_failure_of_the_smoke_suite_too(self, suite, backend):
        shown = check(suite(name="smoke"), backend("Wrong"))
        assert shown.exit_code == 1
        assert "NOT conformant with" in last(shown)
        assert "no claim" not in shown.stdout


@pytest.fixture
def shards(suite, backend, tmp_path):
    """The logs of two shards of a run, and their suite."""

    def run(*more, **weights):
        path = suite(**weights)
        for k in (1, 2):
            words = ("--shard", f"{k}/2", "--out", tmp_path / str(k), *more)
            assert check(path, backend("Right"), *words).exit_code == 0
        return [tmp_path / str(k) / "run.jsonl" for k in (1, 2)], path

    return run


class TestMerge:
    @pytest.mark.parametrize(("more", "code"), [((), 4), (("--min-strength", "50"), 0)])
    def test_judges_the_whole_again(self, shards, tmp_path, more, code):
        logs, path = shards(*more, f64=30)
        words = ["merge", *logs, "--out", tmp_path / "all", "--suite", path]
        shown = CliRunner().invoke(main, [str(word) for word in words])
        assert shown.exit_code == code, shown.output
        assert "strength 75 %" in last(shown)

    def test_bent_capabilities_are_refused(self, shards, tmp_path):
        logs, path = shards()
        for log in logs:
            head, *rest = log.read_text().splitlines()
            bent = json.loads(head)
            bent["backend"]["capabilities"] = {"operators": 3}
            log.write_text("\n".join([json.dumps(bent), *rest]) + "\n")
        words = ["merge", *logs, "--out", tmp_path / "all", "--suite", path]
        shown = CliRunner().invoke(main, [str(word) for word in words])
        assert shown.exit_code == 2
        assert "capabilities that cannot be read" in shown.stderr


class TestFormats:
    @pytest.fixture
    def report(self, suite, backend, tmp_path):
        formats = ("junit", "sarif", "json", "badge", "summary")
        more = [word for name in formats for word in ("--format", name)]
        out = tmp_path / "out"
        assert check(suite(f64=30), backend("Right"), "--out", out, *more).exit_code == 4
        return out

    def test_each_says_so(self, report):
        junit = ElementTree.parse(report / "junit.xml").getroot()
        error = junit.find("testsuite[@name='conformance']/testcase/error")
        assert "Inconclusive" in error.attrib["message"] + (error.text or "")
        assert "(exit code 4)" in error.attrib["message"] + (error.text or "")
        properties = {one.attrib["name"]: one.attrib["value"] for one in junit.iter("property")}
        assert (properties["verdict"], properties["strength"]) == ("inconclusive", "75 %")
        sarif = json.loads((report / "conformance.sarif").read_text())
        (invocation,) = sarif["runs"][0]["invocations"]
        assert invocation["exitCode"] == 4
        assert "Inconclusive" in invocation["toolExecutionNotifications"][0]["message"]["text"]
        document = json.loads((report / "report.json").read_text())
        assert (document["verdict"], document["gate_met"]) == ("inconclusive", False)
        assert "30 of 40 mutants killed" in (report / "summary.md").read_text()
        assert "⚠️ Inconclusive" in (report / "summary.md").read_text()
        words = ["report", str(report / "run.jsonl"), "--format", "github"]
        shown = CliRunner().invoke(main, words).stdout
        assert "::error title=conformance::Inconclusive" in shown
        assert json.loads((report / "badge.json").read_text()) == {
            "schemaVersion": 1,
            "label": "conformance",
            "message": "inconclusive, 8 of 9, strength 75 %",
            "color": "yellow",
        }

    def test_the_page_shows_each_part(self, report):
        page = (report / "index.html").read_text()
        assert '<section class="verdict weak"' in page
        section = re.search(r'<section aria-labelledby="strength">.*?</section>', page, re.S)[0]
        assert "f64 of rank 3" in section
        assert "30 of 40" in section
        assert section.count("75 %") == 2
        assert 'href="#strength"' in page

    def test_a_page_made_again_is_the_same(self, report, tmp_path):
        words = ["report", str(report / "run.jsonl"), "--out", str(tmp_path / "again")]
        assert CliRunner().invoke(main, words).exit_code == 0
        again = (tmp_path / "again" / "index.html").read_bytes()
        assert again == (report / "index.html").read_bytes()

    def test_a_comparison_of_it(self, report, tmp_path):
        log = str(report / "run.jsonl")
        shown = CliRunner().invoke(main, ["compare", log, log])
        assert shown.exit_code == 0, shown.output
        words = ["report", log, log, "--out", str(tmp_path / "both")]
        assert CliRunner().invoke(main, words).exit_code == 0
        page = (tmp_path / "both" / "comparison.html").read_text()
        assert '<span class="badge weak">Inconclusive</span>' in page


class TestMatrix:
    @pytest.mark.parametrize(
        ("names", "code"), [(["Right"], 4), (["Right", "Wrong"], 1), (["Right", "none"], 2)]
    )
    def test_a_failure_is_worse_whatever_the_numbers(self, suite, backend, tmp_path, names, code):
        words = ["matrix", "--suite", suite(f64=30), "--out", tmp_path / "out"]
        for name in names:
            words += ["--backend", f"{name.lower()}={backend(name)}"]
        shown = CliRunner().invoke(main, [str(word) for word in words])
        assert shown.exit_code == code, shown.output
        table = (tmp_path / "out" / "matrix.md").read_text()
        assert "⚠️ Inconclusive, strength 75 &#37;" in table
        assert "⚠️ 5/5<br>too few mutants killed: 75 &#37; in f64 of rank 3" in table
        if code == 4:
            lower = CliRunner().invoke(main, [*map(str, words), "--min-strength", "50"])
            assert lower.exit_code == 0
