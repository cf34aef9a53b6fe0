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
from conformance.errors import UsageError, closest
from conformance.model import Case
from conformance.specification import find_spec, ranks_of

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["cases", "inputs"]


def cases(
    op: str, *, ranks: Collection[int] | None = None, dtypes: Collection[str] | None = None
) -> SearchStrategy[Case]:
    """Draw valid cases of an operator: attributes, shapes, types, and how data is made.

    ``op`` is a shipped operator or a specification file. ``ranks`` are those of the first input
    (batch and channels included), ``dtypes`` those of the first that has a choice, as
    specifications spell them (``"f32"``); by default all that the operator has. Cases shrink to few
    axes, small numbers and the first pattern that fits.

    Raises :class:`~conformance.errors.UsageError` for an unknown operator, rank or type.
    """
    from conformance.generate.cases import case_strategy

    spec = find_spec(op)
    _require(spec.op, "rank", ranks or (), ranks_of(spec))
    allowed = (spec.types[tensor.type] for tensor in spec.inputs if tensor.type in spec.types)
    _require(spec.op, "element type", dtypes or (), next(allowed, ()))
    return case_strategy(spec, dtypes or (), ranks or ())


def _require(op: str, noun: str, requested: Collection[Any], allowed: Collection[Any]) -> None:
    for value in set(requested) - set(allowed):
        names = list(map(str, allowed))
        hint = closest(str(value), names) or f"it has {', '.join(names)}"
        raise UsageError(f"{op} has no {noun} {value!r}", hint=hint)


def inputs(case: Case, op: str | None = None) -> list[Any]:
    """Return the input arrays of a case, in the operator's order.

    Where an optional tensor is not given, there is None.
    Each tensor has its own element type; bf16 is ``ml_dtypes.bfloat16``. The same case has the same
    arrays for ever. ``op`` is the specification file, for an operator that is not shipped.
    """
    return inputs_of(find_spec(op or case.op), case)
