"""The shipped suite, opened once."""

from __future__ import annotations

import pytest

import conformance
from conformance.suite.store import Suite


@pytest.fixture(scope="session")
def suite() -> Suite:
    return conformance.load_suite()
