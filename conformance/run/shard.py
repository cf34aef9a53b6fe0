"""Shards of a selection, and shuffling by a seed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.errors import UsageError
from conformance.safe_text import number_of
from conformance.suite.entries import Entry
from conformance.suite.listing import Listing

_WRITTEN = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})")


@dataclass(frozen=True, order=True)
class Shard:
    """One of ``of`` parts; ``number`` counts from 1. Its text is ``3/8``."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse the text that names a shard.

        Raises:
            UsageError: no shard has this name.
        """
        match = _WRITTEN.fullmatch(text)
        shard = cls(int(match[1]), int(match[2])) if match else None
        if shard is None or shard.number > shard.of:
            raise UsageError(
                f"there is no shard {text[:40]!r}",
                hint="3/8 is the third of eight; the first is 1/8 and the last 8/8",
            )
        return shard

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return the entries of this shard, in their order.

        The shards have the same number of entries, but for one, of every operator and kind. What
        belongs to a shard does not depend on the order, and is of large and of small entries; of a
        packed suite it is a stretch, so that few containers are read.

        Raises:
            UsageError: more shards than entries.
        """
        if self.of > len(entries):
            raise UsageError(
                f"shard {self} would be empty: "
                f"{number_of(len(entries), 'selected vector')}, {self.of:,} shards",
                hint=f"use at most {len(entries):,}, so that each has a vector",
            )
        if isinstance(entries, Listing):
            return entries.part(self.number, self.of)
        dealt = sorted(entries, key=lambda entry: (entry.op, entry.kind, entry.elements, entry.id))
        mine = {(entry.op, entry.id) for entry in dealt[self.number - 1 :: self.of]}
        return tuple(entry for entry in entries if (entry.op, entry.id) in mine)


def shuffled(entries: Sequence[Entry], seed: int) -> tuple[Entry, ...]:
    """Shuffle entries, in an order that for ever depends on seed and ids alone."""

    def drawn(entry: Entry) -> bytes:
        return hashlib.sha256(f"{seed} {entry.op} {entry.id}".encode()).digest()

    return tuple(sorted(entries, key=drawn))
