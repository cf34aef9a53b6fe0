"""Reads the diagnosis of a finding from an untrusted log: what is malformed is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from conformance.model import Finding
from conformance.safe_text import number_of

MAX_LISTED = 50
"""Mutants, threads, alternatives and conditions that are shown at most, of each."""


MAX_ADDRESS = 2000
"""Characters of an address that is linked at most."""


@dataclass(frozen=True)
class Thread:
    """A public thread about a bug; ``link`` where it may be followed, which is http or https."""

    text: str
    link: bool


@dataclass(frozen=True)
class NamedFault:
    """A fault of the catalogue that the backend has; ``look`` says where, and may be empty.

    ``cause`` are words that mutants of one origin share, empty where there are none; ``fixed`` are
    runtimes that had it, each with the version in which it was fixed.
    """

    id: str
    kind: str
    says: str
    threads: tuple[Thread, ...]
    look: str
    cause: str = ""
    fixed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Alternative:
    """Other mutants, by id, that the vectors do not distinguish from the diagnosed one."""

    ids: tuple[str, ...]
    says: tuple[str, ...]


@dataclass(frozen=True)
class ToldCondition:
    """What holds, or does not, for the vectors that fail."""

    name: str
    holds: bool
    about: str


@dataclass(frozen=True)
class ToldDiagnosis:
    """What is wrong, in words. ``evidence`` are sentences that say how sure that is; ``advice``
    says how to find out more.

    ``where`` is the place of all wrong elements, empty where they share none. ``by_chance`` where
    vectors that fail at random might have such conditions in common.
    """

    sentence: str
    faults: tuple[NamedFault, ...]
    alternatives: tuple[Alternative, ...]
    evidence: tuple[str, ...]
    scope: tuple[str, ...]
    conditions: tuple[ToldCondition, ...]
    advice: str = ""
    where: str = ""
    by_chance: bool = False

    @property
    def more(self) -> str:
        """How sure that is, and how to find out more."""
        return " ".join(filter(None, (*self.evidence, self.advice)))

    @property
    def text(self) -> str:
        """What is wrong and how sure that is, in a few sentences."""
        return " ".join(filter(None, (self.sentence, self.more)))


def diagnosis(data: object) -> ToldDiagnosis | None:
    """The diagnosis that a finding has; None where it has none, or nothing of the form."""
    if not isinstance(data, Mapping):
        return None
    place = data["place"] if isinstance(data.get("place"), Mapping) else {}
    read = ToldDiagnosis(
        sentence=_text(data.get("sentence")),
        faults=tuple(map(_fault, _mappings(data.get("faults")))),
        alternatives=tuple(
            Alternative(_texts(item.get("ids")), _texts(item.get("says")))
            for item in _mappings(data.get("alternatives"))
        ),
        evidence=tuple(_evidence(data)),
        scope=tuple(_scope(data.get("scope"))),
        conditions=tuple(
            ToldCondition(_text(item.get("name")), item["holds"], _text(item.get("about")))
            for item in _mappings(data.get("conditions"))
            if isinstance(item.get("holds"), bool)
        ),
        advice=_text(data.get("advice")),
        where=_text(place.get("where")),
        by_chance=data.get("by_chance") is True,
    )
    told = read.sentence or read.faults or read.alternatives or read.evidence or read.conditions
    return read if told else None


def because(finding: Finding) -> str:
    """What a finding comes from, in a few sentences; empty where nothing can be said."""
    found = diagnosis(finding.diagnosis)
    return "" if found is None else found.text


def _fault(data: Mapping[str, Any]) -> NamedFault:
    return NamedFault(
        id=_text(data.get("id")),
        kind=_text(data.get("kind")),
        says=_text(data.get("says")),
        threads=tuple(Thread(text, followed(text)) for text in _texts(data.get("threads"))),
        look=_text(data.get("look")),
        cause=_text(data.get("cause")),
        fixed=tuple(_pairs(data.get("fixed"))),
    )


def followed(address: str) -> bool:
    """Whether a text is an address that a page may link to: http or https, and all of it seen."""
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


def _evidence(data: Mapping[str, Any]) -> Iterator[str]:
    """Sentences that say with how many vectors a mutant, a place or a condition agrees."""
    agree = _counts(data.get("agree"), "equal", "failing", "passing", "consistent")
    if agree:
        equal, failing, passing, consistent = agree
        bitwise = _counts(data["agree"], "bitwise")
        bits = f" ({bitwise[0]:,} bit for bit)" if bitwise else ""
        yield (
            f"Equal on {equal:,} of {failing:,} failing vectors{bits}, consistent with "
            f"{consistent:,} of {passing:,} passing."
        )
    place = _counts(data.get("place"), "vectors", "elements", "passing", "of_passing")
    if place:
        vectors, elements, passing, of_passing = place
        yield (
            f"True of all {number_of(elements, 'wrong element')} of "
            f"{number_of(vectors, 'vector')}. Of the same types and ranks, {passing:,} of "
            f"{of_passing:,} passing vectors have elements there."
        )
    separates = _counts(data.get("separates"), "failing", "of_failing", "passing", "of_passing")
    if separates:
        failing, of_failing, passing, of_passing = separates
        yield (
            f"True of {failing:,} of {of_failing:,} failing vectors, and of {passing:,} of "
            f"{of_passing:,} passing."
        )


def _scope(data: object) -> Iterator[str]:
    """Where the backend has the bug at all: ``dtype f16, bf16``."""
    for name, values in list(data.items())[:MAX_LISTED] if isinstance(data, Mapping) else ():
        if isinstance(values, list | tuple) and values:
            plain = [str(value) for value in values[:MAX_LISTED] if isinstance(value, str | int)]
            if plain:
                yield f"{name} {', '.join(plain)}"


def _counts(data: object, *names: str) -> Sequence[int] | None:
    """The counts of those names; None unless all are there."""
    if not isinstance(data, Mapping):
        return None
    found = [data.get(name) for name in names]
    counts = [n for n in found if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**53]
    return counts if len(counts) == len(names) else None


def _pairs(data: object) -> Iterator[tuple[str, str]]:
    """Names with a text each."""
    for name, text in list(data.items())[:MAX_LISTED] if isinstance(data, Mapping) else ():
        if isinstance(name, str) and isinstance(text, str):
            yield name, text


def _mappings(data: object) -> list[Mapping[str, Any]]:
    if not isinstance(data, list | tuple):
        return []
    return [item for item in data[:MAX_LISTED] if isinstance(item, Mapping)]


def _texts(data: object) -> tuple[str, ...]:
    if not isinstance(data, list | tuple):
        return ()
    return tuple(item for item in data[:MAX_LISTED] if isinstance(item, str))


def _text(data: object) -> str:
    return data if isinstance(data, str) else ""
