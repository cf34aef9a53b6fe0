"""A vector as text, so that a person can follow how each expected value comes about."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

import numpy as np

from conformance.dtypes import name_of
from conformance.model import OPEN_BIT, PRECISIONS, Answer, Vector
from conformance.reference.explain import Window, window
from conformance.spec.model import OpSpec

Index = tuple[int, ...]

MAX_DATA = 400
"""Larger inputs are not printed."""

MAX_ROWS, MAX_COLUMNS = 16, 7
"""How much of a window is printed."""

MAX_CHOICES = 6
ALL_OPEN = sum(OPEN_BIT.values())


def heading(vector: Vector, width: int) -> Iterator[str]:
    """What the vector asks: its attributes, edges and inputs. ``width`` is in characters."""
    case = vector.case
    facts = {"operator": case.op, "level": vector.level}
    facts |= {name: _plain(value) for name, value in case.attributes.items()}
    if vector.edges:
        facts["edges"] = ", ".join(vector.edges)
    inputs = dict(zip([*case.shapes, *case.operands], vector.inputs, strict=True))
    for name, value in case.operands.items():
        facts[name] = f"{_plain(value)}  ({name_of(inputs[name].dtype)})"
    for name in case.shapes:
        facts[name] = f"{name_of(inputs[name].dtype)} {_shape(inputs[name].shape)}"
    longest = max(map(len, facts))
    yield vector.id
    yield from _wrapped("  ", vector.description, width)
    for name, text in facts.items():
        yield from _wrapped(f"  {name:{longest}}  ", text, width)
        if name in case.shapes:
            yield from _data(inputs[name], width)


def tables(spec: OpSpec | None, vector: Vector, width: int, *, limit: int | None) -> Iterator[str]:
    """Every output, an element a line: its window, divisor, expected value and what is accepted.

    At most ``limit`` elements of each output. Without a specification windows are left out.
    """
    for number, answer in enumerate(vector.answers):
        yield ""
        yield f"  {answer.name}: {answer.dtype} {_shape(answer.expected.shape)}"
        indices = list(islice(np.ndindex(answer.expected.shape), limit))
        yield from _aligned([_titles(spec), *(_row(spec, vector, answer, i) for i in indices)])
        left = answer.expected.size - len(indices)
        if left:
            yield f"    ... and {left} more (--all shows them)"
        for reading in _readings(vector, number):
            yield from _wrapped("    ", reading, width)


def element(spec: OpSpec | None, vector: Vector, index: Index) -> Iterator[str]:
    """One output element: its window tap by tap, the divisor, and what each precision accepts."""
    yield ""
    yield f"  element {_commas(index)}"
    if spec is not None:
        yield from _taps(window(spec, vector.case, vector.inputs[0], index))
    for answer in vector.answers:
        rows = [("expected", _value(answer.expected[index]))]
        rows += [(precision, _accepted(answer, index, precision)) for precision in PRECISIONS]
        for name, answers in vector.readings.items():
            other = answers[vector.answers.index(answer)]
            if other.expected.shape != answer.expected.shape:
                rows.append((f"reading {name}", f"output of shape {_shape(other.expected.shape)}"))
            elif _text(other, index) != _text(answer, index):
                rows.append((f"reading {name}", _accepted(other, index)))
        yield f"    {answer.name}"
        yield from _aligned([(f"  {name}", text) for name, text in rows], right=())


def _titles(spec: OpSpec | None) -> tuple[str, ...]:
    seen = () if spec is None else ("window", "on data", "divisor")
    return ("element", *seen, "expected", "accepted")


def _row(spec: OpSpec | None, vector: Vector, answer: Answer, index: Index) -> tuple[str, ...]:
    seen: tuple[str, ...] = ()
    if spec is not None:
        one = window(spec, vector.case, vector.inputs[0], index)
        total = math.prod(len(at) for at in one.coordinates)
        spans = " ".join(_span(at) for at in one.coordinates)
        seen = (spans, f"{one.taps} of {total}", "" if one.divisor is None else str(one.divisor))
    expected = answer.expected[index]
    # Ten digits tell any value of a narrower type from its neighbours; --element shows them all.
    short = answer.rounded is not None and answer.dtype != "f64"
    text = f"{expected:.10g}" if short else _value(expected)
    return (_commas(index), *seen, text, _accepted(answer, index))


def _text(answer: Answer, index: Index) -> tuple[str, str]:
    return _value(answer.expected[index]), _accepted(answer, index)


def _accepted(answer: Answer, index: Index, precision: str = "standard") -> str:
    """What one element may be."""
    opened = 0 if answer.open is None else int(answer.open[index])
    if opened & OPEN_BIT[precision]:
        return "anything (left open)" if opened == ALL_OPEN else "anything (it may overflow)"
    if answer.choices is not None:
        allowed = [int(choice) for choice in answer.choices[index] if choice >= 0]
        more = f" and {len(allowed) - MAX_CHOICES} more" if len(allowed) > MAX_CHOICES else ""
        return "any of " + ", ".join(map(str, allowed[:MAX_CHOICES])) + more
    if answer.rounded is None or answer.lo is None or answer.hi is None:
        return _value(answer.expected[index])
    if precision == "exact":
        return _value(answer.rounded[index])
    lo, hi = answer.lo[index], answer.hi[index]
    if precision == "native" and answer.lo_native is not None and answer.hi_native is not None:
        lo, hi = answer.lo_native[index], answer.hi_native[index]
    return _value(lo) if lo == hi or np.isnan(lo) else f"{_value(lo)} to {_value(hi)}"


def _readings(vector: Vector, number: int) -> Iterator[str]:
    """In a line each, how the other allowed readings change one output."""
    base = vector.answers[number]
    for name, answers in vector.readings.items():
        other = answers[number]
        if other.expected.shape != base.expected.shape:
            yield f"reading {name}: an output of shape {_shape(other.expected.shape)}"
            continue
        everywhere = np.ndindex(base.expected.shape)
        changed = [i for i in everywhere if _text(base, i) != _text(other, i)]
        if changed:
            text = f"{len(changed)} of {base.expected.size} elements change"
            first = f"{_commas(changed[0])} may be {_accepted(other, changed[0])}"
            yield f"reading {name}: {text}; {first}"


def _taps(seen: Window) -> Iterator[str]:
    """The window as a grid: the last axis across, the others down."""
    if not all(seen.coordinates):
        yield "    the window has no taps"
        return
    columns = seen.coordinates[-1][:MAX_COLUMNS]
    rows = list(islice(product(*seen.coordinates[:-1]), MAX_ROWS))
    grid = [("at", *map(str, columns))]
    for row in rows:
        values = (seen.values.get((*row, column)) for column in columns)
        grid.append((_commas(row), *("." if v is None else _value(v) for v in values)))
    yield from _aligned(grid, right=range(1, len(columns) + 1))
    total = math.prod(len(at) for at in seen.coordinates)
    if len(rows) * len(columns) < total:
        yield f"    ... {len(rows) * len(columns)} of {total} taps are shown"
    if seen.taps < total:
        yield f"    {seen.taps} taps of {total} are on data; a dot is none"
    if seen.divisor is not None:
        yield f"    the sum is divided by {seen.divisor}"


def _data(data: np.ndarray[Any, Any], width: int) -> Iterator[str]:
    if data.size > MAX_DATA:
        words = [_value(value) for value in data.reshape(-1)[:8]]
        rest = f"... ({data.size} elements)"
        while len(" ".join(("   ", *words, rest))) > width:
            words.pop()
        yield " ".join(("   ", *words, rest))
        return
    text = np.array2string(data.astype(np.float64), max_line_width=width - 4, floatmode="maxprec")
    yield from (f"    {line}".rstrip() for line in text.splitlines())


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[int] | None = None) -> Iterator[str]:
    """Rows, a title first, as columns; one that holds nothing is left out. Those in ``right`` (by
    default all but the first two and the last) are set flush right."""
    flush = range(2, len(rows[0]) - 1) if right is None else right
    columns = []
    for number, column in enumerate(zip(*rows, strict=True)):
        if any(column[1:]) or len(rows) == 1:
            longest = max(map(len, column))
            columns.append(
                [t.rjust(longest) if number in flush else t.ljust(longest) for t in column]
            )
    for cells in zip(*columns, strict=True):
        yield ("    " + "  ".join(cells)).rstrip()


def _wrapped(label: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, len(label) + 20),
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_on_hyphens=False,
    )


def _span(at: tuple[int, ...]) -> str:
    if len(at) < 2:
        return str(at[0]) if at else "none"
    step = at[1] - at[0]
    return f"{at[0]}..{at[-1]}" + (f" by {step}" if step != 1 else "")


def _value(value: Any) -> str:
    """A number in the shortest form that reads back as itself, as float32 at least."""
    if isinstance(value, np.integer):
        return str(value)
    # The shortest form of a narrow type is off in whole units: 60350.0 for the float16 60352.
    number = value if isinstance(value, np.float64) else np.float32(value)
    whole = 10.0 ** np.finfo(number.dtype).precision
    if number == 0 or 1e-4 <= abs(float(number)) < whole:
        return np.format_float_positional(number, trim="0")
    return str(number)


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return _commas(value) or "empty"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _commas(values: Sequence[Any]) -> str:
    return ",".join(map(str, values))


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"
