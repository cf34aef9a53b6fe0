"""``--force``: whether a folder that holds another suite may be replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from conformance.errors import SuiteError, UsageError

F = TypeVar("F", bound=Callable[..., Any])

force_option: Callable[[F], F] = click.option(
    "--force",
    is_flag=True,
    help="Replace the suite in the --out folder even if it is another one.",
)


def keep_another(out: Path, name: str, seed: int, ops: Iterable[str], *, force: bool) -> None:
    """Refuse to replace a suite that the new suite would not renew.

    It is renewed by a suite of the same name and seed that has all of its operators. A damaged
    suite may be replaced. Raises UsageError.
    """
    from conformance.suite import manifest as manifests
    from conformance.suite.manifest import read_manifest

    if force or not (out / manifests.FILE_NAME).is_file():
        return
    try:
        existing = read_manifest(out / manifests.FILE_NAME)
    except SuiteError:
        return
    lost = [op for op in existing.strength if op not in {*ops}]
    if (existing.name, existing.seed) == (name, seed) and not lost:
        return
    if lost:
        suffix = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        difference = f"holds {lost[0]}{suffix}, which the new one would not"
    else:
        old = f"{existing.name} of seed {existing.seed}"
        difference = f"is {old}, and the new one {name} of seed {seed}"
    raise UsageError(
        f"{out}: there is another suite, which would be lost: it {difference}",
        hint="name another folder: --out DIR, or replace the suite: --force",
    )
