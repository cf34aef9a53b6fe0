"""What cases of a definition are evaluated: valid ones, not too large, whoever made them."""

from __future__ import annotations

from math import prod

from conformance.core.data import SEPARATOR, patterns_of, plain_patterns
from conformance.core.operator import Operator
from conformance.core.varied_data import is_pattern
from conformance.errors import ConformanceError
from conformance.generate.cases import is_small
from conformance.generate.pool import MAX_LARGE_TERMS
from conformance.model import Case
from conformance.specification import binding_of, broken_conditions, violations


def is_usable(operator: Operator, case: Case) -> bool:
    """Return whether a case from outside can be built, as a negative test or as a valid case."""
    if case.types.keys() != operator.types.keys() or not fills(operator, case):
        return False
    if case.reject is None:
        return can_evaluate(operator, case)
    return has_small_inputs(case) and bool(broken_conditions(operator, case))


def can_evaluate(operator: Operator, case: Case) -> bool:
    """Return whether a case is valid, not empty, and not too large to be evaluated."""
    try:
        return (
            has_small_inputs(case)
            and not violations(operator, case)
            and is_small(binding_of(operator, case), MAX_LARGE_TERMS)
        )
    except (ConformanceError, ValueError, TypeError):
        return False


def has_small_inputs(case: Case) -> bool:
    """Return whether no input is larger than what is drawn."""
    return all(prod(max(1, n) for n in shape) <= MAX_LARGE_TERMS for shape in case.shapes.values())


def fills(operator: Operator, case: Case) -> bool:
    """Return whether each tensor has a pattern that its element type can hold."""
    if not all(map(is_pattern, case.pattern.split(SEPARATOR))):
        return False
    if any(dtype not in operator.types[name] for name, dtype in case.types.items()):
        return False
    choices, patterns = patterns_of(operator, case.types), plain_patterns(case)
    return len(patterns) == len(choices) and all(
        pattern in allowed for pattern, allowed in zip(patterns, choices, strict=True)
    )
