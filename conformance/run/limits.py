"""Time and memory limits of a worker."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from conformance.errors import UsageError
from conformance.safe_text import number_of

DEFAULT_TIMEOUT = 30.0
"""Seconds a vector."""

START = 120.0
"""Seconds in which a backend may be loaded, unless a vector may take longer."""

LEAST_MEMORY = 1 << 20
"""Bytes of a limit of memory, at least. Python alone takes ten times that."""

MAX_SECONDS = 1e6
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,6})?) ?(?P<unit>[KMGT]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """``timeout`` seconds for each vector, ``start`` seconds to load the backend, and ``memory``
    bytes of resident memory for each process (None: no limit).

    Raises :class:`UsageError` for numbers that make no sense.
    """

    timeout: float = DEFAULT_TIMEOUT
    memory: int | None = None
    start: float = START

    def __post_init__(self) -> None:
        for name in ("timeout", "start"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and 0 < seconds <= MAX_SECONDS):
                raise UsageError(
                    f"{name} is {seconds}, not a number of seconds above 0",
                    hint="a vector takes milliseconds; 30 seconds are plenty for most backends",
                )
        if self.memory is not None:
            check_memory(self.memory)


def check_memory(size: int) -> None:
    """Check that a process can run within a memory limit.

    Args:
        size: bytes.

    Raises:
        UsageError: no process runs within the limit.
    """
    if size < LEAST_MEMORY:
        raise UsageError(
            f"memory is {number_of(size, 'byte')}; "
            f"no process runs in less than {spell_size(LEAST_MEMORY)}",
            hint="a size is a number of bytes, or of K, M, G or T as in 512M or 4G",
        )


def parse_size(text: str) -> int:
    """Parse a size: ``512M``, ``1.5G`` (powers of 1024) or a plain number of bytes.

    Raises:
        UsageError: the text is no size.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"{text!r} is not a size", hint="a size looks like 512M or 4G")
    return int(float(match["number"]) * _UNITS[match["unit"].upper()])


def spell_size(size: int) -> str:
    """Spell a size in bytes as :func:`parse_size` reads it back."""
    for unit in ("T", "G", "M", "K"):
        if size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)


def shown_size(size: int) -> str:
    """Spell a size in bytes for people."""
    unit = next((unit for unit in ("G", "M") if size >= _UNITS[unit]), "K")
    return f"{size / _UNITS[unit]:.1f} {unit}iB"
