"""The diagnosis of a finding as a typed record, with its evidence in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from msgspec import Meta, field

from conformance.codec import Count, OpenRecord, convert
from conformance.model import Finding
from conformance.safe_text import number_of

MAX_ADDRESS = 2000
"""Characters of an address that is linked at most."""

Few = Meta(max_length=200)
FewTexts = Annotated[tuple[str, ...], Few]


@dataclass(frozen=True)
class Thread:
    """A public thread about a bug; ``link`` where it may be followed, which is http or https."""

    text: str
    link: bool


class LoggedMutant(OpenRecord, frozen=True):
    """A mutant of the catalogue that the backend has; ``look`` says where, and may be empty.

    ``cause`` are words that mutants of one origin share, empty where there are none; ``fixed`` are
    runtimes that had it, each with the version in which it was fixed.
    """

    id: str = ""
    kind: str = ""
    says: str = ""
    addresses: FewTexts = field(name="threads", default=())
    look: str = ""
    cause: str = ""
    fixed: Annotated[dict[str, str], Few] = field(default_factory=dict)

    @property
    def threads(self) -> tuple[Thread, ...]:
        """Public threads about the bug."""
        return tuple(Thread(text, is_linkable(text)) for text in self.addresses)


class AlternativeMutants(OpenRecord, frozen=True):
    """Other mutants, by id, that the vectors do not distinguish from the diagnosed one."""

    ids: FewTexts = ()
    says: FewTexts = ()


class LoggedCondition(OpenRecord, frozen=True):
    """What holds, or does not, for the vectors that fail."""

    name: str
    holds: bool
    about: str = ""


class AgreementCounts(OpenRecord, frozen=True):
    """With how many vectors the mutants agree."""

    equal: Count
    failing: Count
    passing: Count
    consistent: Count
    bitwise: Count | None = None

    def __str__(self) -> str:
        bits = "" if self.bitwise is None else f" ({self.bitwise:,} bit for bit)"
        return (
            f"Equal on {self.equal:,} of {self.failing:,} failing vectors{bits}, consistent with "
            f"{self.consistent:,} of {self.passing:,} passing."
        )


class RegionCounts(OpenRecord, frozen=True):
    """The region of all wrong elements, and how many vectors have elements there."""

    where: str
    vectors: Count
    elements: Count
    passing: Count
    of_passing: Count

    def __str__(self) -> str:
        return (
            f"True of all {number_of(self.elements, 'wrong element')} of "
            f"{number_of(self.vectors, 'vector')}. Of the same types and ranks, {self.passing:,} "
            f"of {self.of_passing:,} passing vectors have elements there."
        )


class SeparationCounts(OpenRecord, frozen=True):
    """How many vectors meet the conditions."""

    failing: Count
    of_failing: Count
    passing: Count
    of_passing: Count

    def __str__(self) -> str:
        return (
            f"True of {self.failing:,} of {self.of_failing:,} failing vectors, and of "
            f"{self.passing:,} of {self.of_passing:,} passing."
        )


class LoggedDiagnosis(OpenRecord, frozen=True):
    """What is wrong, in words; ``advice`` says how to find out more.

    ``by_chance`` where vectors that fail at random might have such conditions in common.
    """

    sentence: str = ""
    faults: Annotated[tuple[LoggedMutant, ...], Few] = ()
    alternatives: Annotated[tuple[AlternativeMutants, ...], Few] = ()
    agree: AgreementCounts | None = None
    within: Annotated[dict[str, Annotated[tuple[str | int, ...], Few]], Few] = field(
        name="scope", default_factory=dict
    )
    conditions: Annotated[tuple[LoggedCondition, ...], Few] = ()
    separates: SeparationCounts | None = None
    advice: str = ""
    place: RegionCounts | None = None
    by_chance: bool = False

    @property
    def where(self) -> str:
        """The region of all wrong elements, empty where they share none."""
        return self.place.where if self.place else ""

    @property
    def evidence(self) -> tuple[str, ...]:
        """Sentences that say how sure the diagnosis is."""
        return tuple(map(str, filter(None, (self.agree, self.place, self.separates))))

    @property
    def scope(self) -> tuple[str, ...]:
        """Where the backend has the bug at all: ``dtype f16, bf16``."""
        return tuple(
            f"{name} {', '.join(map(str, values))}"
            for name, values in self.within.items()
            if values
        )

    @property
    def more(self) -> str:
        """How sure that is, and how to find out more."""
        return " ".join(filter(None, (*self.evidence, self.advice)))

    @property
    def text(self) -> str:
        """What is wrong and how sure that is, in a few sentences."""
        return " ".join(filter(None, (self.sentence, self.more)))


def parse_diagnosis(data: Mapping[str, Any] | None) -> LoggedDiagnosis | None:
    """Parse the diagnosis of a finding; None where it says nothing.

    Raises ValueError, with the path, where it is malformed; what a reader gives is not.
    """
    if data is None:
        return None
    diagnosis = convert(data, LoggedDiagnosis)
    parts = (diagnosis.sentence, diagnosis.faults, diagnosis.alternatives, diagnosis.conditions)
    return diagnosis if any(parts) or diagnosis.evidence else None


def diagnosis_text(finding: Finding) -> str:
    """Return where a finding comes from, in a few sentences; empty if unknown."""
    diagnosis = parse_diagnosis(finding.diagnosis)
    return "" if diagnosis is None else diagnosis.text


def is_linkable(address: str) -> bool:
    """Return whether a page may link to an address: http or https, and nothing hidden."""
    if len(address) > MAX_ADDRESS or not address.isprintable():
        return False
    if any(sign in address for sign in " \\\"'<>`"):
        return False
    try:
        parts = urlsplit(address)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        )
    except ValueError:
        return False
