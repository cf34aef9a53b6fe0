"""Prints a vector as text: inputs, windows, expected and accepted values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from conformance.choices import PRECISIONS
from conformance.cli import taps
from conformance.cli.text import aligned, commas, plain, shortest, sizes, span, wrapped
from conformance.dtypes import DTYPES, Array, name_of
from conformance.grade.interpretation_match import Match, required_precision
from conformance.model import ALL_OPEN, OPEN_BIT, Answer, Vector
from conformance.report.wording import ulps
from conformance.spec.model import OpSpec, RuleChange

Index = tuple[int, ...]

MAX_DATA = 400
"""Larger inputs are not printed."""

MAX_CHOICES = 6


def heading(vector: Vector, width: int) -> Iterator[str]:
    """What the vector asks: its attributes, edges and inputs. ``width`` is in characters."""
    case = vector.case
    facts = {"operator": case.op, "level": vector.level}
    facts |= {name: plain(value) for name, value in case.attributes.items()}
    if vector.edges:
        facts["edges"] = ", ".join(vector.edges)
    inputs = dict(zip([*case.shapes, *case.operands], vector.inputs, strict=True))
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


def tables(spec: OpSpec | None, vector: Vector, width: int, *, limit: int | None) -> Iterator[str]:
    """Every output, an element a line: its window, divisor, expected value and what is accepted.

    At most ``limit`` elements of each output. Without a specification windows are left out.
    """
    for number, answer in enumerate(vector.answers):
        yield ""
        yield f"  {answer.name}: {answer.dtype} {sizes(answer.expected.shape)}"
        indices = list(islice(np.ndindex(answer.expected.shape), limit))
        yield from aligned([titles(spec), *(row(spec, vector, answer, i) for i in indices)])
        left = answer.expected.size - len(indices)
        if left:
            yield f"    ... and {left} more (--all shows them)"
        for reading in _readings(vector, number):
            yield from wrapped("    ", reading, width)


def element(
    spec: OpSpec | None,
    vector: Vector,
    index: Index,
    match: Match | None = None,
    precision: Mapping[str, str] = {},
) -> Iterator[str]:
    """One output element: its window tap by tap, the divisor, and what each precision accepts.

    With a ``match``, what it got there too, and whether ``precision`` accepts that; the window is
    then that of the match's reading.
    """
    yield f"  element {commas(index)}"
    reading = None if match is None else match.reading
    if spec is not None and spec.kin.picture is not None:
        variants = variants_of(spec, reading)
        answers = vector.answers if match is None else match.answers
        got = match.outputs[0][index] if match is not None and match.comparisons else None
        seen = spec.kin.picture.window(spec, vector.case, vector.inputs, index, variants)
        yield from taps.grid(seen, answers[0].expected[index], got)
    for number, base in enumerate(vector.answers):
        answer = base if match is None else match.answers[number]
        rows = [("expected", shortest(answer.expected[index]))]
        rows += [(name, accepted(answer, index, name)) for name in PRECISIONS]
        others = {"": vector.answers} if reading else {}
        for name, answers in {**others, **vector.readings}.items():
            other, label = answers[number], f"interpretation {name}" if name else "as specified"
            if other.expected.shape != answer.expected.shape:
                rows.append((label, f"output of shape {sizes(other.expected.shape)}"))
            elif _text(other, index) != _text(answer, index):
                rows.append((label, accepted(other, index)))
        if match is not None and match.comparisons:
            comparison, asked_of = match.comparisons[number], required_precision(answer, precision)
            verdict = "wrong" if comparison.wrong[index] else "accepted"
            off = ", ".join(filter(None, (distance(answer, match.outputs[number], index), verdict)))
            rows.append(("got", f"{shortest(match.outputs[number][index])} ({off} at {asked_of})"))
        yield f"    {answer.name}" + (f", by interpretation {reading}" if reading else "")
        yield from aligned([(f"  {name}", text) for name, text in rows], right=())


def titles(spec: OpSpec | None) -> tuple[str, ...]:
    """The names of the columns of :func:`row`."""
    drawn = spec is not None and spec.kin.picture is not None
    seen = ("window", "on data", "divisor") if drawn else ()
    return ("element", *seen, "expected", "accepted")


def row(
    spec: OpSpec | None,
    vector: Vector,
    answer: Answer,
    index: Index,
    reading: str | None = None,
    precision: str = "standard",
) -> tuple[str, ...]:
    """One element: its window, the divisor, the expected value and what is accepted."""
    seen: tuple[str, ...] = ()
    if spec is not None and spec.kin.picture is not None:
        variants = variants_of(spec, reading)
        one = spec.kin.picture.window(spec, vector.case, vector.inputs, index, variants)
        total = math.prod(len(at) for at in one.coordinates)
        spans = " ".join(span(at) for at in one.coordinates)
        seen = (spans, f"{one.taps} of {total}", "" if one.divisor is None else str(one.divisor))
    expected = answer.expected[index]
    # Ten digits tell any value of a narrower type from its neighbours; --element shows them all.
    short = answer.rounded is not None and answer.dtype != "f64"
    text = f"{expected:.10g}" if short else shortest(expected)
    return (commas(index), *seen, text, accepted(answer, index, precision))


def distance(answer: Answer, got: Array, index: Index) -> str:
    """How far an element is from the rounded value; empty for an integer."""
    if answer.rounded is None:
        return ""
    at = tuple(slice(i, i + 1) for i in index)
    steps = DTYPES[answer.dtype].ulp_distance(got[at], answer.rounded[at])
    return ulps(float(steps.reshape(-1)[0]))


def variants_of(spec: OpSpec, reading: str | None) -> tuple[RuleChange, ...]:
    """The interpretations that a reading joins; none for the specification's own."""
    names = reading.split("+") if reading else []
    return tuple(variant for variant in spec.interpretations if variant.name in names)


def _text(answer: Answer, index: Index) -> tuple[str, str]:
    return shortest(answer.expected[index]), accepted(answer, index)


def accepted(answer: Answer, index: Index, precision: str = "standard") -> str:
    """What one element may be."""
    opened = 0 if answer.open is None else int(answer.open[index])
    if opened & OPEN_BIT[precision]:
        return "anything (unspecified)" if opened == ALL_OPEN else "anything (it may overflow)"
    if answer.choices is not None:
        allowed = [int(choice) for choice in answer.choices[index] if choice >= 0]
        more = f" and {len(allowed) - MAX_CHOICES} more" if len(allowed) > MAX_CHOICES else ""
        return "any of " + ", ".join(map(str, allowed[:MAX_CHOICES])) + more
    if answer.rounded is None or answer.lo is None or answer.hi is None:
        return shortest(answer.expected[index])
    if precision == "exact":
        return shortest(answer.rounded[index])
    lo, hi = answer.lo[index], answer.hi[index]
    if precision == "native" and answer.lo_native is not None and answer.hi_native is not None:
        lo, hi = answer.lo_native[index], answer.hi_native[index]
    return shortest(lo) if lo == hi or np.isnan(lo) else f"{shortest(lo)} to {shortest(hi)}"


def _readings(vector: Vector, number: int) -> Iterator[str]:
    """In a line each, how the other allowed readings change one output."""
    base = vector.answers[number]
    for name, answers in vector.readings.items():
        other = answers[number]
        if other.expected.shape != base.expected.shape:
            yield f"interpretation {name}: an output of shape {sizes(other.expected.shape)}"
            continue
        everywhere = np.ndindex(base.expected.shape)
        changed = [i for i in everywhere if _text(base, i) != _text(other, i)]
        if changed:
            text = f"{len(changed)} of {base.expected.size} elements change"
            first = f"{commas(changed[0])} may be {accepted(other, changed[0])}"
            yield f"interpretation {name}: {text}; {first}"


def _data(data: np.ndarray[Any, Any], width: int) -> Iterator[str]:
    if data.size > MAX_DATA:
        words = [shortest(value) for value in data.reshape(-1)[:8]]
        rest = f"... ({data.size} elements)"
        while len(" ".join(("   ", *words, rest))) > width:
            words.pop()
        yield " ".join(("   ", *words, rest))
        return
    whole = data.dtype.kind in "iu"
    shown = data if whole else data.astype(np.float64)
    text = np.array2string(shown, max_line_width=width - 4, floatmode="maxprec")
    yield from (f"    {line}".rstrip() for line in text.splitlines())
