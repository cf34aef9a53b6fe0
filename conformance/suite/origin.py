"""The specification from which vectors of an operator were made: carried or shipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from conformance.codec import Record
from conformance.core.operator import Operator
from conformance.spec import yaml_writer
from conformance.specification import spec_digest
from conformance.suite.strict_json import Sha256

FOLDER = "specifications"


class Origin(Record, frozen=True, omit_defaults=True):
    """What the vectors of an operator were made from, by a digest in hexadecimal.

    Either ``digest`` is that of the shipped specification
    (:func:`conformance.specification.spec_digest`), or the suite carries a file, and
    ``specification`` is its SHA-256.
    """

    digest: Sha256 = ""
    specification: Sha256 = ""

    def __post_init__(self) -> None:
        """Raise ValueError for both digests, and for none."""
        if bool(self.digest) == bool(self.specification):
            raise ValueError("either 'digest' belongs there, or 'specification'")

    @property
    def carried(self) -> bool:
        return not self.digest

    def files(self, op: str) -> Mapping[str, str]:
        """Return the SHA-256 of the carried files, by path in the suite's folder, with ``/``."""
        return {specification_file(op): self.specification} if self.carried else {}


def specification_file(op: str) -> str:
    """Return the path at which a suite carries the specification of an operator."""
    return f"{FOLDER}/{op}.yaml"


@dataclass(frozen=True)
class OriginFiles:
    """The origin of one operator's vectors, with the files that a suite carries for it.

    ``files`` are contents by path in the suite's folder.
    """

    op: str
    origin: Origin
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def shipped_origin(spec: Operator) -> OriginFiles:
    """Return the origin of a shipped specification, which the suite only names."""
    return OriginFiles(spec.op, Origin(digest=spec_digest(spec)))


def carried_origin(spec: Operator) -> OriginFiles:
    """Write a specification, with all that it extends, as a file."""
    about = f"The specification of {spec.op}, as the vectors of this suite were made from it."
    content = yaml_writer.write(spec.data, about).encode()
    origin = Origin(specification=sha256(content).hexdigest())
    return OriginFiles(spec.op, origin, {specification_file(spec.op): content})
