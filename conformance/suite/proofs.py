"""What is proven of an operator: which edges no case shows together, and why.

A proof belongs to the specification, not to a seed, so it is kept beside it: one file an operator,
``specs/proofs/<op>.json``, keyed by the specification's digest. The format: docs/case-format.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from conformance import __version__
from conformance.data import directory
from conformance.spec.digest import digest
from conformance.spec.model import OpSpec
from conformance.suite import strict_json
from conformance.suite.strength import Infeasible, grouped, infeasible_of
from conformance.suite.strict_json import Record

FORMAT = 1
TOOL = f"opconform {__version__}"


@dataclass(frozen=True)
class Proofs:
    """The proofs of one operator: they hold for the specification of this digest."""

    op: str
    specification: str
    infeasible: Infeasible = field(repr=False)


def file_of(op: str) -> Path:
    """Where the proofs of a shipped operator lie, if there are any."""
    return directory("specs") / "proofs" / f"{op}.json"


def of(spec: OpSpec) -> Infeasible:
    """What is proven of a specification; nothing of one that is not as it was shipped."""
    file = file_of(spec.op)
    known = read(file) if file.is_file() else None
    return known.infeasible if known and known.specification == digest(spec) else {}


def dump(proofs: Proofs) -> bytes:
    """The content of a file of proofs: one line a first edge of each rank."""
    return strict_json.dumps(
        {"format": FORMAT, "op": proofs.op, "specification": proofs.specification}
        | {f"rank {rank}": found for rank, found in grouped(proofs.infeasible).items()}
    )


def read(path: Path) -> Proofs:
    """The proofs in a file. Raises SuiteError for what is not of the format."""
    return parse(strict_json.content(path), str(path))


def parse(data: bytes, where: str) -> Proofs:
    """The proofs in the content of a file; see :func:`read`."""
    document = strict_json.loads(data, where)
    strict_json.check_format(document, where, FORMAT, TOOL)
    ranks = {key: found for key, found in document.items() if key.startswith("rank ")}
    record = Record(document, where, ("format", "op", "specification", *ranks))
    by_rank = {key.removeprefix("rank "): found for key, found in ranks.items()}
    return Proofs(
        op=record.text("op"),
        specification=record.text("specification"),
        infeasible=infeasible_of(Record({"infeasible": by_rank}, where, ("infeasible",))),
    )
