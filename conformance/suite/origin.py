"""The specification from which vectors of an operator were made: carried or shipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from conformance.spec import mutants, yaml_writer
from conformance.spec.catalogue import Mutant
from conformance.spec.digest import spec_digest
from conformance.spec.model import OpSpec
from conformance.suite.strict_json import SHA256, JsonObject

FOLDER = "specifications"

_SHIPPED, _CARRIED = ("digest",), ("specification", "faults")


@dataclass(frozen=True)
class Origin:
    """What the vectors of an operator were made from, by digests in hexadecimal.

    Either ``digest`` is that of the shipped specification
    (:func:`conformance.spec.digest.spec_digest`), whose mutants are those of the shipped catalogue;
    or the suite carries two files, and ``specification`` and ``faults`` are their SHA-256.
    """

    digest: str = ""
    specification: str = ""
    faults: str = ""

    @property
    def carried(self) -> bool:
        return not self.digest

    def files(self, op: str) -> Mapping[str, str]:
        """Return the SHA-256 of the carried files, by path in the suite's folder, with ``/``."""
        if not self.carried:
            return {}
        return {specification_file(op): self.specification, faults_file(op): self.faults}

    def to_json(self) -> dict[str, str]:
        """Return JSON data."""
        return {key: getattr(self, key) for key in (_CARRIED if self.carried else _SHIPPED)}


def specification_file(op: str) -> str:
    """Return the path at which a suite carries the specification of an operator."""
    return f"{FOLDER}/{op}.yaml"


def faults_file(op: str) -> str:
    """Return the path at which a suite carries the mutants of an operator."""
    return f"{FOLDER}/faults/{op}.yaml"


def parse_origin(data: object, where: str) -> Origin:
    """Parse an origin.

    Raises SuiteError for what is not of its form.
    """
    keys = _SHIPPED if isinstance(data, dict) and "digest" in data else _CARRIED
    record = JsonObject(data, where, keys)
    for key in keys:
        if not SHA256.fullmatch(record.text(key)):
            record.refuse(f"{key!r} is {record.text(key)[:80]!r}, which is no SHA-256")
    return Origin(**{key: record.text(key) for key in keys})


@dataclass(frozen=True)
class OriginFiles:
    """The origin of one operator's vectors, with the files that a suite carries for it.

    ``files`` are contents by path in the suite's folder.
    """

    op: str
    origin: Origin
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def shipped_origin(spec: OpSpec) -> OriginFiles:
    """Return the origin of a shipped specification, which the suite only names."""
    return OriginFiles(spec.op, Origin(digest=spec_digest(spec)))


def carried_origin(spec: OpSpec, faults: Sequence[Mutant]) -> OriginFiles:
    """Write a specification, with all that it extends, and its mutants as files."""
    about = f"{spec.op}, as the vectors of this suite were made from it"
    texts = {
        specification_file(spec.op): yaml_writer.write(
            spec.source, f"The specification of {about}."
        ),
        faults_file(spec.op): yaml_writer.write(
            mutants.mutants_to_data(spec, faults), f"The mutants of {about}."
        ),
    }
    files = {path: text.encode() for path, text in texts.items()}
    specification, of_mutants = (sha256(content).hexdigest() for content in files.values())
    return OriginFiles(spec.op, Origin(specification=specification, faults=of_mutants), files)
