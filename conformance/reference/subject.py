"""A case prepared to be evaluated under many mutants."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np

from conformance.dtypes import Array
from conformance.errors import EvaluationError
from conformance.model import Case
from conformance.reference.variants import definitions_of, reached
from conformance.spec.family_index import family_of
from conformance.spec.kinds import Domain
from conformance.spec.model import OpSpec, RuleChange
from conformance.spec.rule_change import find_cycle


class Altered:
    """An implementation that follows variants of the reference, ready to be asked many cases.

    Several variants replace different rules; where the guards of some hold, those apply together.
    """

    def __init__(self, spec: OpSpec, *variants: RuleChange) -> None:
        self.spec, self.variants = spec, variants
        self._parts: dict[frozenset[int], _Part] = {}

    @property
    def accumulators(self) -> tuple[str, ...]:
        """The names of the variants that say how sums are kept."""
        return tuple(change.name for change in self.variants if "accumulator" in change.replace)

    def beside(self, *changes: RuleChange) -> Altered | None:
        """Return the implementation with further variants; None where they are circular."""
        variants = (*self.variants, *changes)
        if any(find_cycle(self.spec, *(change.replace for change in variants))):
            return None
        return Altered(self.spec, *variants)

    def part(self, holding: frozenset[int]) -> _Part:
        """The implementation where exactly the guards of these variants hold, by their places."""
        if holding not in self._parts:
            self._parts[holding] = _Part(self.spec, [self.variants[i] for i in sorted(holding)])
        return self._parts[holding]


class _Part:
    """Variants without their guards: the rules that they make, and all that these change."""

    def __init__(self, spec: OpSpec, variants: Sequence[RuleChange]) -> None:
        bare = [replace(variant, where=None) for variant in variants]
        self.definitions = definitions_of(spec, bare)
        self.replaced = tuple(sorted({name for variant in variants for name in variant.replace}))
        self.of_taps = _of_taps(spec.family).intersection(self.replaced)
        self.changed = reached(spec, variants)


Made = Callable[[Any], list[Array]]
"""Arrays of an environment."""

What = tuple[str | None, ...]
"""What these arrays are, and at which precision."""


class Subject:
    """A valid case with its inputs; ``outputs`` are the right ones, in the operator's own types.

    ``shapes`` are further output shapes in which outputs are of interest, however large.
    """

    def __init__(
        self,
        spec: OpSpec,
        case: Case,
        inputs: Sequence[Array],
        shapes: Collection[tuple[int, ...]] = (),
    ) -> None:
        self.spec = spec
        self.shapes = shapes
        self._oracle = spec.kin.oracle
        self.env = self._oracle.environment(spec, case, inputs, spec.definitions)
        self._known: dict[tuple[Any, ...], list[Array]] = {}
        self.outputs = self._outputs(self.env)

    def under(self, altered: Altered) -> list[Array]:
        """The outputs of an implementation.

        They are ``self.outputs``, the same list, where its variants change nothing on the way, and
        where it gives no outputs at all (a negative number of windows, a division by zero): what
        cannot be computed shows nothing. A guard that tells windows or elements apart picks from
        both.
        """
        return self._composed(altered, self.outputs, self._outputs, ("outputs",))

    def answers(self, altered: Altered) -> bool:
        """Whether an implementation has outputs with elements; a number of windows may be negative
        or 0, and then one may well raise."""
        guards = map(self._guard, altered.variants)
        holding = frozenset(i for i, guard in enumerate(guards) if guard is not False)
        part = altered.part(holding)
        try:
            return all(
                one.size for one in self._outputs(self.env.under(part.definitions, part.changed))
            )
        except EvaluationError:
            return False

    def ends(self, altered: Altered, precision: str) -> list[tuple[Array, Array]]:
        """For each output the ends of what is accepted of an implementation that is honest but for
        its variants, elementwise. Where it says how it computes, nothing but its outputs is.

        They are those of the right outputs, in their shape, where the implementation's windows
        have too many taps to be listed.
        """
        found = self._worked_out(
            altered,
            lambda env: self._oracle.ends(env, self.spec, precision),
            ("ends", precision),
        )
        return list(zip(found[::2], found[1::2], strict=True))

    def unspecified(self, altered: Altered, precision: str | None = None) -> list[Array]:
        """For each output which elements an implementation leaves without a value to check; with
        a ``precision`` also those whose partial sums may overflow there.
        """
        return self._worked_out(
            altered,
            lambda env: self._oracle.unspecified(env, self.spec, precision),
            ("unspecified", precision),
        )

    def _worked_out(self, altered: Altered, made: Made, what: What) -> list[Array]:
        """What is made of an implementation, the right of it worked out once."""
        if what not in self._known:
            self._known[what] = made(self.env)
        return self._composed(altered, self._known[what], made, what)

    def _outputs(self, env: Any) -> list[Array]:
        """The outputs of an environment; what they are made of makes the same ones again."""
        return self._oracle.remembered(env, self.spec, self._known)

    def _composed(
        self, altered: Altered, right: list[Array], made: Made, what: What
    ) -> list[Array]:
        """What is made under the variants whose guards hold, where they do, and elsewhere right."""
        guards = dict(enumerate(map(self._guard, altered.variants)))
        always = {i for i, guard in guards.items() if guard is True}
        apart = {i: guard for i, guard in guards.items() if isinstance(guard, np.ndarray)}
        found = right
        for some in _subsets(apart):
            holding = always.union(some)
            if holding:
                part = self._made(altered.part(frozenset(holding)), right, made, what)
                exactly = [guard if i in some else ~guard for i, guard in apart.items()]
                found = _picked(exactly, part, found, right)
        return found

    def _made(self, part: _Part, right: list[Array], made: Made, what: What) -> list[Array]:
        """What is made under the rules of a part; ``right`` where they change nothing."""
        try:
            env = self.env.under(part.definitions, part.changed)
            taps = part.of_taps
            if not any(n in taps or _differs(self.env, env, n) for n in part.replaced):
                return right
            if taps:
                return self._anew(env, right, made)
            # What replaces the same rules by the same values gives the same outputs.
            key = (what, part.replaced, *values_of(env, part.replaced))
            if key not in self._known:
                self._known[key] = self._anew(env, right, made)
            return self._known[key]
        except EvaluationError:
            return right

    def _anew(self, env: Any, right: list[Array], made: Made) -> list[Array]:
        shape = self._oracle.too_large(env, self.env, self.shapes)
        if shape is not None:
            # Zeros that take no memory: the shape tells enough.
            return [np.broadcast_to(one.dtype.type(0), shape) for one in right]
        return made(env)

    def _guard(self, variant: RuleChange) -> bool | Array:
        if variant.where is None:
            return True
        guard = np.asarray(variant.where.evaluate(self.env))
        if guard.all():
            return True
        return guard if guard.any() else False


def _subsets(items: Collection[int]) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(items, n) for n in range(len(items) + 1))


def _picked(
    guards: Sequence[Array], new: list[Array], old: list[Array], right: list[Array]
) -> list[Array]:
    """``new`` where all guards hold, ``old`` elsewhere; only ``new`` where shapes are not right."""
    if not guards or new is old:
        return new
    region = np.logical_and.reduce(np.broadcast_arrays(*guards))
    return [
        np.where(region, a, b) if a.shape == b.shape == c.shape else a
        for a, b, c in zip(new, old, right, strict=True)
    ]


@cache
def _of_taps(family: str) -> frozenset[str]:
    """The rules of single taps, whose values are not compared: they are taken to differ."""
    rules = family_of(family).rules
    return frozenset(name for name, rule in rules.items() if rule.kind.domain is Domain.TAP)


def values_of(env: Mapping[str, Any], names: Iterable[str]) -> Iterator[Any]:
    """The values of rules, to be compared."""
    for name in names:
        value = env[name]
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, np.ndarray):
                one = one.shape, one.dtype.str, told(one)
            yield one


def told(array: Array) -> bytes:
    """The content of an array, or of a long one a digest: hundreds of a case are kept at once."""
    if array.nbytes <= 1 << 10:
        return array.tobytes()
    content = np.ascontiguousarray(array).view(np.uint8)  # no copy of what may be large
    return hashlib.blake2b(content.data, digest_size=16).digest()


def _differs(right: Mapping[str, Any], env: Mapping[str, Any], name: str) -> bool:
    """Whether a rule has another value."""
    a, b = right[name], env[name]
    if isinstance(a, tuple) and isinstance(b, tuple):
        return not all(map(_equal, a, b))
    return not _equal(a, b)


def _equal(a: Any, b: Any) -> bool:
    # Most are few numbers, for which numpy's own comparison has much to prepare.
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype:
        return a.shape == b.shape and a.tobytes() == b.tobytes()
    return a is b or np.array_equal(a, b)
