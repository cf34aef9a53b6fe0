"""Findings by cause: what belongs together, what it is called, and what comes first."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.exception_text import comparison_key, short_message
from conformance.failure_kind import Severity
from conformance.grade.findings import normalise_message
from conformance.log.causes import causes, slug
from conformance.log.reader import read
from conformance.model import Finding, Result, Status

SAMPLES = Path(__file__).parents[2] / "reports" / "sample"


def fault(id, cause="", **more):
    return {"id": id, "kind": "made", "says": f"It has {id}.", "cause": cause, **more}


def finding(op, ids, *, kind="value", faults=(), conditions=(), message="", **more):
    told = {
        "sentence": "",
        "faults": list(faults),
        "conditions": [{"name": name, "holds": True, "about": ""} for name in conditions],
    }
    return Finding(
        op, kind, f"{len(ids)} vectors", tuple(ids), (), ids[0], message, None, "",
        diagnosis=told if faults or conditions else None, **more,
    )  # fmt: skip


def results(*findings, known=None):
    for one in findings:
        for name in one.ids:
            yield Result(name, one.op, Status.FAIL, kind=one.kind, known=known)


CONDITIONS = {"conditions": [{"name": "f64", "holds": False, "about": ""}]}


def told(*findings, **more):
    return causes(findings, results(*findings, **more))


class TestTogether:
    def test_mutants_of_one_origin_are_one_cause_over_operators(self):
        one = finding("A-1", ["a", "b"], faults=[fault("clamped", "f64 is computed in f32")])
        other = finding("B-1", ["c"], faults=[fault("read", "f64 is computed in f32")])
        (cause,) = told(one, other)
        assert cause.headline == "f64 is computed in f32: 2 operators, 3 vectors"
        assert cause.findings == (one, other)
        assert cause.named

    def test_a_mutant_without_other_words_is_told_in_its_own(self):
        (cause,) = told(finding("A-1", ["a"], faults=[fault("clamped")]))
        assert (cause.id, cause.title) == ("clamped", "It has clamped")
        assert cause.size == "A-1, 1 vector"

    def test_mutants_that_act_together_are_no_further_cause(self):
        both = finding("A-1", ["d"], faults=[fault("x"), fault("y")])
        few = finding("A-1", ["a"], faults=[fault("x")])
        many = finding("B-1", ["b", "c"], faults=[fault("y")])
        found = told(both, few, many)
        assert [cause.id for cause in found] == ["y", "x"]
        assert found[0].findings == (many, both)

    def test_what_another_mutant_does_on_the_same_vectors_is_no_effect_of_a_cause(self):
        """f64 computed in f32 gives no wrong shape, though a ceil beside it does."""
        many = finding("A-1", ["a", "b", "c"], faults=[fault("x")])
        few = finding("A-1", ["d"], kind="shape", faults=[fault("y")])
        both = finding("A-1", ["e"], kind="shape", faults=[fault("x"), fault("y")])
        first, second = told(many, few, both)
        assert (first.id, first.severity) == ("y", Severity.SHAPE)
        assert (second.id, second.kind, second.severity) == ("x", "value", Severity.VALUE)
        assert second.findings == (many, both)

    def test_mutants_that_are_seen_together_alone_are_one_cause(self):
        (cause,) = told(
            finding("A-1", ["d"], faults=[fault("x"), fault("y")]),
            finding("B-1", ["e"], faults=[fault("y"), fault("x")]),
        )
        assert cause.operators == ("A-1", "B-1")

    def test_exceptions_that_say_the_same(self):
        (cause,) = told(
            finding("Max-1", ["a"], kind="raised", message="Error: src/k.cpp:3: no Max for 7"),
            finding("Avg-1", ["b", "c"], kind="raised", message="Other: no Avg for 12"),
        )
        assert cause.title == "Raises “no Avg for 12”"

    def test_exceptions_that_do_not(self):
        some = (finding("A-1", [m], kind="raised", message=m) for m in ("Oops", "Error"))
        assert len(told(*some)) == 2

    def test_the_type_that_is_returned_whatever_was_asked(self):
        some = [
            finding("A-1", ["a"], kind="dtype", message="result: dtype f64 instead of f32"),
            finding("B-1", ["b"], kind="dtype", message="means: dtype f64 instead of f16"),
        ]
        (cause,) = told(replace(some[0], diagnosis=CONDITIONS), some[1])
        assert cause.title == "Wrong element type: f64"
        other = finding("C-1", ["c"], kind="dtype", message="indices: dtype i32 instead of i64")
        assert len(told(*some, other)) == 2

    def test_one_rule_whose_negative_tests_are_accepted_is_one_cause(self):
        many = finding("A-1", ["a", "b"], kind="accepted", conditions=["negative-pads"])
        few, other = (finding("B-1", [one], kind="accepted") for one in ("c", "d"))
        reject = {"a": "negative-pads", "b": "negative-pads", "c": "negative-pads", "d": "rank-2"}
        some = [many, few, other]
        failed = [replace(one, reject=reject[one.id]) for one in results(*some)]
        first, second = causes(some, failed)
        assert first.title == "Accepts invalid input: negative pads"
        assert first.findings == (many, few)
        assert second.title == "Accepts invalid input: rank 2"

    def test_conditions_alone(self):
        some = [finding(op, [op], conditions=["ceil-overrun"]) for op in ("A-1", "B-1")]
        (cause,) = told(*some)
        assert cause.title == "Wrong values with ceil-overrun"
        assert not cause.named
        other = finding("A-1", ["s"], kind="shape", conditions=["ceil-overrun"])
        assert len(told(*some, other)) == 2

    @pytest.mark.parametrize("faults", [[{}], [{"kind": "made"}], [{"id": ""}, {}]])
    def test_mutants_that_say_nothing_are_none(self, faults):
        one = replace(finding("A-1", ["a"]), diagnosis={"sentence": "", "faults": faults})
        (cause,) = told(one)
        assert (cause.title, cause.explained) == ("Wrong values, not explained", False)

    def test_what_nothing_explains(self):
        (cause,) = told(finding("A-1", ["a"]), finding("B-1", ["b"]))
        assert (cause.title, cause.explained) == ("Wrong values, not explained", False)

    def test_known_failures_are_a_cause_of_their_own(self):
        new, old = finding("A-1", ["a"]), finding("A-1", ["b"])
        found = causes([new, old], [*results(new), *results(old, known="known.yaml:3")])
        assert [(cause.id, cause.known) for cause in found] == [
            ("value-unexplained-6f32f5b4", False),
            ("known-value-unexplained-6f32f5b4", True),
        ]

    def test_a_finding_with_a_new_failure_is_not_known(self):
        mixed = finding("A-1", ["a", "b"])
        new, old = results(mixed)
        (cause,) = causes([mixed], [new, replace(old, known="known.yaml:3")])
        assert (cause.id, cause.known) == ("value-unexplained-6f32f5b4", False)

    def test_negative_tests_say_what_was_accepted(self):
        one = finding("A-1", ["a", "b"], kind="accepted")
        of = [
            Result(name, "A-1", Status.FAIL, kind="accepted", reject=why)
            for name, why in (("a", "rank-2"), ("b", "kernel-0"))
        ]
        assert causes([one], of)[0].title == "Accepts invalid input: kernel 0, rank 2"


class TestOrder:
    def test_by_what_is_worst_then_many(self):
        crash = finding("A-1", ["a"], kind="crashed", message="killed by SIGSEGV\nmore")
        shape = finding("A-1", ["b"], kind="shape")
        many = finding("A-1", ["c", "d", "e"], faults=[fault("many")])
        two = finding("A-1", ["f", "g"], faults=[fault("two")])
        few = finding("B-1", ["h"], faults=[fault("few")])
        raised = finding("A-1", ["i"], kind="raised", message="E: no")
        accepted = finding("A-1", ["j"], kind="accepted")
        found = told(accepted, raised, few, two, many, shape, crash)
        assert [cause.findings[0] for cause in found] == [
            crash, shape, many, two, few, raised, accepted,
        ]  # fmt: skip
        assert found[0].title == "Crashes: killed by SIGSEGV"

    def test_what_a_document_only_recommends_comes_last(self):
        one, other = finding("A-1", ["a"], kind="crashed"), finding("B-1", ["b"], kind="accepted")
        of = [replace(r, level="should" if r.op == "A-1" else "must") for r in results(one, other)]
        assert [cause.severity for cause in causes([one, other], of)] == [
            Severity.ACCEPTED,
            Severity.MILD,
        ]

    def test_it_does_not_depend_on_the_order_of_findings(self):
        run = read(SAMPLES / "onnx-reference" / "run.jsonl.gz")
        again = causes(tuple(reversed(run.findings)), tuple(reversed(run.results)))
        assert [cause.headline for cause in again] == [cause.headline for cause in run.causes]


def test_fixed_is_told_of_a_mutant():
    with_it = fault("x", fixed={"onnxruntime": "1.17.0"})
    assert told(finding("A-1", ["a"], faults=[with_it]))[0].fixed == ("onnxruntime 1.17.0",)


@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in SAMPLES.glob("*/run.jsonl.gz"))
)
def test_the_causes_of_a_sample_have_every_failure_once(name):
    run = read(SAMPLES / name / "run.jsonl.gz")
    of = [(one.op, id) for cause in run.causes for one in cause.findings for id in one.ids]
    assert sorted(of) == sorted((f.op, id) for f in run.findings for id in f.ids)
    ids = [cause.id for cause in run.causes]
    assert len(ids) == len(set(ids))
    assert len(ids) <= len(run.findings)


OPENVINO = (
    "RuntimeError: Exception from src/a/core.cpp:117: Exception from src/b/plugin.cpp:54: "
    "Check 'result' failed at src/c/utils.cpp:114: CPU plugin does not support i64."
)
ONNXRUNTIME = (
    "Fail: [ONNXRuntimeError] : 1 : FAIL : Exception during initialization: /src/pool.h:88 "
    "ort::Pool::Pool(const Info&, int) [with Info = ort::X] pads[dim] < kernel_shape[dim]"
)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (OPENVINO, "CPU plugin does not support i64"),
        (ONNXRUNTIME, "Exception during initialization: pads[dim] < kernel_shape[dim]"),
        ("ValueError: no\nat line 3", "no"),
        ("AssertionError", ""),
        ("", ""),
        ("x" * 5000, "x" * 109 + "…"),
    ],
)
def test_what_an_exception_says(message, text):
    assert short_message(message) == text


@pytest.mark.parametrize(
    "text", ["/", "a/", "a::", "::a(", "Check '", "a/b.c:1", "[a] : 1 : ", "1,", "(", "(-", "1 -"]
)
def test_a_message_takes_no_time_whatever_it_is(text):
    begin = time.process_time()
    comparison_key(text * 2000, "A-1")
    assert time.process_time() - begin < 0.5


def test_numbers_names_and_where_it_was_cut_tell_no_exceptions_apart():
    assert comparison_key("E: MaxPool_12 at 0x1f of 3", "MaxPool-8") == comparison_key(
        "F: AvgPool_7 at 0xaa of 44", "onnx.AvgPool-1"
    )
    assert comparison_key("E: one of the Max…", "A-1") == comparison_key(
        "E: one of the MaxPoo…", "A-1"
    )
    assert comparison_key("E: one thing", "A-1") != comparison_key("E: another thing", "A-1")


@pytest.mark.parametrize("list_", ["(3,)", "(-3,)", "(1, -2)", "[[0, -1], [2]]", "-7", "{4,-4}"])
def test_neither_signs_nor_how_long_a_list_is_tell_exceptions_apart(list_):
    assert comparison_key(f"E: pads {list_} are too large", "A-1") == "pads # are too large"


def test_a_minus_sign_is_part_of_a_number() -> None:
    """Two failures of timm: an empty output, and one of a negative size."""
    empty, negative = (
        f"E: Given input size: (1x5x7). Calculated output size: ({size}). Output size is too small"
        for size in ("17x1x0", "8x1x-1")
    )
    assert comparison_key(empty, "A-1") == comparison_key(negative, "A-1")
    assert normalise_message(empty) == normalise_message(negative)
    assert normalise_message("axis-3 of x") == "axis-# of x"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pads (1, 2) are too large", "pads (1, 2) too large"),
        ("pads 3 exceed (2, 2)", "pads exceed (2, 2)"),
        ("2 of 3 axes", "2 axes"),
        ("no kernel for f32", "no kernel for i32"),
    ],
)
def test_words_do(one, other):
    assert comparison_key(f"E: {one}", "A-1") != comparison_key(f"E: {other}", "A-1")


def test_ids_stand_in_addresses_and_differ():
    assert slug("float32-quotient") == "float32-quotient"
    made = {slug(text) for text in ("a b", "a-b", "A-b", "a  b", "ä", "", "x" * 300, "\ud800")}
    assert len(made) == 8
    assert all(set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for one in made)
    assert max(map(len, made)) < 60
