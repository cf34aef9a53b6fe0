"""Digests of a backend's responses, taken during a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from conformance.backends.components import Component
from conformance.dtypes import DTYPES, Array, DType
from conformance.errors import BackendError
from conformance.grade.outcome import Ending, Outcome, describe_value
from conformance.run.executor import Executor, Request


class HashingExecutor(Executor):
    """An executor around another one that keeps a digest of each response.

    Attributes:
        digests: that of each vector's first call, by operator and id.

    Raises:
        BackendError: on entry, if the backend does not consist of the ``expected`` pieces.
    """

    def __init__(self, inner: Executor, expected: tuple[Component, ...] | None = None) -> None:
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
        key = (request.vector.case.op, request.vector.id)
        self.digests.setdefault(key, outcome_digest(outcome))
        return outcome


def outcome_digest(outcome: Outcome) -> str:
    """Return the SHA-256, in hexadecimal, of a call's ending and outputs.

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
        "outputs": [_facts(item) for item in returned],
    }
    sha256 = hashlib.sha256(json.dumps(head, separators=(",", ":")).encode() + b"\n")
    for content in _elements(returned):
        sha256.update(content)
    return sha256.hexdigest()


def _facts(item: object) -> list[Any]:
    value = describe_value(item)
    kind = "array" if value.shape is not None else value.type
    return [kind, value.dtype, value.swapped, None if value.shape is None else list(value.shape)]


def _elements(returned: Any) -> Iterator[bytes]:
    for item in returned:
        if type(item) is np.ndarray and (row := DTYPES.get(describe_value(item).dtype)):
            yield _element_bytes(item, row)


def _element_bytes(array: Array, row: DType) -> bytes:
    flat = np.ascontiguousarray(array).reshape(-1)
    if not row.is_float:
        return flat.tobytes()
    codes = flat.view(row.code).copy()
    codes[np.isnan(flat)] = row.infinity | 1 << (row.digits - 2)  # the quiet NaN without a sign
    return codes.tobytes()
