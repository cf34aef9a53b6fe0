"""Prints a vector as text: inputs, expected and accepted values, and what an element reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from conformance.choices import PRECISIONS
from conformance.cli import element_grid
from conformance.cli.text import aligned, commas, plain, shortest, sizes, wrapped
from conformance.core.element_picture import vector_picture
from conformance.core.operator import Operator
from conformance.dtypes import DTYPES, Array, name_of
from conformance.grade.interpretation_match import Match, required_precision
from conformance.model import ALL_OPEN, OPEN_BIT, Answer, Vector
from conformance.report.wording import ulps

Index = tuple[int, ...]

MAX_DATA = 400
"""Elements of an input that is printed in full."""

MAX_CHOICES = 6
"""Allowed values of an element that are printed."""


def heading(vector: Vector, width: int) -> Iterator[str]:
    """Yield the attributes, coverage targets and inputs of a vector.

    ``width`` is in characters.
    """
    case = vector.case
    facts = {"operator": case.op, "level": vector.level}
    facts |= {name: plain(value) for name, value in case.attributes.items()}
    if vector.edges:
        facts["edges"] = ", ".join(vector.edges)
    inputs = dict(zip(vector.names, vector.inputs, strict=True))
    for name, value in case.operands.items():
        facts[name] = f"{plain(value)}  ({name_of(inputs[name].dtype)})"
    for name in case.shapes:
        facts[name] = f"{name_of(inputs[name].dtype)} {sizes(inputs[name].shape)}"
    longest = max(map(len, facts))
    yield vector.id
    yield from wrapped("  ", vector.description, width)
    for name, text in facts.items():
        yield from wrapped(f"  {name:{longest}}  ", text, width)
        if name in case.shapes:
            yield from _data(inputs[name], width)


TITLES = ("element", "expected", "accepted")
"""The titles of the columns of :func:`row`."""


def tables(vector: Vector, width: int, *, limit: int | None) -> Iterator[str]:
    """Yield a table for each output: a line per element.

    A line has the expected value and what is accepted. ``limit`` is the number of elements of each
    output, None for all.
    """
    for number, output in enumerate(vector.answers):
        yield ""
        yield f"  {output.name}: {output.dtype} {sizes(output.expected.shape)}"
        indices = list(islice(np.ndindex(output.expected.shape), limit))
        yield from aligned([TITLES, *(row(output, i) for i in indices)])
        left_out = output.expected.size - len(indices)
        if left_out:
            yield f"    ... and {left_out} more (--all shows them)"
        for line in _interpretation_lines(vector, number):
            yield from wrapped("    ", line, width)


def element(
    spec: Operator | None,
    vector: Vector,
    index: Index,
    match: Match | None = None,
    precision: Mapping[str, str] = {},
) -> Iterator[str]:
    """Yield an output element: what it reads of each input, and what each precision accepts.

    With a ``match``, also the backend's value, and whether ``precision`` accepts it.
    """
    yield f"  element {commas(index)}"
    interpretation = None if match is None else match.reading
    expected_outputs = vector.answers if match is None else match.answers
    if spec is not None and vector.answers:
        yield from element_grid.grids(vector_picture(spec, vector, vector.answers[0].name, index))
    base = {"": vector.answers} if interpretation else {}
    by_interpretation = {**base, **vector.readings}
    for number, output in enumerate(expected_outputs):
        rows = [("expected", shortest(output.expected[index]))]
        has_tiles = output.slack is not None
        names = [name for name in PRECISIONS if has_tiles or name != "tiled"]
        rows += [(name, accepted(output, index, name)) for name in names]
        for name, outputs in by_interpretation.items():
            other, label = outputs[number], f"interpretation {name}" if name else "as specified"
            if other.expected.shape != output.expected.shape:
                rows.append((label, f"output of shape {sizes(other.expected.shape)}"))
            elif _text(other, index) != _text(output, index):
                rows.append((label, accepted(other, index)))
        if match is not None and match.comparisons:
            returned, at = match.outputs[number], required_precision(output, precision)
            result = "wrong" if match.comparisons[number].wrong[index] else "accepted"
            off = ", ".join(filter(None, (distance(output, returned, index), result)))
            rows.append(("got", f"{shortest(returned[index])} ({off} at {at})"))
        suffix = f", by interpretation {interpretation}" if interpretation else ""
        yield f"    {output.name}{suffix}"
        yield from aligned([(f"  {name}", text) for name, text in rows], right=())


def row(output: Answer, index: Index, precision: str = "standard") -> tuple[str, ...]:
    """Return the cells of an element: its place, expected value and what is accepted."""
    expected = output.expected[index]
    # Ten digits distinguish the values of a narrower type; --element shows all digits.
    is_narrow = output.rounded is not None and output.dtype != "f64"
    text = f"{expected:.10g}" if is_narrow else shortest(expected)
    return (commas(index), text, accepted(output, index, precision))


def distance(output: Answer, got: Array, index: Index) -> str:
    """Return the ULP distance of an element from the rounded value; empty for an integer."""
    if output.rounded is None:
        return ""
    at = tuple(slice(i, i + 1) for i in index)
    steps = DTYPES[output.dtype].ulp_distance(got[at], output.rounded[at])
    return ulps(float(steps.reshape(-1)[0]))


def _text(output: Answer, index: Index) -> tuple[str, str]:
    return shortest(output.expected[index]), accepted(output, index)


def accepted(output: Answer, index: Index, precision: str = "standard") -> str:
    """Return the accepted values of an element, in words."""
    unchecked = output.unchecked(precision)
    if unchecked is not None and unchecked[index]:
        return _why_anything(output, index, precision)
    if output.choices is not None:
        counts = output.allowed[index]
        allowed = [*dict.fromkeys(map(shortest, output.choices[index][counts]))]
        suffix = f" and {len(allowed) - MAX_CHOICES} more" if len(allowed) > MAX_CHOICES else ""
        some = "any of " if len(allowed) > 1 else ""
        return some + ", ".join(allowed[:MAX_CHOICES]) + suffix
    if output.lo is None:
        return shortest(output.expected[index])
    lo, hi = (ends[index] for ends in output.interval(precision))
    return shortest(lo) if lo == hi or np.isnan(lo) else f"{shortest(lo)} to {shortest(hi)}"


def _why_anything(output: Answer, index: Index, precision: str) -> str:
    bits = 0 if output.open is None else int(output.open[index])
    if bits == ALL_OPEN:
        return "anything (unspecified)"
    spreads = precision == "tiled" and not bits & OPEN_BIT[precision]
    return f"anything ({'its tile holds what is not finite' if spreads else 'it may overflow'})"


def _interpretation_lines(vector: Vector, number: int) -> Iterator[str]:
    """Yield a line for each allowed interpretation that changes an output."""
    base = vector.answers[number]
    for name, outputs in vector.readings.items():
        other = outputs[number]
        if other.expected.shape != base.expected.shape:
            yield f"interpretation {name}: an output of shape {sizes(other.expected.shape)}"
            continue
        indices = np.ndindex(base.expected.shape)
        changed = [i for i in indices if _text(base, i) != _text(other, i)]
        if changed:
            text = f"{len(changed)} of {base.expected.size} elements change"
            first = f"{commas(changed[0])} may be {accepted(other, changed[0])}"
            yield f"interpretation {name}: {text}; {first}"


def _data(data: np.ndarray[Any, Any], width: int) -> Iterator[str]:
    if data.size > MAX_DATA:
        numbers = [shortest(value) for value in data.reshape(-1)[:8]]
        size = f"... ({data.size} elements)"
        while len(" ".join(("   ", *numbers, size))) > width:
            numbers.pop()
        yield " ".join(("   ", *numbers, size))
        return
    exact = data if data.dtype.kind in "iub" else data.astype(np.float64)
    text = np.array2string(exact, max_line_width=width - 4, floatmode="maxprec")
    yield from (f"    {line}".rstrip() for line in text.splitlines())
