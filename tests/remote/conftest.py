"""A place that is on no disk of this machine, new for each test."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest


@pytest.fixture
def memory() -> Iterator[str]:
    from fsspec.implementations.memory import MemoryFileSystem

    yield f"memory://{uuid4().hex}"
    MemoryFileSystem.store.clear()
