"""Recorded cases of an operator, the source of vectors and manifest.

One file an operator, ``specs/cases/<op>.jsonl``: a line about all of them, then one line a case, in
the order of the suite. Selecting cases is dear, evaluating one takes milliseconds; so what a
selection found is kept as text, and arrays are derived from it. The format: docs/case-format.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import product
from pathlib import Path
from typing import Any

from conformance import TOOL, codec
from conformance.choices import LEVELS, SuiteName
from conformance.data import directory
from conformance.errors import SuiteError
from conformance.model import Case
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.suite import strict_json
from conformance.suite.archive import DAMAGED, unreadable_error
from conformance.suite.strict_json import JsonObject, read_bytes
from conformance.suite.survivors import SurvivorData, SurvivorTable, survivors_from_data
from conformance.suite.totals import Count

FORMAT = 2

"""The suite of large cases, which core holds too. What each of them kills is not measured: that
takes a second for each of hundreds of mutants."""

_TABLES = ("types", "shapes", "attributes", "operands")
"""Parts of a case that have names: the first line lists them, each case gives values only."""
_HEAD = (
    *("format", "op", "specification", "seed", "versions", *_TABLES, "suites"),
    *("edges", "faults", "indistinguishable", "counts", "withdrawn", "digest", "parts"),
)
CASE_KEYS = ("types", "shapes", "attributes", "operands", "pattern", "seed", "reject")
_LINE = ("id", *CASE_KEYS, "level", "suites", "edges", "kills", "excused", "digest")


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
    (:func:`conformance.spec.digest.spec_digest`), ``seed`` and ``versions`` are what the selection
    depends on besides. ``indistinguishable`` are groups of mutants that no vector distinguishes.
    ``parts`` says of each element type and rank what the vectors do not kill; empty if not known.
    ``faults`` is the table of the file that they were read from, or are to replace, and
    ``targets`` that of coverage targets.
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
        negative = sum(entry.case.reject is not None for entry in self.recorded)
        return Count(len(self.recorded) - negative, negative)

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
        used = [entry for entry in self.recorded if entry.withdrawn is None]
        lines = (
            f"{entry.digest}  {entry.case.id}\n"
            for entry in sorted(used, key=lambda entry: entry.case.id)
        )
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @cached_property
    def withdrawn(self) -> Mapping[str, str]:
        """By id, why a vector is no longer used."""
        return {
            entry.case.id: entry.withdrawn for entry in self.recorded if entry.withdrawn is not None
        }


def recorded_cases_file(op: str) -> Path:
    """Return the path of a shipped operator's recorded cases, which may not exist."""
    return directory("specs") / "cases" / f"{op}.jsonl"


def current_cases(spec: OpSpec) -> RecordedCases | None:
    """Read the cases recorded for a specification; None if it is not as shipped."""
    file = recorded_cases_file(spec.op)
    if not file.is_file():
        return None
    cases = read_recorded_cases(file)
    return cases if cases.specification == spec_digest(spec) else None


def current_value_cases(spec: OpSpec) -> tuple[Case, ...]:
    """Read the value cases recorded for a specification; none if it is not as shipped."""
    cases = current_cases(spec)
    return (
        tuple(entry.case for entry in cases.recorded if entry.case.reject is None) if cases else ()
    )


def committed_operators() -> tuple[str, ...]:
    """List the operators that have recorded cases, in the order of the shipped suite."""
    return tuple(sorted(file.stem for file in (directory("specs") / "cases").glob("*.jsonl")))


def encode_recorded_cases(cases: RecordedCases) -> bytes:
    """Encode a file of recorded cases.

    Names stand in tables of the first line; in each line they would be most of the file. New
    mutants and targets come last, so that the places of the others, and their lines, stay.
    """
    plain = [entry.case for entry in cases.recorded]
    tables = {key: _in_order([list(getattr(entry, key)) for entry in plain]) for key in _TABLES}
    suites = cases.suites
    mutants = _table(cases.faults, (entry.kills for entry in cases.recorded), cases.parts.mutants)
    targets = _table(cases.targets, (entry.edges for entry in cases.recorded))
    indices = {mutant: index for index, mutant in enumerate(mutants)}
    head = {
        "format": FORMAT,
        "op": cases.op,
        "specification": cases.specification,
        "seed": cases.seed,
        "versions": dict(sorted(cases.versions.items())),
        **tables,
        "suites": list(suites),
        "edges": targets,
        "faults": mutants,
        "indistinguishable": [list(group) for group in cases.indistinguishable],
        "counts": codec.to_json(cases.count),
        "withdrawn": dict(cases.withdrawn),
        "digest": cases.digest,
        "parts": codec.to_json(cases.parts.to_data(indices)),
    }
    lines: list[Any] = [head]
    for entry in cases.recorded:
        case = entry.case
        lines.append(
            [
                case.id,
                *([getattr(case, key).get(name) for name in tables[key]] for key in _TABLES),
                case.pattern,
                case.seed,
                case.reject,
                entry.level,
                [suites.index(name) for name in entry.suites],
                _bits(entry.edges, targets),
                _bits(entry.kills, mutants),
                _bits(entry.excused, mutants),
                _text(bytes.fromhex(entry.digest)),
            ]
        )
    compact = (",", ":")
    return "".join(
        f"{json.dumps(line, ensure_ascii=False, separators=compact)}\n" for line in lines
    ).encode()


def _table(
    table: Sequence[str], used: Iterable[Iterable[str]], besides: Iterable[str] = ()
) -> list[str]:
    """Extend a table; what is new comes at its end."""
    return [*table, *sorted({*besides}.union(*used).difference(table))]


def _in_order(lists: Sequence[Sequence[str]]) -> list[str]:
    """List all names, in the order of the longest lists."""
    longest = sorted(lists, key=len, reverse=True)
    return list(dict.fromkeys(name for names in longest for name in names))


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
    lines = data.splitlines()
    head = strict_json.loads(lines[0] if lines else b"", f"{where}:1")
    strict_json.check_format(head, f"{where}:1", FORMAT, TOOL)
    record = JsonObject(head, f"{where}:1", _HEAD)
    mutants, targets = record.texts("faults"), record.texts("edges")
    for table, noun in ((mutants, "a mutant"), (targets, "a coverage target")):
        if len(set(table)) != len(table):
            record.refuse(f"{noun} is in the table more than once")
    withdrawn = record.texts_by_name("withdrawn")
    reader = _Lines(record, where, withdrawn)
    recorded = tuple(reader.read(number, line) for number, line in enumerate(lines[1:], start=2))
    ids = {entry.case.id for entry in recorded}
    if len(ids) != len(recorded):
        record.refuse("a case is in the file more than once")
    if unknown := withdrawn.keys() - ids:
        record.refuse(f"withdraws {min(unknown)[:200]!r}, which is no case of the file")
    cases = RecordedCases(
        op=record.text("op"),
        specification=record.text("specification"),
        seed=record.whole("seed"),
        versions=record.texts_by_name("versions"),
        recorded=recorded,
        indistinguishable=tuple(
            JsonObject({"group": group}, record.where, ("group",)).texts("group")
            for group in record.items("indistinguishable")
        ),
        faults=mutants,
        targets=targets,
        parts=_survivors(record, mutants),
    )
    for stated, counted in (
        (record.raw("counts"), codec.to_json(cases.count)),
        (record.raw("digest"), cases.digest),
    ):
        if stated != counted:
            record.refuse(f"says {str(stated)[:80]}, and the lines give {counted}")
    return cases


def _survivors(record: JsonObject, mutants: Sequence[str]) -> SurvivorTable:
    with strict_json.refusing(record.where):
        data = codec.convert(record.raw("parts"), SurvivorData)
        return survivors_from_data(data, mutants)


@dataclass(frozen=True)
class RecordedHead:
    """The first line of a file: what it states of all cases."""

    op: str
    specification: str
    seed: int
    versions: Mapping[str, str]
    suites: tuple[str, ...]
    count: Count
    withdrawn: Mapping[str, str]
    digest: str


def read_recorded_head(path: Path) -> RecordedHead:
    """Read the first line of a file; :func:`read_recorded_cases` holds it against the others."""
    where = f"{path}:1"
    try:
        with path.open("rb") as file:
            line = file.readline(strict_json.MAX_BYTES)
    except OSError as error:
        raise unreadable_error(path, error) from error
    document = strict_json.loads(line, where)
    strict_json.check_format(document, where, FORMAT, TOOL)
    record = JsonObject(document, where, _HEAD)
    counts = JsonObject(record.raw("counts"), f"{where}: counts", ("value", "reject"))
    return RecordedHead(
        op=record.text("op"),
        specification=record.text("specification"),
        seed=record.whole("seed"),
        versions=record.texts_by_name("versions"),
        suites=record.texts("suites"),
        count=Count(counts.whole("value"), counts.whole("reject")),
        withdrawn=record.texts_by_name("withdrawn"),
        digest=record.text("digest"),
    )


class _Lines:
    """Reads the lines of a file by the tables of its first."""

    def __init__(self, head: JsonObject, where: str, withdrawn: Mapping[str, str]) -> None:
        self._where = where
        self._withdrawn = withdrawn
        self._op = head.text("op")
        self._tables = {key: head.texts(key) for key in (*_TABLES, "suites")}
        self._edges, self._faults = _Named(head.texts("edges")), _Named(head.texts("faults"))

    def read(self, number: int, line: bytes) -> RecordedCase:
        """Parse a line.

        Raises SuiteError, which names the line, for what is no case.
        """
        where = f"{self._where}:{number}"
        values = strict_json.loads(line, where)
        if type(values) is not list or len(values) != len(_LINE):
            raise SuiteError(f"{where}: is not a list of {len(_LINE)} values", hint=DAMAGED)
        by_name: dict[str, Any] = dict(zip(_LINE, values, strict=True))
        for key in _TABLES:
            by_name[key] = self._by_name(key, by_name[key], where)
        record = JsonObject(by_name, where, _LINE)
        case = case_from_json(record, self._op)
        if record.text("id") != case.id:
            record.refuse(f"the id is {record.text('id')!r}, the case makes {case.id!r}")
        if record.text("level") not in LEVELS:
            record.refuse(f"level {record.text('level')!r} is not one of {', '.join(LEVELS)}")
        kills, excused = self._faults.of(record, "kills"), self._faults.of(record, "excused")
        if not set(excused) <= set(kills):
            record.refuse("'excused' holds mutants that are not among 'kills'")
        return RecordedCase(
            case=case,
            level=record.text("level"),
            suites=record.named("suites", self._tables["suites"]),
            kills=kills,
            excused=excused,
            withdrawn=self._withdrawn.get(case.id),
            edges=self._edges.of(record, "edges"),
            digest=_decoded(record, "digest").hex(),
        )

    def _by_name(self, key: str, values: object, where: str) -> dict[str, Any]:
        """Return a line's values by the names of a table; null stands for what it leaves out."""
        names = self._tables[key]
        if type(values) is not list or len(values) != len(names):
            raise SuiteError(
                f"{where}: {key!r} holds {repr(values)[:80]}, where {len(names)} values belong",
                hint=DAMAGED,
            )
        return {name: value for name, value in zip(names, values, strict=True) if value is not None}


class _Named:
    """A table of names, and the sets of bits that were read of it: many lines have the same."""

    def __init__(self, table: Sequence[str]) -> None:
        self._table = table
        self._read: dict[str, tuple[str, ...]] = {}
        self._bytes: dict[tuple[int, int], list[str]] = {}

    def of(self, record: JsonObject, key: str) -> tuple[str, ...]:
        """Return the names in a set of bits, sorted."""
        text = record.text(key)
        if text not in self._read:
            data = _decoded(record, key)
            if int.from_bytes(data, "little").bit_length() > len(self._table):
                record.refuse(f"{key!r} has places behind the table of {len(self._table)}")
            names: list[str] = []
            for index, byte in enumerate(data):
                if byte:
                    names += self._of_byte(index, byte)
            self._read[text] = tuple(sorted(names))
        return self._read[text]

    def _of_byte(self, index: int, byte: int) -> list[str]:
        if (index, byte) not in self._bytes:
            names = self._table[8 * index : 8 * index + 8]
            self._bytes[index, byte] = [name for bit, name in enumerate(names) if byte >> bit & 1]
        return self._bytes[index, byte]


def _decoded(record: JsonObject, key: str) -> bytes:
    """Decode a text of base64url without padding."""
    text = record.text(key)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        record.refuse(f"{key!r} is {text[:80]!r}, which is not base64url")


def case_to_json(case: Case) -> dict[str, Any]:
    """Serialise a case to JSON data, without its operator.

    The inverse is :func:`case_from_json`.
    """
    data = case.canonical()
    return {key: data[key] for key in CASE_KEYS}


def case_from_json(record: JsonObject, op: str) -> Case:
    """Parse the case in a record of ``case.json``, or of a recorded case."""
    attributes = record.table("attributes")
    for name, value in attributes.items():
        if not all(_is_scalar(item) for item in (value if isinstance(value, list) else [value])):
            record.refuse(f"attribute {name[:80]!r} is {repr(value)[:80]}, which none can be")
    case = Case(
        op=op,
        types=record.texts_by_name("types"),
        shapes=record.integers_by_name("shapes"),
        attributes=attributes,
        operands=record.integers_by_name("operands"),
        pattern=record.text("pattern"),
        seed=record.whole("seed"),
        reject=record.optional_text("reject"),
    )
    if not case.types or not case.shapes:
        record.refuse("a case has at least one type and one input of data")
    return case


def _is_scalar(value: object) -> bool:
    return type(value) in (int, bool) or strict_json.is_text(value)
