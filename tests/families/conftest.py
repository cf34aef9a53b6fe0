"""The family of ``products/``, installed as another distribution would be."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance.spec import family_index

PRODUCTS = Path(__file__).parent / "products"
Install = Callable[[str, str], None]


def _forget() -> None:
    """As a new process begins."""
    importlib.invalidate_caches()
    family_index._entries.cache_clear()
    family_index.family_of.cache_clear()


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Install]:
    """Installs a distribution with one entry point for a family, by its names and its value."""

    def installed(name: str, entry: str) -> None:
        folder = tmp_path_factory.mktemp("site")
        made = folder / f"{name}-1.0.dist-info"
        made.mkdir()
        (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (made / "entry_points.txt").write_text(f"[{family_index.GROUP}]\n{entry}\n")
        patch.syspath_prepend(folder)
        _forget()

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PRODUCTS)
        _forget()
        yield installed
        patch.delitem(sys.modules, "products", raising=False)
    _forget()


@pytest.fixture(scope="module")
def specification(install: Install) -> Path:
    """A specification of the family, which is installed."""
    install("products-family", "products = products:Products")
    return PRODUCTS / "dot.Products-1.yaml"
