"""One comparison of one number that separates vectors that fail from those that pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from conformance.core.operator import Operator
from conformance.diagnosis.conditions import TOLERATED, Condition, Separation
from conformance.errors import ConformanceError
from conformance.model import Case
from conformance.specification import binding_of

GROUPS = (2, 4, 8, 16, 32, 64)
"""What numbers are divided by."""

ENOUGH = 3
"""Failures that a comparison has to describe, at least: two are alike in much."""

Numbers = Mapping[str, int]


def case_numbers(spec: Operator, case: Case) -> Numbers:
    """Compute the numbers that describe a case, by name.

    They are its extents, attributes and abbreviations; of lists the largest, the last, and the
    product.
    """
    numbers: dict[str, int] = {}
    binding = binding_of(spec, case)
    for name in (*spec.dims, *spec.attributes, *spec.let):
        try:
            value = binding.value(name)
        except ConformanceError:
            continue  # it speaks of what the case does not have
        if isinstance(value, tuple) and value and all(type(entry) is int for entry in value):
            numbers[f"largest {name}"] = max(value)
            numbers[f"product of {name}"] = prod(value)
            numbers[f"last {name}"] = value[-1]
        elif type(value) is int:
            numbers[name] = value
    numbers["elements of the inputs"] = sum(prod(shape) for shape in case.shapes.values())
    return numbers


@dataclass(frozen=True)
class Comparison:
    """A comparison of a case's number: ``sign`` is ``>``, ``<``, ``%`` or ``not %``."""

    number: str
    sign: str
    value: int
    remainder: int = 0

    def met_by(self, numbers: Numbers) -> bool:
        """Return whether a case with these numbers meets the comparison."""
        value = numbers.get(self.number)
        if value is None:
            return False
        match self.sign:
            case ">":
                return value > self.value
            case "<":
                return value < self.value
            case "%":
                return value % self.value == self.remainder
            case _:
                return value % self.value != 0

    def __str__(self) -> str:
        match self.sign:
            case ">" | "<":
                return f"{self.number} {self.sign} {self.value}"
            case "%":
                return f"{self.number} = {self.remainder} modulo {self.value}"
            case _:
                return f"{self.number} no multiple of {self.value}"


def best_comparison(
    failed: Sequence[Numbers], passed: Sequence[Numbers]
) -> tuple[Separation, Comparison, int] | None:
    """Find the comparison that all failures meet and fewest passing vectors do.

    Returns: it as conditions and by itself, and how many were tried.

    None where nothing of the kind tells them apart, and of a few failures, which show no more than
    that they are alike.
    """
    if len(failed) < ENOUGH or not passed:
        return None
    tried, best = 0, None
    for candidate in _comparisons(failed, passed):
        tried += 1
        if all(map(candidate.met_by, failed)):
            meet = sum(map(candidate.met_by, passed))
            if best is None or meet < best[0]:
                best = meet, candidate
    if best is None or best[0] > TOLERATED * len(passed):
        return None
    condition = (Condition(str(best[1])),)
    return Separation(condition, len(failed), best[0], len(passed)), best[1], tried


def _comparisons(failed: Sequence[Numbers], passed: Sequence[Numbers]) -> Iterator[Comparison]:
    """What may be of each number."""
    for name in dict.fromkeys(name for numbers in failed for name in numbers):
        passed_values = [numbers[name] for numbers in passed if name in numbers]
        failed_values = [numbers[name] for numbers in failed if name in numbers]
        yield Comparison(
            name,
            ">",
            _between([n for n in passed_values if n < min(failed_values)], min(failed_values)),
        )
        above = [n for n in passed_values if n > max(failed_values)]
        if above:
            yield Comparison(name, "<", max(failed_values) + 1)
        for group in GROUPS:
            yield Comparison(name, "%", group, failed_values[0] % group)
            yield Comparison(name, "not %", group)


def _between(below: Sequence[int], least: int) -> int:
    """The bound below the least number that fails: the largest that passes, or the largest power of
    two that is not below it, which is what kernels ask for.
    """
    largest = max(below, default=least - 1)
    power = 1 << max(0, (least - 1).bit_length() - 1) if least > 1 else largest
    return power if largest <= power < least else largest
