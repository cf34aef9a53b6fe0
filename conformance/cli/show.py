"""``conformance show``: one vector, so that a person can follow it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import numpy as np

if TYPE_CHECKING:
    from conformance.model import Answer, Vector
    from conformance.spec.model import OpSpec

EXAMPLES = """
\b
Examples:
  conformance show f32-1x1x7-ramp-1a2b3c4d      one vector of the shipped suite
  conformance show 1a2b3c4d                     any part that only one id contains
  conformance show 1a2b3c4d --element 0,0,2     one element, tap by tap
  conformance show 1a2b3c4d --suite my-suite    a vector of your own suite
"""

ROWS = 24


@click.command(epilog=EXAMPLES)
@click.argument("vector_id", metavar="ID")
@click.option("--suite", metavar="DIR|NAME", help="The suite; the shipped core suite if left out.")
@click.option("--element", metavar="N,C,I..", help="Show how this output element comes about.")
@click.option("--all", "everything", is_flag=True, help=f"All elements, not the first {ROWS}.")
def show(vector_id: str, suite: str | None, element: str | None, everything: bool) -> None:
    """Show one vector: inputs, windows, divisors, what is expected and what is accepted."""
    from conformance.spec.loader import find
    from conformance.suite.store import open_suite

    vector = open_suite(suite).find(vector_id)
    spec = find(vector.case.op)
    for line in _heading(vector):
        click.echo(line)
    if not vector.answers:
        return
    if element is not None:
        for line in _element(spec, vector, _index(element, vector)):
            click.echo(line)
        return
    for number, answer in enumerate(vector.answers):
        for line in _answer(spec, vector, answer, ROWS if not everything else None):
            click.echo(line)
        for line in _readings(vector, number):
            click.echo(line)


def _heading(vector: Vector) -> Iterator[str]:
    case = vector.case
    yield f"{vector.id}  ({case.op}, level {vector.level})"
    yield f"  {vector.description}"
    for name, value in case.attributes.items():
        yield f"  {name:16} {_plain(value)}"
    for name, value in case.operands.items():
        yield f"  {name:16} {_plain(list(value))}"
    if vector.edges:
        yield "  edges            " + ", ".join(vector.edges)
    data = vector.inputs[0]
    yield f"  data             {next(iter(case.types.values()))} {tuple(data.shape)}"
    if data.size <= 400:
        text = np.array2string(data.astype(np.float64), max_line_width=76, floatmode="maxprec")
        yield from ("    " + line for line in text.splitlines())


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _answer(spec: OpSpec, vector: Vector, answer: Answer, rows: int | None) -> Iterator[str]:
    from conformance.reference.explain import window

    yield ""
    yield f"  {answer.name}: {answer.dtype} {tuple(answer.expected.shape)}"
    yield f"    {'element':14} {'window':22} {'taps':>9} {'divisor':>8}  {'expected':>14}  accepted"
    for count, index in enumerate(np.ndindex(answer.expected.shape)):
        if rows is not None and count == rows:
            yield f"    ... {answer.expected.size - rows} more (--all shows them)"
            return
        seen = window(spec, vector.case, vector.inputs[0], index)
        spans = " ".join(f"{at[0]}..{at[-1]}" if at else "-" for at in seen.coordinates)
        total = int(np.prod([len(at) for at in seen.coordinates]))
        divisor = "" if seen.divisor is None else str(seen.divisor)
        yield (
            f"    {','.join(map(str, index)):14} {spans:22} {f'{seen.taps} of {total}':>9} "
            f"{divisor:>8}  {answer.expected[index]!s:>14}  {_accepted(answer, index)}"
        )


def _accepted(answer: Answer, index: tuple[int, ...]) -> str:
    if answer.open is not None and answer.open[index] == 7:
        return "anything: left open"
    if answer.choices is not None:
        return "one of " + ", ".join(str(c) for c in answer.choices[index] if c >= 0)
    if answer.lo is None or answer.hi is None:
        return "only this"
    if answer.open is not None and answer.open[index]:
        return f"{answer.rounded[index] if answer.rounded is not None else ''} (may overflow)"
    lo, hi = answer.lo[index], answer.hi[index]
    return f"{lo}" if lo == hi or np.isnan(lo) else f"{lo} to {hi}"


def _readings(vector: Vector, number: int) -> Iterator[str]:
    base = vector.answers[number]
    for name, answers in vector.readings.items():
        other = answers[number]
        if other.expected.shape != base.expected.shape:
            shape = tuple(other.expected.shape)
            yield f"    also allowed, reading {name}: shape {shape}"
            continue
        differs = [
            i for i in np.ndindex(base.expected.shape) if other.expected[i] != base.expected[i]
        ]
        differs = [i for i in differs if not np.isnan(float(base.expected[i]))]
        if differs:
            at = differs[0]
            text = f"{len(differs)} elements differ, as {','.join(map(str, at))}: "
            text += f"{other.expected[at]} for {base.expected[at]}"
        else:
            text = "the same values, but more is accepted"
        yield f"    also allowed, reading {name}: {text}"


def _index(text: str, vector: Vector) -> tuple[int, ...]:
    shape = vector.answers[0].expected.shape
    parts = text.split(",")
    if len(parts) == len(shape) and all(part.strip().isdigit() for part in parts):
        index = tuple(int(part) for part in parts)
        if all(i < n for i, n in zip(index, shape, strict=True)):
            return index
    from conformance.errors import UsageError

    example = ",".join("0" for _ in shape)
    raise UsageError(
        f"--element {text}: the output of {vector.id} has shape {tuple(shape)}",
        hint=f"give one number an axis, as in --element {example}",
    )


def _element(spec: OpSpec, vector: Vector, index: tuple[int, ...]) -> Iterator[str]:
    from conformance.reference.explain import window

    seen = window(spec, vector.case, vector.inputs[0], index)
    yield ""
    yield f"  element {','.join(map(str, index))}"
    row: tuple[int, ...] | None = None
    cells: list[str] = []
    for at, value in seen.cells():
        if row != at[:-1]:
            if cells:
                yield "".join(cells)
            row = at[:-1]
            cells = [f"    {','.join(map(str, row)) + ',*' if row else '':>10}"]
        cells.append(f"{'.' if value is None else str(value):>12}")
    yield "".join(cells)
    yield f"    a dot is padding or beyond it; {seen.taps} taps hold data"
    if seen.divisor is not None:
        yield f"    divisor   {seen.divisor}"
    for answer in vector.answers:
        yield f"    {answer.name:9} {answer.expected[index]}   accepted: {_accepted(answer, index)}"
    for name, answers in vector.readings.items():
        for answer in answers:
            if answer.expected.shape == vector.answers[0].expected.shape:
                yield f"    {name}: {answer.name} {answer.expected[index]}"
