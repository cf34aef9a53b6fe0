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
    """How many mutants do not apply to an operator, and a line for each reason, most first.

    Raises :class:`~conformance.errors.SpecError` as :func:`~conformance.spec.catalogue.mutants_of`.
    """
    applied, left = len(mutants_of(spec)), left_out(spec)
    if not left:
        return
    yield f"{len(left)} of {applied + len(left)} mutants do not apply:"
    by_reason: dict[str, list[LeftOut]] = {}
    for one in left:
        by_reason.setdefault(_reason(spec, one), []).append(one)
    for reason, some in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        names = _counted(some, len(some) if reason is ROLE else MOST)
        advice = ADVICE if reason is ROLE else ""
        yield f"{reason}: {len(some)}{names}{advice}"


def _reason(spec: OpSpec, one: LeftOut) -> str:
    if one.why is Why.NAMED:
        return "other operators, by name"
    if one.why is Why.KIND:
        return "other kinds of operators"
    if one.why is Why.IDLE:
        return "no difference"
    if one.of in DTYPES:
        return "missing element type"
    if one.of in spec.kin.roles:
        return ROLE
    if one.of:
        return "missing name"
    return "not expressible in its rules"


def _counted(some: Sequence[LeftOut], most: int) -> str:
    """How many need which name, the most frequent first; empty where there are no names."""
    counts = Counter(one.of for one in some if one.of).most_common()
    told = [f"{name} {count}" for name, count in counts[:most]]
    if len(counts) > most:
        told.append(f"and {len(counts) - most} more")
    return f" ({', '.join(told)})" if told else ""
