"""The record of a challenge: JSON in one canonical form, with a digest over itself.

docs/challenge.md describes it. A record from outside is read as strict JSON of bounded size, then
checked against its schema, then against its own digest and form. Its content is verified by
:mod:`conformance.challenge.verify_record`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance import TOOL
from conformance.backends import components
from conformance.backends.capabilities import Capabilities
from conformance.backends.components import Component
from conformance.errors import BackendError, SuiteError
from conformance.grade.precision import parse_precision
from conformance.json_schema import load_schema
from conformance.model import Case, Result, Status
from conformance.run.claim_text import RunScope, conclude
from conformance.strength import DEFAULT_MIN_STRENGTH, PartitionStrength, RunStrength
from conformance.suite import strict_json
from conformance.suite.recorded_cases import CASE_KEYS, case_from_json, case_to_json
from conformance.suite.strict_json import JsonObject as Checked
from conformance.suite.strict_json import read_bytes
from conformance.verdict import NO_CLAIM, ResultCounts

FORMAT = 1
CHANGED = "the record was changed, or another program wrote it; ask for the original"

_CASE = ("op", "id", *CASE_KEYS, "level", "content", "status", "reading", "outputs")


@dataclass(frozen=True)
class ChallengeCase:
    """A case of the list and its result.

    Attributes:
        content: the digest of the vector, inputs and expected values included, whatever packs it.
        outputs: the digest of the response
            (:func:`conformance.challenge.digests.outcome_digest`), empty if it was not tested.
    """

    case: Case
    level: str
    content: str
    status: str
    reading: str | None
    outputs: str

    @property
    def result(self) -> Result:
        """The part of its result that verdict and strength depend on."""
        return Result(
            id=self.case.id,
            op=self.case.op,
            status=Status(self.status),
            reading=self.reading,
            level=self.level,
            dtype=self.case.dtype,
            reject=self.case.reject,
            rank=self.case.rank,
        )

    def to_json(self) -> dict[str, Any]:
        """Serialise the case."""
        identity = {"op": self.case.op, "id": self.case.id, **case_to_json(self.case)}
        return identity | {key: value for key, value in vars(self).items() if key != "case"}


@dataclass(frozen=True)
class ChallengeBackend:
    """The tested backend: its given name, what it declares, and its pieces."""

    spec: str
    name: str
    version: str
    capabilities: Mapping[str, Any] | None
    pieces: tuple[Component, ...]
    beside: tuple[Component, ...]

    @property
    def digest(self) -> str:
        """The digest that the seed depends on."""
        return components.composition_digest(self.pieces)

    @property
    def bound(self) -> bool:
        """True if the digest stands for all that computes."""
        return components.is_fully_hashed(self.pieces)

    @property
    def declared(self) -> Capabilities | None:
        """The declared capabilities.

        Raises:
            BackendError: the record holds something else.
        """
        return None if self.capabilities is None else Capabilities.from_json(self.capabilities)

    def to_json(self) -> dict[str, Any]:
        """Serialise the backend."""
        return {
            "spec": self.spec,
            "name": self.name,
            "version": self.version,
            "digest": self.digest,
            "hashed": self.bound,
            "pieces": [list(vars(piece).values()) for piece in self.pieces],
            "beside": [list(vars(piece).values()) for piece in self.beside],
            "capabilities": self.capabilities,
        }


@dataclass(frozen=True)
class ChallengeRecord:
    """The record of a challenge.

    Attributes:
        secret: hexadecimal, like ``commitment``.
        suite: core or smoke.
        operators: the digest of each specification.
        killed: by operator, the number of mutants that passed vectors kill, and of how many.
    """

    commitment: str
    secret: str
    seed: int
    backend: ChallengeBackend
    suite: str
    level: str
    precision: Mapping[str, str]
    operators: Mapping[str, str]
    cases: tuple[ChallengeCase, ...] = field(repr=False)
    killed: Mapping[str, tuple[int, int]]
    strength: tuple[PartitionStrength, ...]
    versions: Mapping[str, str]
    environment: Mapping[str, Any] = field(repr=False)
    started: str
    tool: str = TOOL

    @property
    def digest(self) -> str:
        """SHA-256 of the vectors, whatever packs their files.

        It is that of lines ``<content>  <op>/<id>``, sorted.
        """
        lines = sorted(f"{case.content}  {case.case.op}/{case.case.id}\n" for case in self.cases)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def conclusion(self) -> dict[str, Any]:
        """Verdict, sentence and claim, computed from results and strength."""
        if not self.backend.bound:
            name = f"{self.backend.name} {self.backend.version}"
            sentence = "No verdict: not all of what computes was hashed, so nobody knows what was."
            return {
                "verdict": None,
                "sentence": sentence,
                "claim": f"{name}: no claim (not hashed)",
            }
        results = [case.result for case in self.cases]
        selected = Counter(result.op for result in results)
        values = sum(result.reject is None for result in results)
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
        evidence = RunStrength(
            () if self.suite in NO_CLAIM else self.strength, DEFAULT_MIN_STRENGTH
        )
        statement = conclude(
            ResultCounts.of(selected, results), scope, interrupted=False, evidence=evidence
        )
        return {key: statement[key] for key in ("verdict", "sentence", "claim")}

    def to_json(self) -> dict[str, Any]:
        """Serialise the record, without the digest over itself."""
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
            "strength": [item.to_json() for item in self.strength],
            "versions": dict(self.versions),
            "environment": dict(self.environment),
            "started": self.started,
            "cases": [item.to_json() for item in self.cases],
        }


def encode_record(record: ChallengeRecord) -> bytes:
    """Encode a record; its last key is the SHA-256 of the file without that key."""
    return _sealed(record.to_json())


def _sealed(document: Mapping[str, Any]) -> bytes:
    sha256 = hashlib.sha256(strict_json.dumps(document)).hexdigest()
    return strict_json.dumps({**document, "sha256": sha256})


def read_record(path: Path) -> ChallengeRecord:
    """Read a record from a file.

    Raises:
        SuiteError: it is none, too large, or was changed.
    """
    return parse_record(read_bytes(path), str(path))


def parse_record(data: bytes, where: str) -> ChallengeRecord:
    """Parse the content of the file ``where``; see :func:`read_record`."""
    document = strict_json.loads(data, where)
    strict_json.check_format(document, where, FORMAT, TOOL)
    _check(document, where)
    body = {key: value for key, value in document.items() if key != "sha256"}
    if _sealed(body) != data:
        raise SuiteError(
            f"{where}: its SHA-256 is not that of its content in the canonical form", hint=CHANGED
        )
    try:
        record = _from_document(document, where)
        _ = record.backend.declared
        same = encode_record(record) == data
    except BackendError as error:
        raise SuiteError(f"{where}: {error.message}", hint=CHANGED) from error
    if not same:
        raise SuiteError(f"{where}: {_contradiction(record, document)}", hint=CHANGED)
    return record


def _contradiction(record: ChallengeRecord, document: Mapping[str, Any]) -> str:
    """Describe what a record states that does not follow from the rest."""
    computed = record.to_json()
    for key, stated in document.items():
        if key != "sha256" and stated != computed[key]:
            return f"{key!r} is not what follows from the rest of the record"
    return "its keys are not in the canonical order"


def _from_document(document: dict[str, Any], where: str) -> ChallengeRecord:
    backend = document["backend"]
    return ChallengeRecord(
        commitment=document["commitment"],
        secret=document["secret"],
        seed=document["seed"],
        backend=ChallengeBackend(
            spec=backend["spec"],
            name=backend["name"],
            version=backend["version"],
            capabilities=backend["capabilities"],
            pieces=tuple(Component(*piece) for piece in backend["pieces"]),
            beside=tuple(Component(*piece) for piece in backend["beside"]),
        ),
        suite=document["suite"]["name"],
        level=document["level"],
        precision=parse_precision(document["precision"]),
        operators=document["operators"],
        cases=tuple(_cases(document, where)),
        killed={op: (kills, total) for op, (kills, total) in document["killed"].items()},
        strength=tuple(map(PartitionStrength.from_json, document["strength"])),
        versions=document["versions"],
        environment=document["environment"],
        started=document["started"],
        tool=document["tool"],
    )


def _cases(document: Mapping[str, Any], where: str) -> Iterator[ChallengeCase]:
    keys: set[tuple[str, str]] = set()
    for number, data in enumerate(document["cases"], start=1):
        entry = Checked(data, f"{where}: case {number}", _CASE)
        op = entry.text("op")
        case = case_from_json(data, op, entry.where)
        if entry.text("id") != case.id:
            entry.refuse(f"the id is {entry.text('id')[:80]!r}, the case makes {case.id!r}")
        if op not in document["operators"] or (op, case.id) in keys:
            entry.refuse("is of no operator of the record, or there twice")
        keys.add((op, case.id))
        yield ChallengeCase(
            case=case,
            level=entry.text("level"),
            content=entry.text("content"),
            status=entry.text("status"),
            reading=entry.optional_text("reading"),
            outputs=entry.text("outputs"),
        )


def _check(document: Any, where: str) -> None:
    """Raise SuiteError for a document that does not keep to the schema."""
    problem = load_schema("challenge/record.schema.json").first_problem(document)
    if problem is not None:
        raise SuiteError(f"{where}: {problem}", hint=CHANGED)
