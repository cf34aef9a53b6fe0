"""Runs a backend in this process, one vector at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Protocol, Self

import numpy as np

from conformance.backends.framework_call import is_adapter_failure
from conformance.backends.protocol import Backend
from conformance.dtypes import Array
from conformance.errors import Unsupported
from conformance.grade.outcome import Ending, Outcome, describe_exception
from conformance.model import Vector
from conformance.run.executor import Executor, Request, identity_of

COPY_LIMIT = 1 << 30
"""Bytes above which an output is not copied; no vector needs one, so its shape is wrong."""


class Inline(Executor):
    """Calls a backend object in this process; a crash, a hang or runaway memory ends the run.

    ``spec`` is what it was named by, if it was.
    """

    def __init__(self, backend: Backend, spec: str = "") -> None:
        super().__init__()
        self._backend = backend
        self._spec = spec

    def __enter__(self) -> Self:
        self.identity = identity_of(self._backend, self._spec)
        return self

    def wait_for(self, request: Request) -> Outcome:
        return execute(self._backend, request.vector)


class Runnable(Protocol):
    """What a backend must be able to do; the full protocol lies in :mod:`conformance.backends`."""

    def run(
        self, op: str, inputs: list[Any], attributes: dict[str, Any]
    ) -> Any:  # pragma: no cover
        ...


def execute(backend: Runnable, vector: Vector) -> Outcome:
    """Call the backend on a vector; see :func:`call`."""
    return call(backend, vector.case.op, vector.arguments, vector.case.attributes)


def call(
    backend: Runnable, op: str, inputs: Sequence[Array | None], attributes: Mapping[str, Any]
) -> Outcome:
    """Call the backend on fresh copies of inputs and attributes.

    Inputs are writable, C-contiguous, of the logical type (bf16 is ``ml_dtypes.bfloat16``), None
    where an optional one is absent;
    attributes are those that the case gives, spelled as the document spells them. Outputs are
    copied before anything else happens, since a backend may hand out views of its own buffers.
    An interruption from the keyboard passes through; nothing else does.
    """
    originals = [None if array is None else np.asarray(array, order="C") for array in inputs]
    copies = [None if array is None else array.copy() for array in originals]
    arguments = list(copies)  # the backend may change the list
    keywords = fresh(attributes)
    ending, returned, message = Ending.RETURNED, None, ""
    started = perf_counter()
    try:
        returned = backend.run(op, arguments, keywords)
        seconds = perf_counter() - started
        returned = _copied(returned)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        seconds = perf_counter() - started
        ending, message = _ending(backend, error), describe_exception(error)
        returned = None
    changed = tuple(
        i
        for i, (before, after) in enumerate(zip(originals, copies, strict=True))
        if before is not None and after is not None and not _same_bits(before, after)
    )
    return Outcome(ending, returned, message, changed, seconds)


def fresh(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the attributes to plain values that the backend may keep or change."""
    return {
        name: list(value) if isinstance(value, list | tuple) else value
        for name, value in attributes.items()
    }


def _ending(backend: Runnable, error: BaseException) -> Ending:
    if isinstance(error, Unsupported):
        return Ending.UNSUPPORTED
    # What is not installed says nothing of the question, so it refuses nothing either.
    if not isinstance(error, Exception) or isinstance(error, ImportError):
        return Ending.ABORTED
    return Ending.ADAPTER if is_adapter_failure(backend, error) else Ending.RAISED


def _copied(returned: object) -> object:
    """The same with every plain array copied; the rest is left for the judge to describe."""
    if type(returned) in (list, tuple):
        return [_copy(item) for item in returned]  # type: ignore[attr-defined]
    return _copy(returned)


def _copy(item: object) -> object:
    if type(item) is np.ndarray and item.nbytes <= COPY_LIMIT:
        return item.copy()
    return item


def _same_bits(before: Array, after: Array) -> bool:
    # A backend can also set the shape and dtype of the array object that it was given.
    return (
        before.shape == after.shape
        and before.dtype == after.dtype
        and before.tobytes() == after.tobytes()
    )
