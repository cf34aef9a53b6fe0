"""Every text that tests here read is read by both libyaml and PyYAML, which is slow, once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.spec import yaml_reader
from conformance.spec.yaml_source import Source


@pytest.fixture(scope="session", autouse=True)
def read_twice() -> Iterator[None]:
    """What libyaml reads has to be what PyYAML reads, places included."""
    quickly, compared = yaml_reader._quickly, set[tuple[str, str]]()

    def both(text: str, file: str) -> Source | None:
        source = quickly(text, file)
        if source is not None and (text, file) not in compared:
            assert source == yaml_reader._carefully(text, Source(file), "")
            compared.add((text, file))
        return source

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_reader, "_quickly", both)
        yield
