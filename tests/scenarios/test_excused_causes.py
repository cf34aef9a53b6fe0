"""A known failure excuses its cause, and not another bug that fails the same vectors."""

from __future__ import annotations

import gated
import pytest
import tiers
import yaml
from click.testing import CliRunner

from conformance.cli import main
from conformance.log.reader import read

BACKENDS = """
def divided_by(divisor):
    return broken.replacing("AvgPool-1", {"define.result.finish": f"total / ({divisor})"})

one_more = divided_by("where(counts_pads, prod(taps), terms) + 1")
two_more = divided_by("where(counts_pads, prod(taps), terms) + 2")

def one_element(place):
    def run(op, inputs, attributes):
        outputs = [np.array(output) for output in broken.honest(op, inputs, attributes)]
        if op == "AvgPool-1":
            outputs[0].reshape(-1)[place] += 1
        return outputs
    return run

first_element, last_element = one_element(0), one_element(-1)

def raising(what):
    def run(op, inputs, attributes):
        if op == "AvgPool-1":
            raise what
        return broken.honest(op, inputs, attributes)
    return run

seven = raising(ValueError("no kernel for 7 rows"))
eight = raising(TypeError("no kernel for 8 rows"))
other = raising(ValueError("out of luck"))

class Misread(Mine):
    marked = True
    def run(self, op, inputs, attributes):
        if inputs[0].dtype == np.float16:
            raise AttributeError("'Pool' object has no attribute 'pads'")
        return super().run(op, inputs, attributes)
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    return gated.write(tmp_path_factory.mktemp("excused") / "suite")


@pytest.fixture
def check(suite, tmp_path):
    """Runs ``conformance check`` on one of the backends; returns its log."""
    gated.backend(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text(file.read_text() + BACKENDS)

    def run(name, *words, known=None, report="report"):
        command = ["check", "--suite", str(suite.path), "--backend", f"{file}:{name}"]
        command += ["--executor", "inline", "--out", str(tmp_path / report), *words]
        command += ["--known-failures", str(known)] if known else []
        ran = CliRunner().invoke(main, command)
        assert ran.exit_code in (0, 1), ran.output
        return read(tmp_path / report / "run.jsonl")

    return run


@pytest.fixture
def baseline(check, tmp_path):
    """The known failures of one of the backends: the file, and its entries."""

    def write(name):
        check(name)
        out = tmp_path / "known.yaml"
        log = str(tmp_path / "report" / "run.jsonl")
        ran = CliRunner().invoke(main, ["baseline", "--from", log, "--out", str(out)])
        assert ran.exit_code == 0, ran.output
        return out, yaml.safe_load(out.read_text())["known"]

    return write


def new(log):
    return sum(result.new for result in log.results)


def test_a_mutant_is_excused_by_what_it_gives(check, baseline):
    known, (entry,) = baseline("one_more")
    assert entry["mutants"] == ["divisor-one-more"]
    assert "vectors" not in entry
    assert entry["reason"].startswith("The sum of n terms is divided by n + 1")
    same = check("one_more", "--strict", known=known)
    assert (new(same), same.footer["exit_code"]) == (0, 0)
    other = check("two_more", known=known)
    assert {r.id for r in other.results if r.new} == {r.id for r in same.results if r.known}


def test_what_no_mutant_gives_is_excused_by_the_elements_that_are_wrong(check, baseline):
    known, (entry,) = baseline("first_element")
    assert len(entry["wrong"]) == 12
    assert new(check("first_element", "--strict", known=known)) == 0
    other = check("last_element", known=known)
    assert new(other) == sum(r.witness.total > 1 for r in other.results if r.witness)


def test_an_exception_is_excused_by_what_it_says_whatever_its_type_and_numbers(check, baseline):
    known, (entry,) = baseline("seven")
    assert entry["message"] == "no kernel for # rows"
    assert new(check("eight", "--strict", known=known)) == 0
    assert new(check("other", known=known)) == 12


def test_an_adapter_that_fails_is_excused_for_every_operator(check, baseline):
    known, entries = baseline("Misread")
    assert {(entry["op"], entry["kind"]) for entry in entries} == {
        (gated.AVG, "adapter"),
        (gated.MAX, "adapter"),
    }
    log = check("Misread", "--strict", known=known)
    assert (new(log), log.footer["exit_code"]) == (0, 0)
    assert [cause.size for cause in log.causes] == ["2 operators, 8 vectors"]


@pytest.mark.parametrize("name", tiers.first(["one_more", "first_element"]))
def test_shards_and_resumed_runs_mark_what_a_whole_run_marks(check, baseline, tmp_path, name):
    known, _ = baseline(name)

    def marks(*logs):
        return {(r.op, r.id): r.known for log in logs for r in log.results}

    whole = marks(check(name, known=known))
    assert None not in {whole[key] for key in whole if key[0] == gated.AVG}
    shards = [check(name, "--shard", f"{n}/2", known=known, report=f"shard{n}") for n in (1, 2)]
    assert marks(*shards) == whole
    lines = (tmp_path / "report" / "run.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "report" / "run.jsonl").write_text("".join(lines[:6]))
    assert marks(check(name, "--resume", known=known)) == whole


def test_entries_by_vector_and_by_condition_are_read_as_before(check, tmp_path):
    vectors = sorted(r.id for r in check("one_more").results if r.kind and r.dtype == "f32")
    known = tmp_path / "old.yaml"
    known.write_text(
        "format: 1\nknown:\n"
        "  - {op: AvgPool-1, edges: [ceil-overrun], kind: value, reason: old}\n"
        f"  - {{vectors: [{vectors[0]}], reason: old}}\n"
    )
    marked, shown = (
        {r.id for r in check(name, known=known).results if r.known}
        for name in ("one_more", "two_more")
    )
    assert vectors[0] in marked
    assert marked == shown
