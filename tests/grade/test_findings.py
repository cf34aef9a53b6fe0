from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.grade.findings import group_failures, normalise_message
from conformance.model import Result, Status, Witness

COMMAND = ("conformance", "check", "--backend", "my lib")


def result(name, *edges, kind="", dtype="f32", size=10, op="AvgPool-1", ulp=1.0, **more):
    """A result; a kind that is not empty makes it a failure."""
    witness = None
    if kind in ("value", "index"):
        witness = Witness("result", (0,), "1.0", "1.0", "1.0", "1.0", "2.0", ulp, 1, 4)
    errors = ("raised", "shape", "dtype", "outputs")
    status = Status.ERROR if kind in errors else Status.FAIL if kind else Status.PASS
    plain = Result(
        id=name,
        op=op,
        status=status,
        edges=edges,
        kind=kind,
        dtype=dtype,
        size=size,
        witness=witness,
    )
    return replace(plain, **more)


def titles(results):
    return [finding.title for finding in group_failures(results, command=COMMAND)]


def test_nothing_failed():
    unsupported = result("b", status=Status.UNSUPPORTED)
    assert group_failures([result("a"), unsupported], command=COMMAND) == ()


def test_a_dtype_that_always_fails_is_one_finding():
    results = [result(f"w{i}", "any", dtype="f64", kind="value") for i in range(3)]
    results += [result(f"r{i}", "any") for i in range(3)]
    assert titles(results) == ["f64: 3 of 3 vectors with wrong values in result"]


def passing(count, *edges, **more):
    return [result(f"ok-{'-'.join(edges)}-{i}", *edges, **more) for i in range(count)]


def test_an_edge_that_always_fails_is_split_from_the_rest():
    results = [result(f"c{i}", "ceil", "batch", kind="value") for i in range(4)]
    results += [result("x", "batch", kind="value"), *passing(6, "batch")]
    assert titles(results) == [
        "ceil: 4 of 4 vectors with wrong values in result",
        "1 more of 11 vectors with wrong values in result",
    ]


def test_what_leaves_an_attribute_out_is_told_apart():
    left_out = {"left_out": ("dilations",)}
    results = [result(f"d{i}", kind="raised", message="no", **left_out) for i in range(3)]
    results += [*passing(5), *passing(1, **left_out)]
    assert titles(results) == ["without dilations: 3 of 4 vectors raised an exception"]


def test_what_a_must_reject_vector_leaves_out_is_no_reason():
    left_out = {"left_out": ("storage_order",), "status": Status.FAIL}
    results = [result(f"d{i}", kind="accepted", reject=f"rule-{i}", **left_out) for i in range(3)]
    results += passing(5, reject="rule-9")
    assert not [title for title in titles(results) if "storage_order" in title]


def test_an_edge_that_mostly_fails_says_of_how_many():
    results = [result(f"w{i}", "nan", dtype="f64", kind="value") for i in range(3)]
    results += [result(f"v{i}", dtype="f64", kind="value") for i in range(6)]
    results += passing(4, dtype="f64") + passing(30, "nan")
    assert titles(results) == ["f64: 9 of 13 vectors with wrong values in result"]


def test_an_edge_whose_vectors_all_fail_or_pass_like_the_others_explains_nothing():
    results = [result(f"c{i}", "ceil", kind="value") for i in range(4)] + [result("ok", "ceil")]
    assert titles(results) == ["4 of 5 vectors with wrong values in result"]


def test_what_failed_in_another_way_is_no_counterexample():
    results = [result(f"c{i}", "ceil", kind="value") for i in range(3)]
    results += [result("r", "ceil", kind="raised"), *passing(9)]
    assert "ceil: 3 of 4 vectors with wrong values in result" in titles(results)


def test_unsupported_and_skipped_vectors_are_not_asked():
    results = [result(f"c{i}", "ceil", kind="value") for i in range(2)]
    results += [result("u", "ceil", status=Status.UNSUPPORTED), result("ok")]
    assert titles(results) == ["ceil: 2 of 2 vectors with wrong values in result"]


def test_a_single_failure_is_no_pattern():
    results = [result("c", "ceil", kind="value"), result("ok")]
    assert titles(results) == ["1 of 2 vectors with wrong values in result"]


def test_two_features_explain_two_findings():
    results = [result(f"a{i}", "ceil", kind="value") for i in range(3)]
    results += [result(f"b{i}", "nan", kind="value") for i in range(2)]
    results += passing(9)
    assert titles(results) == [
        "ceil: 3 of 3 vectors with wrong values in result",
        "nan: 2 of 2 vectors with wrong values in result",
    ]


def test_of_equal_explanations_a_dtype_goes_first():
    both = [result(f"b{i}", "ceil", dtype="f64", kind="value") for i in range(2)]
    assert titles([*both, *passing(5)]) == ["f64: 2 of 2 vectors with wrong values in result"]


def test_where_a_long_message_is_cut_tells_nothing():
    said = ["at 0x1 " + "long " * 80, "at 0x1234567890 " + "long " * 80]
    results = [result(f"r{i}", kind="raised", message=one[:400]) for i, one in enumerate(said)]
    assert len(titles(results)) == 1


def test_kinds_outputs_and_operators_do_not_mix():
    other = Witness("indices", (0,), "1", "1", "1", "1", "2", None, 1, 4)
    results = [
        result("a", kind="value"),
        result("b", kind="value", witness=other),
        result("c", kind="index", witness=other),
        result("d", kind="value", op="Other-1"),
    ]
    assert len(group_failures(results, command=COMMAND)) == 4


def test_exceptions_that_differ_in_numbers_are_one():
    message = "RuntimeError: shape [{0}, 3] at 0x7f{0}a"
    results = [result(str(i), kind="raised", message=message.format(i)) for i in range(3)]
    results += [result("other", kind="raised", message="TypeError: no"), result("ok")]
    assert titles(results) == [
        "3 of 5 vectors raised an exception",
        "1 of 5 vectors raised an exception",
    ]


@pytest.mark.parametrize(
    ("message", "normal"),
    [
        ("shape (1, 2, 3) instead of (1,)", "shape (#) instead of (#,)"),
        ("at 0x7fAb01: size 1.5", "at #: size #"),
        ("no numbers", "no numbers"),
    ],
)
def test_normalised(message, normal):
    assert normalise_message(message) == normal


def test_must_reject_vectors_are_counted_apart():
    results = [result(f"z{i}", kind="accepted", reject="zero-stride") for i in range(2)]
    results += [result("n", kind="", reject="negative-pads"), result("v")]
    words = "negative tests accepted, though they must be rejected"
    assert titles(results) == [f"zero-stride: 2 of 2 {words}"]


def test_readings_are_told_apart():
    results = [result(r, kind="reading", reading=r) for r in ("clip", "full")]
    assert len(group_failures(results, command=COMMAND)) == 2


def test_what_breaks_a_must_comes_first_then_what_is_more():
    results = [result(f"s{i}", kind="value", level="should", op="A") for i in range(5)]
    results += [result(f"r{i}", kind="reading", op="B") for i in range(3)]
    results += [result(f"m{i}", kind="value", op="C") for i in range(1)]
    results += [result(f"n{i}", kind="shape", op="D") for i in range(2)]
    assert [finding.op for finding in group_failures(results, command=COMMAND)] == [
        "D",
        "C",
        "A",
        "B",
    ]


def test_what_is_new_comes_before_what_is_known_however_mild():
    known = [result(f"k{i}", kind="value", op="A", known="known.yaml:2") for i in range(3)]
    results = [*known, result("s", kind="value", level="should", op="B")]
    assert [finding.op for finding in group_failures(results, command=COMMAND)] == ["B", "A"]


def test_a_finding_tells_its_smallest_vector_and_what_all_share():
    results = [
        result("0-big", "ceil", "batch", kind="value", size=90, ulp=700.0, message="3 wrong"),
        result("b-small", "ceil", "nan", kind="value", size=5, ulp=2.0),
        result("a-small", "nan", "ceil", kind="value", size=5, ulp=1.0, message="1 wrong"),
    ]
    (finding,) = group_failures(results, command=COMMAND, show=("--suite", "mine"))
    assert finding.smallest == "a-small"
    assert finding.edges == ("ceil",)
    assert set(finding.ids) == {"0-big", "b-small", "a-small"}
    assert finding.message == "1 wrong"
    assert finding.witness.ulp == 1.0
    assert finding.detail["worst"] == {"id": "0-big", "ulp": 700.0, "got": "2.0"}
    assert finding.detail["show"] == "conformance show a-small --suite mine"
    assert finding.reproduce == (
        "conformance check --backend 'my lib' --op AvgPool-1 --only a-small"
    )


def test_without_a_command_there_is_none_to_reproduce():
    (finding,) = group_failures([result("a", kind="value")], command=())
    assert finding.reproduce == ""


def test_failures_of_one_cause_name_all_that_is_wrong():
    wrong = [result("v", kind="value"), result("s", kind="shape"), result("r", kind="raised")]
    results = [*wrong, *passing(2)]
    of = {("AvgPool-1", one.id): "tap" for one in wrong}
    (finding,) = group_failures(results, command=COMMAND, causes=of)
    assert finding.title == "3 of 5 vectors wrong (values, shape or exception)"
