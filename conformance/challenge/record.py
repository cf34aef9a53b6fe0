"""The record of a challenge: JSON in one canonical form, with a digest over itself.

docs/challenge.md describes it. A record from outside is read as strict JSON of bounded size, then
checked against its schema, then against its own digest and form. What it says is for
:mod:`conformance.challenge.verifying` to check.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from conformance import TOOL
from conformance.backends import pieces
from conformance.backends.capabilities import Capabilities
from conformance.backends.pieces import Piece
from conformance.errors import BackendError, SuiteError
from conformance.evidence import BAR, Evidence, Measured, State
from conformance.grade.precision import parse_precision
from conformance.json_schema import load_schema
from conformance.model import Case, Result, Status
from conformance.run.claim_text import RunScope, conclude
from conformance.suite import cases, strict_json
from conformance.suite.strict_json import JsonObject as Checked
from conformance.verdict import NO_CLAIM, ResultCounts

FORMAT = 1
CHANGED = "the record was changed, or another program wrote it; ask for the original"

_CASE = ("op", "id", *cases.CASE, "level", "content", "status", "reading", "outputs")


@dataclass(frozen=True)
class RecordedCase:
    """One case of the list and what became of it.

    ``content`` is the digest of the vector, inputs and expected values included, whatever packed
    it; ``outputs`` that of the backend's answer (:func:`conformance.challenge.digests.digest`),
    empty where it was not asked.
    """

    case: Case
    level: str
    content: str
    status: str
    reading: str | None
    outputs: str

    @property
    def result(self) -> Result:
        """As much of its result as a verdict and its strength depend on."""
        return Result(
            id=self.case.id,
            op=self.case.op,
            status=Status(self.status),
            reading=self.reading,
            level=self.level,
            dtype=next(iter(self.case.types.values())),
            reject=self.case.reject,
            rank=len(next(iter(self.case.shapes.values()))),
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        told = {"op": self.case.op, "id": self.case.id, **cases.told(self.case)}
        return told | {key: value for key, value in vars(self).items() if key != "case"}


@dataclass(frozen=True)
class RecordedBackend:
    """The backend: as it was named, what it says of itself, and what it is made of."""

    spec: str
    name: str
    version: str
    capabilities: Mapping[str, Any] | None
    pieces: tuple[Piece, ...]
    beside: tuple[Piece, ...]

    @property
    def digest(self) -> str:
        """What the seed depends on; see :func:`conformance.backends.pieces.digest`."""
        return pieces.digest(self.pieces)

    @property
    def bound(self) -> bool:
        """Whether the digest stands for all that computes."""
        return pieces.bound(self.pieces)

    @property
    def declared(self) -> Capabilities | None:
        """Its declaration. Raises BackendError for one that is none."""
        return None if self.capabilities is None else Capabilities.from_json(self.capabilities)

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "spec": self.spec,
            "name": self.name,
            "version": self.version,
            "digest": self.digest,
            "hashed": self.bound,
            "pieces": [list(vars(one).values()) for one in self.pieces],
            "beside": [list(vars(one).values()) for one in self.beside],
            "capabilities": self.capabilities,
        }


@dataclass(frozen=True)
class Record:
    """What a challenge found. ``secret`` and ``commitment`` are hexadecimal, ``suite`` is core or
    smoke; ``operators`` has the digest of each specification, ``killed`` of each operator how many
    mutants the vectors that passed kill, of how many.
    """

    commitment: str
    secret: str
    seed: int
    backend: RecordedBackend
    suite: str
    level: str
    precision: Mapping[str, str]
    operators: Mapping[str, str]
    cases: tuple[RecordedCase, ...] = field(repr=False)
    killed: Mapping[str, tuple[int, int]]
    strength: tuple[Measured, ...]
    versions: Mapping[str, str]
    environment: Mapping[str, Any] = field(repr=False)
    started: str
    tool: str = TOOL

    @property
    def digest(self) -> str:
        """SHA-256 of the vectors, whatever packs their files: of lines ``<content>  <op>/<id>``,
        sorted."""
        lines = sorted(f"{one.content}  {one.case.op}/{one.case.id}\n" for one in self.cases)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def conclusion(self) -> dict[str, Any]:
        """Verdict, sentence and claim, as they follow from the results and their strength."""
        if not self.backend.bound:
            who = f"{self.backend.name} {self.backend.version}"
            sentence = "No verdict: not all of what computes was hashed, so nobody knows what was."
            return {
                "verdict": None,
                "sentence": sentence,
                "claim": f"{who}: no claim (not hashed)",
            }
        results = [one.result for one in self.cases]
        selected = Counter(one.op for one in results)
        values = sum(one.reject is None for one in results)
        declared = self.backend.declared
        scope = RunScope(
            backend=f"{self.backend.name} {self.backend.version}",
            suite=self.suite,
            digests=(self.digest,),
            level=self.level,
            precision=self.precision,
            values=values,
            in_suite=values,
            whole=True,
            excluded=() if declared is None else declared.reasons(selected),
        )
        evidence = Evidence(() if self.suite in NO_CLAIM else self.strength, BAR)
        said = conclude(
            ResultCounts.of(selected, results), scope, interrupted=False, evidence=evidence
        )
        return {key: said[key] for key in ("verdict", "sentence", "claim")}

    def to_json(self) -> dict[str, Any]:
        """As JSON data, without the digest over itself."""
        return {
            "format": FORMAT,
            "tool": self.tool,
            "commitment": self.commitment,
            "secret": self.secret,
            "seed": self.seed,
            "backend": self.backend.to_json(),
            "suite": {"name": self.suite, "digest": self.digest},
            "level": self.level,
            "precision": dict(self.precision),
            "operators": dict(self.operators),
            **self.conclusion,
            "killed": {op: list(counts) for op, counts in self.killed.items()},
            "strength": [one.to_json() for one in self.strength],
            "versions": dict(self.versions),
            "environment": dict(self.environment),
            "started": self.started,
            "cases": [one.to_json() for one in self.cases],
        }


def dump(record: Record) -> bytes:
    """The record as the content of its file: its last key is the SHA-256 of the same file without
    that key.
    """
    return _sealed(record.to_json())


def _sealed(document: Mapping[str, Any]) -> bytes:
    sha256 = hashlib.sha256(strict_json.dumps(document)).hexdigest()
    return strict_json.dumps({**document, "sha256": sha256})


def read(path: Path) -> Record:
    """The record in a file. Raises SuiteError for what is none, is too large or was changed."""
    return parse(strict_json.content(path), str(path))


def parse(data: bytes, where: str) -> Record:
    """The record in the content of its file ``where``; see :func:`read`."""
    document = strict_json.loads(data, where)
    strict_json.check_format(document, where, FORMAT, TOOL)
    _check(document, where)
    body = {key: value for key, value in document.items() if key != "sha256"}
    if _sealed(body) != data:
        raise SuiteError(
            f"{where}: its SHA-256 is not that of its content in the canonical form", hint=CHANGED
        )
    try:
        found = _record(document, where)
        _ = found.backend.declared
        same = dump(found) == data
    except BackendError as error:
        raise SuiteError(f"{where}: {error.message}", hint=CHANGED) from error
    if not same:
        raise SuiteError(f"{where}: {_contradiction(found, document)}", hint=CHANGED)
    return found


def _contradiction(found: Record, document: Mapping[str, Any]) -> str:
    """What a record states otherwise than it follows from the rest."""
    follows = found.to_json()
    for key, stated in document.items():
        if key != "sha256" and stated != follows[key]:
            return f"{key!r} is not what follows from the rest of the record"
    return "its keys are not in the canonical order"


def _record(document: dict[str, Any], where: str) -> Record:
    backend = document["backend"]
    return Record(
        commitment=document["commitment"],
        secret=document["secret"],
        seed=document["seed"],
        backend=RecordedBackend(
            spec=backend["spec"],
            name=backend["name"],
            version=backend["version"],
            capabilities=backend["capabilities"],
            pieces=tuple(Piece(*one) for one in backend["pieces"]),
            beside=tuple(Piece(*one) for one in backend["beside"]),
        ),
        suite=document["suite"]["name"],
        level=document["level"],
        precision=parse_precision(document["precision"]),
        operators=document["operators"],
        cases=tuple(_cases(document, where)),
        killed={op: (killed, of) for op, (killed, of) in document["killed"].items()},
        strength=tuple(
            Measured(**{one.name: part[one.name] for one in fields(Measured) if one.name in part})
            for part in _strength(document)
        ),
        versions=document["versions"],
        environment=document["environment"],
        started=document["started"],
        tool=document["tool"],
    )


def _strength(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for part in document["strength"]:
        yield {**part, "state": State(part["state"])}


def _cases(document: Mapping[str, Any], where: str) -> Iterator[RecordedCase]:
    seen: set[tuple[str, str]] = set()
    for number, data in enumerate(document["cases"], start=1):
        told = Checked(data, f"{where}: case {number}", _CASE)
        op = told.text("op")
        case = cases.case_of(told, op)
        if told.text("id") != case.id:
            told.refuse(f"the id is {told.text('id')[:80]!r}, the case makes {case.id!r}")
        if op not in document["operators"] or (op, case.id) in seen:
            told.refuse("is of no operator of the record, or there twice")
        seen.add((op, case.id))
        yield RecordedCase(
            case=case,
            level=told.text("level"),
            content=told.text("content"),
            status=told.text("status"),
            reading=told.optional_text("reading"),
            outputs=told.text("outputs"),
        )


def _check(document: Any, where: str) -> None:
    """Raises SuiteError for what is not of the schema."""
    problem = load_schema("challenge/record.schema.json").first_problem(document)
    if problem is not None:
        raise SuiteError(f"{where}: {problem}", hint=CHANGED)
