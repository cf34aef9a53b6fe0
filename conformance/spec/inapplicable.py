"""The mutants of the catalogue that an operator does not have, and why, in few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.dtypes import DTYPES
from conformance.spec.catalogue import LeftOut, Why, left_out, mutants_of
from conformance.spec.model import OpSpec

MOST = 6
"""Names that are listed for one reason; of roles all are, as the author may give each."""

ROLE = "missing role"
ADVICE = "; where the operator has such a thing, name it under 'roles'"


def inapplicable_lines(spec: OpSpec) -> Iterator[str]:
    """Yield how many mutants do not apply to an operator, then each reason, most first.

    Raises :class:`~conformance.errors.SpecError` as :func:`~conformance.spec.catalogue.mutants_of`.
    """
    applied, excluded = len(mutants_of(spec)), left_out(spec)
    if not excluded:
        return
    yield f"{len(excluded)} of {applied + len(excluded)} mutants do not apply:"
    by_reason: dict[str, list[LeftOut]] = {}
    for mutant in excluded:
        by_reason.setdefault(_reason(spec, mutant), []).append(mutant)
    for reason, mutants in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        names = counted(mutants, len(mutants) if reason is ROLE else MOST)
        advice = ADVICE if reason is ROLE else ""
        yield f"{reason}: {len(mutants)}{names}{advice}"


def _reason(spec: OpSpec, mutant: LeftOut) -> str:
    if mutant.why is Why.NAMED:
        return "other operators, by name"
    if mutant.why is Why.KIND:
        return "other kinds of operators"
    if mutant.why is Why.IDLE:
        return "no difference"
    if mutant.of in DTYPES:
        return "missing element type"
    if mutant.of in spec.kin.roles:
        return ROLE
    if mutant.of:
        return "missing name"
    return "not expressible in its rules"


def counted(mutants: Sequence[LeftOut], most: int) -> str:
    """Return how many need which name, most frequent first; empty without names."""
    counts = Counter(mutant.of for mutant in mutants if mutant.of).most_common()
    names = [f"{name} {count}" for name, count in counts[:most]]
    if len(counts) > most:
        names.append(f"and {len(counts) - most} more")
    return f" ({', '.join(names)})" if names else ""
