"""The specification from which vectors of an operator were made: carried or shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from conformance.codec import Record
from conformance.spec import mutants, yaml_writer
from conformance.spec.catalogue import Mutant
from conformance.spec.model import OpSpec
from conformance.specification import Specification, spec_digest
from conformance.suite.strict_json import Sha256

FOLDER = "specifications"


class Origin(Record, frozen=True, omit_defaults=True):
    """What the vectors of an operator were made from, by digests in hexadecimal.

    Either ``digest`` is that of the shipped specification
    (:func:`conformance.spec.digest.spec_digest`), whose mutants are those of the shipped catalogue;
    or the suite carries files, and ``specification`` and ``faults`` are their SHA-256. The mutants
    of a definition are made from its text, so it has no ``faults``.
    """

    digest: Sha256 = ""
    specification: Sha256 = ""
    faults: Sha256 = ""

    def __post_init__(self) -> None:
        """Raise ValueError for another combination of digests."""
        if bool(self.digest) == bool(self.specification) or (self.digest and self.faults):
            raise ValueError("either 'digest' belongs there, or 'specification' and 'faults'")

    @property
    def carried(self) -> bool:
        return not self.digest

    def files(self, op: str) -> Mapping[str, str]:
        """Return the SHA-256 of the carried files, by path in the suite's folder, with ``/``."""
        if not self.carried:
            return {}
        files = {specification_file(op): self.specification}
        return files | {faults_file(op): self.faults} if self.faults else files


def specification_file(op: str) -> str:
    """Return the path at which a suite carries the specification of an operator."""
    return f"{FOLDER}/{op}.yaml"


def faults_file(op: str) -> str:
    """Return the path at which a suite carries the mutants of an operator."""
    return f"{FOLDER}/faults/{op}.yaml"


@dataclass(frozen=True)
class OriginFiles:
    """The origin of one operator's vectors, with the files that a suite carries for it.

    ``files`` are contents by path in the suite's folder.
    """

    op: str
    origin: Origin
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def shipped_origin(spec: Specification) -> OriginFiles:
    """Return the origin of a shipped specification, which the suite only names."""
    return OriginFiles(spec.op, Origin(digest=spec_digest(spec)))


def carried_origin(spec: Specification, faults: Sequence[Mutant]) -> OriginFiles:
    """Write a specification, with all that it extends, and its mutants as files.

    Those of a definition are made from its text, and not written.
    """
    about = f"{spec.op}, as the vectors of this suite were made from it"
    stated = spec.source if isinstance(spec, OpSpec) else spec.data
    texts = {
        specification_file(spec.op): yaml_writer.write(stated, f"The specification of {about}.")
    }
    if isinstance(spec, OpSpec):
        texts[faults_file(spec.op)] = yaml_writer.write(
            mutants.mutants_to_data(spec, faults), f"The mutants of {about}."
        )
    files = {path: text.encode() for path, text in texts.items()}
    digests = [sha256(content).hexdigest() for content in files.values()]
    return OriginFiles(spec.op, Origin("", *digests), files)
