"""One comparison of one number that tells vectors that fail from those that pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from conformance.diagnosis.conditions import TOLERATED, Condition, Separation
from conformance.errors import ConformanceError
from conformance.model import Case
from conformance.spec.case_environment import Environment
from conformance.spec.model import OpSpec

GROUPS = (2, 4, 8, 16, 32, 64)
"""What numbers are divided by."""

ENOUGH = 3
"""Failures that a comparison has to describe, at least: two are alike in much."""

Numbers = Mapping[str, int]

SINGLE = {"N": "images", "C": "channels"}
PER_AXIS = {
    "kernel": "kernel",
    "strides": "stride",
    "dilations": "dilation",
    "pad_begin": "begin pad",
    "pad_end": "end pad",
    "size": "input size",
    "out": "output size",
}


def case_numbers(spec: OpSpec, case: Case) -> Numbers:
    """The numbers of a case by name: the largest of an axis, products, and the least differences
    between two attributes of one axis, whose name ends with ``-``.
    """
    env = Environment(spec, case)
    found = {told: int(env[name]) for name, told in SINGLE.items() if name in env}
    axes = {told: some for name, told in PER_AXIS.items() if (some := _per_axis(env, name))}
    for told, some in axes.items():
        found[f"largest {told}"] = max(some)
    if "kernel" in axes:
        found["taps"] = prod(axes["kernel"])
    if "input size" in axes:
        found["elements of a plane"] = prod(axes["input size"])
        found["input row"] = axes["input size"][-1]
    if "output size" in axes:
        found["results in a plane"] = prod(axes["output size"])
        found["results in a row"] = axes["output size"][-1]
    found["elements of the input"] = prod(prod(shape) for shape in case.shapes.values())
    for one in axes:
        for other in axes:
            if one != other:
                pairs = zip(axes[one], axes[other], strict=True)
                found[f"{one} - {other}"] = max(a - b for a, b in pairs)
    return found


def _per_axis(env: Environment, name: str) -> tuple[int, ...]:
    """A value of each axis; empty where the operator has none, or more than numbers."""
    try:
        return tuple(int(value) for value in env.per_axis(name))
    except (ConformanceError, KeyError, TypeError, ValueError, ArithmeticError):
        return ()


@dataclass(frozen=True)
class Comparison:
    """What one number of a case is: ``sign`` is ``>``, ``<``, ``%`` or ``not %``."""

    number: str
    sign: str
    value: int
    rest: int = 0

    def met_by(self, found: Numbers) -> bool:
        """Whether a case with these numbers meets it."""
        seen = found.get(self.number)
        if seen is None:
            return False
        match self.sign:
            case ">":
                return seen > self.value
            case "<":
                return seen < self.value
            case "%":
                return seen % self.value == self.rest
            case _:
                return seen % self.value != 0

    def __str__(self) -> str:
        if " - " in self.number:
            one, _, other = self.number.partition(" - ")
            return f"{one} {'>=' if self.value < 0 else '>'} {other} on an axis"
        match self.sign:
            case ">" | "<":
                return f"{self.number} {self.sign} {self.value}"
            case "%":
                return f"{self.number} = {self.rest} modulo {self.value}"
            case _:
                return f"{self.number} no multiple of {self.value}"


def best_comparison(
    failed: Sequence[Numbers], passed: Sequence[Numbers]
) -> tuple[Separation, Comparison, int] | None:
    """The comparison that all failures meet and fewest passes do, as conditions and by itself, and
    how many were tried.

    None where nothing of the kind tells them apart, and of a few failures, which show no more than
    that they are alike.
    """
    if len(failed) < ENOUGH or not passed:
        return None
    tried, best = 0, None
    for one in _comparisons(failed, passed):
        tried += 1
        if all(map(one.met_by, failed)):
            meet = sum(map(one.met_by, passed))
            if best is None or meet < best[0]:
                best = meet, one
    if best is None or best[0] > TOLERATED * len(passed):
        return None
    condition = (Condition(str(best[1])),)
    return Separation(condition, len(failed), best[0], len(passed)), best[1], tried


def _comparisons(failed: Sequence[Numbers], passed: Sequence[Numbers]) -> Iterator[Comparison]:
    """What may be of each number: those of two attributes are compared with 0 alone."""
    for name in dict.fromkeys(name for one in failed for name in one):
        if " - " in name:
            yield from (Comparison(name, ">", value) for value in (-1, 0))
            continue
        seen = [one[name] for one in passed if name in one]
        there = [one[name] for one in failed if name in one]
        yield Comparison(name, ">", _between([n for n in seen if n < min(there)], min(there)))
        above = [n for n in seen if n > max(there)]
        if above:
            yield Comparison(name, "<", max(there) + 1)
        for group in GROUPS:
            yield Comparison(name, "%", group, there[0] % group)
            yield Comparison(name, "not %", group)


def _between(below: Sequence[int], least: int) -> int:
    """The bound below the least number that fails: the largest that passes, or the largest power of
    two that is not below it, which is what kernels ask for.
    """
    largest = max(below, default=least - 1)
    power = 1 << max(0, (least - 1).bit_length() - 1) if least > 1 else largest
    return power if largest <= power < least else largest
