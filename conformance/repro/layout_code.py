"""The call of a script around a backend that has a layout of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from conformance.backends.layouts import Arrangement

INDENT = "    "


def function(body: str, how: Arrangement | None) -> str:
    """The function ``call`` of a script, whose ``body`` sets ``outputs`` from ``inputs``.

    With an arrangement it hands data over and takes outputs back as a run does, with what
    :mod:`conformance.backends.arranging` defines.
    """
    lines = [textwrap.indent(body, INDENT)]
    if how is not None:
        lines = [*map(_indented, _before(how)), *lines, *map(_indented, _after(how))]
    return "\n".join(["def call(inputs):", *lines, f"{INDENT}return outputs"])


def constants(how: Arrangement) -> Iterator[str]:
    """The assignments that the function needs."""
    if how.order is not None:
        yield f"order = {list(how.order)}  # {how.name}: the axes of data and outputs, by number"
    for number, counting in how.countings.items():
        yield f"# Indices in output {number} count in {how.counted(number)}."
        yield f"counting_{number} = {counting!r}"


def _before(how: Arrangement) -> Iterator[str]:
    if how.order is not None:
        yield "given, laid_out = inputs[0], arranged(inputs[0], order)"
        yield "inputs = [laid_out, *inputs[1:]]"


def _after(how: Arrangement) -> Iterator[str]:
    if how.order is not None:
        yield "given[...] = restored(laid_out, order)  # so that a change of it shows"
    yield "outputs = [outputs] if isinstance(outputs, np.ndarray) else list(outputs)"
    yield f"if len(outputs) == {len(how.laid_out)}:"
    for number, laid_out in enumerate(how.laid_out):
        if how.order is not None and laid_out:
            yield f"{INDENT}outputs[{number}] = restored(outputs[{number}], order)"
        if number in how.countings:
            yield f"{INDENT}outputs[{number}], _ = recounted(outputs[{number}], counting_{number})"


def _indented(line: str) -> str:
    return INDENT + line
