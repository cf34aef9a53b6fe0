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
from typing import TYPE_CHECKING, Any

from conformance.core.data import inputs_of
from conformance.core.loader import is_defined, load_operator
from conformance.core.operator import Operator
from conformance.errors import UsageError, closest
from conformance.model import Case
from conformance.spec.loader import find_spec

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["cases", "inputs"]


def cases(
    op: str, *, ranks: Collection[int] | None = None, dtypes: Collection[str] | None = None
) -> SearchStrategy[Case]:
    """Draw valid cases of an operator: attributes, shapes, types, and how data is made.

    ``op`` is a shipped operator or a specification file. ``ranks`` are those of the data (batch and
    channels included), ``dtypes`` element types as specifications spell them (``"f32"``); by
    default all that the operator has. Cases shrink to few axes, small numbers and the first
    pattern that the specification names.

    Raises :class:`~conformance.errors.UsageError` for an unknown operator, rank or type.
    """
    from hypothesis import strategies as st

    from conformance.generate.strategies import cases as of_rank
    from conformance.spec.model import DrawBounds

    if is_defined(op):
        return _definition_cases(load_operator(op), dtypes or (), ranks or ())
    spec = find_spec(op)
    spec_dtypes = spec.types[spec.data.type]
    _require(spec.op, "rank", ranks or (), spec.ranks)
    _require(spec.op, "element type", dtypes or (), spec_dtypes)
    constraint = (
        {spec.data.type: DrawBounds(values=tuple(d for d in spec_dtypes if d in dtypes))}
        if dtypes
        else None
    )
    drawn_ranks = st.sampled_from(sorted(ranks or spec.ranks))
    return drawn_ranks.flatmap(lambda rank: of_rank(spec, rank, constraint))


def _definition_cases(
    operator: Operator, dtypes: Collection[str], ranks: Collection[int]
) -> SearchStrategy[Case]:
    from conformance.generate.definition_cases import definition_cases

    first = operator.types[operator.inputs[0].type]
    _require(operator.op, "element type", dtypes, first)
    return definition_cases(operator, dtypes, ranks)


def _require(op: str, noun: str, requested: Collection[Any], allowed: Collection[Any]) -> None:
    for value in set(requested) - set(allowed):
        names = list(map(str, allowed))
        hint = closest(str(value), names) or f"it has {', '.join(names)}"
        raise UsageError(f"{op} has no {noun} {value!r}", hint=hint)


def inputs(case: Case, op: str | None = None) -> list[Any]:
    """Return the input arrays of a case: tensors, then inputs of whole numbers.

    Where an optional tensor is not given, there is None.
    Each tensor has its own element type; bf16 is ``ml_dtypes.bfloat16``. The same case has the same
    arrays for ever. ``op`` is the specification file, for an operator that is not shipped.
    """
    from conformance.reference.values import data_of, operands_of

    if is_defined(op or case.op):
        return inputs_of(load_operator(op or case.op), case)
    spec = find_spec(op or case.op)
    return [*data_of(spec, case), *operands_of(spec, case)]
