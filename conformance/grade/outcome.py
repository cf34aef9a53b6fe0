"""The outcome of running one vector on a backend, the only input of grading."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from conformance.dtypes import DTYPES, name_of
from conformance.errors import Unsupported
from conformance.failure_kind import FailureKind, facts_of
from conformance.safe_text import printable

MAX_MESSAGE = 600
MESSAGE_HEAD = 400
"""Characters of a long message's beginning; the rest of the limit is its end, where many frameworks
say what is wrong after they have said where."""

MAX_NAME = 200
MAX_READ = 10 * MAX_MESSAGE
"""Characters of each end of a message that are looked at."""


class Ending(enum.StrEnum):
    """How a call of a backend ended."""

    RETURNED = "returned"
    RAISED = FailureKind.RAISED
    """An ordinary exception, a subclass of ``Exception`` other than ``ImportError``."""
    UNSUPPORTED = "unsupported"
    """The backend raised :class:`conformance.errors.Unsupported`."""
    ADAPTER = FailureKind.ADAPTER
    """A backend that marks the calls of its framework raised outside of them."""
    ABORTED = FailureKind.ABORTED
    """``SystemExit``, another exception that is no ``Exception``, or ``ImportError``."""
    CRASHED = FailureKind.CRASHED
    """The process that ran the call came to an end, or stopped making sense."""
    HUNG = FailureKind.HUNG
    """The call took longer than a vector may; its process was killed."""
    MEMORY = FailureKind.MEMORY
    """The process took more memory than it may, and was killed."""
    ABANDONED = FailureKind.ABANDONED
    """The vector was not tested: the backend had been given up."""


PROCESS_LOST = frozenset(ending for ending in Ending if facts_of(ending).loses_process)
"""Endings that cost the backend its process."""


@dataclass(frozen=True, slots=True)
class DescribedValue:
    """Something that a backend returned, told in words and not handed on.

    ``type`` is the name of its Python type. An array also has ``dtype`` (spelled as specifications
    do, else as numpy does), ``swapped`` (the same in the other byte order) and ``shape``.
    """

    type: str
    dtype: str = ""
    swapped: str = ""
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call of a backend, observed.

    ``returned`` is whatever came back; arrays in a list or tuple are copies, and anything may be
    :class:`Described` in place of being there. ``message`` says why a call did not return; its
    first line says it the same way wherever the cause is the same. ``changed`` holds the positions
    of the inputs that the call changed. ``seconds`` is the wall time of the call alone.
    ``unsteady`` says in what several calls on the same inputs differed; empty if in nothing.
    ``refuses_valid`` of a negative test says how the valid case that it was made from was refused.
    ``note`` is added to the message of outputs that are wrong.
    """

    ending: Ending
    returned: object = None
    message: str = ""
    changed: tuple[int, ...] = ()
    seconds: float = 0.0
    unsteady: str = ""
    refuses_valid: str = ""
    note: str = ""


def describe_value(value: object) -> DescribedValue:
    """Describe a returned object; only its type is used, unless it is a plain array."""
    if type(value) is not np.ndarray:
        return value if isinstance(value, DescribedValue) else DescribedValue(_type_name(value))
    swapped = name_of(value.dtype.newbyteorder())
    return DescribedValue(
        "numpy.ndarray",
        name_of(value.dtype)[:MAX_NAME],
        swapped if swapped in DTYPES else "",
        value.shape,
    )


def describe_exception(error: BaseException) -> str:
    """Describe an exception by type and text on one printable line of bounded length.

    All lines are joined, since many frameworks begin with where an error was raised and say only
    later what it is; of a long text the beginning and the end are kept. The exception comes from a
    backend: its text may be anything, or fail to be made. A reason not to support something needs
    no type, and reads as what is declared.
    """
    name = printable(type(error).__name__[:MAX_NAME])
    try:
        text = str(error)
        if len(text) > 2 * MAX_READ:
            text = f"{text[:MAX_READ]} {text[-MAX_READ:]}"
        text = shorten(printable(" ".join(text.split())))
    except (Exception, SystemExit):
        return f"{name} (its message cannot be shown)"
    if isinstance(error, Unsupported):
        return text or name
    return f"{name}: {text}" if text else name


def shorten(text: str) -> str:
    """Keep the beginning and the end of a text, at most ``MAX_MESSAGE`` characters."""
    if len(text) <= MAX_MESSAGE:
        return text
    return f"{text[:MESSAGE_HEAD]} … {text[MESSAGE_HEAD + 3 - MAX_MESSAGE :]}"


def _type_name(value: object) -> str:
    """The name of a value's type, with its module; the type may be anything, too."""
    kind = type(value)
    try:
        name, module = str(kind.__name__), str(kind.__module__)
    except Exception:
        return "an unnamed type"
    return (name if module == "builtins" else f"{module}.{name}")[:MAX_NAME]
