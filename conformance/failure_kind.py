"""Kinds of failure, each with everything that is said of it and that follows from it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import partial


class Severity(enum.IntEnum):
    """What a failure leads to, the worst first.

    ``LOST``: the process crashed, hung, or took too much memory. ``MILD``: it breaks only what a
    document recommends.
    """

    LOST, SHAPE, VALUE, RAISED, ACCEPTED, MILD = range(6)


@dataclass(frozen=True)
class FailureFacts:
    """All that is said of a kind of failure.

    Attributes:
        name: how logs and files of known failures spell it.
        predicate: ends a sentence whose subject is "vectors".
        title: begins a title.
        tag: one to three words.
        aspect: what is wrong, in a list of several kinds; the name if empty.
        loses_process: True if the backend lost its process.
        message_is_ours: True if this package words the message, not the backend.
        excused_by_default: True if a known failure excuses it without naming the kind.
    """

    name: str
    predicate: str
    title: str
    tag: str = "wrong values"
    aspect: str = ""
    severity: Severity = Severity.VALUE
    loses_process: bool = False
    message_is_ours: bool = False
    excused_by_default: bool = False


_wrong = partial(FailureFacts, message_is_ours=True, excused_by_default=True)
_shape = partial(_wrong, severity=Severity.SHAPE)
_raised = partial(FailureFacts, severity=Severity.RAISED)
_ended = partial(FailureFacts, severity=Severity.LOST)
_lost = partial(_ended, loses_process=True)


class FailureKind(enum.StrEnum):
    """A way in which a vector fails."""

    facts: FailureFacts

    def __new__(cls, facts: FailureFacts) -> FailureKind:
        """Make a member whose value is the name of the kind."""
        member = str.__new__(cls, facts.name)
        member._value_, member.facts = facts.name, facts
        return member

    VALUE = _wrong("value", "with wrong values", "Wrong values", aspect="values")
    INDEX = _wrong("index", "with wrong indices", "Wrong indices", aspect="indices")
    SHAPE = _shape("shape", "with a wrong shape", "Wrong shape", "wrong shape")
    DTYPE = _shape("dtype", "with a wrong dtype", "Wrong element type", "wrong type")
    OUTPUTS = _shape("outputs", "without usable outputs", "No usable outputs", "no usable outputs")
    RAISED = _raised(
        "raised",
        "raised an exception",
        "Raises an exception",
        *("exception", "exception"),
        excused_by_default=True,
    )
    ADAPTER = _raised(
        "adapter",
        "not tested, since the adapter failed outside of its framework's call",
        "The adapter fails outside of its framework's call",
        "exception",
    )
    ABORTED = _ended(
        "aborted", "ended the call abnormally", "Ends the call abnormally", "abnormal end"
    )
    CRASHED = _lost("crashed", "crashed the process", "Crashes", "crash")
    HUNG = _lost("hung", "did not end in time", "Does not end in time", "hang")
    MEMORY = _lost(
        "memory", "took more memory than allowed", "Takes more memory than allowed", "out of memory"
    )
    ABANDONED = _ended(
        "abandoned",
        "not tested, since the backend was given up",
        "Not tested, since the backend was given up",
        "not tested",
    )
    UNSTEADY = FailureFacts(
        "unsteady",
        "differ from call to call",
        "Results differ from call to call",
        "unsteady results",
        message_is_ours=True,
    )
    ACCEPTED = _wrong(
        "accepted",
        "accepted, though they must be rejected",
        "Accepts invalid input",
        "accepted",
        severity=Severity.ACCEPTED,
    )
    INPUT_CHANGED = _wrong(
        "input-changed", "wrote their input", "Writes its input", "input written"
    )
    INTERPRETATION = _wrong(
        "reading",
        "follow an interpretation that level should excludes",
        "Follows an interpretation that level should excludes",
        severity=Severity.MILD,
    )
    UNDECLARED = _raised(
        "undeclared-unsupported",
        "unsupported, which the backend did not declare",
        "Unsupported, and not declared so",
        "unsupported",
    )


_FACTS = {str(kind): kind.facts for kind in FailureKind}


def facts_of(kind: str) -> FailureFacts:
    """Return the facts of a kind. One of a newer log has its name only."""
    return _FACTS.get(kind) or FailureFacts(kind, kind, kind)
