"""The search: batches of cases of every operator, type and rank that a backend claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from time import monotonic

from conformance.audit.strata_targets import IMAGES
from conformance.backends.capabilities import Capabilities
from conformance.backends.claims import claimed
from conformance.errors import EXIT_INTERRUPTED, Interrupted, UsageError
from conformance.fuzz import minimise
from conformance.fuzz.calls import Calls
from conformance.fuzz.drawing import LIMITS, Batches
from conformance.fuzz.failures import Discovery, Failures
from conformance.fuzz.guidance import Guidance
from conformance.generate.narrow import narrowed
from conformance.model import GRADED, Case, Status
from conformance.run.executor import Executor
from conformance.spec.model import OpSpec

BATCHES = (16, 32, 64, 128)
"""Cases of the first batches of an operator on a rank; all later ones are as large as the last."""

QUIET = 4
"""Rounds of all limits on sizes without anything new, after which nothing new is expected."""


@dataclass(frozen=True)
class SearchRequest:
    """What is asked of a search. ``seconds`` and ``cases`` end it, where they are given."""

    seed: int
    level: str
    precision: Mapping[str, str]
    timeout: float
    seconds: float | None = None
    cases: int | None = None


@dataclass
class Covered:
    """What was asked of one operator."""

    cases: int = 0
    ranks: tuple[int, ...] = ()
    types: tuple[str, ...] = ()
    pairs: int = 0
    mutants: int = 0
    of_mutants: int = 0


@dataclass
class SearchResult:
    """What a search found and covered, and why it ended: time, cases, nothing new, ..."""

    cases: int = 0
    unsupported: int = 0
    seconds: float = 0.0
    ended: str = ""
    exit_code: int | None = None
    """That of the signal which interrupted it."""
    left: int = 0
    given_up: str = ""
    found: list[Discovery] = field(default_factory=list)
    covered: dict[str, Covered] = field(default_factory=dict)


Progress = Callable[[SearchResult], None]


class _Operator:
    """One operator, as far as it is claimed."""

    def __init__(
        self, whole: OpSpec, spec: OpSpec, ranks: Sequence[int], asked: SearchRequest, calls: Calls
    ) -> None:
        self.whole, self.ranks = whole, ranks
        self.guidance = Guidance(whole, asked.level)
        seconds = minimise.SECONDS
        if asked.seconds is not None:
            seconds = min(seconds, minimise.SHARE * asked.seconds)
        self.failures = Failures(
            spec, whole, ranks, self.guidance, calls, asked.level, asked.precision, seconds
        )
        self.drawings = [Batches(spec, whole, rank, asked.seed, asked.level) for rank in ranks]
        self.covered = Covered(of_mutants=len(self.guidance.bank.mutants))


class Session:
    """One search on a backend, within the context of its executor.

    ``specs`` are the operators to be searched, ``known`` earlier failures of each, which come
    first. Raises UsageError where the backend claims none of the operators.
    """

    def __init__(
        self,
        executor: Executor,
        specs: Mapping[str, OpSpec],
        asked: SearchRequest,
        known: Mapping[str, Sequence[Case]],
    ) -> None:
        declared = executor.identity.capabilities or Capabilities()
        claims = claimed(declared, specs)
        if not claims:
            raise UsageError(
                f"{executor.identity.name} declares none of these operators",
                hint="conformance backends shows what a backend declares",
            )
        self.calls = Calls(executor, specs, asked.level, asked.precision, asked.timeout)
        self._asked, self._known = asked, known
        self._operators = {
            op: _Operator(specs[op], narrowed(specs[op], claim), claim.ranks, asked, self.calls)
            for op, claim in claims.items()
        }
        self.outcome = SearchResult()
        self._begun = monotonic()
        self._quiet = 0

    def run(self, progress: Progress = lambda _outcome: None) -> SearchResult:
        """Search until something ends it; Ctrl-C does, and what was found is there all the same."""
        try:
            self._search(progress)
        except KeyboardInterrupt as stopped:
            self.outcome.ended = "it was interrupted"
            self.outcome.exit_code = (
                stopped.exit_code if isinstance(stopped, Interrupted) else EXIT_INTERRUPTED
            )
        return self._told(final=True)

    def _search(self, progress: Progress) -> None:
        for op, cases in self._known.items():
            if op in self._operators:
                self._batch(self._operators[op], list(cases), {})
        turns = _turns(self._operators.values())
        most = QUIET * len(LIMITS) * len(turns)
        for operator, drawing in cycle(turns):
            self.outcome.ended = self._over() or (
                "nothing new was found for long" if self._quiet >= most else ""
            )
            if self.outcome.ended:
                return
            count = BATCHES[min(drawing.number, len(BATCHES) - 1)]
            if self._asked.cases is not None:
                count = min(count, self._asked.cases - self.outcome.cases)
            cases = drawing.batch(count, operator.guidance)
            news = self._batch(operator, cases, drawing.origins)
            drawing.learn([case for case in cases if case.id in news])
            progress(self._told())

    def _batch(
        self,
        operator: _Operator,
        cases: Sequence[Case],
        origins: Mapping[str, tuple[Case, partial[Case | None]]],
    ) -> set[str]:
        """Ask some cases, and say which covered something new."""
        asked = list(self.calls.several(cases, stop=lambda: bool(self._over())))
        self.outcome.cases += sum(result.status in GRADED for _, result in asked)
        self.outcome.unsupported += sum(result.status is Status.UNSUPPORTED for _, result in asked)
        operator.covered.cases += sum(result.status in GRADED for _, result in asked)
        graded = [
            vector
            for vector, result in asked
            if result.status in GRADED
            and vector.case.reject is None
            # What a large one kills takes minutes to tell.
            and vector.inputs[0].size <= LIMITS[-1]
        ]
        news: set[str] = set()
        for rank in sorted({vector.inputs[0].ndim for vector in graded}):
            own = [vector for vector in graded if vector.inputs[0].ndim == rank]
            shown = operator.guidance.saw(own, rank)
            news |= {vector.id for vector, new in zip(own, shown, strict=True) if new}
        seconds = monotonic() - self._begun
        found = operator.failures.take(asked, origins, self.outcome.cases, seconds)
        self._quiet = 0 if news or found else self._quiet + 1
        return news

    def _over(self) -> str:
        """Why no more is asked; empty where more is."""
        if self.calls.given_up:
            return "the backend was given up"
        if self._asked.cases is not None and self.outcome.cases >= self._asked.cases:
            return "all cases were asked"
        spent = monotonic() - self._begun
        if self._asked.seconds is not None and spent >= self._asked.seconds:
            return "the time was over"
        return ""

    def _told(self, *, final: bool = False) -> SearchResult:
        told = self.outcome
        told.seconds = monotonic() - self._begun
        told.given_up = self.calls.given_up
        told.left = sum(one.failures.left for one in self._operators.values())
        for op, one in self._operators.items():
            if final:
                one.failures.merge()
            guidance, covered = one.guidance, one.covered
            covered.ranks, covered.types = guidance.ranks, tuple(sorted(guidance.types))
            covered.pairs, covered.mutants = guidance.pairs, len(guidance.killed)
            told.covered[op] = covered
        told.found = [found for one in self._operators.values() for found in one.failures.found]
        return told

    @property
    def failures(self) -> Mapping[str, Failures]:
        """By operator, its failures."""
        return {op: one.failures for op, one in self._operators.items()}

    def guidance(self, op: str) -> Guidance:
        """What was covered of an operator."""
        return self._operators[op].guidance


def _turns(operators: Iterable[_Operator]) -> list[tuple[_Operator, Batches]]:
    """Whose turn it is: one rank of each operator after the other, so that soon each was asked
    something, and images every second time: most that kernel libraries treat apart is there."""
    found: list[tuple[int, _Operator, Batches]] = []
    for one in operators:
        images = [drawing for drawing in one.drawings if drawing.rank == IMAGES]
        others = [drawing for drawing in one.drawings if drawing.rank != IMAGES]
        mixed = [image for other in others for image in (*images, other)] or images
        found += [(place, one, drawing) for place, drawing in enumerate(mixed)]
    return [(one, drawing) for _, one, drawing in sorted(found, key=lambda turn: turn[0])]
