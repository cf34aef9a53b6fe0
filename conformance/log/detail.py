"""The detail of a finding as a typed record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from conformance.codec import Count, OpenRecord, convert

MAX_DIMENSIONS = 64
MAX_TENSORS = 8
MAX_SLICES = 4
"""Slices of a tensor that are drawn at most."""
MAX_DRAWN = 9
"""Positions of an axis that are drawn at most."""
MAX_TERMS = 6
"""Terms of an element that are listed at most."""

Position = Annotated[int, Meta(ge=-(2**53) + 1, le=2**53 - 1)]
Index = Annotated[tuple[Position, ...], Meta(max_length=MAX_DIMENSIONS)]
Drawn = Annotated[tuple[Position, ...], Meta(max_length=MAX_DRAWN)]


class ReadSlice(OpenRecord, frozen=True):
    """A part of a tensor: its last two dimensions at an index of the others.

    ``rows`` and ``columns`` are the positions that are drawn, outside of the tensor too. For each
    cell ``counts`` is how often it is read, and ``values`` the element, empty outside.
    """

    at: Index
    rows: Drawn
    columns: Drawn
    counts: Annotated[
        tuple[Annotated[tuple[Count, ...], Meta(max_length=MAX_DRAWN)], ...],
        Meta(max_length=MAX_DRAWN),
    ]
    values: Annotated[
        tuple[Annotated[tuple[str, ...], Meta(max_length=MAX_DRAWN)], ...],
        Meta(max_length=MAX_DRAWN),
    ]


class ReadTensor(OpenRecord, frozen=True):
    """An input: how many of its elements are read, and how many positions outside of it.

    ``of_slices`` is how many slices have something that is read.
    """

    name: str
    shape: Annotated[tuple[Count, ...], Meta(max_length=MAX_DIMENSIONS)]
    elements: Count
    padding: Count
    of_slices: Count
    slices: Annotated[tuple[ReadSlice, ...], Meta(max_length=MAX_SLICES)]


class ElementPicture(OpenRecord, frozen=True):
    """What an element of an output is computed from.

    ``terms`` are the factors of the first of ``of_terms`` terms, where it is a sum of products.
    """

    output: str
    index: Index
    tensors: Annotated[tuple[ReadTensor, ...], Meta(max_length=MAX_TENSORS)]
    of_terms: Count
    terms: Annotated[
        tuple[Annotated[tuple[str, ...], Meta(max_length=MAX_TENSORS)], ...],
        Meta(max_length=MAX_TERMS),
    ]


class Detail(OpenRecord, frozen=True):
    """What a finding says besides, see docs/run-log.md; what is absent is empty.

    ``reads``, ``plane`` and ``elements`` are drawn as far as their numbers fit together.
    """

    show: str = ""
    fuzz: str = ""
    case: str = ""
    after: Annotated[tuple[str, ...], Meta(max_length=10_000)] | None = None
    reads: ElementPicture | None = None
    plane: Any = None
    elements: Any = None


def parse_detail(data: Mapping[str, Any]) -> Detail:
    """Parse the detail of a finding.

    Raises ValueError, with the path, where it is malformed; what a reader gives is not.
    """
    return convert(data, Detail)
