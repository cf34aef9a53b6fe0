from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import reduce
from importlib.resources import files
from operator import getitem
from types import SimpleNamespace

import pytest

from conformance.backends.capabilities import Capabilities
from conformance.grade.precision import parse_precision
from conformance.model import Result, Status
from conformance.report.ci.badge import COLOURS
from conformance.report.ci.markdown import MARKS
from conformance.report.terminal import TONES
from conformance.report.view import Tone
from conformance.run.claim_text import RunScope, conclude
from conformance.run.selection import untested
from conformance.strength import PartitionStrength, RunStrength, StrengthState
from conformance.verdict import ResultCounts, Verdict, tally

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR
UNSUPPORTED, SKIPPED = Status.UNSUPPORTED, Status.SKIPPED


def result(status, op="A", **more):
    return Result(id="x", op=op, status=status, **{"dtype": "f32", "precision": "exact", **more})


def reject(status, op="A", **more):
    return result(status, op, reject="zero-stride", precision=None, **more)


def concluded(
    *results,
    suite="core",
    interrupted=False,
    whole=True,
    in_suite=None,
    untested=(),
    excluded=(),
    **gate,
):
    ops = {op: sum(r.op == op for r in results) for op in dict.fromkeys(r.op for r in results)}
    score = ResultCounts.of(ops, results)
    values = sum(one.reject is None for one in results)
    scope = RunScope(
        backend="mylib 1.2",
        suite=suite,
        digests=("0123456789abcdef",),
        level="must",
        precision=parse_precision("standard"),
        values=values,
        in_suite=values if in_suite is None else in_suite,
        whole=whole,
        untested=untested,
        excluded=excluded,
    )
    return conclude(score, scope, interrupted=interrupted, **gate)


@pytest.mark.parametrize(
    ("results", "verdict", "exit_code"),
    [
        ([result(PASS)], "conformant", 0),
        ([result(PASS), reject(PASS)], "conformant", 0),
        ([result(PASS), result(UNSUPPORTED), result(SKIPPED)], "inconclusive", 4),
        ([result(PASS), result(FAIL)], "not conformant", 1),
        ([result(PASS), result(ERROR)], "not conformant", 1),
        ([result(PASS), reject(FAIL)], "not conformant", 1),
        ([result(UNSUPPORTED), reject(FAIL)], "not conformant", 1),
        ([result(UNSUPPORTED), result(UNSUPPORTED)], "nothing graded", 1),
        ([result(SKIPPED)], "nothing graded", 1),
        ([reject(PASS), result(UNSUPPORTED)], "nothing graded", 1),
    ],
)
def test_verdict_and_exit_code(results, verdict, exit_code):
    footer = concluded(*results)
    assert (footer["verdict"], footer["exit_code"]) == (verdict, exit_code)
    said = "no values graded" if verdict == "nothing graded" else verdict
    assert footer["sentence"].lower().startswith(said)


KNOWN = {"known": "known.yaml:3"}
STALE = {"known_failures": [{"problems": ["expired"]}, {"problems": []}]}
LACKING = {"required": [{"about": "AvgPool-1, f16", "problems": ["1 of 2 unsupported"]}]}


@pytest.mark.parametrize(
    ("results", "gate", "verdict", "exit_code"),
    [
        ([result(PASS), result(FAIL, **KNOWN)], {}, "not conformant", 0),
        ([result(PASS), result(ERROR, **KNOWN), reject(FAIL, **KNOWN)], {}, "not conformant", 0),
        ([result(PASS), result(FAIL, **KNOWN), result(FAIL)], {}, "not conformant", 1),
        # Nothing is right: then there is nothing left that could fail.
        ([result(FAIL, **KNOWN), reject(PASS)], {}, "not conformant", 1),
        ([reject(FAIL, **KNOWN), result(UNSUPPORTED)], {}, "not conformant", 1),
        ([result(PASS)], {"expected": STALE}, "conformant", 0),
        ([result(PASS)], {"expected": STALE, "strict": True}, "conformant", 1),
        ([result(PASS), result(FAIL, **KNOWN)], {"expected": STALE, "strict": True},
         "not conformant", 1),
        ([result(PASS), result(UNSUPPORTED)], {"expected": LACKING}, "inconclusive", 1),
        ([result(UNSUPPORTED)], {"expected": LACKING}, "nothing graded", 1),
    ],
)  # fmt: skip
def test_a_gate(results, gate, verdict, exit_code):
    footer = concluded(*results, **gate)
    assert (footer["verdict"], footer["exit_code"]) == (verdict, exit_code)
    known = sum(r.known is not None for r in results)
    assert (": conformant" in footer["claim"]) is (verdict == "conformant")
    assert (f"{known} known failures, " in footer["claim"]) is (known > 0)


def test_a_gate_in_the_sentence():
    footer = concluded(
        *(result(PASS), result(FAIL, **KNOWN), result(ERROR)), expected=STALE | LACKING, strict=True
    )
    assert footer["sentence"] == (
        "Not conformant: 1 of 3 vectors passed, 1 failed, 1 ended in an error or a wrong shape or "
        "type (of these 1 known and 1 new); 3 of 3 value vectors graded (negative tests apart). "
        "Required, but not supported: AvgPool-1, f16. "
        "1 entry of the known failures out of date, which strict does not allow."
    )


@pytest.mark.parametrize("status", [PASS, FAIL])
def test_an_interrupted_run_is_never_green(status):
    footer = concluded(result(status), interrupted=True)
    assert (footer["verdict"], footer["exit_code"]) == ("interrupted", 130)
    assert "no claim" in footer["claim"]


def test_counts_are_those_that_a_log_is_checked_by():
    results = [
        *(result(PASS), result(PASS, reading="clip"), result(FAIL), result(ERROR)),
        *(result(UNSUPPORTED), result(SKIPPED), reject(PASS), reject(FAIL), reject(ERROR)),
    ]
    counts = concluded(*results)["counts"]["A"]
    assert counts == {"selected": 9} | vars(tally(results))
    assert (counts["graded"], counts["passed"]) == (4, 3)


def test_the_share_graded_is_stated():
    footer = concluded(result(PASS), result(UNSUPPORTED), result(UNSUPPORTED, "B"))
    assert footer["sentence"] == (
        "Inconclusive: 1 of 3 vectors passed, 2 unsupported; 1 of 3 value vectors graded (negative "
        "tests apart), none of B. Fewer than 50 value vectors prove little."
    )
    assert footer["claim"] == (
        "mylib 1.2: no claim (inconclusive); strength unknown, suite core, "
        "1 of 3 graded, sha256 01234567"
    )


STRONG = PartitionStrength("A", "u8", 4, 30, 30, StrengthState.MEASURED)


class TestGreenOnLittle:
    """Four vectors passed and many were left out by a declaration: bug report b18."""

    def of(self, graded, *parts, bar=95.0):
        some = [*[result(PASS)] * graded, result(UNSUPPORTED)]
        footer = concluded(*some, evidence=RunStrength(parts, bar))
        return footer["verdict"], footer["exit_code"]

    def test_that_reaches_the_bar_at_least_is_too_little(self):
        least = replace(STRONG, state=StrengthState.AT_LEAST)
        assert self.of(49, least) == ("inconclusive", 4)
        assert self.of(50, least) == ("conformant", 0)

    def test_of_unknown_strength_is_inconclusive(self):
        assert self.of(5000, replace(STRONG, state=StrengthState.UNKNOWN)) == ("inconclusive", 4)
        assert self.of(5000, STRONG, replace(STRONG, killed=9, state=StrengthState.AT_LEAST)) == (
            "inconclusive",
            4,
        )

    def test_that_is_measured_for_just_that_is_conformant(self):
        few = replace(STRONG, killed=3, mutants=3, covered=9, targets=9)
        assert self.of(4, STRONG, few) == ("conformant", 0)
        assert self.of(4, replace(few, covered=8)) == ("inconclusive", 4)

    def test_nothing_is_asked_with_a_bar_of_0(self):
        assert self.of(4, replace(STRONG, state=StrengthState.UNKNOWN), bar=0) == ("conformant", 0)


def test_a_claim_names_types_ranks_and_what_is_excluded():
    parts = (STRONG, replace(STRONG, dtype="f32", rank=3))
    claim = concluded(result(PASS), evidence=RunStrength(parts), excluded=["no dilation"])["claim"]
    assert "conformant with A in u8, f32 of rank 3, 4, but for what is declared as excluded: " in (
        claim
    )
    assert "excluded: no dilation (must, standard), strength 100 %" in claim


def test_readings_are_stated_one_by_one():
    footer = concluded(result(PASS, reading="b+a"), result(PASS, reading="b"))
    assert footer["by_reading"] == {"b+a": 1, "b": 1}
    assert "2 of 2 vectors passed (2 by an allowed interpretation: a, b)" in footer["sentence"]


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        (
            [
                *[result(PASS), result(PASS, reading="clip"), reject(PASS), reject(PASS)],
                *[result(FAIL), result(FAIL, **KNOWN), reject(FAIL), result(ERROR)],
                *[result(UNSUPPORTED)] * 1200,
                *[result(SKIPPED), reject(SKIPPED)],
            ],
            "Not conformant: 4 of 1,210 vectors passed (1 by an allowed interpretation: clip), "
            "3 failed, 1 ended in an error or a wrong shape or type (of these 1 known and 3 new), "
            "1,200 unsupported, 2 not tested at this level; "
            "5 of 1,206 value vectors graded (negative tests apart).",
        ),
        (
            [reject(PASS), reject(PASS), result(UNSUPPORTED)],
            "No values graded: 2 of 3 vectors passed, 1 unsupported.",
        ),
    ],
)
def test_the_counts_in_the_sentence_add_up(results, sentence):
    footer = concluded(*results)
    assert footer["sentence"] == sentence
    outcomes = re.sub(r"\(.*?\)", "", sentence).split(";")[0].replace(",2", "2")
    passed, selected, *others = map(int, re.findall(r"\d+", outcomes))
    assert passed + sum(others) == selected == len(results)


def test_a_failed_run_says_so_in_its_claim():
    footer = concluded(result(FAIL), result(UNSUPPORTED, "B"), reject(PASS, "C"))
    assert "NOT conformant with A, C (must" in footer["claim"]


def test_a_selection_makes_no_claim():
    claim = concluded(result(PASS), whole=False, in_suite=9)["claim"]
    assert "conformant" not in claim
    assert "1 of 9 graded" in claim


def test_the_precision_reached_is_the_weakest_of_a_dtype():
    footer = concluded(
        result(PASS),
        result(PASS, precision="native"),
        result(ERROR, precision=None),
        result(PASS, dtype="f16", precision="standard"),
        result(FAIL, dtype="f64", precision=None),
        result(PASS, dtype="f64"),
        reject(PASS),
    )
    assert footer["precision_reached"] == {"f32": "native", "f16": "standard", "f64": None}


class TestOperatorsWithoutVectors:
    def told(self, ops, **scope):
        declared = Capabilities(operators=("AvgPool-1", "AvgPool-14", "onnx.*", "mine.Conv-1"))
        found = untested(declared.operators, ops, SimpleNamespace(ops=["AvgPool-1"]))
        return concluded(result(PASS, "AvgPool-1"), untested=found, **scope)["sentence"]

    def test_the_sentence_names_them_and_the_command(self):
        told = self.told(None)
        assert "without vectors in this suite: AvgPool-14; make them: " in told
        assert "conformance generate --op AvgPool-14 --out mine" in told
        # A pattern means no operator in particular, and what has no specification no vectors.
        assert "onnx" not in told
        assert "mine.Conv-1" not in told

    def test_nothing_is_said_of_those_that_were_not_asked(self):
        assert "without vectors" in self.told(["AvgPool-*"])
        assert "without vectors" not in self.told(["AvgPool-1"])

    def test_a_part_of_a_suite_says_nothing(self):
        assert "without vectors" not in self.told(None, whole=False)

    def test_many_are_counted(self):
        told = concluded(result(PASS), untested=[f"A-{n}" for n in range(9)])["sentence"]
        assert "9 operators (A-0, ...); make them: conformance generate --op NAME" in told


def published(name, *path):
    """A list of verdicts in a published schema."""
    text = files("conformance").joinpath(name).read_text("utf-8")
    return set(reduce(getitem, (*path, "verdict", "enum"), json.loads(text)))


class TestVerdict:
    def test_the_schema_of_a_log_lists_those_that_a_run_comes_to(self):
        of_runs = {verdict for verdict in Verdict if not verdict.is_of_readers}
        assert published("log/run-log.schema.json", "$defs", "footer", "properties") == of_runs

    def test_the_schema_of_a_report_lists_all(self):
        assert published("report/report.schema.json", "properties") == {*Verdict}

    def test_headlines_are_the_verdicts_as_sentences_begin(self):
        assert Verdict.NOT_CONFORMANT.headline == "Not conformant"
        assert Verdict.NOTHING_GRADED.headline == "No values graded"


@pytest.mark.parametrize("marks", [COLOURS, MARKS, TONES])
def test_each_format_shows_each_tone(marks):
    assert list(marks) == list(Tone)


def test_the_advice_for_a_kernel_needs_no_backend():
    def sentence(suite):
        results = [result(PASS), result(UNSUPPORTED)]
        unknown = RunStrength((PartitionStrength("A", "f32", 4, why="unknown"),))
        return concluded(*results, suite=suite, evidence=unknown)["sentence"]

    command = "conformance check --backend BACKEND --complete --out its-report"
    assert sentence("core").endswith(f"To add the missing vectors:\n{command}")
    assert sentence("fresh").endswith(
        "Fewer than 50 value vectors prove little. For a claim, the kernel has to support more "
        "cases, with fewer exclusions in its CAPABILITIES; or limit the claim to types and ranks "
        "that it supports: --dtypes, --ranks."
    )
