"""Recorded cases of an operator, the source of vectors and manifest.

One file an operator, ``specs/cases/<op>.jsonl``: a line about all of them, then one line a case, in
the order of the manifest. Selecting cases is dear, evaluating one takes milliseconds; so what a
selection found is kept as text, and arrays are derived from it. The format: docs/case-format.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from conformance import __version__, renamed
from conformance.data import directory
from conformance.model import LEVELS, Case
from conformance.spec.digest import digest
from conformance.spec.model import OpSpec
from conformance.suite import parts, strict_json
from conformance.suite.parts import Parts
from conformance.suite.strict_json import JsonObject

FORMAT = 1
TOOL = f"opconform {__version__}"

_HEAD = ("format", "op", "specification", "seed", "versions", "faults", "indistinguishable")
_LATER = ("parts",)
"""What files did not always have."""
CASE = ("types", "shapes", "attributes", "operands", "pattern", "seed", "reject")
_LINE = ("id", *CASE, "level", "suites", "kills", "excused", "withdrawn")


@dataclass(frozen=True)
class Recorded:
    """A case, and what is dear to know of it.

    ``kills`` are the faults of the catalogue that its vector notices at level should, ``excused``
    those among them that an allowed reading excuses at level must; both sorted. ``withdrawn`` is
    the reason why a vector that was found wrong is not asked any more.
    """

    case: Case
    level: str
    suites: tuple[str, ...]
    kills: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    withdrawn: str | None = None

    @property
    def achieved(self) -> frozenset[tuple[str, str]]:
        """What its vector kills: levels, ``should`` and ``must``, each with a mutant."""
        at_must = set(self.kills).difference(self.excused)
        return frozenset((*product(["should"], self.kills), *product(["must"], at_must)))


@dataclass(frozen=True)
class Cases:
    """The recorded cases of one operator.

    ``specification`` is the digest of the specification that they were selected for
    (:func:`conformance.spec.digest.digest`), ``seed`` and ``versions`` are what the selection
    depends on besides. ``indistinguishable`` are groups of faults that every vector answers alike.
    ``parts`` says of each element type and rank what the vectors do not kill; empty if not known.
    ``faults`` is the table of the file that they were read from, or are to take the place of.
    """

    op: str
    specification: str
    seed: int
    versions: Mapping[str, str]
    recorded: tuple[Recorded, ...] = field(repr=False)
    indistinguishable: tuple[tuple[str, ...], ...] = ()
    faults: tuple[str, ...] = field(default=(), repr=False, compare=False)
    parts: Parts = field(default_factory=Parts, repr=False)

    @cached_property
    def kills(self) -> Mapping[str, tuple[str, ...]]:
        """By id, the mutants that each vector kills at level should."""
        return {one.case.id: one.kills for one in self.recorded}

    @cached_property
    def excused(self) -> Mapping[str, tuple[str, ...]]:
        """By id, those that an allowed reading excuses at level must, as a manifest has them: told
        where the parts are, which nobody can weigh without them.
        """
        return {one.case.id: one.excused for one in self.recorded if self.parts}

    @cached_property
    def withdrawn(self) -> Mapping[str, str]:
        """By id, why a vector is no longer used."""
        return {one.case.id: one.withdrawn for one in self.recorded if one.withdrawn is not None}


def file_of(op: str) -> Path:
    """Where the recorded cases of a shipped operator lie, if there are any."""
    return directory("specs") / "cases" / f"{op}.jsonl"


def known(spec: OpSpec) -> Cases | None:
    """What is recorded of a specification; None of one that is not as shipped."""
    file = file_of(spec.op)
    found = read(file) if file.is_file() else None
    return found if found is not None and found.specification == digest(spec) else None


def of(spec: OpSpec) -> tuple[Case, ...]:
    """The value cases that are recorded of a specification; none of one that is not as shipped."""
    found = known(spec)
    return tuple(one.case for one in found.recorded if one.case.reject is None) if found else ()


def shipped() -> tuple[str, ...]:
    """The operators whose vectors are shipped, in the order of the shipped suite."""
    file = directory("specs") / "cases" / "shipped.json"
    where = str(file)
    document = strict_json.loads(strict_json.content(file), where)
    strict_json.check_format(document, where, FORMAT, TOOL)
    return JsonObject(document, where, ("format", "operators")).texts("operators")


def dump(cases: Cases) -> bytes:
    """The content of a file of recorded cases.

    Faults are told by their places in a table in the first line; names would be most of the file.
    New ones come last, so that the places of the others, and the lines that hold them, stay.
    """
    known = set(cases.faults)
    new = {fault for one in cases.recorded for fault in one.kills} | cases.parts.mutants
    faults = [*cases.faults, *sorted(new - known)]
    places = {fault: place for place, fault in enumerate(faults)}
    head = {
        "format": FORMAT,
        "op": cases.op,
        "specification": cases.specification,
        "seed": cases.seed,
        "versions": dict(sorted(cases.versions.items())),
        "faults": faults,
        "indistinguishable": [list(group) for group in cases.indistinguishable],
        **({"parts": cases.parts.to_json(places)} if cases.parts else {}),
    }
    lines = [head]
    for one in cases.recorded:
        lines.append(
            {"id": one.case.id}
            | told(one.case)
            | {"level": one.level, "suites": list(one.suites)}
            | {"kills": sorted(places[fault] for fault in one.kills)}
            | {"excused": sorted(places[fault] for fault in one.excused)}
            | {"withdrawn": one.withdrawn}
        )
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()


def read(path: Path) -> Cases:
    """The recorded cases in a file. Raises SuiteError for what is not of the format."""
    return parse(strict_json.content(path), str(path))


def parse(data: bytes, where: str) -> Cases:
    """The recorded cases in the content of a file; see :func:`read`."""
    lines = data.splitlines()
    head = strict_json.loads(lines[0] if lines else b"", f"{where}:1")
    strict_json.check_format(head, f"{where}:1", FORMAT, TOOL)
    record = JsonObject(head, f"{where}:1", _HEAD, _LATER)
    op, faults = record.text("op"), record.texts("faults")
    if len(set(faults)) != len(faults):
        record.refuse("a mutant is in the table more than once")
    recorded = tuple(_recorded(lines[1:], op, faults, where))
    ids = {one.case.id for one in recorded}
    if len(ids) != len(recorded):
        record.refuse("a case is in the file more than once")
    return Cases(
        op=op,
        specification=record.text("specification"),
        seed=record.whole("seed"),
        versions=record.texts_by_name("versions"),
        recorded=recorded,
        indistinguishable=tuple(
            renamed.faults(JsonObject({"group": group}, record.where, ("group",)).texts("group"))
            for group in record.items("indistinguishable")
        ),
        faults=renamed.faults(faults),
        parts=parts.parse(record.raw("parts"), f"{record.where}: parts", renamed.faults(faults))
        if record.has("parts")
        else Parts(),
    )


def _recorded(
    lines: Sequence[bytes], op: str, faults: Sequence[str], where: str
) -> Iterator[Recorded]:
    for number, line in enumerate(lines, start=2):
        place = f"{where}:{number}"
        record = JsonObject(strict_json.loads(line, place), place, _LINE)
        case = case_of(record, op)
        if record.text("id") != case.id:
            record.refuse(f"the id is {record.text('id')!r}, the case makes {case.id!r}")
        if record.text("level") not in LEVELS:
            record.refuse(f"level {record.text('level')!r} is not one of {', '.join(LEVELS)}")
        kills, excused = _faults(record, "kills", faults), _faults(record, "excused", faults)
        if not set(excused) <= set(kills):
            record.refuse("'excused' holds mutants that are not among 'kills'")
        yield Recorded(
            case=case,
            level=record.text("level"),
            suites=record.texts("suites"),
            kills=kills,
            excused=excused,
            withdrawn=record.optional_text("withdrawn"),
        )


def told(case: Case) -> dict[str, Any]:
    """A case as JSON data, of which :func:`case_of` makes it again; the operator aside."""
    said = case.canonical()
    return {key: said[key] for key in CASE}


def case_of(record: JsonObject, op: str) -> Case:
    """The case that a record of known keys tells, as ``case.json`` and a recorded case do."""
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


def _faults(record: JsonObject, key: str, table: Sequence[str]) -> tuple[str, ...]:
    """Mutants by their indices into the table, each by its current name."""
    return tuple(sorted(renamed.faults(record.named(key, table))))
