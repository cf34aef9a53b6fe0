"""What was observed when a backend ran one vector: the only thing that grading knows of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

MESSAGE_LIMIT = 400


class Ending(enum.StrEnum):
    """How a call of a backend ended."""

    RETURNED = "returned"
    RAISED = "raised"
    """An ordinary exception, a subclass of ``Exception``."""
    UNSUPPORTED = "unsupported"
    """The backend raised :class:`conformance.errors.Unsupported`."""
    ABORTED = "aborted"
    """``SystemExit``, or another exception that is not an ``Exception``."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call of a backend, observed.

    ``returned`` is whatever came back; arrays in a list or tuple are copies. ``message`` says
    why a call did not return. ``changed`` holds the positions of the inputs that the call
    changed. ``seconds`` is the wall time of the call alone.
    """

    ending: Ending
    returned: object = None
    message: str = ""
    changed: tuple[int, ...] = ()
    seconds: float = 0.0


def describe(error: BaseException) -> str:
    """The type and the text of an exception on one printable line of bounded length.

    All lines are joined, since many frameworks begin with where an error was raised and say only
    later what it is. The exception comes from a backend: its text may be anything, or fail to be
    made.
    """
    name = type(error).__name__
    try:
        text = " ".join(str(error)[: 10 * MESSAGE_LIMIT].split())
    except (Exception, SystemExit):
        return f"{name} (its message cannot be shown)"
    text = "".join(c if c.isprintable() else "?" for c in text)
    if len(text) > MESSAGE_LIMIT:
        text = text[: MESSAGE_LIMIT - 1] + "…"
    return f"{name}: {text}" if text else name
