"""Recorded cases of an operator, the source of vectors and manifest.

One file an operator, ``specs/cases/<op>.jsonl``: a line about all of them, then one line a case, in
the order of the suite. Selecting cases is dear, evaluating one takes milliseconds; so what a
selection found is kept as text, and arrays are derived from it. The format: docs/case-format.md.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import chain, product
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from conformance import TOOL, codec
from conformance.choices import LEVELS, SuiteName
from conformance.codec import Record
from conformance.model import Case
from conformance.resources import directory
from conformance.suite import strict_json
from conformance.suite.archive import unreadable_error
from conformance.suite.strict_json import Indices, Whole, names_at, read_bytes, refusing
from conformance.suite.survivors import SurvivorData, SurvivorTable, survivors_from_data
from conformance.suite.totals import Count

FORMAT = 3

HEX = 8
"""Characters at the end of an id, the digest of its case; all else of it says what the case has."""

CASE_KEYS = ("types", "shapes", "attributes", "operands", "pattern", "seed", "reject")
_TABLES = CASE_KEYS[:4]
"""Parts of a case that have names: the first line lists them, each case gives values only."""

Level = Annotated[str, Meta(pattern=f"^({'|'.join(LEVELS)})$")]
Integers = tuple[int, ...]
Operand = tuple[int | float, ...]
Attribute = int | float | bool | str | list[int | float | bool | str]


class CaseFields(Record, frozen=True):
    """A case in a file, beside its operator."""

    types: Annotated[dict[str, str], Meta(min_length=1)]
    shapes: Annotated[dict[str, Integers], Meta(min_length=1)]
    attributes: dict[str, Attribute]
    operands: dict[str, Operand]
    pattern: str
    seed: Whole
    reject: str | None

    def case(self, op: str) -> Case:
        """Return the case of an operator."""
        return Case(
            op,
            self.types,
            self.shapes,
            self.attributes,
            self.operands,
            self.pattern,
            self.seed,
            self.reject,
        )


class SuiteTotals(Record, frozen=True):
    """What a head states of the cases of one suite, and the digest of those in use."""

    value: Whole
    reject: Whole
    digest: str


class RecordedHead(Record, frozen=True):
    """The first line of a file: tables of names, and what it states of all cases.

    The names of ``suites`` are a table, too.
    """

    format: int
    op: str
    specification: str
    seed: Whole
    versions: dict[str, str]
    types: tuple[str, ...]
    shapes: tuple[str, ...]
    attributes: tuple[str, ...]
    operands: tuple[str, ...]
    suites: dict[str, SuiteTotals]
    edges: tuple[str, ...]
    faults: tuple[str, ...]
    indistinguishable: tuple[tuple[str, ...], ...]
    counts: Count
    withdrawn: dict[str, str]
    digest: str
    parts: SurvivorData


class CaseLine(Record, frozen=True, array_like=True):
    """The line of a case: values by the tables of the head, null if left out, and sets of bits.

    ``hex`` is the end of its id, by which it is found.
    """

    hex: str
    types: tuple[str | None, ...]
    shapes: tuple[Integers | None, ...]
    attributes: tuple[Attribute | None, ...]
    operands: tuple[Operand | None, ...]
    pattern: str
    seed: Whole
    reject: str | None
    level: Level
    suites: Indices
    edges: str
    kills: str
    excused: str
    digest: str


@dataclass(frozen=True)
class RecordedCase:
    """A case, and what takes long to find out about it.

    ``kills`` are the mutants of the catalogue that its vector kills at level should, ``excused``
    those among them that an allowed interpretation excuses at level must, ``edges`` the coverage
    targets that it meets; all sorted. ``withdrawn`` is the reason why a vector that was found wrong
    is not used any more. ``digest`` is that of its vector
    (:func:`conformance.suite.vector_file.content_digest`): what is evaluated has to have it.
    """

    case: Case
    level: str
    suites: tuple[str, ...]
    kills: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    withdrawn: str | None = None
    edges: tuple[str, ...] = ()
    digest: str = ""

    @property
    def is_large(self) -> bool:
        """Whether it is of the large cases."""
        return SuiteName.LARGE in self.suites

    @property
    def achieved(self) -> frozenset[tuple[str, str]]:
        """What its vector kills: levels, ``should`` and ``must``, each with a mutant."""
        at_must = set(self.kills).difference(self.excused)
        return frozenset((*product(["should"], self.kills), *product(["must"], at_must)))


@dataclass(frozen=True)
class RecordedCases:
    """The recorded cases of one operator.

    ``specification`` is the digest of the specification that they were selected for
    (:func:`conformance.specification.spec_digest`), ``seed`` and ``versions`` are what the
    selection depends on besides. ``indistinguishable`` are groups of mutants that no vector
    distinguishes. ``parts`` says of each element type and rank what the vectors do not kill; empty
    if not known. ``faults`` is the table of the file that they were read from, or are to replace,
    and ``targets`` that of coverage targets.
    """

    op: str
    specification: str
    seed: int
    versions: Mapping[str, str]
    recorded: tuple[RecordedCase, ...] = field(repr=False)
    indistinguishable: tuple[tuple[str, ...], ...] = ()
    faults: tuple[str, ...] = field(default=(), repr=False, compare=False)
    targets: tuple[str, ...] = field(default=(), repr=False, compare=False)
    parts: SurvivorTable = field(default_factory=SurvivorTable, repr=False)

    @cached_property
    def kills(self) -> Mapping[str, tuple[str, ...]]:
        """By id, the mutants that each vector kills at level should."""
        return {entry.case.id: entry.kills for entry in self.recorded}

    @cached_property
    def excused(self) -> Mapping[str, tuple[str, ...]]:
        """By id, those of the kills that an allowed interpretation excuses at level must."""
        return {entry.case.id: entry.excused for entry in self.recorded}

    @property
    def count(self) -> Count:
        """Counts of value cases and of negative tests."""
        return _count(self.recorded)

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites that cases belong to, in an order that agrees with those of all cases.

        Raises graphlib.CycleError, a ValueError, where none does.
        """
        order: TopologicalSorter[str] = TopologicalSorter()
        for suites in dict.fromkeys(entry.suites for entry in self.recorded):
            for position, name in enumerate(suites):
                order.add(name, *suites[:position])
        return tuple(order.static_order())

    @cached_property
    def digest(self) -> str:
        """The digest of the vectors that are not withdrawn
        (:func:`conformance.suite.totals.entries_digest`)."""
        return _digest(self.recorded)

    @property
    def totals(self) -> dict[str, SuiteTotals]:
        """What the cases of each suite add up to."""
        return {
            name: _totals([entry for entry in self.recorded if name in entry.suites])
            for name in self.suites
        }

    @cached_property
    def withdrawn(self) -> Mapping[str, str]:
        """By id, why a vector is no longer used."""
        return {
            entry.case.id: entry.withdrawn for entry in self.recorded if entry.withdrawn is not None
        }


def _count(recorded: Sequence[RecordedCase]) -> Count:
    negative = sum(entry.case.reject is not None for entry in recorded)
    return Count(len(recorded) - negative, negative)


def _totals(recorded: Sequence[RecordedCase]) -> SuiteTotals:
    count = _count(recorded)
    return SuiteTotals(count.value, count.reject, _digest(recorded))


def _digest(recorded: Sequence[RecordedCase]) -> str:
    used = [entry for entry in recorded if entry.withdrawn is None]
    lines = (
        f"{entry.digest}  {entry.case.id}\n"
        for entry in sorted(used, key=lambda entry: entry.case.id)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def recorded_cases_file(op: str) -> Path:
    """Return the path of a shipped operator's recorded cases, which may not exist."""
    return directory("specs") / "cases" / f"{op}.jsonl"


def committed_operators() -> tuple[str, ...]:
    """List the operators that have recorded cases, in the order of the shipped suite."""
    return tuple(sorted(file.stem for file in (directory("specs") / "cases").glob("*.jsonl")))


def encode_recorded_cases(cases: RecordedCases) -> bytes:
    """Encode a file of recorded cases.

    Names stand in tables of the first line; in each line they would be most of the file. New
    mutants and targets come last, so that the places of the others, and their lines, stay.
    """
    plain = [entry.case for entry in cases.recorded]
    tables = {key: _in_order([list(getattr(case, key)) for case in plain]) for key in _TABLES}
    suites = cases.suites
    mutants = _table(cases.faults, (entry.kills for entry in cases.recorded), cases.parts.mutants)
    targets = _table(cases.targets, (entry.edges for entry in cases.recorded))
    head = RecordedHead(
        format=FORMAT,
        op=cases.op,
        specification=cases.specification,
        seed=cases.seed,
        versions=dict(sorted(cases.versions.items())),
        **tables,
        suites=cases.totals,
        edges=targets,
        faults=mutants,
        indistinguishable=cases.indistinguishable,
        counts=cases.count,
        withdrawn=dict(cases.withdrawn),
        digest=cases.digest,
        parts=cases.parts.to_data({mutant: index for index, mutant in enumerate(mutants)}),
    )
    lines: list[Record] = [head]
    for entry in cases.recorded:
        case = entry.case
        by_table = {key: tuple(map(getattr(case, key).get, tables[key])) for key in _TABLES}
        lines.append(
            CaseLine(
                hex=case.id[-HEX:],
                **by_table,
                pattern=case.pattern,
                seed=case.seed,
                reject=case.reject,
                level=entry.level,
                suites=tuple(map(suites.index, entry.suites)),
                edges=_bits(entry.edges, targets),
                kills=_bits(entry.kills, mutants),
                excused=_bits(entry.excused, mutants),
                digest=_text(bytes.fromhex(entry.digest)),
            )
        )
    return b"".join(codec.encode(line) + b"\n" for line in lines)


def _table(
    table: Sequence[str], used: Iterable[Iterable[str]], besides: Iterable[str] = ()
) -> tuple[str, ...]:
    """Extend a table; what is new comes at its end, the most used first: sets of it are short."""
    counts = Counter(dict.fromkeys(besides, 0))
    counts.update(chain.from_iterable(used))
    new = counts.keys() - {*table}
    return (*table, *sorted(new, key=lambda name: (-counts[name], name)))


def _in_order(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """List all names, in the order of the longest lists."""
    longest = sorted(lists, key=len, reverse=True)
    return tuple(dict.fromkeys(name for names in longest for name in names))


def _bits(names: Iterable[str], table: Sequence[str]) -> str:
    """Encode names as a set of bits, the first of the table the lowest of the first byte."""
    indices = {name: index for index, name in enumerate(table)}
    number = sum(1 << indices[name] for name in names)
    return _text(number.to_bytes((number.bit_length() + 7) // 8, "little"))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read_recorded_cases(path: Path) -> RecordedCases:
    """Read a file of recorded cases.

    Raises SuiteError for what is not of the format.
    """
    return parse_recorded_cases(read_bytes(path), str(path))


def parse_recorded_cases(data: bytes, where: str) -> RecordedCases:
    """Parse the content of a file; see :func:`read_recorded_cases`."""
    head, recorded = _parsed(data, where)
    with refusing(f"{where}:1"):
        return _cases(head, recorded)


def read_recorded_suite(path: Path, suite: str) -> tuple[RecordedCase, ...]:
    """Read the cases of one suite; nothing is made of the lines of others.

    Raises SuiteError for what is not of the format.
    """
    head, recorded = _parsed(read_bytes(path), str(path), suite)
    with refusing(f"{path}:1"):
        _check_stated(head.suites.get(suite), _totals(recorded))
    return recorded


def _parsed(
    data: bytes, where: str, suite: str | None = None
) -> tuple[RecordedHead, tuple[RecordedCase, ...]]:
    """Parse the lines of a file, those of one suite or all."""
    lines = data.splitlines()
    head = _head(lines[0] if lines else b"", f"{where}:1")
    reader = _LineReader(head)
    place = None if suite is None else [*head.suites].index(suite)
    recorded = []
    for number, text in enumerate(lines[1:], start=2):
        with refusing(f"{where}:{number}"):
            line = codec.decode(text, CaseLine)
            if place is None or place in line.suites:
                recorded.append(reader.read(line))
    return head, tuple(recorded)


def _cases(head: RecordedHead, recorded: tuple[RecordedCase, ...]) -> RecordedCases:
    """Return what a file holds, after comparing its head with the lines."""
    for table, noun in ((head.faults, "a mutant"), (head.edges, "a coverage target")):
        if len(set(table)) != len(table):
            raise ValueError(f"{noun} is in the table more than once")
    ids = {entry.case.id for entry in recorded}
    if len(ids) != len(recorded):
        raise ValueError("a case is in the file more than once")
    if unknown := head.withdrawn.keys() - ids:
        raise ValueError(f"withdraws {min(unknown)[:200]!r}, which is no case of the file")
    cases = RecordedCases(
        op=head.op,
        specification=head.specification,
        seed=head.seed,
        versions=head.versions,
        recorded=recorded,
        indistinguishable=head.indistinguishable,
        faults=head.faults,
        targets=head.edges,
        parts=survivors_from_data(head.parts, head.faults),
    )
    stated_and_counted: tuple[tuple[object, object], ...] = (
        (head.counts, cases.count),
        (head.digest, cases.digest),
        (head.suites, cases.totals),
    )
    for stated, counted in stated_and_counted:
        _check_stated(stated, counted)
    return cases


def _check_stated(stated: object, counted: object) -> None:
    if stated != counted:
        raise ValueError(f"says {str(stated)[:80]}, and the lines give {counted}")


def read_recorded_head(path: Path) -> RecordedHead:
    """Read the first line of a file; :func:`read_recorded_cases` holds it against the others."""
    try:
        with path.open("rb") as file:
            line = file.readline(strict_json.MAX_BYTES)
    except OSError as error:
        raise unreadable_error(path, error) from error
    return _head(line, f"{path}:1")


def _head(line: bytes, where: str) -> RecordedHead:
    return strict_json.decode(line, RecordedHead, where, FORMAT, TOOL)


class _LineReader:
    """Reads the lines of a file by the tables of its head."""

    def __init__(self, head: RecordedHead) -> None:
        self._head = head
        self._suites = tuple(head.suites)
        self._targets, self._mutants = _BitTable(head.edges), _BitTable(head.faults)

    def read(self, line: CaseLine) -> RecordedCase:
        """Return the case of a line. Raises ValueError for what is no case."""
        case = codec.convert(self._case_fields(line), CaseFields).case(self._head.op)
        if line.hex != case.id[-HEX:]:
            raise ValueError(f"the id ends with {line.hex!r}, the case makes {case.id!r}")
        kills, excused = (
            self._mutants.names(text, key)
            for text, key in ((line.kills, "kills"), (line.excused, "excused"))
        )
        if not set(excused) <= set(kills):
            raise ValueError("'excused' holds mutants that are not among 'kills'")
        return RecordedCase(
            case=case,
            level=line.level,
            suites=names_at(line.suites, self._suites, "'suites'"),
            kills=kills,
            excused=excused,
            withdrawn=self._head.withdrawn.get(case.id),
            edges=self._targets.names(line.edges, "edges"),
            digest=_decoded(line.digest, "digest").hex(),
        )

    def _case_fields(self, line: CaseLine) -> dict[str, Any]:
        fields: dict[str, Any] = {key: getattr(line, key) for key in CASE_KEYS}
        for key in _TABLES:
            names, values = getattr(self._head, key), fields[key]
            if len(values) != len(names):
                raise ValueError(
                    f"{key!r} holds {str(list(values))[:80]}, where {len(names)} values belong"
                )
            pairs = zip(names, values, strict=True)
            fields[key] = {name: value for name, value in pairs if value is not None}
        return fields


class _BitTable:
    """A table of names, and the sets of bits that were read of it: many lines have the same."""

    def __init__(self, table: Sequence[str]) -> None:
        self._table = table
        self._read: dict[str, tuple[str, ...]] = {}
        self._bytes: dict[tuple[int, int], list[str]] = {}

    def names(self, text: str, key: str) -> tuple[str, ...]:
        """Return the names in a set of bits, sorted. Raises ValueError, which names the key."""
        if text not in self._read:
            data = _decoded(text, key)
            if int.from_bytes(data, "little").bit_length() > len(self._table):
                raise ValueError(f"{key!r} has places behind the table of {len(self._table)}")
            names: list[str] = []
            for byte in filter(itemgetter(1), enumerate(data)):
                names += self._bytes.get(byte) or self._of_byte(*byte)
            self._read[text] = tuple(sorted(names))
        return self._read[text]

    def _of_byte(self, index: int, byte: int) -> list[str]:
        eight = self._table[8 * index : 8 * index + 8]
        names = [name for bit, name in enumerate(eight) if byte >> bit & 1]
        self._bytes[index, byte] = names
        return names


def _decoded(text: str, key: str) -> bytes:
    """Decode a text of base64url without padding."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except ValueError:
        raise ValueError(f"{key!r} is {text[:80]!r}, which is not base64url") from None


def case_to_json(case: Case) -> dict[str, Any]:
    """Serialise a case to JSON data, without its operator.

    The inverse is :func:`case_from_json`.
    """
    data = case.canonical()
    return {key: data[key] for key in CASE_KEYS}


def case_from_json(data: Mapping[str, Any], op: str, where: str) -> Case:
    """Return the case in JSON data, which may hold more.

    Raises SuiteError, which names ``where``.
    """
    with refusing(where):
        return codec.convert({key: data[key] for key in CASE_KEYS}, CaseFields).case(op)
