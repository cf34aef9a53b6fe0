"""The vectors that honest and dishonest backends are asked."""

from __future__ import annotations

import pytest
import tiers

from conformance.model import Vector
from conformance.suite.entries import Entry
from conformance.suite.store import Suite


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


@pytest.fixture(scope="session")
def suite(exhaustive: bool, core: Suite) -> Suite:
    return core if exhaustive else tiers.smoke()
