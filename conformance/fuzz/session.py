"""A search: batches of cases of every operator, type and rank that a backend declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from time import monotonic

from conformance.backends.capabilities import Capabilities
from conformance.backends.supported_subsets import supported_subsets
from conformance.core.operator import Operator
from conformance.errors import EXIT_INTERRUPTED, Interrupted, UsageError
from conformance.fuzz import minimise_case
from conformance.fuzz.calls import Calls
from conformance.fuzz.case_batches import LIMITS, Batches
from conformance.fuzz.failures import Discovery, Failures
from conformance.fuzz.guidance import Guidance
from conformance.fuzz.simpler import simpler_cases
from conformance.generate.claim import Claim, claimed
from conformance.model import GRADED, Case, Status
from conformance.run.executor import Executor

BATCHES = (16, 32, 64, 128)
"""Cases of the first batches of an operator; all later ones are as large as the last."""

QUIET = 4
"""Rounds of all limits on sizes without anything new, after which the search ends."""


@dataclass(frozen=True)
class SearchRequest:
    """The options of a search; ``seconds`` and ``cases`` end it, if given."""

    seed: int
    level: str
    precision: Mapping[str, str]
    timeout: float
    seconds: float | None = None
    cases: int | None = None


@dataclass
class OperatorCoverage:
    """The cases of one operator, and what they covered."""

    cases: int = 0
    ranks: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    pairs: int = 0
    mutants: int = 0
    of_mutants: int = 0


@dataclass
class SearchResult:
    """The discoveries and coverage of a search, and why it ended."""

    cases: int = 0
    unsupported: int = 0
    seconds: float = 0.0
    ended: str = ""
    exit_code: int | None = None
    """The exit code of the signal that interrupted the search."""
    left_out: int = 0
    given_up: str = ""
    discoveries: list[Discovery] = field(default_factory=list)
    coverage: dict[str, OperatorCoverage] = field(default_factory=dict)


Progress = Callable[[SearchResult], None]


class _Operator:
    """The declared subset of one operator."""

    def __init__(self, spec: Operator, claim: Claim, request: SearchRequest, calls: Calls) -> None:
        self.guidance = Guidance(spec, request.level)
        seconds = minimise_case.SECONDS
        if request.seconds is not None:
            seconds = min(seconds, minimise_case.SHARE * request.seconds)
        is_allowed = claimed(spec, claim)
        self.batches = Batches(spec, claim, is_allowed, request.seed, request.level)
        self.failures = Failures(
            spec,
            partial(simpler_cases, spec, is_allowed),
            self.guidance,
            calls,
            request.level,
            request.precision,
            seconds,
        )
        self.covered = OperatorCoverage(of_mutants=len(self.guidance.runner.mutants))


class FuzzSession:
    """A search on a backend, within the context of its executor.

    Args:
        specs: the operators to search.
        earlier: earlier failures of each operator, which are tried first.

    Raises:
        UsageError: the backend declares none of the operators.
    """

    def __init__(
        self,
        executor: Executor,
        specs: Mapping[str, Operator],
        request: SearchRequest,
        earlier: Mapping[str, Sequence[Case]],
    ) -> None:
        declared = executor.identity.capabilities or Capabilities()
        subsets = supported_subsets(declared, specs)
        if not subsets:
            raise UsageError(
                f"{executor.identity.name} declares none of these operators",
                hint="conformance backends shows what a backend declares",
            )
        self.calls = Calls(executor, specs, request.level, request.precision, request.timeout)
        self._request, self._earlier = request, earlier
        self._operators = {
            op: _Operator(specs[op], subset, request, self.calls) for op, subset in subsets.items()
        }
        self.result = SearchResult()
        self._begun = monotonic()
        self._quiet = 0

    def run(self, progress: Progress = lambda _outcome: None) -> SearchResult:
        """Search until something ends it; after Ctrl-C, return what was discovered so far."""
        try:
            self._search(progress)
        except KeyboardInterrupt as stopped:
            self.result.ended = "it was interrupted"
            self.result.exit_code = (
                stopped.exit_code if isinstance(stopped, Interrupted) else EXIT_INTERRUPTED
            )
        return self._update_result(final=True)

    def _search(self, progress: Progress) -> None:
        for op, cases in self._earlier.items():
            if op in self._operators:
                self._batch(self._operators[op], list(cases), {})
        max_quiet = QUIET * len(LIMITS) * len(self._operators)
        for operator in cycle(self._operators.values()):
            self.result.ended = self._end_reason() or (
                "nothing new was found for long" if self._quiet >= max_quiet else ""
            )
            if self.result.ended:
                return
            batches = operator.batches
            count = BATCHES[min(batches.number, len(BATCHES) - 1)]
            if self._request.cases is not None:
                count = min(count, self._request.cases - self.result.cases)
            cases = batches.batch(count, operator.guidance)
            self._batch(operator, cases, batches.origins)
            progress(self._update_result())

    def _batch(
        self,
        operator: _Operator,
        cases: Sequence[Case],
        origins: Mapping[str, tuple[Case, partial[Case | None]]],
    ) -> None:
        """Run cases, and learn from their results."""
        results = list(self.calls.run_cases(cases, stop=lambda: bool(self._end_reason())))
        self.result.cases += sum(result.status in GRADED for _, result in results)
        self.result.unsupported += sum(result.status is Status.UNSUPPORTED for _, result in results)
        operator.covered.cases += sum(result.status in GRADED for _, result in results)
        graded = [
            vector
            for vector, result in results
            if result.status in GRADED
            and vector.case.reject is None
            # What a large one kills takes minutes to tell.
            and vector.inputs[0].size <= LIMITS[-1]
        ]
        covers_more = False
        for rank in sorted({vector.case.rank for vector in graded}):
            of_rank = [vector for vector in graded if vector.case.rank == rank]
            covers_more |= operator.guidance.learn(of_rank, rank)
        seconds = monotonic() - self._begun
        has_new_cause = operator.failures.take(results, origins, self.result.cases, seconds)
        self._quiet = 0 if covers_more or has_new_cause else self._quiet + 1

    def _end_reason(self) -> str:
        """Return why the search has to end; empty if it goes on."""
        if self.calls.given_up:
            return "the backend was given up"
        if self._request.cases is not None and self.result.cases >= self._request.cases:
            return "all cases were asked"
        spent = monotonic() - self._begun
        if self._request.seconds is not None and spent >= self._request.seconds:
            return "the time was over"
        return ""

    def _update_result(self, *, final: bool = False) -> SearchResult:
        result = self.result
        result.seconds = monotonic() - self._begun
        result.given_up = self.calls.given_up
        result.left_out = sum(operator.failures.left_out for operator in self._operators.values())
        for op, operator in self._operators.items():
            if final:
                operator.failures.merge()
            guidance, covered = operator.guidance, operator.covered
            covered.ranks, covered.types = guidance.ranks, tuple(sorted(guidance.types))
            covered.pairs, covered.mutants = guidance.pairs, len(guidance.killed)
            result.coverage[op] = covered
        result.discoveries = [
            discovery
            for operator in self._operators.values()
            for discovery in operator.failures.discoveries
        ]
        return result

    @property
    def failures(self) -> Mapping[str, Failures]:
        """The failures of each operator."""
        return {op: operator.failures for op, operator in self._operators.items()}

    def guidance(self, op: str) -> Guidance:
        """Return the guidance of an operator."""
        return self._operators[op].guidance
