"""Locates the shipped specifications, vectors and clients, in a wheel or a checkout."""

from __future__ import annotations

from pathlib import Path


def directory(name: str) -> Path:
    """Return the folder ``specs``, ``vectors`` or ``clients``.

    It lies in the package, or in the checkout where that has none.
    """
    package = Path(__file__).resolve().parent
    packaged = package / "_data" / name
    return packaged if packaged.is_dir() else package.parent / name
