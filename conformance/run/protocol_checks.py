"""Checks whether a program keeps to the protocol; what it computes is not looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from conformance.backends.layouts import layout_for
from conformance.grade.outcome import Ending, Outcome, describe_value
from conformance.model import Vector
from conformance.run import framing, messages
from conformance.run.executor import Identity
from conformance.run.program_session import Conversation, Trouble
from conformance.specification import ranks_of
from conformance.suite.store import Suite

UNKNOWN = "conformance.Unknown-1"
"""An operator that no program has."""

LARGE = 1 << 22
"""Elements of a large array: more than any pipe holds."""


@dataclass(frozen=True)
class Check:
    """What came of one check; ``passed`` is None for one that could not be made."""

    name: str
    passed: bool | None
    said: str


def checks(spec: str, suite: Suite, seconds: float) -> Iterator[Check]:
    """Yield each check of a program, made in a new process of it.

    Requests are vectors of the suite that the program declares to support.

    Raises:
        BackendError: the program cannot be started.
    """
    with Conversation(spec, seconds) as talk:
        try:
            who = talk.hello()
            talk.quiet()
        except (Trouble, framing.Malformed) as error:
            yield Check("hello", False, str(error))
            return
    yield Check("hello", True, f"{who.name} {who.version}, protocol {messages.PROTOCOL}")
    vectors = _claimed(who, suite)
    if not vectors:
        yield Check("vectors", None, f"no vector of {suite.name} is of a declared operator")
        return
    first = next(iter(vectors.values()))

    def checked(name: str, check: Callable[[Conversation], str]) -> Check:
        with Conversation(spec, seconds) as talk:
            try:
                talk.hello()
                return Check(name, True, check(talk))
            except (Trouble, framing.Malformed) as error:
                return Check(name, False, str(error))

    yield checked("unknown operator", lambda talk: _unknown(talk, first))
    for (op, dtype), vector in vectors.items():
        yield checked(f"{op} in {dtype}", lambda talk, vector=vector: _right(talk.ask(1, vector)))  # type: ignore[misc]
    yield checked("several requests", lambda talk: _several(talk, first))
    yield checked("pieces", lambda talk: _pieces(talk, first))
    yield checked("other members", lambda talk: _others(talk, first))
    yield checked("large array", lambda talk: _any(talk, _large(first)))
    yield checked("empty array", lambda talk: _any(talk, _resized(first, 0)))
    yield checked("rank 0", lambda talk: _any(talk, _scalar(first)))
    yield checked("end of input", lambda talk: talk.farewell())


def _claimed(who: Identity, suite: Suite) -> Mapping[tuple[str, str], Vector]:
    """The smallest vector of each operator and element type that the program declares."""
    vectors: dict[tuple[str, str], Vector] = {}
    for entry in sorted(suite.manifest.listed, key=lambda entry: entry.elements):
        spec = suite.specs.get(entry.op)
        if entry.kind != "value" or spec is None or (entry.op, entry.dtype) in vectors:
            continue
        if who.capabilities is not None and not any(
            who.capabilities.declares(entry.op, entry.dtype, rank) for rank in ranks_of(spec)
        ):
            continue
        vector = suite.read(entry)
        declared = who.capabilities
        if declared is None or declared.reason_against(spec, vector.case) is None:
            how = layout_for(declared, spec, vector.case)
            sent = vector if how is None else replace(vector, inputs=how.sent(vector))
            vectors[entry.op, entry.dtype] = sent
    return vectors


def _right(outcome: Outcome) -> str:
    """That a case which the program declares was answered."""
    if outcome.ending is not Ending.RETURNED:
        raise Trouble(
            f"the program declares this case, and answers '{outcome.ending}': {outcome.message}"
        )
    returned: Any = outcome.returned
    if not returned:
        raise Trouble("the program returned no output")
    seen = map(describe_value, returned)
    return "returned " + ", ".join(f"{output.dtype}{list(output.shape or ())}" for output in seen)


def _any(talk: Conversation, vector: Vector) -> str:
    """That there is an answer, whatever it is, and one to a usual question after it."""
    return str(talk.ask(1, vector).ending)


def _unknown(talk: Conversation, vector: Vector) -> str:
    case = replace(vector.case, op=UNKNOWN)
    outcome = talk.ask(1, replace(vector, case=case))
    if outcome.ending is not Ending.UNSUPPORTED:
        raise Trouble(
            f"the answer is '{outcome.ending}', not 'unsupported', and would count as a refusal in "
            "a negative test"
        )
    return "unsupported"


def _several(talk: Conversation, vector: Vector) -> str:
    talk.say(b"".join(messages.encode_request(number, vector) for number in (1, 2, 3)))
    for number in (1, 2, 3):
        _right(talk.answer(number, vector))
    return "3 requests at once, 3 responses in their order"


def _pieces(talk: Conversation, vector: Vector) -> str:
    whole = messages.encode_request(1, vector)
    cuts = [0, 5, framing.PREFIX.size + 3, len(whole) - 1, len(whole)]
    talk.say(*(whole[a:b] for a, b in pairwise(cuts)))
    _right(talk.answer(1, vector))
    return "a request in 4 pieces"


def _others(talk: Conversation, vector: Vector) -> str:
    inbox = framing.Inbox()
    inbox.feed(messages.encode_request(1, vector))
    header, _ = inbox.take(messages.max_output_bytes(vector)) or ({}, b"")
    more = {"comment": 'é "quoted" \\ [{,:]}', "more": {"op": "no", "inputs": [1, {}]}}
    talk.say(framing.pack(more | header, vector.inputs))
    _right(talk.answer(1, vector))
    return "unknown members are ignored"


def _scalar(vector: Vector) -> Vector:
    data = np.ones((), vector.inputs[0].dtype)
    return replace(vector, inputs=(data, *vector.inputs[1:]))


def _large(vector: Vector) -> Vector:
    return _resized(vector, round(LARGE ** (1 / max(1, vector.inputs[0].ndim))))


def _resized(vector: Vector, size: int) -> Vector:
    """The vector whose data have another size on each dimension."""
    data = np.ones((size,) * vector.inputs[0].ndim, vector.inputs[0].dtype)
    # Outputs as large as the data are sent, not described.
    answers = tuple(
        replace(answer, expected=np.broadcast_to(answer.expected.dtype.type(0), data.shape))
        for answer in vector.answers
    )
    return replace(vector, inputs=(data, *vector.inputs[1:]), answers=answers)
