"""Proofs of an operator: which coverage targets cannot hold together, and why.

A proof belongs to the specification, not to a seed, so it is kept beside it: one file an operator,
``specs/proofs/<op>.json``, or ``<name>.proofs.json`` beside a specification of one's own; keyed by
the specification's digest. The format: docs/case-format.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from conformance import TOOL, codec
from conformance.codec import Record
from conformance.model import Case
from conformance.resources import directory
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.spec.strata import is_stratum, strata_of
from conformance.suite.recorded_cases import CaseFields, case_to_json
from conformance.suite.strict_json import check_format, read_bytes, refusing
from conformance.suite.unreachable import (
    InfeasibleData,
    InfeasiblePairs,
    infeasible_from_data,
    infeasible_to_data,
)

FORMAT = 1
_RANK = "rank "


class ProofsFile(Record, frozen=True, omit_defaults=True):
    """A file of proofs, but for the pairs: these have a key for each rank."""

    format: int
    op: str
    specification: str
    strata: str = ""
    witnesses: tuple[CaseFields, ...] = ()


@dataclass(frozen=True)
class Proofs:
    """The proofs of one operator: they hold for the specification of this digest.

    ``witnesses`` are cases that show pairs which no recorded case of the operator shows. What is
    proven of strata holds for those of the digest ``strata``, which is empty if nothing is.
    """

    op: str
    specification: str
    infeasible: InfeasiblePairs = field(repr=False)
    witnesses: tuple[Case, ...] = field(default=(), repr=False)
    strata: str = ""


def shipped_proofs_file(op: str) -> Path:
    """Return the path of a shipped operator's proofs, which may not exist."""
    return directory("specs") / "proofs" / f"{op}.json"


def proofs_file(spec: OpSpec) -> Path:
    """Return the path at which the proofs of a specification belong."""
    file = Path(spec.file)
    if file.resolve().parent == directory("specs").resolve():
        return shipped_proofs_file(spec.op)
    return file.with_suffix(".proofs.json")


def load_proofs(spec: OpSpec) -> Proofs | None:
    """Read the stored proofs of a specification as it is; None if there are none.

    Raises SuiteError for a file that is damaged.
    """
    for file in dict.fromkeys((proofs_file(spec), shipped_proofs_file(spec.op))):
        proofs = read_proofs(file) if file.is_file() else None
        if proofs is not None and proofs.specification == spec_digest(spec):
            return proofs
    return None


def proven_infeasible(spec: OpSpec) -> InfeasiblePairs:
    """Return the pairs that are proven infeasible.

    Empty if the specification has changed since; without strata if these have.
    """
    proofs = load_proofs(spec)
    if proofs is None:
        return {}
    if proofs.strata == strata_of(spec).meaning:
        return proofs.infeasible
    return {
        rank: {pair: reasons for pair, reasons in pairs.items() if not any(map(is_stratum, pair))}
        for rank, pairs in proofs.infeasible.items()
    }


def complete_proofs(spec: OpSpec) -> Proofs | None:
    """Return the proofs of a specification and its strata; None if any are missing."""
    proofs = load_proofs(spec)
    return proofs if proofs is not None and proofs.strata == strata_of(spec).meaning else None


def encode_proofs(proofs: Proofs) -> bytes:
    """Encode a file of proofs: a line per rank and first target, and per witness."""
    head = ProofsFile(FORMAT, proofs.op, proofs.specification, proofs.strata)
    ranks = infeasible_to_data(proofs.infeasible)
    document = codec.to_json(head) | {f"{_RANK}{rank}": pairs for rank, pairs in ranks.items()}
    if proofs.witnesses:
        document["witnesses"] = [case_to_json(case) for case in proofs.witnesses]
    return codec.encode_lines(document)


def read_proofs(path: Path) -> Proofs:
    """Read a file of proofs.

    Raises SuiteError for what is not of the format.
    """
    return parse_proofs(read_bytes(path), str(path))


def parse_proofs(data: bytes, where: str) -> Proofs:
    """Parse the content of a file; see :func:`read_proofs`."""
    with refusing(where):
        document = codec.parse(data)
    check_format(document, where, FORMAT, TOOL)
    ranks = {key: document.pop(key) for key in [*document] if key.startswith(_RANK)}
    by_rank = {key.removeprefix(_RANK): pairs for key, pairs in ranks.items()}
    with refusing(where):
        file = codec.convert(document, ProofsFile)
        return Proofs(
            op=file.op,
            specification=file.specification,
            infeasible=infeasible_from_data(codec.convert(by_rank, InfeasibleData)),
            witnesses=tuple(fields.case(file.op) for fields in file.witnesses),
            strata=file.strata,
        )
