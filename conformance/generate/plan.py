"""Plans the generation of a suite from specifications: steps, order, and pieces of work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import prod
from typing import Any

from conformance import parallel
from conformance.audit.kills import MutantRunner
from conformance.audit.mutant_states import mutant_states, survivor_table
from conformance.audit.score import MutationScore
from conformance.errors import SpecError
from conformance.generate.candidates import any_case
from conformance.generate.hunt import Item, hunt
from conformance.generate.killers import Kills
from conformance.generate.narrow import Claim, as_claimed, narrowed
from conformance.generate.pairs import SMOKE, Effort
from conformance.generate.rank import Ranked, RankTask
from conformance.generate.reduce import reduced
from conformance.generate.reject import reject_cases
from conformance.generate.sampled_lint import no_valid_case
from conformance.generate.suites import smoke, with_twins
from conformance.model import Case, Vector
from conformance.reference.build import build
from conformance.spec.catalogue import mutants_of
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of
from conformance.suite.manifest import UndecidedTarget
from conformance.suite.survivors import Partition, SurvivorTable
from conformance.suite.unreachable import Unreachable


@dataclass(frozen=True)
class Made:
    """The vectors of one operator, negative tests last, and what the manifest says of them."""

    op: str
    vectors: Sequence[Vector]
    suites: Mapping[str, tuple[str, ...]]
    kills: Mapping[str, tuple[str, ...]]
    excused: Mapping[str, tuple[str, ...]]
    strength: Unreachable
    uncovered: tuple[UndecidedTarget, ...]


@dataclass(frozen=True)
class OperatorTask:
    """What is left of the work on one operator when its ranks are done."""

    spec: OpSpec
    root: int
    effort: Effort
    ranked: tuple[Ranked, ...] = field(repr=False)
    whole: OpSpec
    claim: Claim | None = None

    @property
    def label(self) -> str:
        return f"{self.spec.op} faults"

    def run(self) -> Made:
        spec = self.spec
        catalogue = mutants_of(spec)
        vectors = [vector for ranked in self.ranked for vector in ranked.vectors]
        kills = {name: found for ranked in self.ranked for name, found in ranked.kills.items()}
        spare = [case for ranked in self.ranked for case in ranked.spare]
        never = self._inert()
        score = MutationScore(
            spec.op, tuple(one for one in catalogue if one.id not in never), kills
        )
        cases = any_case(spec, sorted(spare, key=_size), root=self.root, effort=self.effort)
        found = hunt(spec, catalogue, wanted(score, apart=self.effort.pairs), cases)
        bank = MutantRunner(spec, catalogue)
        more = [vector for vector in with_twins(spec, found) if vector.id not in kills]
        kills |= zip((vector.id for vector in more), bank.all_kills(more), strict=True)
        vectors += more
        if self.effort.pairs:
            vectors = reduced(spec, catalogue, vectors, kills)
        if not vectors and (problem := no_valid_case(spec, self.root)) is not None:
            raise SpecError((problem,))
        vectors.sort(key=lambda vector: (vector.inputs[0].ndim, vector.inputs[0].size, vector.id))
        valid = [*spare, *(vector.case for vector in vectors)]
        # What is not claimed is no reason to refuse a case.
        whole = replace(self.whole, profiles=spec.profiles)
        rejected = [build(whole, *one) for one in reject_cases(whole, root=self.root, known=valid)]
        score = MutationScore(
            spec.op, catalogue, {vector.id: kills[vector.id] for vector in vectors}
        )
        return Made(
            op=spec.op,
            vectors=(*vectors, *rejected),
            suites=smoke(spec, (*vectors, *rejected), score),
            kills={i: tuple(kill.mutant for kill in found) for i, found in score.kills.items()},
            excused={
                i: tuple(kill.mutant for kill in found if not kill.at_must)
                for i, found in score.kills.items()
            },
            strength=Unreachable(
                infeasible={one.rank: one.infeasible for one in self.ranked},
                equivalent={fault.id: fault.equivalent for fault in score.equivalent},
                indistinguishable=score.indistinguishable,
                parts=self._parts(vectors, score.kills) if self.effort.pairs else SurvivorTable(),
                strata=strata_of(spec).meaning if self.effort.of_strata else "",
            ),
            uncovered=tuple(gap for ranked in self.ranked for gap in ranked.uncovered),
        )

    def _inert(self) -> frozenset[str]:
        """The mutants that are proven to change nothing in any element type and rank."""
        known = {part: names for one in self.ranked for part, names in one.inert.items()}
        types = self.spec.types[self.spec.data.type]
        parts = [Partition(dtype, rank) for dtype in types for rank in self.spec.ranks]
        return frozenset.intersection(*(known.get(part, frozenset()) for part in parts))

    def _parts(self, vectors: Sequence[Vector], kills: Kills) -> SurvivorTable:
        asked = {vector.id: vector.case for vector in vectors}
        inert = {part: names for one in self.ranked for part, names in one.inert.items()}
        standing = mutant_states(self.spec, mutants_of(self.spec), asked, kills, inert)
        found = survivor_table(self.spec, standing)
        return found if self.claim is None else as_claimed(self.whole, self.spec, found, self.claim)


def members(made: Sequence[Made], suite: str) -> Iterator[tuple[Vector, tuple[str, ...]]]:
    """The vectors of a ``suite``, core or smoke, each with all that it belongs to."""
    for one in made:
        for vector in one.vectors:
            if suite != "smoke" or "smoke" in one.suites[vector.id]:
                yield vector, one.suites[vector.id]


def known(made: Sequence[Made]) -> dict[str, Any]:
    """What is known of the vectors, as :func:`conformance.suite.writer.write_suite` takes it."""
    return {
        "kills": {i: killed for one in made for i, killed in one.kills.items()},
        "excused": {i: some for one in made for i, some in one.excused.items()},
        "strength": {one.op: one.strength for one in made},
        "uncovered": [gap for one in made for gap in one.uncovered],
    }


def _size(case: Case) -> tuple[int, str]:
    return sum(prod(shape) for shape in case.shapes.values()), case.id


def wanted(score: MutationScore, *, apart: bool) -> set[Item]:
    """What an operator lacks: mutants to kill at a level, and pairs to distinguish."""
    wanted: set[Item] = {("should", fault.id) for fault in score.missed}
    wanted |= {("must", fault.id) for fault in score.missed_at_must}
    for group in score.indistinguishable if apart else ():
        wanted |= {("apart", *pair) for pair in combinations(group, 2)}
    return wanted


def make(
    specs: Sequence[OpSpec],
    *,
    root: int,
    processes: int,
    progress: parallel.Progress,
    suite: str = "core",
    effort: Effort | None = None,
    claims: Mapping[str, Claim] | None = None,
) -> Iterator[Made]:
    """The core suites of some operators, in their order.

    For the ``suite`` smoke only what it needs is sought; all else is not to be used. With
    ``claims`` nothing is selected but what is claimed of an operator; must-reject vectors may ask
    more. Raises UsageError for a claim that does not fit its operator.
    """
    effort = effort or (SMOKE if suite == "smoke" else Effort())
    whole = {spec.op: spec for spec in specs}
    claims = claims or {}
    specs = [narrowed(spec, claims[spec.op]) if spec.op in claims else spec for spec in specs]
    # High ranks take longest, and what begins last should be short.
    work = [RankTask(spec, rank, root, effort) for spec in specs for rank in spec.ranks]
    work.sort(key=lambda task: -task.rank)
    ranked: dict[str, list[Ranked]] = {spec.op: [] for spec in specs}
    pieces = len(work) + len(specs)

    def later(what: str, number: float, _: int) -> None:
        progress(what, len(work) + number, pieces)

    done = parallel.run(work, processes=processes, progress=progress, total=pieces)
    for task, one in zip(work, done, strict=True):
        ranked[task.spec.op].insert(0, one)
    rest = [
        OperatorTask(
            spec, root, effort, tuple(ranked[spec.op]), whole[spec.op], claims.get(spec.op)
        )
        for spec in specs
    ]
    return parallel.run(rest, processes=processes, progress=later, total=pieces)
