"""What the entries of a suite add up to: counts, coverage targets, mutants, and the digest."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from conformance.codec import Record
from conformance.suite.strict_json import Whole

if TYPE_CHECKING:
    from conformance.suite.entries import Entry

# First letters and digits, so that no part of a path can be "..", hidden or absolute.
PATH_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,150}")

OpName = Annotated[str, Meta(pattern=f"^{PATH_PART.pattern}$")]
Table = Mapping[str, Mapping[str, int]]
TableData = dict[str, dict[str, Whole]]


class Count(Record, frozen=True):
    """Counts of an operator's vectors: with values, and to be rejected."""

    value: Whole
    reject: Whole


@dataclass(frozen=True)
class Totals:
    """The sums over entries, by operator in the order of its first entry.

    ``edges`` and ``faults`` say how many entries name each, sorted by name; ``suites`` are those
    that some entry belongs to.
    """

    counts: Mapping[str, Count]
    edges: Table
    faults: Table
    suites: tuple[str, ...]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Totals:
        """Sum up entries."""
        kinds: dict[str, list[int]] = {}
        targets: dict[str, Counter[str]] = {}
        mutants: dict[str, Counter[str]] = {}
        suites: set[str] = set()
        for entry in entries:
            if entry.op not in kinds:
                kinds[entry.op] = [0, 0]
                targets[entry.op] = Counter()
                mutants[entry.op] = Counter()
            kinds[entry.op][entry.reject is not None] += 1
            targets[entry.op].update(entry.edges)
            mutants[entry.op].update(entry.kills)
            suites.update(entry.suites)
        return cls(
            {op: Count(*pair) for op, pair in kinds.items()},
            {op: dict(sorted(table.items())) for op, table in targets.items()},
            {op: dict(sorted(table.items())) for op, table in mutants.items()},
            tuple(sorted(suites)),
        )

    def __add__(self, other: Totals) -> Totals:
        ops = dict.fromkeys((*self.counts, *other.counts))
        none = Count(0, 0)

        def summed(first: Table, second: Table) -> Table:
            both = {op: Counter(first.get(op, {})) for op in ops}
            for op, table in second.items():
                both[op].update(table)
            return {op: dict(sorted(table.items())) for op, table in both.items()}

        pairs = {op: (self.counts.get(op, none), other.counts.get(op, none)) for op in ops}
        return Totals(
            {op: Count(a.value + b.value, a.reject + b.reject) for op, (a, b) in pairs.items()},
            summed(self.edges, other.edges),
            summed(self.faults, other.faults),
            tuple(sorted({*self.suites, *other.suites})),
        )

    def with_unkilled(self, unkilled: Table) -> Totals:
        """Return the same with mutants that no entry kills."""
        mutants = {
            op: dict(sorted({**unkilled.get(op, {}), **table}.items()))
            for op, table in self.faults.items()
        }
        return Totals(self.counts, self.edges, mutants, self.suites)

    def tables(self) -> dict[str, Any]:
        """Return the fields that a file has of them: all but the suites."""
        return {"counts": self.counts, "edges": self.edges, "faults": self.faults}


def entries_digest(entries: Iterable[Entry]) -> str:
    """Compute the digest of entries.

    It is the SHA-256 over a line ``<digest>  <op>`` of each operator, sorted; the digest of an
    operator is that over the lines ``<content>  <id>`` of its entries, sorted by id.

    So it says exactly what is tested, whatever packed it: it changes with a vector, and with a
    withdrawal.
    """
    return lines_digest(sorted(map(digest_line, entries)))


def operators_digest(digests: Mapping[str, str]) -> str:
    """Compute the digest of a suite from those of its operators."""
    return hashlib.sha256(
        "".join(f"{digests[op]}  {op}\n" for op in sorted(digests)).encode()
    ).hexdigest()


def operator_digests(ordered: Iterable[bytes]) -> dict[str, str]:
    """Compute the digests of operators from their entries' lines, in order."""
    digests: dict[str, Any] = {}
    for line in ordered:
        path, _, content = line.partition(b"\0")
        op, _, vector_id = path.decode().rpartition("/")
        digest = digests.setdefault(op, hashlib.sha256())
        digest.update(f"{content.hex()}  {vector_id.removesuffix('.npz')}\n".encode())
    return {op: digest.hexdigest() for op, digest in digests.items()}


def digest_line(entry: Entry) -> bytes:
    """Return an entry's line for the digest of a suite.

    It has the fewest bytes that sort by path.
    """
    return f"{entry.path}\0".encode() + bytes.fromhex(entry.content)


def lines_digest(ordered: Iterable[bytes]) -> str:
    """Compute the digest of entries from their lines, in order."""
    return operators_digest(operator_digests(ordered))
