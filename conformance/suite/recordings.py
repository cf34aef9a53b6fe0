"""The entries of the shipped suite: an operator's cases are read when one is needed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import overload

from conformance.suite.entries import Entry, entry_of_recorded
from conformance.suite.recorded_cases import (
    HEX,
    RecordedCases,
    RecordedHead,
    read_recorded_cases,
    read_recorded_head,
    read_recorded_suite,
)
from conformance.suite.totals import Count, operators_digest


class Recordings(Sequence[Entry]):
    """The entries of operators with recorded cases, one operator after the other.

    All, or those of one ``suite``: an operator's file is read when its entries are asked for.
    The first line of each file states how many there are, of what suites and of what digest. It is
    held against the others when these are read.
    """

    def __init__(self, files: Sequence[Path], suite: str = "") -> None:
        heads = ((file, read_recorded_head(file)) for file in files)
        chosen = [(file, head) for file, head in heads if not suite or suite in head.suites]
        self._files = tuple(file for file, _ in chosen)
        self._suite = suite
        self.heads: Mapping[str, RecordedHead] = {head.op: head for _, head in chosen}

    @property
    def counts(self) -> Mapping[str, Count]:
        """Counts of the entries of each kind, by operator."""
        if not self._suite:
            return {op: head.counts for op, head in self.heads.items()}
        totals = {op: head.suites[self._suite] for op, head in self.heads.items()}
        return {op: Count(total.value, total.reject) for op, total in totals.items()}

    @property
    def suites(self) -> tuple[str, ...]:
        """The names of the suites that any entry belongs to, sorted."""
        return tuple(sorted({name for head in self.heads.values() for name in head.suites}))

    @property
    def digest(self) -> str:
        """The digest of all that are not withdrawn."""
        digests = {
            op: head.suites[self._suite].digest if self._suite else head.digest
            for op, head in self.heads.items()
        }
        return operators_digest(digests)

    def subset(self, suite: str) -> Recordings:
        """Return the entries of one suite."""
        return Recordings(self._files, suite)

    @property
    def withdrawn(self) -> Mapping[str, str]:
        """Why an entry is no longer used, by id."""
        return {i: why for head in self.heads.values() for i, why in head.withdrawn.items()}

    def cases(self, op: str) -> RecordedCases:
        """Return the recorded cases of an operator.

        Raises SuiteError for a file that is damaged.
        """
        return _read(*self._version(op))[0]

    def kind_counts(self) -> dict[str, dict[str, int]]:
        """Count the entries of each kind of each operator."""
        return {op: {"value": n.value, "reject": n.reject} for op, n in self.counts.items()}

    def of(self, ops: Collection[str]) -> tuple[Entry, ...]:
        """Return the entries of the given operators."""
        return tuple(entry for op in self.heads if op in ops for entry in self._entries(op))

    def containing(self, text: str) -> tuple[str, ...]:
        """List the operators that may have a case of an id.

        Of a text that is not the end of one they are all.
        """
        end = text[-HEX:]
        return self._by_end.get(end, ()) if _HEX.fullmatch(end) else tuple(self.heads)

    def find(self, vector_id: str) -> Entry | None:
        """Return the entry of an id; None where there is none."""
        if not _HEX.fullmatch(vector_id[-HEX:]):
            return None
        entries = (self._by_id(op).get(vector_id) for op in self.containing(vector_id))
        return next((entry for entry in entries if entry is not None), None)

    def __len__(self) -> int:
        return sum(count.value + count.reject for count in self.counts.values())

    def __iter__(self) -> Iterator[Entry]:
        for op in self.heads:
            yield from self._entries(op)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        return tuple(self)[index]

    @cached_property
    def _by_end(self) -> Mapping[str, tuple[str, ...]]:
        """The operators that have a case of an id with some end."""
        ops: dict[str, tuple[str, ...]] = {}
        for op, file in zip(self.heads, self._files, strict=True):
            for end in _ends(*_version(file)):
                ops[end] = (*ops.get(end, ()), op)
        return ops

    def _by_id(self, op: str) -> Mapping[str, Entry]:
        """Return the entries of an operator by their ids."""
        return _read_ids(*self._version(op), self._suite)

    def _entries(self, op: str) -> tuple[Entry, ...]:
        version = self._version(op)
        return _read_suite(*version, self._suite) if self._suite else _read(*version)[1]

    def _version(self, op: str) -> tuple[Path, int, int]:
        """Return an operator's file with its time and size, by which it is known to be the same."""
        return _version(self._files[list(self.heads).index(op)])


def _version(file: Path) -> tuple[Path, int, int]:
    stat = file.stat()
    return file, stat.st_mtime_ns, stat.st_size


# More than there are operators: going through a suite twice reads each file once.
_FILES = 512


_HEX = re.compile(f"[0-9a-f]{{{HEX}}}")
_END = re.compile(rf'^\["([0-9a-f]{{{HEX}}})",', re.MULTILINE)


@lru_cache(_FILES)
def _ends(file: Path, _modified: int, _size: int) -> frozenset[str]:
    """Return the ends of the ids of a file's cases, which is not parsed for that."""
    return frozenset(_END.findall(file.read_text("ascii", "replace")))


@lru_cache(_FILES)
def _read(file: Path, _modified: int, _size: int) -> tuple[RecordedCases, tuple[Entry, ...]]:
    """Read a file and make its entries; one that changes is read again."""
    cases = read_recorded_cases(file)
    return cases, tuple(entry_of_recorded(cases.op, recorded) for recorded in cases.recorded)


@lru_cache(_FILES)
def _read_suite(file: Path, _modified: int, _size: int, suite: str) -> tuple[Entry, ...]:
    """Read the entries of one suite; a file that changes is read again."""
    return tuple(entry_of_recorded(case.case.op, case) for case in read_recorded_suite(file, suite))


@lru_cache(_FILES)
def _read_ids(file: Path, modified: int, size: int, suite: str) -> Mapping[str, Entry]:
    """Read the entries of a file, or those of one suite, by their ids."""
    version = file, modified, size
    entries = _read_suite(*version, suite) if suite else _read(*version)[1]
    return {entry.id: entry for entry in entries}
