"""Layouts that a backend declares: how its tensors lie, and in what order its indices count.

A layout is a name for each rank, ``NWC``, ``NHWC`` and ``NDHWC``: its letters are the axes, from
the one that changes slowest to the one that changes fastest. One of a named tensor may say what the
letters are, ``OIHW->OHWI``: the axes of the specification, then those of the backend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from conformance.backends.axis_order import transposed
from conformance.dtypes import Array
from conformance.errors import BackendError, EvaluationError
from conformance.model import Case, Vector

if TYPE_CHECKING:
    from conformance.backends.capabilities import Capabilities
    from conformance.core.operator import Operator

SPECIFIED = {3: "NCW", 4: "NCHW", 5: "NCDHW"}
"""By rank the axes of data in the order of the specification, a letter each."""

EXAMPLES = {"layout": "('NWC', 'NHWC', 'NDHWC')", "index_layout": "('WC', 'HWC', 'DHWC')"}

ARROW = "->"
"""What stands between the axes of the specification and those of the backend."""

OF_OPERATORS = ":"
"""What stands between a pattern of operators and the name of a tensor."""


@dataclass(frozen=True)
class AxisOrder:
    """The axes of a tensor as a backend wants them: their numbers, and their letters."""

    axes: tuple[int, ...]
    letters: str


Orders = Mapping[int, AxisOrder]
"""The orders of a tensor by its rank."""


@dataclass(frozen=True)
class TensorLayout:
    """How a backend wants the tensors of one vector.

    ``inputs`` are the orders of inputs by name, ``outputs`` those of each output by rank; what has
    none lies as specified. ``countings`` say of the outputs that are indices how they count, see
    :func:`conformance.backends.axis_order.recount_indices`.
    """

    inputs: Mapping[str, AxisOrder]
    outputs: tuple[Orders, ...]
    countings: Mapping[int, dict[str, Any]]

    def counted(self, output: int) -> str:
        """Return the letters of the axes over which the indices of an output count."""
        counting = self.countings[output]
        return _letters(counting["axes"], len(counting["shape"]))

    def sent(self, vector: Vector) -> tuple[Any, ...]:
        """Convert the inputs of a vector to the backend's layout."""
        return tuple(
            transposed(array, self.inputs[name].axes) if name in self.inputs else array
            for name, array in zip(vector.names, vector.inputs, strict=True)
        )


@dataclass(frozen=True)
class TensorOrders:
    """The orders of a tensor by rank, in the operators that a pattern names."""

    operators: str
    tensor: str
    orders: Orders


def layouts_by_tensor(layout: Mapping[Any, Any]) -> dict[str, tuple[str, ...]]:
    """Return layouts by tensor as tuples of texts.

    Raises:
        BackendError: they are no texts.
    """
    texts_by_name: dict[str, tuple[str, ...]] = {}
    for name, value in layout.items():
        texts = (value,) if isinstance(value, str) else value
        is_list = isinstance(texts, tuple | list) and all(type(text) is str for text in texts)
        if not isinstance(name, str) or not is_list or not texts:
            raise BackendError(
                f"capabilities: 'layout' has {str(value)[:80]!r} for {str(name)[:80]!r}",
                hint="name the axes of each tensor: {'X': 'NCHW->NHWC', 'W': 'OIHW->OHWI'}",
            )
        texts_by_name[name] = tuple(texts)
    return texts_by_name


def tensor_orders(layout: Mapping[str, Sequence[str]]) -> tuple[TensorOrders, ...]:
    """Parse the layouts of named tensors.

    A key is the name of a tensor, perhaps after a pattern of operators: ``onnx.Conv-*:W``.

    Raises:
        BackendError: a key is no name, or a layout is none.
    """
    parsed = []
    for key, layouts in layout.items():
        operators, _, tensor = key.rpartition(OF_OPERATORS)
        if not tensor.isidentifier() or key.startswith(OF_OPERATORS):
            raise BackendError(
                f"capabilities: 'layout' has {key[:80]!r}, which names no tensor",
                hint="a name as in the specification, 'W', or of some operators, 'onnx.Conv-*:W'",
            )
        parsed.append(TensorOrders(operators or "*", tensor, _orders_of_tensor(key, layouts)))
    return tuple(parsed)


def _orders_of_tensor(key: str, layouts: Sequence[str]) -> dict[int, AxisOrder]:
    orders: dict[int, AxisOrder] = {}
    for text in layouts:
        specified, arrow, letters = text.partition(ARROW)
        if not arrow:
            specified, letters = SPECIFIED.get(len(text), ""), text
        is_permutation = sorted(specified) == sorted(letters) and len(set(letters)) == len(letters)
        if not (letters.isascii() and letters.isalpha() and is_permutation):
            raise BackendError(
                f"capabilities: 'layout' of {key[:80]!r} has {text[:40]!r}",
                hint="the axes of the specification and those of the backend, each letter once: "
                "'OIHW->OHWI'; for data NHWC is short for 'NCHW->NHWC'",
            )
        if len(letters) in orders:
            raise BackendError(
                f"capabilities: 'layout' of {key[:80]!r} has two layouts of rank {len(letters)}",
                hint="one layout for each rank: ('NCW->NWC', 'NCHW->NHWC')",
            )
        axes = tuple(specified.index(letter) for letter in letters)
        orders[len(letters)] = AxisOrder(axes, letters)
    return orders


def axis_orders(member: str, names: Sequence[str], *, all_axes: bool) -> Orders:
    """Parse the order of the axes from each name, by rank.

    Args:
        all_axes: a name has every axis; otherwise N and C may be missing.

    Raises:
        BackendError: a name is no layout, or two are of one rank.
    """
    orders: dict[int, AxisOrder] = {}
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
        orders[rank] = AxisOrder(tuple(axes.index(letter) for letter in name), name)
    return orders


def _letters(axes: Sequence[int], rank: int) -> str:
    return "".join(SPECIFIED[rank][axis] for axis in axes)


def _rank(name: str) -> int:
    """The rank of data whose axes a name speaks of: that of its spatial letters, and two more."""
    return 2 + len(set(name) - set("NC")) if set(name) <= set(SPECIFIED[5]) else 0


def layout_for(
    declared: Capabilities | None, spec: Operator | None, case: Case
) -> TensorLayout | None:
    """Return the layout of a case's tensors that a declaration requires; None if as specified.

    Without a specification nothing tells which they are.

    Raises:
        BackendError: indices of the operator cannot be counted in another order, or it lacks a
            tensor that the declaration names.
    """
    if declared is None or spec is None:
        return None
    images = image_tensors(spec)
    _check_names(declared, spec)
    shapes = {**case.shapes, **{name: (len(value),) for name, value in case.operands.items()}}
    orders = {name: declared.orders(spec.op, name, is_image=name in images) for name in shapes}
    inputs = {
        name: orders[name][len(shape)]
        for name, shape in shapes.items()
        if len(shape) in orders[name]
    }
    outputs = tuple(
        declared.orders(spec.op, output.name, is_image=output.name in images)
        for output in spec.outputs
    )
    countings = _countings(declared, spec, case)
    if not inputs and not countings and not any(outputs):
        return None
    return TensorLayout(inputs, outputs, countings)


def image_tensors(spec: Operator) -> frozenset[str]:
    """Return the tensors that a layout by rank alone is of.

    Those of an operator with one array of data are that, and outputs with as many dimensions; with
    several arrays each has a layout of its own, which has to be declared.
    """
    data = [tensor for tensor in spec.inputs if tensor.entries is None]
    if len(data) != 1:
        return frozenset()
    rank = len(data[0].shapes[0])
    at = {output.name: spec.define[output.name].at for output in spec.outputs}
    alike = (name for name, indices in at.items() if len(indices) == rank)
    return frozenset([data[0].name, *alike])


def _check_names(declared: Capabilities, spec: Operator) -> None:
    """Check that an operator has the tensors that are named of it alone."""
    names = [*spec.tensors, *(output.name for output in spec.outputs)]
    for named in declared.named_orders:
        if named.operators == spec.op and named.tensor not in names:
            raise BackendError(
                f"capabilities: 'layout' names {named.tensor} of {spec.op}, which has "
                f"{', '.join(names)}"
            )


def _countings(declared: Capabilities, spec: Operator, case: Case) -> dict[int, dict[str, Any]]:
    """How the outputs count that are indices, by number."""
    if case.reject is not None or not case.shapes:
        return {}
    shape = next(iter(case.shapes.values()))
    counted = declared.counted(len(shape))
    if counted is None:
        return {}
    # Of no use where a backend runs, whose environment may have none of what definitions need.
    from conformance.core.index_counts import indices_of_elements

    try:
        indices = indices_of_elements(spec, case)
    except EvaluationError as error:
        raise _uncountable(spec, error.message) from error
    return {
        number: _counting(spec, counts, shape, counted.axes) for number, counts in indices.items()
    }


def _counting(
    spec: Operator, counts: Array, shape: tuple[int, ...], counted: tuple[int, ...]
) -> dict[str, Any]:
    """How indices over the axes ``counted`` are counted, given that of each element of the data.

    It has to be a sum over the axes.
    """
    grid = np.ogrid[tuple(slice(max(1, size)) for size in shape)]
    start = (0,) * len(shape)
    first = int(counts[start])
    step = [
        int(counts[(*start[:axis], 1, *start[axis + 1 :])]) - first if size > 1 else 0
        for axis, size in enumerate(shape)
    ]
    if not np.array_equal(
        counts,
        first + sum(stride * coordinate for stride, coordinate in zip(step, grid, strict=True)),
    ):
        raise _uncountable(spec, "its indices are no sum over the axes")
    return {"shape": list(shape), "axes": list(counted), "first": first, "step": step}


def _uncountable(spec: Operator, why: str) -> BackendError:
    return BackendError(
        f"indices of {spec.op} cannot be counted in another layout: {why}",
        hint="leave the operator out of 'operators', or 'index_layout' out of the declaration",
    )
