"""What is drawn of an element of an output: the parts of each input that it is computed from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from conformance.core.evaluate import Evaluation
from conformance.core.operator import Operator, Output
from conformance.core.reads import Index, Positions, TensorReads, reads_of
from conformance.dtypes import Array
from conformance.errors import ConformanceError
from conformance.log.detail import (
    MAX_DRAWN,
    MAX_SLICES,
    MAX_TENSORS,
    MAX_TERMS,
    ElementPicture,
    ReadSlice,
    ReadTensor,
)
from conformance.model import Vector


def element_picture(evaluation: Evaluation, output: Output, index: Index) -> ElementPicture:
    """Return what is drawn of the element of an output.

    Raises what :func:`~conformance.core.reads.reads_of` does.
    """
    reads = reads_of(evaluation, output, index)
    return ElementPicture(
        output=output.name,
        index=index,
        tensors=tuple(
            _tensor(tensor, evaluation.inputs[tensor.tensor])
            for tensor in reads.tensors[:MAX_TENSORS]
        ),
        of_terms=reads.term_count,
        terms=tuple(tuple(map(str, factors[:MAX_TENSORS])) for factors in reads.terms(MAX_TERMS)),
    )


def vector_picture(
    operator: Operator, vector: Vector, output: str, index: Index
) -> ElementPicture | None:
    """Return what is drawn of an element of a vector, None of no such element."""
    inputs = dict(zip(operator.tensors, vector.arguments, strict=False))
    outputs = {stated.name: stated for stated in operator.outputs}
    if output not in outputs:
        return None
    try:
        evaluation = Evaluation(operator, vector.case.attributes, inputs)
        return element_picture(evaluation, outputs[output], index)
    except (ConformanceError, ValueError):
        return None  # a suite may hold what is no case of its operator


def _tensor(reads: TensorReads, array: Array) -> ReadTensor:
    array = array.reshape((1,) * (2 - array.ndim) + array.shape)
    positions = np.concatenate([reads.positions, reads.padding])
    counts = np.concatenate([reads.counts, np.ones(len(reads.padding), np.int64)])
    missing = array.ndim - positions.shape[1]
    positions = np.pad(positions, ((0, 0), (missing, 0)))
    # Slices with elements come first: what lies outside is drawn beside them.
    outer = np.unique(positions[: len(reads.positions) or None, :-2], axis=0)
    drawn = outer
    if len(outer) > MAX_SLICES:
        drawn = np.concatenate([outer[: MAX_SLICES - 1], outer[-1:]])
    return ReadTensor(
        name=reads.tensor,
        shape=reads.shape,
        elements=len(reads.positions),
        padding=len(reads.padding),
        of_slices=len(outer),
        slices=tuple(_slice(array, at, positions, counts) for at in drawn),
    )


def _slice(
    array: Array, at: Positions, positions: Positions, counts: NDArray[np.int64]
) -> ReadSlice:
    here = (positions[:, :-2] == at).all(axis=1)
    cells = map(tuple, positions[here, -2:].tolist())
    count_of = dict(zip(cells, counts[here].tolist(), strict=True))
    rows, columns = (
        drawn_positions(sorted({cell[axis] for cell in count_of}), array.shape[axis - 2])
        for axis in (0, 1)
    )
    index = tuple(map(int, at))
    return ReadSlice(
        at=index,
        rows=rows,
        columns=columns,
        counts=tuple(tuple(count_of.get((y, x), 0) for x in columns) for y in rows),
        values=tuple(tuple(_value(array, (*index, y, x)) for x in columns) for y in rows),
    )


def _value(array: Array, index: Index) -> str:
    """The element as text, empty outside."""
    if not all(0 <= i < n for i, n in zip(index, array.shape, strict=True)):
        return ""
    element = array[index]
    return str(element) if element.dtype.kind in "iub" else f"{float(element):.4g}"


def drawn_positions(read: Sequence[int], size: int) -> tuple[int, ...]:
    """Choose the positions of an axis to draw: those that are read, and some around."""
    low, high = read[0], read[-1]
    middle: Iterable[int] = range(low, high + 1)
    if high - low >= MAX_DRAWN:
        middle = chain.from_iterable(zip(read, reversed(read), strict=True))
    worth = chain((low, high, low - 1, high + 1), middle, (0, size - 1, low - 2, high + 2))
    possible = (p for p in worth if 0 <= p < size or low <= p <= high)
    chosen: set[int] = set()
    for position in possible:
        if len(chosen) == MAX_DRAWN:
            break
        chosen.add(position)
    return tuple(sorted(chosen))
