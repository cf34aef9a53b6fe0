"""Roots of exact ratios, rounded once.

The root of an integer is an integer root and a sticky bit that says whether anything is left, which
is all that a later rounding can ask for. No step passes through floating point.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from conformance.dtypes import Array, DType
from conformance.reference.exact import Integers, Ties, as_wide, round_ratio


def round_root(
    numerator: Integers,
    denominator: Integers | int,
    exponent: int,
    degree: int,
    dtype: DType,
    *,
    ties: Ties = "even",
) -> Array:
    """The real root of ``numerator / denominator * 2**exponent``, rounded once to ``dtype``.

    ``degree`` is at least 1; an odd root of a negative number is negative. Arguments broadcast and
    ``ties`` decide as in :func:`~conformance.reference.exact.round_ratio`. Raises ValueError for a
    denominator below 1, a degree below 1, and an even root of a negative number.

    The root is worked out to two bits more than the type has digits, and the last bit of the
    integer that is then rounded is 1 where anything was left. Half way between two neighbours lies
    only a number with one digit more than they have, so a root that is cut off is never taken for
    one, nor one for a neighbour.
    """
    if degree < 1:
        raise ValueError("a root has a degree of at least 1")
    if degree == 1:
        return round_ratio(numerator, denominator, exponent, dtype, ties=ties)
    above, below = np.broadcast_arrays(*map(as_wide, np.atleast_1d(numerator, denominator)))
    if above.size and below.min() < 1:
        raise ValueError("round_root needs positive denominators")
    if degree % 2 == 0 and (above < 0).any():
        raise ValueError("an even root of a negative number is not real")
    known: dict[tuple[int, int], tuple[int, int]] = {}
    found = []
    for ratio in zip(above.ravel().tolist(), below.ravel().tolist(), strict=True):
        if ratio not in known:
            known[ratio] = _sticky_root(*ratio, exponent, degree, dtype.digits + 2)
        found.append(known[ratio])
    lowest = min((place for root, place in found if root), default=0)
    roots = np.empty(len(found), object)
    roots[:] = [root << (place - lowest) if root else 0 for root, place in found]
    return round_ratio(roots.reshape(above.shape), 1, lowest, dtype, ties=ties)


def _sticky_root(above: int, below: int, exponent: int, degree: int, bits: int) -> tuple[int, int]:
    """The root of a ratio as an integer with a sticky last bit, and the exponent of that bit."""
    if above == 0:
        return 0, 0
    size = abs(above)
    shift = degree * bits - (size.bit_length() - below.bit_length())
    shift += (exponent - shift) % degree  # the exponent that is left is a multiple of the degree
    quotient, rest = divmod(size << max(shift, 0), below << max(-shift, 0))
    root = integer_root(quotient, degree)
    sticky = 2 * root + (rest != 0 or root**degree != quotient)
    return (sticky if above > 0 else -sticky), (exponent - shift) // degree - 1


def integer_root(number: int, degree: int) -> int:
    """The largest integer whose power of ``degree`` is not above ``number``, which is at least 0.

    ``degree`` is at least 1.
    """
    while degree % 2 == 0:  # the floor of a root of a floor is the floor of the root
        number, degree = isqrt(number), degree // 2
    if degree == 1 or number < 2:
        return number
    # Newton's iteration from above falls until it reaches the floor of the root.
    root = 1 << -(-number.bit_length() // degree)
    while True:
        better = ((degree - 1) * root + number // root ** (degree - 1)) // degree
        if better >= root:
            return root
        root = better
