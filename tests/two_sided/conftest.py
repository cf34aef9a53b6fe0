"""The vectors that honest and dishonest backends are asked."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest
import tiers

from conformance.model import Vector
from conformance.suite.entries import Entry
from conformance.suite.store import Suite

sys.path.append(str(Path(__file__).parents[1] / "reference"))  # for ``second``


class Kept(Suite):
    """A suite that reads each vector once, however many backends are asked it."""

    def read(self, entry: Entry, *, strict: bool = False, answers: bool = True) -> Vector:
        known = self.__dict__.setdefault("known", {})
        if entry.id not in known:
            known[entry.id] = super().read(entry)
        return known[entry.id]


@pytest.fixture(scope="session")
def core() -> Suite:
    whole = tiers.core()
    return Kept(whole.path, whole.manifest)


TURNS = 4


@pytest.fixture
def suite(exhaustive: bool, core: Suite, request: pytest.FixtureRequest) -> Suite:
    """Smoke; with ``--exhaustive`` a quarter of core too, another for the next test, by its name.

    So many backends are asked that each vector is seen by several of each kind.
    """
    manifest = tiers.smoke().manifest
    if exhaustive:
        turn = crc32(request.node.name.encode()) % TURNS
        smoke = {entry.id for entry in manifest.vectors}
        every = enumerate(core.manifest.listed)
        listed = tuple(one for n, one in every if n % TURNS == turn or one.id in smoke)
        manifest = replace(core.manifest, listed=listed)
    asked = Kept(core.path, manifest)
    asked.__dict__["known"] = core.__dict__.setdefault("known", {})
    return asked
