"""Marks the framework's call, to tell its failures from those of the adapter."""

from __future__ import annotations

import threading
from types import TracebackType

MAX_CAUSES = 16
"""How far a chain of causes is followed."""


class _LastException(threading.local):
    """The last exception that left a mark in this thread."""

    error: BaseException | None = None


_LAST = _LastException()


class framework:  # noqa: N801 - reads as a statement: with framework(): ...
    """Marks the framework's own calls within ``run`` of a backend whose ``marked`` is True.

    What is raised within the mark is the framework's answer; what is raised outside of it is a
    failure of the adapter, which accuses nobody.
    """

    def __enter__(self) -> None:
        _LAST.error = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _LAST.error = error


def is_adapter_failure(backend: object, error: BaseException) -> bool:
    """Return whether ``run`` raised a failure of the adapter, not of its framework.

    An exception that was raised from the framework's (``raise ... from``) is the framework's, too.
    """
    if getattr(backend, "marked", False) is not True:
        return False
    passed, _LAST.error = _LAST.error, None
    cause: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if cause is None or cause is passed:
            return cause is None
        cause = cause.__cause__
    return True
