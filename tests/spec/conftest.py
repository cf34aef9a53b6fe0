"""Every text that a test here reads is read twice: by libyaml and by PyYAML."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.spec import reader
from conformance.spec.source import Source


@pytest.fixture(scope="session", autouse=True)
def read_twice() -> Iterator[None]:
    """What libyaml reads has to be what PyYAML reads, places included."""
    quickly = reader._quickly

    def both(text: str, file: str) -> Source | None:
        found = quickly(text, file)
        assert found is None or found == reader._carefully(text, Source(file), "")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_quickly", both)
        yield
