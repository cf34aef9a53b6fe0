"""A small definition, for tests that spoil it in one place."""

from __future__ import annotations

EXAMPLE = """\
op: own.BlockMean-1
summary: The mean of each block.
document: {title: An example, url: "https://example.org"}
types: {T: [f16, f32]}
attributes:
  block: {per: axis, min: 1}
dims:
  N: {}
  C: {}
  size: {per: axis}
inputs:
  - {name: data, type: T, shape: [N, C, size], rank: [3, 4], patterns: [ramp, normal]}
let:
  rest: size % block
require:
  block-fits: block <= size
define:
  result:
    at: {n: N, c: C, i: size // block}
    over: {k: block}
    term: data[n, c, i * block + k]
    combine: sum
    finish: total / prod(block)
outputs:
  - {name: result, type: T}
interpretations:
  keeps-the-rest:
    question: elements that fill no block
    adopted: left out
    answer: a block of their own
    why: The document does not say what becomes of them.
    where: rest > 0
    change: {define.result.at.i: "ceil_div(size, block)"}
profiles:
  whole: {when: all(rest == 0), why: Many a kernel takes whole blocks alone.}
"""


def spoiled(*changes: tuple[str, str]) -> str:
    """The example with each old text, which occurs once, replaced by a new one."""
    text = EXAMPLE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def place(text: str, marked: str, inside: str = "") -> tuple[int, int]:
    """Line and column of ``inside``, within the only occurrence of ``marked``."""
    assert text.count(marked) == 1, marked
    at = text.index(marked) + (marked.index(inside) if inside else 0)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
