"""Digests of what a backend answers, taken while a run asks it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from conformance.backends.pieces import Piece
from conformance.dtypes import DTYPES, Array, DType
from conformance.errors import BackendError
from conformance.grade.outcome import Ending, Outcome, described
from conformance.run.executor import Executor, Request


class Hashing(Executor):
    """Calls a backend through another executor, and keeps a digest of each answer.

    ``digests`` has that of each vector's first call, by operator and id. Raises
    :class:`BackendError` where the backend is not made of the ``pieces`` that are expected.
    """

    def __init__(self, inner: Executor, expected: tuple[Piece, ...] | None = None) -> None:
        super().__init__()
        self._inner = inner
        self.requests = inner.requests
        self._expected = expected
        self.digests: dict[tuple[str, str], str] = {}

    def __enter__(self) -> Self:
        inner = self._inner
        inner.waiting = self.waiting
        inner.probes = lambda: self.probes()
        inner.__enter__()
        self.identity, self.ahead = inner.identity, inner.ahead
        if self._expected is not None and self.identity.pieces != self._expected:
            inner.close()
            raise BackendError(
                "the backend is made of other files than it was a moment ago",
                hint="let nothing change its files while a challenge runs",
            )
        return self

    def close(self) -> None:
        self._inner.close()

    def settings(self) -> dict[str, Any]:
        return self._inner.settings()

    def allow(self, seconds: float) -> None:
        self._inner.allow(seconds)

    def farewell(self) -> tuple[str, ...]:
        return self._inner.farewell()

    def submit(self, request: Request) -> None:
        self._inner.submit(request)

    def wait_for(self, request: Request) -> Outcome:
        outcome = self._inner.wait_for(request)
        self.digests.setdefault((request.vector.case.op, request.vector.id), digest(outcome))
        return outcome


def digest(outcome: Outcome) -> str:
    """SHA-256, in hexadecimal, of how a call ended and of the outputs, as the backend gave them.

    It is that of a line of JSON (the ending, the positions of inputs that were changed, type and
    shape of each output) and the elements of all outputs, little-endian in row-major order. Every
    NaN counts as the same one, as in a verdict: which bits a NaN has depends on the processor. The
    signs of zeros count. Messages do not: they may hold addresses.
    """
    items = outcome.returned if isinstance(outcome.returned, list | tuple) else [outcome.returned]
    returned = items if outcome.ending is Ending.RETURNED else []
    head = {
        "ending": outcome.ending.value,
        "changed": list(outcome.changed),
        "outputs": [_told(item) for item in returned],
    }
    found = hashlib.sha256(json.dumps(head, separators=(",", ":")).encode() + b"\n")
    for content in _contents(returned):
        found.update(content)
    return found.hexdigest()


def _told(item: object) -> list[Any]:
    seen = described(item)
    kind = "array" if seen.shape is not None else seen.type
    return [kind, seen.dtype, seen.swapped, None if seen.shape is None else list(seen.shape)]


def _contents(returned: Any) -> Iterator[bytes]:
    for item in returned:
        if type(item) is np.ndarray and (row := DTYPES.get(described(item).dtype)):
            yield _stored(item, row)


def _stored(array: Array, row: DType) -> bytes:
    flat = np.ascontiguousarray(array).reshape(-1)
    if not row.is_float:
        return flat.tobytes()
    codes = flat.view(row.code).copy()
    codes[np.isnan(flat)] = row.infinity | 1 << (row.digits - 2)  # the quiet NaN without a sign
    return codes.tobytes()
