"""The detail of a finding as a typed record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, field

from conformance.codec import OpenRecord, convert


class Detail(OpenRecord, frozen=True):
    """What a finding says besides, see docs/run-log.md; what is absent is empty.

    ``window``, ``plane`` and ``elements`` are drawn as far as their numbers fit together.
    """

    show: str = ""
    fuzz: str = ""
    case: str = ""
    after: Annotated[tuple[str, ...], Meta(max_length=10_000)] | None = None
    common: Annotated[dict[str, str], Meta(max_length=10_000)] = field(default_factory=dict)
    window: Any = None
    plane: Any = None
    elements: Any = None


def parse_detail(data: Mapping[str, Any]) -> Detail:
    """Parse the detail of a finding.

    Raises ValueError, with the path, where it is malformed; what a reader gives is not.
    """
    return convert(data, Detail)
