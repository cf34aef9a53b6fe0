"""A specification small enough to generate a suite from in a second or two."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from conformance.spec.loader import load_spec_text
from conformance.specification import mutants_of

TEXT = """\
format: 1
op: Tiny-1
family: pooling
summary: The mean of each pair of neighbours.
document: {title: No document, url: "https://example.org/tiny"}

types: {T: [f16, f32]}

attributes:
  strides: {type: int, per: axis, required: true, min: 1, draw: {max: 3}}

dims:
  N: {min: 1, draw: {max: 1}}
  C: {min: 1, draw: {max: 3}}
  size: {per: axis, min: 2, draw: {max: 6}}

inputs:
  - {name: data, type: T, shape: [N, C, size], rank: [3, 4], patterns: [ramp, negative]}

rules:
  reduce: mean
  out: (size - 2) // strides + 1
  start: i * strides
  taps: 2
  divisor: prod(taps)

outputs:
  - {name: result, type: T, holds: value, shape: [N, C, out]}

edges:
  strided: {when: any(strides > 1), why: Windows lie apart.}
  channels: {when: C > 1, why: More than one channel.}
  remainder: {when: any((size - 2) % strides > 0), why: The last elements are in no window.}
  differs: {when: axes > 1 and distinct(strides), why: Strides differ on every axis.}

reject:
  zero-stride: {set: {strides: 0}, breaks: strides.min, why: The window never moves.}
"""

EFFORT = {"base": 100, "aimed": 8, "children": 600, "rounds": 4, "condensing": 1, "strata": False}
MAIN = f"""
from functools import partial
from conformance.cli import main, progress
from conformance.generate import plan
progress.LINE_SECONDS = 1e6  # however slow the machine is
from conformance.generate.pairs import Effort
plan.make = partial(plan.make, effort=Effort(**{EFFORT}))
main()
"""
"""The command with fewer draws than it makes otherwise, as a program."""


@cache
def without_mutants() -> str:
    """The specification, in which no mutant counts: hunting those that survive takes minutes."""
    stated = (f"  {fault.id}: It does not count.\n" for fault in mutants_of(load_spec_text(TEXT)))
    return f"{TEXT}equivalent:\n{''.join(stated)}"


def write(folder: Path, text: str | None = None) -> Path:
    """The specification as a file in ``folder``; by default without mutants that count."""
    file = folder / "Tiny-1.yaml"
    file.write_text(without_mutants() if text is None else text, encoding="utf-8")
    return file


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
