"""A specification small enough to generate a suite from in a second or two."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.generate import plan as planning
from conformance.generate import suite as generation

TEXT = """\
op: Tiny-1
summary: The mean of each pair of neighbours.
document: {title: No document, url: "https://example.org/tiny"}

types: {T: [f16, f32]}

attributes:
  step: {min: 1}

dims:
  N: {min: 1}
  size: {min: 2}

inputs:
  - {name: data, type: T, shape: [N, size]}

define:
  result:
    at: {n: N, i: (size - 2) // step + 1}
    value: "(data[n, i * step] + data[n, i * step + 1]) / 2"

outputs:
  - {name: result, type: T}

profiles:
  each-pair: {when: step == 1, why: Some take no step.}
"""

FEW = {"POOL": 40, "SMOKE_POOL": 40, "BESIDE": 4, "STARTS": 40}
MAIN = f"""
from conformance.cli import main, progress
from conformance.generate import plan as planning, suite as generation
progress.LINE_SECONDS = 1e6  # however slow the machine is
vars(generation).update({FEW})
planning.drawn_large = lambda *_: ()
main()
"""
"""The command with fewer draws than it makes otherwise, as a program."""


def draw_few(patch: pytest.MonkeyPatch) -> None:
    """Let this process make as few draws as the program does."""
    for name, count in FEW.items():
        patch.setattr(generation, name, count)
    patch.setattr(planning, "drawn_large", lambda *_: ())


def write(folder: Path, text: str = TEXT) -> Path:
    """The specification as a file in ``folder``."""
    file = folder / "Tiny-1.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
