"""The allowed interpretations of one case, and their combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import combinations
from typing import Any

import numpy as np

from conformance.dtypes import Array
from conformance.model import Answer
from conformance.reference.variants import definitions_of, reached
from conformance.spec.model import OpSpec, RuleChange


def readings(spec: OpSpec, env: Any, base: tuple[Answer, ...]) -> Mapping[str, tuple[Answer, ...]]:
    """The answers under each interpretation that changes them, by name.

    ``env`` has the :func:`conformance.reference.facts` of a case, ``base`` are its answers. Where
    several interpretations apply, their combinations are readings too, named ``a+b`` in the order
    of the specification. A combination that gives the same answers as a smaller one is left out.
    """
    found: dict[str, tuple[Answer, ...]] = {}
    single = {}
    for variant in spec.interpretations:
        if variant.where is not None and not np.asarray(variant.where.evaluate(env)).any():
            continue
        under = _answers(spec, env, (variant,))
        if not same(under, base):
            single[variant.name] = variant
            found[variant.name] = under
    for count in range(2, len(single) + 1):
        for names in combinations(single, count):
            under = _answers(spec, env, tuple(single[name] for name in names))
            if not any(same(under, other) for other in (base, *found.values())):
                found["+".join(names)] = under
    return found


def _answers(spec: OpSpec, env: Any, variants: Sequence[RuleChange]) -> tuple[Answer, ...]:
    """What each output must be where variants apply; what these do not change is not worked out
    again."""
    under = env.under(definitions_of(spec, variants), reached(spec, variants))
    found: tuple[Answer, ...] = spec.kin.oracle.answers(under, spec)
    return found


def same(a: tuple[Answer, ...], b: tuple[Answer, ...]) -> bool:
    """Whether two sets of answers accept the same outputs, whatever tiles may add to them."""
    return all(
        _equal(getattr(x, field.name), getattr(y, field.name))
        for x, y in zip(a, b, strict=True)
        for field in fields(Answer)
        if field.name not in ("name", "dtype", "slack")
    )


def _equal(a: Array | None, b: Array | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind not in "iu")
