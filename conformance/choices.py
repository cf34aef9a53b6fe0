"""Names that a user may choose from, each with its words; quick to import."""

from __future__ import annotations

import enum
from collections.abc import Mapping

PRECISION_HELP = {
    "exact": "correctly rounded",
    "standard": "sums in any order, in f32 or wider (f64 for f64)",
    "native": "sums in the element type",
    "tiled": "sums over windows tile by tile, as by Winograd's algorithms",
}
PRECISIONS = tuple(PRECISION_HELP)
"""The precisions, the best first."""

LEVEL_HELP = {
    "must": "any allowed interpretation of the document passes",
    "should": "only the expected one",
}
LEVELS = tuple(LEVEL_HELP)


def sentences(help_texts: Mapping[str, str]) -> str:
    """Return choices and their words as sentences: ``a: this. b: that.``"""
    return " ".join(f"{name}: {text}." for name, text in help_texts.items())


class SuiteName(enum.StrEnum):
    """A name of a suite; ``no_claim`` says what it is if nothing can be claimed from it."""

    no_claim: str

    def __new__(cls, text: str, no_claim: str = "") -> SuiteName:
        """Make a member whose value is the text."""
        member = str.__new__(cls, text)
        member._value_, member.no_claim = text, no_claim
        return member

    CORE = "core"
    SMOKE = "smoke", "the smoke suite"
    LARGE = "large", "the large cases alone"
    DRAWN = "drawn", "a drawn suite, whose mutation score is not measured"
    FRESH = "fresh"
    """Fresh data, on which a kernel of unknown origin is graded."""
    FUZZ = "fuzz", "a suite of failures that a search found"
    COMPLEMENT = "complement"
    """What a suite lacked, and was added for some backend."""


SHIPPED_SUITES = (str(SuiteName.CORE), str(SuiteName.SMOKE))
