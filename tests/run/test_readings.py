"""From what vectors show to the backend's answers."""

from __future__ import annotations

from conformance.model import ADOPTED, FOLLOWED, NEITHER, Result, Status
from conformance.run.interpretations import readings
from conformance.specification import shipped_specs

AVG, MAX = "AvgPool-1", "AdaptiveMaxPool-8"


def shown(name, op=AVG, dtype="f32", size=5, **points):
    shows = {point.replace("_", "-"): kinds for point, kinds in points.items()}
    return Result(name, op, Status.PASS, dtype=dtype, size=size, shows=shows)


def answers(results, point, op=AVG):
    (found,) = [
        r["answers"] for r in readings([op], results, shipped_specs()) if r["point"] == point
    ]
    return found


def test_one_answer_with_the_smallest_vector_that_shows_it():
    results = [
        shown("b", clip_divisor=(ADOPTED,), size=4),
        shown("a", clip_divisor=(ADOPTED,), size=4, dtype="f16"),
        shown("c", clip_divisor=(ADOPTED,), size=9),
        shown("d", size=1),
    ]
    assert answers(results, "clip-divisor") == [
        {
            "answer": "the whole kernel",
            "adopted": True,
            "vectors": 3,
            "dtypes": ["f16", "f32"],
            "example": "a",
        }
    ]


def test_different_answers_are_all_told_the_most_frequent_first():
    results = [
        shown("a", clip_divisor=(NEITHER,)),
        shown("b", clip_divisor=(FOLLOWED,)),
        shown("c", clip_divisor=(ADOPTED,)),
        shown("d", clip_divisor=(FOLLOWED,)),
    ]
    found = answers(results, "clip-divisor")
    assert [(a["answer"], a["adopted"], a["vectors"]) for a in found] == [
        ("taps within the padded input", False, 2),
        ("the whole kernel", True, 1),
        ("neither of them", False, 1),
    ]


def test_a_vector_counts_once_for_each_kind_of_value():
    results = [shown("a", empty_uncounted=("NaN", "-0")), shown("b", empty_uncounted=("NaN",))]
    found = answers(results, "empty-uncounted")
    assert [(a["answer"], a["adopted"], a["vectors"]) for a in found] == [
        ("NaN", False, 2),
        ("-0", False, 1),
    ]


def test_what_no_vector_shows_is_asked_all_the_same():
    asked = readings([AVG, MAX], [], shipped_specs())
    assert [op for op in (AVG, MAX) for r in asked if r["op"] == op] == [r["op"] for r in asked]
    assert all(r["answers"] == [] for r in asked)
    levels = {r["point"]: r["level"] for r in asked}
    assert levels["any-maximum"] == "should"


def test_an_operator_that_the_suite_has_no_specification_of():
    results = [shown("a", op="Mine-1", rounds_up=(FOLLOWED,))]
    (found,) = readings(["Mine-1"], results, shipped_specs())
    assert (found["question"], found["answers"][0]["answer"]) == (
        "rounds-up",
        "interpretation rounds-up",
    )


def test_a_question_that_only_the_suite_knows():
    results = [shown("a", later_question=(ADOPTED,))]
    found = readings([AVG], results, shipped_specs())[-1]
    assert (found["point"], found["answers"][0]["adopted"]) == ("later-question", True)
