"""Opens the specifications, suite and run logs from which pages are made."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from conformance.core.operator import Operator
from conformance.docs.definition_facts import DefinitionFacts
from conformance.errors import UsageError
from conformance.log.reader import read_whole
from conformance.log.run_log import RunLog
from conformance.spec.model import OpSpec
from conformance.specification import Specification, find_spec, shipped_specs
from conformance.suite.store import Suite, open_suite


@dataclass(frozen=True)
class PageSource:
    """Specifications in the requested order, a suite that may lack some of them, and runs.

    ``definitions`` are the operators among them that are definitions.
    """

    specs: tuple[OpSpec, ...]
    definitions: tuple[DefinitionFacts, ...]
    suite: Suite
    runs: tuple[RunLog, ...]


def open_source(ops: Iterable[str], suite: str | None, logs: Iterable[Path]) -> PageSource:
    """Open specifications by name or file, a suite, and run logs.

    A name is first that of an operator of the suite. Without names, the operators are those of the
    suite, or all shipped ones if no suite is named.

    Raises:
        ConformanceError: a name is unknown, a file cannot be read, a run did not reach its end, or
            two specifications would have pages of one name.
    """
    source = open_suite(suite)
    names = tuple(ops) or tuple(shipped_specs() if suite is None else source.specs)
    operators = [source.specs.get(name) or find_spec(name) for name in names]
    by_name: dict[str, Specification] = {}
    for operator in operators:
        # Some file systems do not tell capitals from small letters.
        first = by_name.setdefault(operator.op.casefold(), operator)
        if first is not operator and first.file != operator.file:
            raise UsageError(
                f"{operator.file} and {first.file} both specify {operator.op}",
                hint="name one of them, or give the operators different names",
            )
    different = tuple(by_name.values())
    return PageSource(
        tuple(spec for spec in different if isinstance(spec, OpSpec)),
        tuple(DefinitionFacts(spec) for spec in different if isinstance(spec, Operator)),
        source,
        tuple(map(read_whole, logs)),
    )


def show_command(suite: str | None) -> str:
    """Return the command that shows a vector of a suite, without the vector's id."""
    arguments = ["conformance", "show"]
    if suite is not None:
        arguments += ["--suite", suite]
    return shlex.join(arguments)
