"""The code of a script around the call of a backend with a layout of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from conformance.backends.layouts import TensorLayout

INDENT = "    "


def function(body: str, layout: TensorLayout | None) -> str:
    """Write the function ``call`` of a script; its ``body`` sets ``outputs`` from ``inputs``.

    With a layout it converts data and outputs as a run does, with what
    :mod:`conformance.backends.axis_order` defines.
    """
    before, after = ([], []) if layout is None else (_before(layout), _after(layout))
    lines = [*before, body, *after, "return outputs"]
    return "def call(inputs):\n" + textwrap.indent("\n".join(lines), INDENT)


def constants(layout: TensorLayout) -> Iterator[str]:
    """Yield the assignments that the function needs."""
    if layout.order is not None:
        comment = f"{layout.name}: the axes of data and outputs, by number"
        yield f"order = {list(layout.order)}  # {comment}"
    for number, counting in layout.countings.items():
        yield f"# Indices in output {number} count in {layout.counted(number)}."
        yield f"counting_{number} = {counting!r}"


def _before(layout: TensorLayout) -> Iterator[str]:
    if layout.order is not None:
        yield "given, laid_out = inputs[0], transposed(inputs[0], order)"
        yield "inputs = [laid_out, *inputs[1:]]"


def _after(layout: TensorLayout) -> Iterator[str]:
    if layout.order is not None:
        yield "given[...] = untransposed(laid_out, order)  # so that a change of it shows"
    yield "outputs = [outputs] if isinstance(outputs, np.ndarray) else list(outputs)"
    yield f"if len(outputs) == {len(layout.laid_out)}:"
    for number, laid_out in enumerate(layout.laid_out):
        if layout.order is not None and laid_out:
            yield f"{INDENT}outputs[{number}] = untransposed(outputs[{number}], order)"
        if number in layout.countings:
            recounted = f"recount_indices(outputs[{number}], counting_{number})"
            yield f"{INDENT}outputs[{number}], _ = {recounted}"
