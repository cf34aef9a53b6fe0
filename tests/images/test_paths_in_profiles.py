"""Bugs in special paths, put to backends of f32 images that have a restriction besides."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import in_profiles
import pytest
from in_profiles import BUGS, UNSEEN

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            BUGS.keys() - UNSEEN.keys(),
            "of {of} pairs of a bug and a profile in which it can show {refused} are",
        ),
        (UNSEEN.keys(), "of {of} pairs with a profile {refused} are"),
    ],
    ids=["seen", "unseen"],
)
def test_as_many_are_refused_as_the_document_says(names: Collection[str], sentence: str) -> None:
    refused = {(name, at) for name in names for at, seen in in_profiles.refused(name) if seen}
    missed = {at for at in in_profiles.missed() if at[0] in names} - refused
    document = " ".join((ROOT / "docs" / "strength.md").read_text("utf-8").split())
    said = sentence.format(of=len(refused | missed), refused=len(refused))
    assert said in document, sorted(missed)
    assert len(missed) * 20 <= len(refused | missed), sorted(missed)


def test_what_is_called_missed_shows() -> None:
    shown = {at: in_profiles.wrong(at[0], one) for at, one in in_profiles.missed().items()}
    assert shown
    assert all(shown.values()), shown
