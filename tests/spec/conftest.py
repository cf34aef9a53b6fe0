"""Every text that a test here reads is read twice: by libyaml and by PyYAML."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.spec import yaml_reader
from conformance.spec.yaml_source import Source


@pytest.fixture(scope="session", autouse=True)
def read_twice() -> Iterator[None]:
    """What libyaml reads has to be what PyYAML reads, places included."""
    quickly = yaml_reader._quickly

    def both(text: str, file: str) -> Source | None:
        found = quickly(text, file)
        assert found is None or found == yaml_reader._carefully(text, Source(file), "")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_reader, "_quickly", both)
        yield
