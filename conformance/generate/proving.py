"""Finds, for each pair of coverage targets, a case that covers it or a contradiction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from conformance import parallel
from conformance.audit.inert import find_inert
from conformance.errors import missing_extra
from conformance.generate.condense import choose
from conformance.generate.disprover import Disprover
from conformance.generate.killers import proven
from conformance.generate.pairs import Effort, Pair, Pool
from conformance.generate.settle import settle, witnesses
from conformance.model import Case
from conformance.reference.build import edges_of
from conformance.reference.values import data_of
from conformance.spec.catalogue import mutants_of
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.spec.strata import strata_of
from conformance.spec.validity import violations
from conformance.suite.proofs import Proofs, complete_proofs, proven_infeasible
from conformance.suite.recorded_cases import current_cases

ROOT = 0
"""The seed; a proof does not depend on it, and which witnesses are found hardly matters."""


@dataclass(frozen=True)
class Decided:
    """What is known of the pairs of one rank (an edge with itself: the edge alone).

    ``infeasible`` gives what contradicts a pair, ``shown`` counts those that a case shows,
    ``undecided`` are neither. ``refuted`` are kept contradictions that a case disproves, or that
    the solver does not confirm, and mutants that are recorded as inert in a part and are not.
    ``witnesses`` are cases that show what no known one does.
    """

    op: str
    rank: int
    infeasible: Mapping[Pair, tuple[str, ...]]
    shown: int
    undecided: tuple[Pair, ...] = ()
    refuted: tuple[Pair, ...] = ()
    witnesses: tuple[Case, ...] = ()


@dataclass(frozen=True)
class ProofTask:
    """The proofs of one rank: those that are kept are checked, otherwise found."""

    spec: OpSpec
    rank: int

    @property
    def label(self) -> str:
        return f"{self.spec.op} rank {self.rank}"

    def run(self) -> Decided:
        pool = Pool(self.spec, self.rank, ROOT, Effort())
        return _found(pool) if complete_proofs(pool.spec) is None else _checked(pool)


def _checked(pool: Pool) -> Decided:
    """Each contradiction is proven again, and each other pair is covered by a known case."""
    known = witnesses(pool.spec, pool.rank)
    pool.add(known)
    kept = {case.id for case in pool.cases()}
    for case in known:
        # A pool takes none that is dear to run; what such a one shows is shown all the same.
        if case.id not in kept and not violations(pool.spec, case):
            edges = edges_of(pool.sight.spec, case, data_of(pool.spec, case))
            shown = [pool.place[edge] for edge in edges]
            own = case.types[pool.spec.data.type]
            pool.pairs[shown, shown] = True
            if own == pool.base:
                pool.pairs[np.ix_(shown, shown)] = True
            pool.typed[pool.dtypes.index(own), shown] = True
    pool.infeasible.update(proven_infeasible(pool.spec).get(pool.rank, {}))
    refuted = [
        pair
        for pair, uses in pool.infeasible.items()
        if _shown(pool, pair) or not _confirmed(pool, pair, uses)
    ]
    for pair in refuted:
        del pool.infeasible[pair]
    return _decided(pool, refuted=(*refuted, *_denied(pool)))


def _confirmed(pool: Pool, pair: Pair, uses: Sequence[str]) -> bool:
    """Whether the solver contradicts a pair again. What it did for others may lead it astray, so
    that a new one is asked before a contradiction is given up."""
    assert pool.prover is not None
    if pool.prover.confirms(pair, uses, pool.base):
        return True
    another = Pool(pool.spec, pool.rank, ROOT, Effort()).prover
    assert another is not None
    return another.confirms(pair, uses, pool.base)


def _denied(pool: Pool) -> Iterator[Pair]:
    """Parts, each with a mutant that is recorded as inert there, and that is not proven to be."""
    catalogue = mutants_of(pool.spec)
    asked = Disprover(pool.spec, pool.rank, catalogue)
    for part, names in proven(current_cases(pool.spec)).items():
        if part.rank == pool.rank:
            unseen = names - find_inert(pool.spec, part, catalogue)
            for name in sorted(unseen - asked.proven_either_way(part, unseen)):
                yield f"{part.dtype} {part.profile}".strip(), f"mutant {name}"


def _shown(pool: Pool, pair: Pair) -> bool:
    """Whether a case covers two targets, or a target in an element type."""
    first, edge = pair[0], pool.place[pair[1]]
    if first in pool.dtypes:
        return bool(pool.typed[pool.dtypes.index(first), edge])
    return bool(pool.pairs[pool.place[first], edge])


def _found(pool: Pool) -> Decided:
    known = {case.id for case in witnesses(pool.spec, pool.rank)}
    pool.fill()
    pool.add(witnesses(pool.spec, pool.rank))
    settle(pool)
    start = [row for row, case in enumerate(pool.cases()) if case.id in known]
    chosen = map(pool.case, choose(pool, start=start))
    return _decided(pool, witnesses=tuple(case for case in chosen if case.id not in known))


def _decided(
    pool: Pool, *, refuted: tuple[Pair, ...] = (), witnesses: tuple[Case, ...] = ()
) -> Decided:
    return Decided(
        op=pool.spec.op,
        rank=pool.rank,
        infeasible=pool.proven,
        shown=int(np.triu(pool.pairs & pool.asked_pairs).sum()),
        undecided=tuple(
            pair
            for pair in (
                *pool.missing(),
                *((pool.dtypes[dtype], pool.edges[edge]) for dtype, edge in pool.untyped()),
            )
            if pair not in refuted
        ),
        refuted=refuted,
        witnesses=witnesses,
    )


def prove(specs: Sequence[OpSpec], *, processes: int, progress: parallel.Progress) -> list[Decided]:
    """What is known of the pairs of some operators.

    Raises UsageError without the package z3-solver.
    """
    from importlib.util import find_spec

    if find_spec("z3") is None:
        raise missing_extra("proofs need the package z3-solver", "generate")
    work = [ProofTask(spec, rank) for spec in specs for rank in spec.ranks]
    return list(parallel.run(work, processes=processes, progress=progress, total=len(work)))


def proofs_of(spec: OpSpec, decided: Sequence[Decided]) -> Proofs:
    """The proofs of an operator, from what its ranks decided."""
    return Proofs(
        op=spec.op,
        specification=spec_digest(spec),
        infeasible={one.rank: one.infeasible for one in decided},
        witnesses=tuple(case for one in decided for case in one.witnesses),
        strata=strata_of(spec).meaning,
    )
