"""Decides which calls a vector takes (first, repeats, valid counterpart), and queues them.

There is one queue, ``Executor.requests``, in the order in which the backend is called. For each
vector come its first call and its repeats; right after a negative test comes its valid counterpart,
once in a run. A confirmation comes after all that is in the queue. Outcomes are taken in the same
order. A vector is open until the outcome of its last request is there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from conformance.backends.layouts import TensorLayout, layout_for
from conformance.core.operator import Operator
from conformance.grade.determinism import merge_repeats
from conformance.grade.outcome import Ending, Outcome
from conformance.model import Result, Vector
from conformance.run.executor import Executor, Reason, Request
from conformance.run.independent_calls import TIMES
from conformance.run.restore_layout import restore_layout


@dataclass
class OpenVector:
    """A vector whose outcome is to come, or ``result`` where the backend is not called on it."""

    vector: Vector
    result: Result | None = None
    calls: Sequence[Request] = ()
    counterpart_id: str | None = None


@dataclass(eq=False)
class Pipeline:
    """What is sent to a backend for each vector, and what the outcomes come to.

    ``specs`` tell how a layout that the backend declares applies to a vector. ``untested`` gives
    the result of a vector on which it is not called, ``counterpart`` the valid vector beside a
    negative test. The others are called ``repeat`` times each, bitwise the same; each outcome is
    waited for within ``guard()``.
    """

    executor: Executor
    specs: Mapping[str, Operator]
    untested: Callable[[Vector], Result | None] = lambda _vector: None
    counterpart: Callable[[Vector], Vector | None] = lambda _vector: None
    repeat: int = 1
    guard: Callable[[], AbstractContextManager[None]] = nullcontext
    _counterparts: dict[str, list[Request] | str] = field(default_factory=dict)
    """By id the requests of a valid counterpart; how it was refused once that is taken."""

    def run(self, vectors: Iterable[Vector]) -> Iterator[tuple[Vector, Result | Outcome]]:
        """Yield each vector in order with its outcome, or with a result if untested."""
        ahead = self.executor.ahead // self._calls_each
        opened: deque[OpenVector] = deque()
        for vector in vectors:
            opened.append(self._open(vector))
            del vector  # it is not kept in memory while the next one is read
            if len(opened) > ahead:
                yield self._close(opened.popleft())
        while opened:
            yield self._close(opened.popleft())

    def confirm(self, vector: Vector) -> Outcome:
        """Call the backend once more, after the queued calls, whose outcomes are taken later."""
        return self._finish(vector, self._submit(vector, Reason.CONFIRMATION))

    def probe_with(self, vectors: Callable[[], Iterable[Vector]]) -> None:
        """Let the executor try these where it cannot tell whether the backend is dead."""
        self.executor.probes = lambda: (self._laid_out(vector)[0] for vector in vectors())

    @property
    def _calls_each(self) -> int:
        return 1 if self.executor.independent is None else TIMES

    def _open(self, vector: Vector) -> OpenVector:
        """Send what a vector takes."""
        result = self.untested(vector)
        if result is not None:
            return OpenVector(vector, result)
        valid = self.counterpart(vector)
        calls = self._submit(vector, Reason.FIRST)
        opened = OpenVector(vector, None, calls, valid.id if valid else None)
        if valid is not None and valid.id not in self._counterparts:
            self._counterparts[valid.id] = self._submit(valid, Reason.COUNTERPART)
        return opened

    def _close(self, opened: OpenVector) -> tuple[Vector, Result | Outcome]:
        """Wait for the outcome of a vector."""
        if opened.result is not None:
            return opened.vector, opened.result
        outcome = self._finish(opened.vector, opened.calls)
        if opened.counterpart_id is not None:
            outcome = replace(outcome, refuses_valid=self._refusal(opened.counterpart_id))
        return opened.vector, outcome

    def _refusal(self, counterpart_id: str) -> str:
        """How the valid counterpart was refused, in the backend's words; empty if it was not."""
        refusal = self._counterparts[counterpart_id]
        if not isinstance(refusal, str):
            refusal = refusal_message(self._finish(refusal[0].vector, refusal))
            self._counterparts[counterpart_id] = refusal
        return refusal

    def _submit(self, vector: Vector, reason: Reason) -> list[Request]:
        """Send a vector as often as the reason takes."""
        times = self._calls_each * (self.repeat if reason is Reason.FIRST else 1)
        reasons = [reason, *[Reason.REPEAT] * (times - 1)]
        sent, how = self._laid_out(vector)
        requests = [Request(sent, reason, how) for reason in reasons]
        for request in requests:
            self.executor.submit(request)
        return requests

    def _laid_out(self, vector: Vector) -> tuple[Vector, TensorLayout | None]:
        """A vector in the layout that the backend declares."""
        declared = self.executor.identity.capabilities
        if declared is None or (declared.layout is None and declared.index_layout is None):
            return vector, None
        how = layout_for(declared, self.specs.get(vector.case.op), vector.case)
        return (vector if how is None else replace(vector, inputs=how.sent(vector))), how

    def _finish(self, vector: Vector, requests: Sequence[Request]) -> Outcome:
        """Take outcomes until those of the requests are there, and merge them."""
        outcomes = []
        for request in requests:
            while request.outcome is None:
                with self.guard():
                    oldest, response = self.executor.take()
                oldest.outcome = restore_layout(response, oldest.vector, oldest.arrangement)
            outcomes.append(request.outcome)
        independent = self.executor.independent
        return independent.merge(vector, outcomes) if independent else merge_repeats(outcomes)


def refusal_message(outcome: Outcome) -> str:
    """Describe how a valid case was refused; empty if it was accepted."""
    if outcome.ending is Ending.RETURNED:
        return ""
    return outcome.message.partition("\n")[0] or outcome.ending.value
