"""The code of a script around the call of a backend with a layout of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from conformance.backends.layouts import TensorLayout
from conformance.model import Vector

INDENT = "    "


def function(body: str, layout: TensorLayout | None) -> str:
    """Write the function ``call`` of a script; its ``body`` sets ``outputs`` from ``inputs``.

    With a layout it converts inputs and outputs as a run does, with what
    :mod:`conformance.backends.axis_order` defines.
    """
    before, after = ([], []) if layout is None else (_before(layout), _after(layout))
    lines = [*before, body, *after, "return outputs"]
    return "def call(inputs):\n" + textwrap.indent("\n".join(lines), INDENT)


def constants(layout: TensorLayout, vector: Vector) -> Iterator[str]:
    """Yield the assignments that the function needs."""
    inputs = {
        number: (name, layout.inputs[name])
        for number, name in enumerate(vector.argument_names)
        if name in layout.inputs
    }
    outputs = {
        number: (answer.name, layout.outputs[number][answer.expected.ndim])
        for number, answer in enumerate(vector.answers)
        if answer.expected.ndim in layout.outputs[number]
    }
    for role, orders in (("input", inputs), ("output", outputs)):
        axes = {number: list(order.axes) for number, (_, order) in orders.items()}
        names = ", ".join(f"{name} {order.letters}" for name, order in orders.values())
        yield f"{role}_orders = {axes}" + (f"  # the axes by number: {names}" if names else "")
    for number, counting in layout.countings.items():
        yield f"# Indices in output {number} count in {layout.counted(number)}."
        yield f"counting_{number} = {counting!r}"


def _before(layout: TensorLayout) -> Iterator[str]:
    if layout.inputs:
        yield "given, laid_out = inputs, list(inputs)"
        yield "for number, order in input_orders.items():"
        yield f"{INDENT}laid_out[number] = transposed(given[number], order)"
        yield "inputs = list(laid_out)"


def _after(layout: TensorLayout) -> Iterator[str]:
    if layout.inputs:
        yield "for number, order in input_orders.items():  # so that a change of one shows"
        yield f"{INDENT}given[number][...] = untransposed(laid_out[number], order)"
    yield "outputs = [outputs] if isinstance(outputs, np.ndarray) else list(outputs)"
    yield f"if len(outputs) == {len(layout.outputs)}:"
    yield f"{INDENT}for number, order in output_orders.items():"
    yield f"{INDENT * 2}outputs[number] = untransposed(outputs[number], order)"
    for number in layout.countings:
        recounted = f"recount_indices(outputs[{number}], counting_{number})"
        yield f"{INDENT}outputs[{number}], _ = {recounted}"
