"""Checks that an adapter knows the installed version of its framework."""

from __future__ import annotations

import re

from conformance.errors import BackendError


def require_version(framework: str, version: object, *, oldest: str) -> str:
    """Check that a framework is not older than its adapter was written for.

    Failures of an older one would be laid at the framework's door.

    Returns:
        The version as text.

    Raises:
        BackendError: the version is before ``oldest``.
    """
    text = str(version)
    if _numbers(text) < _numbers(oldest):
        raise BackendError(
            f"{framework} {text} is older than {oldest}, the oldest that its adapter knows",
            hint=f"install {framework} {oldest} or newer",
        )
    return text


def require_features(framework: str, version: object, **features: object) -> None:
    """Check that a framework has what its adapter needs.

    Args:
        features: by name, in which ``__`` stands for a dot; None if missing.

    Raises:
        BackendError: naming what is missing.
    """
    missing = [name.replace("__", ".") for name, value in features.items() if value is None]
    if missing:
        raise BackendError(
            f"{framework} {version} has no {' and no '.join(missing)}, which its adapter needs",
            hint=f"install another version of {framework}",
        )


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: (1, 15, 1) of ``1.15.1rc2``."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()
