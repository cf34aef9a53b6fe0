"""Prints what an element of a definition is computed from: a grid for each input."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cli.text import aligned
from conformance.log.detail import ElementPicture, ReadSlice, ReadTensor
from conformance.report.element_picture import element_sentence, slice_caption, tensor_sentence

OUTSIDE = "."
"""What stands for a position outside of an input."""


def grids(picture: ElementPicture | None) -> Iterator[str]:
    """Yield each input: elements that are read in brackets, a dot outside."""
    if picture is None:
        return
    for tensor in picture.tensors:
        yield f"    {tensor_sentence(tensor)}"
        for part in tensor.slices:
            yield f"    {slice_caption(tensor, part)}"
            yield from aligned([*_rows(tensor, part)], right=range(len(part.columns) + 1))
    if sentence := element_sentence(picture):
        yield f"    {sentence}"


def _rows(tensor: ReadTensor, part: ReadSlice) -> Iterator[tuple[str, ...]]:
    """The cells of a slice, below the positions of its columns."""
    yield ("at", *map(str, part.columns))
    for row, values, counts in zip(part.rows, part.values, part.counts, strict=True):
        label = str(row) if len(tensor.shape) > 1 else ""
        yield (label, *(_cell(*cell) for cell in zip(values, counts, strict=True)))


def _cell(value: str, count: int) -> str:
    text = value or OUTSIDE
    if not count:
        return f"{text} "
    return f"[{text}]" + (f"x{count}" if count > 1 else "")
