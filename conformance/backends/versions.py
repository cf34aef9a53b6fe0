"""Checks that an adapter knows the installed version of its framework."""

from __future__ import annotations

import re

from conformance.errors import BackendError


def require_version(framework: str, version: object, *, oldest: str) -> str:
    """The version as text. Raises :class:`BackendError` for one before the ``oldest``, which the
    adapter was not written for: its failures would be laid at the framework's door."""
    text = str(version)
    if _numbers(text) < _numbers(oldest):
        raise BackendError(
            f"{framework} {text} is older than {oldest}, the oldest that its adapter knows",
            hint=f"install {framework} {oldest} or newer",
        )
    return text


def require_features(framework: str, version: object, **found: object) -> None:
    """Raises :class:`BackendError` where something that an adapter needs was not ``found``: None
    under its name, in which ``__`` stands for a dot."""
    missing = [name.replace("__", ".") for name, value in found.items() if value is None]
    if missing:
        raise BackendError(
            f"{framework} {version} has no {' and no '.join(missing)}, which its adapter needs",
            hint=f"install another version of {framework}",
        )


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: (1, 15, 1) of ``1.15.1rc2``."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()
