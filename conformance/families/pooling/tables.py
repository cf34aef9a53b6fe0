"""Which data the patterns of :mod:`conformance.families.pooling.patterns` can make, as tables."""

from __future__ import annotations

from conformance.dtypes import DTYPES, FLOATS, DType

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
    "slopes": (),
    "mixed": COUNTS,
}
"""What some element may be, whatever the type, the shape and the seed."""

TOO = {
    # The smallest numbers of a bell have no place here.
    ("normal", "f16"): ("subnormal_taps", "minus_zero_taps"),
    **{("normal", integer): ("neginf_taps",) for integer in DTYPES.keys() - {*FLOATS}},
    # The lowest number is zero.
    ("lowest", "u8"): ("zero_taps",),
    ("impulse", "u8"): ("neginf_taps",),
}
"""What a pattern may hold in one type, beside what it may in every type."""

NEVER = {
    "int": ("nan_taps", "posinf_taps", "subnormal_taps", "minus_zero_taps"),
    "uint": ("nan_taps", "posinf_taps", "subnormal_taps", "minus_zero_taps", "negative_taps"),
}
"""What no element of a kind of type is."""

ALL_ARE = {"negative": ("negative_taps",), "lowest": ("negative_taps",)}
"""What every element is."""

ZERO_OR_NEGATIVE = ("zeros",)
"""Patterns whose elements are zero or negative, and finite."""

ONE_NONZERO = ("impulse",)
"""Patterns with one element in each plane that is not zero."""

DISTINCT = ("ramp", "negative", "nan", "infinite", "lowest", "slopes")
"""Patterns whose finite numbers are all different, while the type has enough of them."""

NEIGHBOURS_DIFFER = ("steady",)
"""Patterns in which no two elements that follow each other on the last axis are equal."""


def distinct_numbers(dtype: DType) -> int:
    """How many elements a pattern of distinct numbers fills in a type before it repeats."""
    return (1 << min(dtype.digits, 40)) - (0 if dtype.is_float else 1)
