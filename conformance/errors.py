"""The exception tree.

Every error that a user can cause is a :class:`ConformanceError`: its message says where and
what, its ``hint`` says what to do, and its ``exit_code`` is what the command line returns.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from conformance import DISTRIBUTION

EXIT_OK = 0
EXIT_NOT_CONFORMANT = 1
EXIT_USAGE = 2
EXIT_DEFECT = 3
EXIT_INCONCLUSIVE = 4
"""Nothing is wrong, but too little was tested to claim conformance."""

EXIT_INTERRUPTED = 130
"""What a shell reports for a command that SIGINT ended."""

EXIT_SIGNAL = 128
"""What a shell adds to the number of the signal that ended a command."""


class ConformanceError(Exception):
    """Base of all errors raised on purpose by this package."""

    exit_code: ClassVar[int] = EXIT_USAGE

    def __init__(self, message: str, *, hint: str | None = None, lacks: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.lacks = lacks
        """The missing name, if the error is about that."""

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class UsageError(ConformanceError):
    """A command or call that cannot be carried out."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a specification file.

    ``line`` and ``column`` count from 1; both are 0 where it is about the file as a whole.
    ``expected`` and ``hint`` may be empty.
    """

    file: str
    line: int
    column: int
    message: str
    expected: str = ""
    hint: str = ""

    def __str__(self) -> str:
        location = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        text = f"{location}: {self.message}"
        if self.expected:
            text += f"\n    expected: {self.expected}"
        if self.hint:
            text += f"\n    hint: {self.hint}"
        return text


class SpecError(ConformanceError):
    """A specification, or another file of YAML, that cannot be used; ``problems`` lists why."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class ExpressionError(ConformanceError):
    """An expression that is not allowed or does not make sense.

    ``offset`` counts characters from the start of the expression, from 0.
    """

    def __init__(
        self,
        message: str,
        *,
        offset: int = 0,
        expected: str = "",
        hint: str | None = None,
        lacks: str = "",
    ) -> None:
        super().__init__(message, hint=hint, lacks=lacks)
        self.offset = offset
        self.expected = expected


class EvaluationError(ConformanceError):
    """An expression that has no value for one case: division by zero, a number too large."""


class TooLarge(EvaluationError):
    """A case with more terms than are evaluated; nothing is wrong with it."""


class InvalidCase(ConformanceError):
    """A case that the specification does not allow; ``violations`` names each condition."""

    def __init__(self, message: str, violations: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.violations = violations


class SuiteError(ConformanceError):
    """A suite or a vector file that is damaged, incomplete, unsafe or of another version."""


class EvaluationDefect(ConformanceError):
    """An evaluation that is not what was recorded: nothing may be graded by it."""

    exit_code: ClassVar[int] = EXIT_DEFECT


class LogError(ConformanceError):
    """A run log that is damaged, cut short or of another version."""


class BackendError(ConformanceError):
    """A backend that cannot be found, imported or used as one."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or another signal that asks this process to end; ``number`` says which."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.exit_code = EXIT_SIGNAL + number


class Unsupported(Exception):
    """Raised by a backend for a case that it does not claim to support; the reason is shown."""


def install(extra: str) -> str:
    """Return the command that installs an extra of this tool."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def missing_extra(message: str, extra: str) -> UsageError:
    """Return the error for packages that come with an extra of this tool."""
    return UsageError(message, hint=install(extra))


def closest(name: str, candidates: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return ``did you mean 'x'?`` for the candidate most like ``name``.

    None if no candidate has a similarity of ``cutoff``, 0 to 1.
    """
    return _closest(name, frozenset(candidates), cutoff)


@lru_cache(maxsize=1024)
def _closest(name: str, candidates: frozenset[str], cutoff: float) -> str | None:
    # Many mutants mention a name that an operator lacks: the same search, again and again.
    matches = difflib.get_close_matches(name, sorted(candidates), n=1, cutoff=cutoff)
    return f"did you mean '{matches[0]}'?" if matches else None
