"""Layouts that a backend declares: how its data lie, and in what order its indices count.

A layout is a name for each rank, ``NWC``, ``NHWC`` and ``NDHWC``: its letters are the axes, from
the one that changes slowest to the one that changes fastest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends.axis_order import transposed
from conformance.errors import BackendError, EvaluationError
from conformance.model import Case, Vector
from conformance.spec.case_environment import Environment, EnvironmentOverlay
from conformance.spec.model import OpSpec

if TYPE_CHECKING:
    from conformance.backends.capabilities import Capabilities
    from conformance.specification import Specification

SPECIFIED = {3: "NCW", 4: "NCHW", 5: "NCDHW"}
"""By rank the axes of data in the order of the specification, a letter each."""

EXAMPLES = {"layout": "('NWC', 'NHWC', 'NDHWC')", "index_layout": "('WC', 'HWC', 'DHWC')"}

Orders = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True)
class TensorLayout:
    """How a backend wants the tensors of one vector.

    ``order`` is that of the axes of the data and of the outputs that ``laid_out`` marks, None for
    that of the specification; ``countings`` say of the outputs that are indices how they count,
    see :func:`conformance.backends.axis_order.recount_indices`.
    """

    order: tuple[int, ...] | None
    laid_out: tuple[bool, ...]
    countings: Mapping[int, dict[str, Any]]

    @property
    def name(self) -> str:
        """The letters of the layout of the data."""
        return "" if self.order is None else _letters(self.order, len(self.order))

    def counted(self, output: int) -> str:
        """Return the letters of the axes over which the indices of an output count."""
        counting = self.countings[output]
        return _letters(counting["axes"], len(counting["shape"]))

    def sent(self, vector: Vector) -> tuple[Any, ...]:
        """Convert the inputs of a vector to the backend's layout."""
        data, *operands = vector.inputs
        return (data if self.order is None else transposed(data, self.order), *operands)


def axis_orders(member: str, names: Sequence[str], *, all_axes: bool) -> Orders:
    """Parse the order of the axes from each name, by rank.

    Args:
        all_axes: a name has every axis; otherwise N and C may be missing.

    Raises:
        BackendError: a name is no layout, or two are of one rank.
    """
    orders: dict[int, tuple[int, ...]] = {}
    for name in names:
        rank = _rank(name)
        axes = SPECIFIED.get(rank, "")
        missing = set(axes) - set(name)
        if not axes or len(set(name)) < len(name) or (all_axes and missing) or missing - set("NC"):
            raise BackendError(
                f"capabilities: '{member}' has {name[:20]!r}",
                hint=f"a name for each rank, of the letters of {', '.join(SPECIFIED.values())}, "
                + ("each once" if all_axes else "of which N and C may be missing")
                + f": {EXAMPLES[member]}",
            )
        if rank in orders:
            raise BackendError(
                f"capabilities: '{member}' has two names for rank {rank}",
                hint=f"one name for each rank: {EXAMPLES[member]}",
            )
        orders[rank] = tuple(axes.index(letter) for letter in name)
    return orders


def _letters(axes: Sequence[int], rank: int) -> str:
    return "".join(SPECIFIED[rank][axis] for axis in axes)


def _rank(name: str) -> int:
    """The rank of data whose axes a name speaks of: that of its spatial letters, and two more."""
    return 2 + len(set(name) - set("NC")) if set(name) <= set(SPECIFIED[5]) else 0


def layout_for(
    declared: Capabilities | None, spec: Specification | None, case: Case
) -> TensorLayout | None:
    """Return the layout of a case's tensors that a declaration requires; None if as specified.

    Without a specification nothing tells which they are.

    Raises:
        BackendError: indices of the operator cannot be counted in another order.
    """
    if declared is None or not isinstance(spec, OpSpec):
        return None
    shape = case.shapes[spec.data.name]
    order, counted = declared.order(len(shape)), declared.counted(len(shape))
    if order is None and counted is None:
        return None
    countings = {}
    if counted is not None and case.reject is None:
        countings = {
            number: _counting(spec, case, shape, counted)
            for number, output in enumerate(spec.outputs)
            if output.holds == "index"
        }
    laid_out = tuple(len(output.shape) == len(spec.data.shape) for output in spec.outputs)
    return TensorLayout(order, laid_out, countings)


def _counting(
    spec: OpSpec, case: Case, shape: tuple[int, ...], counted: tuple[int, ...]
) -> dict[str, Any]:
    """How indices over the axes ``counted`` are counted by the specification's rule ``index``.

    The rule is worked out for each element of the data, and has to be a sum over the axes.
    """
    grid = np.ogrid[tuple(slice(max(1, size)) for size in shape)]
    environment = EnvironmentOverlay(
        Environment(spec, case), position=tuple(grid[2:]), n=grid[0], c=grid[1]
    )
    try:
        counts = np.asarray(spec.definitions["index"].evaluate(environment))
    except EvaluationError as error:
        raise _uncountable(spec, error.message) from error
    full = np.broadcast_to(counts, [max(1, size) for size in shape])
    start = (0,) * len(shape)
    first = int(full[start])
    step = [
        int(full[(*start[:axis], 1, *start[axis + 1 :])]) - first if size > 1 else 0
        for axis, size in enumerate(shape)
    ]
    if not np.array_equal(
        full,
        first + sum(stride * coordinate for stride, coordinate in zip(step, grid, strict=True)),
    ):
        raise _uncountable(spec, "its rule 'index' is no sum over the axes")
    return {"shape": list(shape), "axes": list(counted), "first": first, "step": step}


def _uncountable(spec: OpSpec, why: str) -> BackendError:
    return BackendError(
        f"indices of {spec.op} cannot be counted in another layout: {why}",
        hint="leave the operator out of 'operators', or 'index_layout' out of the declaration",
    )
