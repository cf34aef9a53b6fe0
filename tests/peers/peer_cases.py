"""A case of another project's suite, asked as one of ours and judged by that project's own rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.dtypes import Array
from conformance.implementations import EvaluatedCase, implementation_of, subject_of
from conformance.spec.catalogue import Mutant
from conformance.specification import case_from_inputs, find_spec


@dataclass(frozen=True)
class PeerCase:
    """One case: ``expected`` are its own outputs, ``bytes`` is what its project stores for it.

    An output is accepted if it has the expected shape and type, and ``|got - expected|`` is at
    most ``atol + rtol * |expected|`` at every element; NaN is accepted for NaN alone, an infinity
    for the same one. That is ``numpy.testing.assert_allclose``.
    """

    name: str
    op: str
    inputs: tuple[Array, ...]
    attributes: Mapping[str, Any]
    expected: tuple[Array, ...]
    rtol: float
    atol: float
    bytes: int

    def accepts(self, outputs: Sequence[Array]) -> bool:
        """Whether the case passes an implementation that gives these outputs."""
        pairs = zip(self.expected, outputs, strict=True)
        return all(self._close(want, got) for want, got in pairs)

    def _close(self, want: Array, got: Array) -> bool:
        if got.shape != want.shape or got.dtype != want.dtype:
            return False
        if want.dtype.kind in "iu":
            return np.array_equal(got, want)
        wide = got.astype(np.float64), want.astype(np.float64)
        return np.allclose(*wide, rtol=self.rtol, atol=self.atol, equal_nan=True)

    def filled(self, outputs: Sequence[Array], right: EvaluatedCase[Any]) -> list[Array]:
        """Outputs with what is expected where ours have no value, and they neither."""
        masks = right.unspecified(implementation_of(find_spec(self.op)))
        return [
            np.where(mask & np.isnan(got), want, got) if got.shape == want.shape else got
            for mask, got, want in zip(masks, outputs, self.expected, strict=True)
        ]

    def subject(self) -> EvaluatedCase[Any]:
        """The same question, put to our reference."""
        spec = find_spec(self.op)
        case = case_from_inputs(spec, list(self.inputs), self.attributes)
        return subject_of(spec, case, self.inputs)


def agreeing(cases: Iterable[PeerCase]) -> tuple[list[PeerCase], list[str]]:
    """The cases that our right outputs pass, and the names of those that they fail."""
    passed, failed = [], []
    for case in cases:
        right = case.subject()
        if case.accepts(case.filled(right.outputs, right)):
            passed.append(case)
        else:
            failed.append(case.name)
    return passed, failed


def noticed(cases: Iterable[PeerCase], faults: Iterable[Mutant]) -> set[str]:
    """The faults, by id, that fail at least one of the cases, which are all of one operator.

    As in our own audit, a fault that gives no outputs for a case shows nothing there.
    """
    left = list(faults)
    altered = {fault.id: implementation_of(find_spec(fault.op), fault.change) for fault in left}
    found: set[str] = set()
    for case in sorted(cases, key=lambda case: case.inputs[0].size):
        subject = case.subject()
        for name in altered.keys() - found:
            outputs = subject.under(altered[name])
            if outputs is subject.outputs:
                continue
            if not case.accepts(case.filled(outputs, subject)):
                found.add(name)
    return found


def rounding(
    size: Sequence[int],
    out: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
) -> str:
    """The rounding under which AvgPool-1 gives ``out`` windows: ceil if it does, else floor.

    All arguments have one entry an axis; ``pads`` is the padding of both ends together.
    """
    axes = zip(size, out, kernel, strides, pads, strict=True)
    ceil = all(windows == -((n + pad - k) // -step) + 1 for n, windows, k, step, pad in axes)
    return "ceil" if ceil else "floor"
