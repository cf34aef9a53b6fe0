"""The queue of requests: what a backend is called on, in which order, and whose each outcome is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.grade.outcome import Ending, Outcome
from conformance.model import Case, Result, Status, Vector
from conformance.run.executor import Executor, Identity, Reason, Request
from conformance.run.independent_calls import IndependentCalls
from conformance.run.pipeline import Pipeline

FIRST, REPEAT = Reason.FIRST, Reason.REPEAT
COUNTERPART, CONFIRMATION = Reason.COUNTERPART, Reason.CONFIRMATION


class Numbering(Executor):
    """Notes each request, and returns its number, counted from 1; it refuses valid counterparts."""

    identity = Identity("numbering", "1")

    def __init__(self, ahead: int = 0) -> None:
        super().__init__()
        self.ahead = ahead
        self.calls: list[tuple[str, Reason]] = []

    def submit(self, request: Request) -> None:
        super().submit(request)
        self.calls.append((request.vector.id, request.reason))
        request.number = len(self.calls)

    def wait_for(self, request: Request) -> Outcome:
        if request.reason is COUNTERPART:
            return Outcome(Ending.RAISED, message="no such operator")
        return Outcome(Ending.RETURNED, request.number)


def vector(name: str) -> Vector:
    return Vector(name, Case("Op", {}, {}, {}), "must", (), "", "", (), ())


def vectors(names: str) -> Iterator[Vector]:
    return map(vector, names)


def counterpart(negative: Vector) -> Vector | None:
    """The valid counterpart of negative tests, which have capital letters: one for all."""
    return vector("valid") if negative.id.isupper() else None


def by_id(outcomes: Iterator[tuple[Vector, Result | Outcome]]) -> dict[str, Any]:
    return {each.id: seen for each, seen in outcomes}


def test_each_vector_is_called_once_and_has_its_own_outcome() -> None:
    executor = Numbering(ahead=1)
    outcomes = by_id(Pipeline(executor, {}).run(vectors("abc")))
    assert {name: seen.returned for name, seen in outcomes.items()} == {"a": 1, "b": 2, "c": 3}
    assert executor.calls == [("a", FIRST), ("b", FIRST), ("c", FIRST)]


def test_no_more_are_sent_ahead_than_the_executor_takes() -> None:
    executor = Numbering(ahead=2)
    outcomes = Pipeline(executor, {}).run(vectors("abcdef"))
    next(outcomes)
    assert executor.calls == [("a", FIRST), ("b", FIRST), ("c", FIRST)]
    next(outcomes)
    assert executor.calls[3:] == [("d", FIRST)]


def test_repeats_follow_the_first_call() -> None:
    executor = Numbering()
    list(Pipeline(executor, {}, repeat=3).run(vectors("ab")))
    a = [("a", FIRST), ("a", REPEAT), ("a", REPEAT)]
    assert executor.calls == [*a, ("b", FIRST), ("b", REPEAT), ("b", REPEAT)]


def test_a_valid_counterpart_is_called_once_beside_the_first_negative_test() -> None:
    executor = Numbering(ahead=3)
    outcomes = by_id(Pipeline(executor, {}, counterpart=counterpart, repeat=2).run(vectors("aBC")))
    assert executor.calls == [
        ("a", FIRST),
        ("a", REPEAT),
        ("B", FIRST),
        ("B", REPEAT),
        ("valid", COUNTERPART),
        ("C", FIRST),
        ("C", REPEAT),
    ]
    refusals = {name: seen.refuses_valid for name, seen in outcomes.items()}
    assert refusals == {"a": "", "B": "no such operator", "C": "no such operator"}


def test_a_confirmation_comes_after_what_is_in_the_queue_and_leaves_it_its_outcomes() -> None:
    executor = Numbering(ahead=2)
    pipeline = Pipeline(executor, {})
    outcomes = pipeline.run(vectors("abcd"))
    first, _ = next(outcomes)
    assert pipeline.confirm(first).returned == 4
    assert executor.calls[2:] == [("c", FIRST), ("a", CONFIRMATION)]
    later = {name: seen.returned for name, seen in by_id(outcomes).items()}
    assert later == {"b": 2, "c": 3, "d": 5}


def test_what_is_untested_keeps_its_turn_and_is_not_called() -> None:
    executor = Numbering(ahead=3)
    skipped = Result("b", "Op", Status.SKIPPED)
    untested = {"b": skipped}
    seen = by_id(Pipeline(executor, {}, lambda each: untested.get(each.id)).run(vectors("abc")))
    assert list(seen) == ["a", "b", "c"]
    assert seen["b"] is skipped
    assert executor.calls == [("a", FIRST), ("c", FIRST)]


def test_independent_calls_take_the_places_of_as_many_vectors() -> None:
    executor = Numbering(ahead=3)
    executor.independent = IndependentCalls("must", {})
    next(Pipeline(executor, {}).run(vectors("abcd")))
    assert executor.calls == [("a", FIRST), ("a", REPEAT), ("b", FIRST), ("b", REPEAT)]
