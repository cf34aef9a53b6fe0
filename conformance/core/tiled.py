r"""Precision *tiled*: how far sums over windows may be off that are computed tile by tile.

Winograd's algorithms compute the results of a tile together, from transforms of all that the tile
reads and of all taps. So a result is off in proportion to the largest numbers of its tile, even
where its own terms are small, and no bound by its own terms can hold. At precision tiled an element
may be off by :data:`FACTOR` u T beyond precision standard. u is the unit roundoff of the
accumulator. T is the element computed of magnitudes, where what is read through the window is the
largest within a tile's length along each axis, and taps in padding count like others. A tile is
:data:`TILE` neighbouring results and all that they read. Where it holds NaN or infinities, which
transforms spread over the tile, any value passes.

**The constant.** Barabasz, Anderson, Soodhalter and Gregg ("Error analysis and improving the
accuracy of Winograd convolution for deep neural networks", ACM Transactions on Mathematical
Software 46, 2020; arXiv:1803.10986) bound the error of A'[(G w) (B' x)] by u times the product of
the norms of A, G and B, squared in two dimensions. Of F(4x4, 3x3) with its usual points, a rounding
of what is multiplied grows to 860 u T at most, and to 94 u T where errors add up like the root of a
sum of squares (Higham and Mary, "A new approach to probabilistic rounding error analysis", SIAM J.
Sci. Comput. 41, 2019). The largest error seen is 61 u T. :data:`FACTOR` is the next power of two
after those two. So it is no theorem, as the other precisions are: larger tiles, or other points,
may be outside. A kernel that sums in bf16 is off by 20000 u T.

**Where it applies** follows from the text: a sum of products of two tensors, one of which is read
at an index that moves with a result's and with one that is combined away, by which the other tensor
is read, but not by the result's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from conformance.core import bounds
from conformance.core.evaluate import Evaluation, Interval
from conformance.core.index_space import IndexSpace, Part
from conformance.core.magnitude import Magnitude, magnitude
from conformance.core.operator import Definition, Operator, Output
from conformance.core.real import Real
from conformance.core.tree import Node
from conformance.dtypes import DTYPES, Array, DType, name_of

FACTOR = 128

TILE = 4
"""Results of a tile along each axis."""

SLACK_BITS = 4
"""Significant bits that slack is rounded up to, so that it takes little space."""


@dataclass(frozen=True)
class WindowedSum:
    """A definition that sums products, and the tensor that it reads through a window.

    ``moving`` are the indices of ``window`` that move with a result and with a tap.
    """

    definition: Definition
    window: Node
    moving: tuple[Node, ...]


def windowed_sum(operator: Operator, output: Output) -> WindowedSum | None:
    """Return an output's sum over windows; None if precision tiled does not apply to it."""
    definition = operator.define[output.name]
    term = definition.term
    if definition.combine != "sum" or term is None or term.op != "*" or len(term.args) != 2:
        return None
    if not all(_is_input(operator, factor) for factor in term.args) or not _is_plain(definition):
        return None
    for window, taps in (term.args, term.args[::-1]):
        moving = tuple(index for index in window.args if _moves(index, taps, definition))
        if moving:
            return WindowedSum(definition, window, moving)
    return None


def _is_input(operator: Operator, factor: Node) -> bool:
    tensor = operator.tensors.get(str(factor.value)) if factor.op == "read" else None
    return tensor is not None and len(tensor.shapes) == 1 and not tensor.broadcast


def _is_plain(definition: Definition) -> bool:
    """Whether an element is its sum, whatever the data, perhaps with elements of tensors added."""
    if definition.keep is not None and any(node.op == "read" for node in definition.keep.walk()):
        return False
    finish = definition.finish
    parts = finish.args if finish.op == "+" else (finish,)
    totals = [part for part in parts if part.op == "name" and part.value == "total"]
    return len(totals) == 1 and all(part.op == "read" for part in parts if part is not totals[0])


def _moves(index: Node, taps: Node, definition: Definition) -> bool:
    """Whether an index moves with a result, of which the taps know nothing, and with a tap."""
    indices = index.kind.indices
    results, terms = indices & definition.at.keys(), indices & definition.over.keys()
    if not results or results & taps.kind.indices:
        return False
    return bool(terms) and terms <= taps.kind.indices


def slack(
    evaluation: Evaluation, attributes: Mapping[str, Any], output: Output, standard: Interval
) -> Array | None:
    """Return how much further than ``standard`` precision tiled reaches, on either side.

    ``evaluation`` is that of precision standard. Slack is in the output's type, infinite where any
    value passes; None where the case has no windows that overlap.
    """
    windowed = windowed_sum(evaluation.operator, output)
    real = evaluation.value(output.name)
    if windowed is None or evaluation.machine is None or not isinstance(real, Real):
        return None
    radii = _radii(windowed, evaluation.space(windowed.definition))
    if not any(radii):
        return None
    inputs = _largest_of_tiles(evaluation.inputs, windowed, radii)
    largest = _LargestTerms(evaluation.operator, attributes, inputs).value(output.name)
    assert isinstance(largest, Real)
    further = magnitude(largest.value) * (FACTOR * evaluation.machine.unit)
    if largest.value.special is not None:
        endless = Magnitude(np.where(largest.value.special != 0, np.inf, 0.0))
        further = further + endless
    tiled = evaluation.accepted(output, bounds.widened(real, further))
    dtype = DTYPES[evaluation.dtype_of(output)]
    with np.errstate(invalid="ignore"):
        lo, hi, least, most = (
            end.astype(np.float64) for end in (standard.lo, standard.hi, tiled.lo, tiled.hi)
        )
        reach = np.fmax(np.where(lo == least, 0, lo - least), np.where(hi == most, 0, most - hi))
    reach = np.where(tiled.unspecified, np.inf, np.where(np.isnan(reach), 0, reach))
    return _rounded_up(reach, dtype) if reach.any() else None


def _radii(windowed: WindowedSum, space: IndexSpace) -> list[int]:
    """How far along each dimension of the window's tensor a tile reaches from any of its reads."""
    radii = []
    for index in windowed.window.args:
        positions = space.visit(index)
        for entry in positions if isinstance(positions, tuple) else (positions,):
            radii.append(_radius(entry, space.summed) if index in windowed.moving else 0)
    return radii


def _radius(positions: NDArray[np.int64], summed: tuple[int, ...]) -> int:
    """The length of a tile but for the read itself; 0 where windows do not overlap."""
    if not positions.size:
        return 0
    first, last = positions.min(axis=summed).squeeze(), positions.max(axis=summed).squeeze()
    if first.ndim > 1 or np.all(first == last):
        return 0
    first, last = first.reshape(-1), last.reshape(-1)
    if len(first) > 1 and not np.any(first[1:] <= last[:-1]):
        return 0
    ends = (last[min(i + TILE, len(last)) - 1] for i in range(len(first)))
    return max(int(end - begin) for begin, end in zip(first, ends, strict=True))


def _largest_of_tiles(
    inputs: Mapping[str, Array], windowed: WindowedSum, radii: Sequence[int]
) -> dict[str, Array]:
    """Magnitudes; of the window's tensor the largest within the radii; infinite for NaN."""
    factors = {str(node.value) for node in (windowed.definition.term or windowed.window).args}
    magnitudes = {}
    for name, array in inputs.items():
        if not DTYPES[name_of(array.dtype)].is_float:  # it may be read in indices
            magnitudes[name] = array
            continue
        values = np.abs(array.astype(np.float64))
        # NaN beside the sum, as in a bias, stays where it is.
        values = np.where(np.isfinite(values), values, np.inf if name in factors else 0.0)
        if name == windowed.window.value:
            for axis, radius in enumerate(radii):
                values = _sliding_maximum(values, axis, min(radius, values.shape[axis] - 1))
        magnitudes[name] = values.astype(array.dtype)
    return magnitudes


def _sliding_maximum(values: Array, axis: int, radius: int) -> Array:
    if radius < 1:
        return values
    padding = [(radius, radius) if d == axis else (0, 0) for d in range(values.ndim)]
    return np.asarray(sliding_window_view(np.pad(values, padding), 2 * radius + 1, axis).max(-1))


def _rounded_up(values: NDArray[np.float64], dtype: DType) -> Array:
    """Round to few bits of a type, so that they take little space."""
    last = np.maximum(np.frexp(values)[1] - SLACK_BITS, dtype.quantum)
    whole = np.ceil(np.ldexp(values * (1 + 2.0**-50), -last))
    with np.errstate(over="ignore"):
        return np.ldexp(whole, last).astype(dtype.numpy)


class _LargestTerms(Evaluation):
    """A case whose reads outside of a tensor are those of the nearest element inside."""

    def space(self, definition: Definition, part: Part | None = None) -> IndexSpace:
        return _NothingOutside(self, definition, part)


class _NothingOutside(IndexSpace):
    def _outside(self, _name: str, picked: Any, _inside: NDArray[np.bool_]) -> Any:
        return picked
