"""The part of an operator that a backend declares, to generate a suite for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.core.operator import Operator
from conformance.errors import ExpressionError, UsageError
from conformance.model import Case
from conformance.specification import Condition, condition_of

DECLARED = "declared"
"""The profile of all that a backend declares, where no profile of the specification is the same."""


@dataclass(frozen=True)
class Claim:
    """What a backend claims of an operator: some element types and ranks of its data.

    The cases that one of the predicates ``left_out`` holds for are not claimed.
    """

    dtypes: tuple[str, ...]
    ranks: tuple[int, ...]
    left_out: tuple[str, ...] = ()


def claimed(operator: Operator, claim: Claim) -> Callable[[Case], bool]:
    """Return a function that says whether a valid case is claimed.

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
