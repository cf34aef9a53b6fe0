"""Restricts an operator to what a backend declares, to generate a suite for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from conformance.audit.partitions import excluded_predicates
from conformance.core.operator import Operator
from conformance.errors import ExpressionError, UsageError
from conformance.model import Case
from conformance.spec.catalogue import mutants_of
from conformance.spec.expressions import compile_expression
from conformance.spec.kinds import Kind
from conformance.spec.model import CoverageTarget, OpSpec, Requirement
from conformance.spec.scope import scope_of
from conformance.specification import Condition, condition_of
from conformance.suite.survivors import Partition, SurvivorTable

DECLARED = "declared"
"""The profile of all that a backend declares, where no profile of the specification is the same."""


@dataclass(frozen=True)
class Claim:
    """What is claimed of an operator: some element types and ranks of the data, less the cases that
    one of the predicates ``left_out`` holds for."""

    dtypes: tuple[str, ...]
    ranks: tuple[int, ...]
    left_out: tuple[str, ...] = ()


def narrowed(spec: OpSpec, claim: Claim) -> OpSpec:
    """The operator with the types that are claimed, the ranks between the lowest and the highest,
    and the cases that are not left out.

    These have a profile, to which the aims of the specification's profiles lead. Raises UsageError
    for a predicate that the operator cannot have.
    """
    found = replace(
        spec,
        types={**spec.types, spec.data.type: claim.dtypes},
        data=replace(spec.data, rank=(min(claim.ranks), max(claim.ranks))),
        require=(*spec.require, *(_required(spec, one) for one in claim.left_out)),
        profiles=(_profile(spec, claim),) if claim.left_out else (),
        equivalent={},
    )
    there = {fault.id for fault in mutants_of(found)}
    return replace(found, equivalent={k: why for k, why in spec.equivalent.items() if k in there})


def claimed(operator: Operator, claim: Claim) -> Callable[[Case], bool]:
    """Return a function that says whether a valid case of a definition is claimed.

    Raises UsageError for a predicate that the operator cannot have.
    """
    conditions = [_condition(operator, predicate) for predicate in claim.left_out]

    def is_claimed(case: Case) -> bool:
        if case.dtype not in claim.dtypes or case.rank not in claim.ranks:
            return False
        return not any(condition.holds(case) for condition in conditions)

    return is_claimed


def _condition(operator: Operator, predicate: str) -> Condition:
    try:
        return condition_of(operator, predicate)
    except ExpressionError as error:
        raise UsageError(
            f"the exclusion '{predicate}' does not fit {operator.op}: {error.message}",
            hint="to exclude another operator, name it with op='...'",
        ) from error


def as_claimed(whole: OpSpec, spec: OpSpec, parts: SurvivorTable, claim: Claim) -> SurvivorTable:
    """The parts of the narrowed operator ``spec``, as those of the ``whole``.

    Mutants that only the whole has change nothing in them.
    """
    gone = {fault.id for fault in mutants_of(whole) if not fault.equivalent}
    gone -= {fault.id for fault in mutants_of(spec)}
    # What is stated of a profile is told where it is named, so that comes last.
    found = sorted(parts.survivors.items(), key=lambda one: one[0].profile)
    name = spec.profiles[0].name if claim.left_out else ""
    return SurvivorTable(
        {
            Partition(part.dtype, part.rank, name): replace(survivors, inert=survivors.inert | gone)
            for part, survivors in found
        },
        {name: claim.left_out} if name else {},
    )


def _required(spec: OpSpec, predicate: str) -> Requirement:
    try:
        that = compile_expression(f"not ({predicate})", scope_of(spec), want=Kind("bool"))
    except ExpressionError as error:
        raise UsageError(
            f"the exclusion '{predicate}' does not fit {spec.op}: {error.message}",
            hint="to exclude another operator, name it with op='...'",
        ) from error
    return Requirement(f"{DECLARED}: {predicate}", that, "must", "The backend declares it.")


def _profile(spec: OpSpec, claim: Claim) -> CoverageTarget:
    same = [one for one in spec.profiles if excluded_predicates(one) == claim.left_out]
    name = same[0].name if same else DECLARED
    when = compile_expression("true", scope_of(spec), want=Kind("bool"))
    aims = tuple(aim for one in same or spec.profiles for aim in one.aims)
    return CoverageTarget(name, when, "What the backend declares.", aims)
