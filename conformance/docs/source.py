"""Opens the specifications, suite and run logs from which pages are made."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from conformance.errors import UsageError
from conformance.log.reader import read_whole
from conformance.log.run_log import RunLog
from conformance.spec.loader import find_spec, shipped_specs
from conformance.spec.model import OpSpec
from conformance.suite.store import Suite, open_suite


@dataclass(frozen=True)
class PageSource:
    """Specifications in the order asked for, a suite that may lack some of them, and runs."""

    specs: tuple[OpSpec, ...]
    suite: Suite
    runs: tuple[RunLog, ...]


def opened(ops: Iterable[str], suite: str | None, logs: Iterable[Path]) -> PageSource:
    """Specifications by name or by file, a suite, and run logs.

    A name is first that of an operator of the suite. Without any they are those of the suite, or
    all that are shipped if no suite is named.

    Raises a :class:`~conformance.errors.ConformanceError` for a name that is not known, a file
    that cannot be read, a log of a run that did not reach its end, and for two specifications
    whose pages would have one name.
    """
    source = open_suite(suite)
    named = tuple(ops) or tuple(shipped_specs() if suite is None else source.specs)
    specs = tuple(source.specs.get(op) or find_spec(op) for op in named)
    seen: dict[str, OpSpec] = {}
    for spec in specs:
        # Some file systems do not tell capitals from small letters.
        other = seen.setdefault(spec.op.casefold(), spec)
        if other is not spec:
            raise UsageError(
                f"{spec.file} and {other.file} both specify {spec.op}",
                hint="name one of them, or give the operators different names",
            )
    return PageSource(tuple(seen.values()), source, tuple(map(read_whole, logs)))


def show_command(suite: str | None) -> str:
    """The command that shows a vector of ``suite``, as it was named, without the vector's id."""
    words = ["conformance", "show"]
    if suite is not None:
        words += ["--suite", suite]
    return shlex.join(words)
