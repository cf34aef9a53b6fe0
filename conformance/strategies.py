"""Hypothesis strategies for property tests of your own.

    from hypothesis import given
    import conformance
    from conformance import strategies

    @given(strategies.cases("AvgPool-1"))
    def test_my_pool(case):
        inputs = strategies.inputs(case)
        (expected,) = conformance.reference(case.op, inputs, case.attributes)
        assert_close(my_pool(*inputs, **case.attributes), expected)

Suites are selected from the same cases; see docs/pytest.md.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from conformance.dtypes import Array
from conformance.errors import UsageError, closest
from conformance.model import Case
from conformance.spec.loader import find_spec

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["cases", "inputs"]


def cases(
    op: str, *, ranks: Collection[int] | None = None, dtypes: Collection[str] | None = None
) -> SearchStrategy[Case]:
    """Valid cases of an operator: attributes, shapes, types, and how the data is made.

    ``op`` is a shipped operator or a specification file. ``ranks`` are those of the data (batch and
    channels included), ``dtypes`` element types as specifications spell them (``"f32"``); by
    default all that the operator has. Cases shrink to few axes, small numbers and the first
    pattern that the specification names.

    Raises :class:`~conformance.errors.UsageError` for an operator, rank or type that is not there.
    """
    from hypothesis import strategies as st

    from conformance.generate.strategies import cases as of_rank
    from conformance.spec.model import DrawBounds

    spec = find_spec(op)
    own = spec.types[spec.data.type]
    asked = [("rank", ranks or (), spec.ranks), ("element type", dtypes or (), own)]
    for what, narrowed, known in asked:
        for one in set(narrowed) - set(known):
            listed = map(str, known)
            hint = closest(str(one), listed) or f"it has {', '.join(map(str, known))}"
            raise UsageError(f"{spec.op} has no {what} {one!r}", hint=hint)
    aim = (
        {spec.data.type: DrawBounds(values=tuple(d for d in own if d in dtypes))}
        if dtypes
        else None
    )
    chosen = sorted(ranks or spec.ranks)
    return st.sampled_from(chosen).flatmap(lambda rank: of_rank(spec, rank, aim))


def inputs(case: Case, op: str | None = None) -> list[Array]:
    """The input arrays of a case: tensors, each in its own type, then inputs of whole numbers.

    The same case has the same arrays for ever. bf16 is ``ml_dtypes.bfloat16``. ``op`` is the
    specification file, for an operator that is not shipped.
    """
    from conformance.reference.values import data_of, operands_of

    spec = find_spec(op or case.op)
    return [*data_of(spec, case), *operands_of(spec, case)]
