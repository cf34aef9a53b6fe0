"""The input arrays of a case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conformance.dtypes import DTYPES, Array
from conformance.errors import UsageError
from conformance.model import Case
from conformance.spec.model import OpSpec

VARIATION = 58
"""From this bit on a seed says how the data of the bits below it are varied; 0 is not at all."""

LATE, LOW, ONE = 1, 2, 3
"""One element is another one in the last part of the array, and anywhere; of all elements the low
bits differ, which a narrower type has not. The same seed's arrays are equal but for that."""

PLACES = 8
"""How many elements may be the one."""

PART = 8
"""One element in so many is in the last part."""

LOW_BITS = {8: 0x0F00_0000, 4: 0x0F00, 2: 0x3}
HALF = {8: 1 << 28, 4: 1 << 15, 2: 1 << 2}
"""By size in bytes: bits of f64 that f32 has not, of f32 and f16 that bf16 has not, and half of the
last bit that these have."""


def data_of(spec: OpSpec, case: Case) -> tuple[Array, ...]:
    """The tensors of ``case``, in their logical types."""
    if case.pattern not in spec.kin.patterns:
        raise UsageError(f"no value pattern is called '{case.pattern}'")
    plain = replace(case, seed=case.seed % (1 << VARIATION))
    data = spec.kin.data(spec, plain)
    variation = case.seed >> VARIATION
    return (_varied(data[0], variation, plain.seed), *data[1:]) if variation else data


def varied(case: Case, kind: int, place: int = 0) -> Case:
    """The case with data that differ from its own in one element, or in low bits."""
    return replace(case, seed=case.seed % (1 << VARIATION) + (kind + 4 * place << VARIATION))


def _varied(array: Array, variation: int, seed: int) -> Array:
    place, kind = divmod(variation, 4)
    flat = array.copy().ravel()
    if flat.size == 0:
        return array
    if kind == LOW:
        _flip(flat)
    else:
        word = int(np.random.Philox(key=seed).random_raw(PLACES)[place % PLACES])
        part = max(1, flat.size // PART) if kind == LATE else flat.size
        index = flat.size - 1 - word % part
        flat[index] = _beyond(flat, index)
    return flat.reshape(array.shape)


def _flip(flat: Array) -> None:
    """Flip low bits of all numbers, of floats only of normal ones; of bf16 none."""
    if flat.dtype.kind in "iu":
        flat ^= flat.dtype.type(1)
    elif flat.dtype.kind == "f":
        usual = np.isfinite(flat) & (np.abs(flat) >= np.finfo(flat.dtype).tiny)
        bits = flat.view(f"u{flat.itemsize}")
        low, half = (bits.dtype.type(own[flat.itemsize]) for own in (LOW_BITS, HALF))
        dropped = bits & (half | (half - bits.dtype.type(1)))
        usual &= (dropped != half) & (dropped ^ low != half)  # a tie may be rounded otherwise
        bits ^= np.where(usual, low, bits.dtype.type(0))


def _beyond(flat: Array, index: int) -> int | float:
    """A number so much larger than all that a mean of all shows it, as far as the type allows."""
    times = 1 << flat.size.bit_length() + 1
    if flat.dtype.kind in "iu":
        most = np.iinfo(flat.dtype)
        top = max(abs(int(flat.max())), abs(int(flat.min())))
        new = min(int(most.max), times * top + 1)
        return new if new != flat[index] else int(most.min)
    numbers = flat.astype(np.float64)
    finite = np.abs(numbers[np.isfinite(numbers)])
    largest = float(finite.max(initial=0)) or 1.0
    with np.errstate(over="ignore"):
        while times > 1 and not np.isfinite(np.float64(largest * times).astype(flat.dtype)):
            times //= 2
    largest *= times
    return largest if largest != numbers[index] else -largest


def operands_of(spec: OpSpec, case: Case) -> list[Array]:
    """The integer inputs of ``case``."""
    return [
        np.array(case.operands[o.name], dtype=DTYPES[case.types[o.type]].numpy)
        for o in spec.operands
    ]
