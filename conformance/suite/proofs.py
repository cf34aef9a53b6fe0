"""Proofs of an operator: which coverage targets cannot hold together, and why.

A proof belongs to the specification, not to a seed, so it is kept beside it: one file an operator,
``specs/proofs/<op>.json``, or ``<name>.proofs.json`` beside a specification of one's own; keyed by
the specification's digest. The format: docs/case-format.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from conformance import TOOL
from conformance.model import Case
from conformance.resources import directory
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.spec.strata import is_stratum, strata_of
from conformance.suite import cases, strict_json
from conformance.suite.strength import Infeasible, grouped, infeasible_of
from conformance.suite.strict_json import JsonObject

FORMAT = 1


@dataclass(frozen=True)
class Proofs:
    """The proofs of one operator: they hold for the specification of this digest.

    ``witnesses`` are cases that show pairs which no recorded case of the operator shows. What is
    proven of strata holds for those of the digest ``strata``, which is empty if nothing is.
    """

    op: str
    specification: str
    infeasible: Infeasible = field(repr=False)
    witnesses: tuple[Case, ...] = field(default=(), repr=False)
    strata: str = ""


def shipped(op: str) -> Path:
    """Where the proofs of a shipped operator lie, if there are any."""
    return directory("specs") / "proofs" / f"{op}.json"


def file_of(spec: OpSpec) -> Path:
    """Where the proofs of a specification belong."""
    own = Path(spec.file)
    if own.resolve().parent == directory("specs").resolve():
        return shipped(spec.op)
    return own.with_suffix(".proofs.json")


def known(spec: OpSpec) -> Proofs | None:
    """The proofs that are kept of a specification as it is; None where there are none.

    Raises SuiteError for a file that is damaged.
    """
    for file in dict.fromkeys((file_of(spec), shipped(spec.op))):
        found = read(file) if file.is_file() else None
        if found is not None and found.specification == spec_digest(spec):
            return found
    return None


def of(spec: OpSpec) -> Infeasible:
    """What is proven of a specification; nothing of one that has changed since, and nothing of
    strata that have."""
    found = known(spec)
    if found is None:
        return {}
    if found.strata == strata_of(spec).meaning:
        return found.infeasible
    return {
        rank: {pair: why for pair, why in pairs.items() if not any(map(is_stratum, pair))}
        for rank, pairs in found.infeasible.items()
    }


def current(spec: OpSpec) -> Proofs | None:
    """The proofs of a specification and of its strata as they are; None if any are missing."""
    found = known(spec)
    return found if found is not None and found.strata == strata_of(spec).meaning else None


def dump(proofs: Proofs) -> bytes:
    """The content of a file of proofs: one line per first target of each rank, one per witness."""
    document = {"format": FORMAT, "op": proofs.op, "specification": proofs.specification}
    if proofs.strata:
        document["strata"] = proofs.strata
    document |= {f"rank {rank}": found for rank, found in grouped(proofs.infeasible).items()}
    if proofs.witnesses:
        document["witnesses"] = [cases.told(case) for case in proofs.witnesses]
    return strict_json.dumps(document)


def read(path: Path) -> Proofs:
    """The proofs in a file. Raises SuiteError for what is not of the format."""
    return parse(strict_json.content(path), str(path))


def parse(data: bytes, where: str) -> Proofs:
    """The proofs in the content of a file; see :func:`read`."""
    document = strict_json.loads(data, where)
    strict_json.check_format(document, where, FORMAT, TOOL)
    ranks = {key: found for key, found in document.items() if key.startswith("rank ")}
    document.setdefault("witnesses", [])
    keys = ("format", "op", "specification", *ranks, "witnesses")
    record = JsonObject(document, where, keys, ("strata",))
    by_rank = {key.removeprefix("rank "): found for key, found in ranks.items()}
    op = record.text("op")
    return Proofs(
        op=op,
        specification=record.text("specification"),
        infeasible=infeasible_of(JsonObject({"infeasible": by_rank}, where, ("infeasible",))),
        witnesses=tuple(
            cases.case_of(JsonObject(one, f"{where}: witness {number}", cases.CASE), op)
            for number, one in enumerate(record.items("witnesses"), start=1)
        ),
        strata=record.text("strata") if record.has("strata") else "",
    )
