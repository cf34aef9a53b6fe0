"""The element types and ranks that a run is narrowed to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.backends.capabilities import Capabilities
from conformance.dtypes import DTYPES
from conformance.errors import UsageError, closest
from conformance.suite.entries import Entry
from conformance.suite.store import Suite

MAX_RANK = 9


@dataclass(frozen=True)
class PartitionFilter:
    """Element types and ranks of the data that is tested; an empty tuple stands for all."""

    dtypes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()

    @classmethod
    def of(cls, dtypes: Iterable[str] = (), ranks: Iterable[int] = ()) -> PartitionFilter:
        """Check names and ranks, and bring them into order.

        Raises:
            UsageError: an unknown element type or rank.
        """
        dtypes, ranks = set(dtypes), set(ranks)
        for dtype in sorted(dtypes - DTYPES.keys()):
            hint = closest(dtype, DTYPES) or f"known: {', '.join(DTYPES)}"
            raise UsageError(f"there is no element type {dtype[:40]!r}", hint=hint)
        for rank in sorted(ranks - {*range(1, MAX_RANK + 1)}):
            raise UsageError(f"there is no rank {rank}", hint=f"known: 1 to {MAX_RANK}")
        return cls(tuple(dtype for dtype in DTYPES if dtype in dtypes), tuple(sorted(ranks)))

    def __bool__(self) -> bool:
        return bool(self.dtypes or self.ranks)

    def __str__(self) -> str:
        """Types and ranks in words, as in ``f16, f32 of rank 4``."""
        ranks = f"rank {', '.join(map(str, self.ranks))}" if self.ranks else ""
        return " of ".join(filter(None, (", ".join(self.dtypes), ranks)))

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the command line that ask for it."""
        dtypes = ("--dtypes", ",".join(self.dtypes)) if self.dtypes else ()
        ranks = ("--ranks", ",".join(map(str, self.ranks))) if self.ranks else ()
        return (*dtypes, *ranks)

    def narrowed(self, declared: Capabilities) -> Capabilities:
        """Restrict what is declared to these types and ranks."""
        return replace(
            declared,
            dtypes=_both(declared.dtypes, self.dtypes),
            ranks=_both(declared.ranks, self.ranks),
        )

    def among(self, entries: Sequence[Entry], suite: Suite) -> Sequence[Entry]:
        """Keep the entries with data of these types and ranks.

        Raises:
            UsageError: a type or a rank that none of the entries has, or no entry is kept.
        """
        if not self:
            return entries
        kept, dtypes, ranks = [], set(), set()
        for entry in entries:
            rank = suite.rank_of(entry) if self.ranks else 0
            dtypes.add(entry.dtype)
            ranks.add(rank)
            if entry.dtype in (self.dtypes or DTYPES) and rank in (self.ranks or (0,)):
                kept.append(entry)
        lacking = [dtype for dtype in self.dtypes if dtype not in dtypes]
        lacking += [f"rank {rank}" for rank in self.ranks if rank not in ranks]
        if lacking or not kept:
            raise UsageError(
                f"no vector of these operators has data of {', '.join(lacking) or self}",
                hint="name other element types or ranks, or add --op for other operators",
            )
        return tuple(kept)


ALL_PARTITIONS = PartitionFilter()


def _both(declared: tuple[Any, ...] | None, requested: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The values that are both declared and requested; None for all."""
    if not requested:
        return declared
    return (
        requested if declared is None else tuple(value for value in declared if value in requested)
    )
