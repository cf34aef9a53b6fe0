"""Mutation score of a suite: every mutant of the catalogue against every vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from conformance.audit.kills import Kill
from conformance.core.mutant_changes import HabitChange
from conformance.spec.catalogue import Mutant


@dataclass(frozen=True)
class MutationScore:
    """The kills of one operator's mutants by a suite.

    ``kills`` are by id of the vector. ``mutants`` are all mutants that were run.
    """

    op: str
    mutants: tuple[Mutant, ...]
    kills: Mapping[str, tuple[Kill, ...]] = field(repr=False)

    @cached_property
    def kill_counts(self) -> Mapping[str, int]:
        """Number of vectors that kill each mutant, at level should."""
        return Counter(kill.mutant for kills in self.kills.values() for kill in kills)

    @cached_property
    def kill_counts_at_must(self) -> Mapping[str, int]:
        """Number of vectors that kill each mutant although every interpretation is allowed."""
        return Counter(
            kill.mutant for kills in self.kills.values() for kill in kills if kill.at_must
        )

    @property
    def equivalent(self) -> tuple[Mutant, ...]:
        """Mutants that the catalogue marks equivalent; they do not count."""
        return tuple(mutant for mutant in self.mutants if mutant.equivalent)

    @property
    def counted(self) -> tuple[Mutant, ...]:
        """Mutants that the suite has to kill."""
        return tuple(mutant for mutant in self.mutants if not mutant.equivalent)

    @property
    def excused(self) -> tuple[Mutant, ...]:
        """Mutants that an interpretation of the document excuses at level must."""
        return tuple(mutant for mutant in self.counted if mutant.excused_by)

    @property
    def missed(self) -> tuple[Mutant, ...]:
        """Mutants that survive at level should."""
        return tuple(mutant for mutant in self.counted if not self.kill_counts[mutant.id])

    @property
    def missed_at_must(self) -> tuple[Mutant, ...]:
        """Mutants that survive at level must, and that no interpretation excuses."""
        return tuple(
            mutant
            for mutant in self.counted
            if not mutant.excused_by and not self.kill_counts_at_must[mutant.id]
        )

    @property
    def wrongly_equivalent(self) -> tuple[Mutant, ...]:
        """Mutants that the catalogue marks equivalent, and that a vector kills."""
        return tuple(mutant for mutant in self.equivalent if self.kill_counts[mutant.id])

    @property
    def wrongly_excused(self) -> tuple[Mutant, ...]:
        """Mutants excused by an interpretation that a vector kills at level must all the same."""
        return tuple(
            mutant
            for mutant in self.counted
            if is_always_excused(mutant) and self.kill_counts_at_must[mutant.id]
        )

    @cached_property
    def indistinguishable(self) -> tuple[tuple[str, ...], ...]:
        """Groups of killed mutants that give the same outputs on every vector of the suite."""
        rows: dict[str, list[tuple[str, bytes]]] = {
            mutant.id: [] for mutant in self.counted if self.kill_counts[mutant.id]
        }
        for vector, kills in self.kills.items():
            for kill in kills:
                if kill.mutant in rows:
                    rows[kill.mutant].append((vector, kill.fingerprint))
        groups: dict[tuple[tuple[str, bytes], ...], list[str]] = {}
        for mutant, row in rows.items():
            groups.setdefault(tuple(row), []).append(mutant)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @property
    def complete(self) -> bool:
        """True if every mutant that counts is killed, and the catalogue's claims hold."""
        return not (
            self.missed or self.missed_at_must or self.wrongly_equivalent or self.wrongly_excused
        )

    def without_mutants(self, names: Collection[str]) -> MutationScore:
        """Leave out mutants that were not tested."""
        return MutationScore(
            self.op, tuple(mutant for mutant in self.mutants if mutant.id not in names), self.kills
        )

    def without_vectors(self, ids: Iterable[str]) -> MutationScore:
        """Compute the score of the suite without some vectors."""
        gone = set(ids)
        return MutationScore(
            self.op, self.mutants, {i: kills for i, kills in self.kills.items() if i not in gone}
        )


def is_always_excused(mutant: Mutant) -> bool:
    """Return whether nothing may kill a mutant at must.

    A machine of a habit computes f64 and whole numbers in f32, which no interpretation excuses.
    """
    return bool(mutant.excused_by) and not isinstance(mutant.change, HabitChange)


def kill_levels(kills: Iterable[Kill]) -> Iterator[tuple[str, str]]:
    """Yield what makes a vector valuable: the mutants that it kills, at either level."""
    for kill in kills:
        yield "should", kill.mutant
        if kill.at_must:
            yield "must", kill.mutant


def kinds(mutants: Sequence[Mutant]) -> tuple[str, ...]:
    """Return the kinds of mutants, each once, in their order."""
    return tuple(dict.fromkeys(mutant.kind for mutant in mutants))
