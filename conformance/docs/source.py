"""Opens the definitions from which pages are made."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.core.operator import Operator
from conformance.docs.operator_facts import OperatorFacts
from conformance.errors import UsageError
from conformance.specification import find_spec, shipped_specs
from conformance.suite.store import open_suite


def open_operators(ops: Iterable[str], suite: str | None) -> tuple[OperatorFacts, ...]:
    """Open definitions by name or file, those of a suite first.

    Without names, the operators are those of the suite, or all shipped ones if no suite is named.

    Raises:
        ConformanceError: a name is unknown, a file cannot be read, or two definitions would have
            pages of one name.
    """
    carried = shipped_specs() if suite is None else open_suite(suite).specs
    names = tuple(ops) or tuple(carried)
    operators = [carried.get(name) or find_spec(name) for name in names]
    by_name: dict[str, Operator] = {}
    for operator in operators:
        # Some file systems do not tell capitals from small letters.
        first = by_name.setdefault(operator.op.casefold(), operator)
        if first is not operator and first.file != operator.file:
            raise UsageError(
                f"{operator.file} and {first.file} both specify {operator.op}",
                hint="name one of them, or give the operators different names",
            )
    return tuple(map(OperatorFacts, by_name.values()))
