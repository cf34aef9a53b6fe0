"""Which data the patterns can make: what :mod:`conformance.generate.patterns` fills, as tables."""

from __future__ import annotations

COUNTS = (
    "nan_taps",
    "posinf_taps",
    "neginf_taps",
    "subnormal_taps",
    "negative_taps",
    "zero_taps",
    "minus_zero_taps",
)

CAN_HOLD = {
    "ramp": (),
    "negative": ("negative_taps",),
    "impulse": ("zero_taps",),
    "ties": (),
    "nan": ("nan_taps",),
    "infinite": ("posinf_taps", "neginf_taps", "negative_taps"),
    "lowest": ("neginf_taps", "negative_taps"),
    "zeros": ("negative_taps", "zero_taps", "minus_zero_taps"),
    "subnormal": ("subnormal_taps", "negative_taps"),
    "cancel": ("negative_taps",),
    "wide": ("negative_taps",),
    "normal": ("negative_taps", "zero_taps"),
    "large": ("negative_taps",),
    "steady": (),
    "mixed": COUNTS,
}
"""What some element may be, whatever the type, the shape and the seed."""

ROUNDED = {"f16": ("subnormal_taps", "minus_zero_taps")}
"""What ``normal`` may hold too in types in which its smallest numbers have no place."""

ALL_ARE = {"negative": ("negative_taps",), "lowest": ("negative_taps",)}
"""What every element is."""

ZERO_OR_NEGATIVE = ("zeros",)
"""Patterns whose elements are zero or negative, and finite."""

ONE_NONZERO = ("impulse",)
"""Patterns with one element in each plane that is not zero."""

DISTINCT = ("ramp", "negative", "nan", "infinite", "lowest")
"""Patterns whose finite numbers are all different, while the type has enough of them."""

NEIGHBOURS_DIFFER = ("steady",)
"""Patterns in which no two elements that follow each other on the last axis are equal."""

BY_CHANCE = {"normal": ("zero_taps", "subnormal_taps", "minus_zero_taps")}
"""What a pattern can hold, but hardly ever does."""

OFTEN_EQUAL = ("impulse", "ties", "infinite", "lowest", "zeros", "cancel", "steady", "mixed")
"""Patterns in which two elements that are both the largest are nothing rare."""

PLANES = {"mixed": 12}
"""How many planes a pattern needs to hold all that it can hold."""


def distinct_numbers(digits: int) -> int:
    """How many elements a pattern of distinct numbers fills in a type before it repeats."""
    return 1 << min(digits, 40)
