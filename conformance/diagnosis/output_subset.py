"""Some of the outputs of the reference, as if the operator had no others.

A kernel may compute values and indices apart, and have a bug in one of them alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from conformance.dtypes import Array
from conformance.implementations import EvaluatedCase, Implementation

T = TypeVar("T")


def select_outputs(numbers: Sequence[int], several: Sequence[T]) -> tuple[T, ...]:
    """Select the entries of the outputs with these numbers."""
    return tuple(several[number] for number in numbers)


class OutputSubset:
    """An evaluated case restricted to some outputs."""

    def __init__(self, subject: EvaluatedCase[Any], numbers: Sequence[int]) -> None:
        self._subject, self._numbers = subject, numbers
        self.outputs = list(select_outputs(numbers, subject.outputs))

    def under(self, implementation: Implementation) -> list[Array]:
        """Compute the outputs of an implementation; ``self.outputs`` if it changes nothing."""
        outputs = self._subject.under(implementation)
        if outputs is self._subject.outputs:
            return self.outputs
        return list(select_outputs(self._numbers, outputs))

    def answers(self, implementation: Implementation) -> bool:
        """Return whether an implementation has outputs, with elements."""
        return self._subject.answers(implementation)

    def ends(self, implementation: Implementation, precision: str) -> list[tuple[Array, Array]]:
        """Compute the accepted intervals, as :meth:`EvaluatedCase.ends`."""
        return list(select_outputs(self._numbers, self._subject.ends(implementation, precision)))

    def unspecified(
        self, implementation: Implementation, precision: str | None = None
    ) -> list[Array]:
        """Mark unspecified elements, as :meth:`EvaluatedCase.unspecified`."""
        return list(
            select_outputs(self._numbers, self._subject.unspecified(implementation, precision))
        )
