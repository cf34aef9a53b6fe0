"""Side results of translating an expression, besides its value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from conformance.feasible.backend import Truth

POSITIVE, EITHER, NEGATIVE = 1, 0, -1
"""Whether a proposition is wanted to be true, to be false, or both may matter."""


@dataclass(frozen=True, eq=False)
class ForAll:
    """Where ``guard`` holds, what ``instance`` says of a window is true of every one."""

    guard: Truth
    instance: Callable[[Any], Truth]


@dataclass
class Trace:
    """What translating an expression took.

    ``side`` are propositions beside it, ``windows`` those that it names, ``foralls`` what it says
    of all, ``defined`` when it has a value.
    """

    side: list[Truth] = field(default_factory=list)
    windows: list[Any] = field(default_factory=list)
    foralls: list[ForAll] = field(default_factory=list)
    defined: list[Truth] = field(default_factory=list)
