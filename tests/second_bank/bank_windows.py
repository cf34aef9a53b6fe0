"""The arithmetic, the checks and the records that the operators of the second bank share.

The second bank holds faulty implementations written from the operator documents alone. It
measures a conformance suite, so nothing here comes from the suite's own sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = (np.dtype(np.float16), BF16, np.dtype(np.float32), np.dtype(np.float64))

Span = tuple[int, int]
Run = Callable[[str, list[np.ndarray], dict[str, Any]], list[np.ndarray]]


@dataclass(frozen=True)
class Case:
    """One call of an operator."""

    inputs: list[np.ndarray]
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Mistake:
    """One faulty implementation.

    `witness` gives calls, in order, of which the last shows the mistake. A few mistakes lie in
    a cache that lives from call to call; `forget` empties it and does nothing for the others.
    """

    id: str
    says: str
    run: Run
    witness: Callable[[], list[Case]]
    forget: Callable[[], None]


class Bank:
    """Collects the mistakes of one operator in the order in which they are written."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def mistake(self, id: str, says: str, *witness: Callable[[], Case]) -> Callable[[type], type]:
        """Class decorator: register an operator class whose one override is the mistake."""

        def register(cls: type) -> type:
            calls = lambda: [call() for call in witness]  # noqa: E731
            operator = cls()
            mistake = Mistake(id, says, operator.run, calls, operator.cache.clear)
            self.mistakes.append(mistake)
            return cls

        return register


def refuse_unless(condition: bool, why: str) -> None:
    """Raise ValueError(why) unless the condition holds."""
    if not condition:
        raise ValueError(why)


def data_tensor(x: Any) -> np.ndarray:
    """The data input of every pooling operator: floating point, [N, C, 1 to 3 spatial axes]."""
    refuse_unless(isinstance(x, np.ndarray), "the input is a tensor")
    refuse_unless(x.ndim in (3, 4, 5), "the input is 3-D, 4-D or 5-D")
    refuse_unless(x.dtype in FLOATS, "the input is floating point")
    return x


def adaptive_inputs(inputs: Sequence[Any]) -> tuple[np.ndarray, tuple[int, ...]]:
    """The data and the output size of an adaptive pooling operator, both checked."""
    refuse_unless(len(inputs) == 2, "adaptive pooling takes two inputs")
    x, size = data_tensor(inputs[0]), np.asarray(inputs[1])
    refuse_unless(size.dtype in (np.int32, np.int64), "output_size is int32 or int64")
    refuse_unless(size.shape == (x.ndim - 2,), "output_size has one entry per spatial axis")
    refuse_unless(bool((size >= 0).all()), "output_size is not negative")
    return x, tuple(int(value) for value in size)


def adaptive_spans(size: int, out: int) -> list[Span]:
    """[floor(i * size / out), ceil((i + 1) * size / out)) for every i below out."""
    return [(i * size // out, -((i + 1) * size // -out)) for i in range(out)]


def fixed_spans(size: int, out: int) -> list[Span]:
    """The windows of the ordinary pooling that exporters put in place of an adaptive one."""
    stride = size // max(out, 1)
    kernel = size - (out - 1) * stride
    return [(i * stride, i * stride + kernel) for i in range(out)]


def taps(spans: Sequence[Span]) -> int:
    """How many input positions a window covers."""
    return math.prod(max(stop - start, 0) for start, stop in spans)


def slices(spans: Sequence[Span]) -> tuple[Any, ...]:
    """The spans as an index into [N, C, spatial]."""
    return (slice(None), slice(None), *(slice(start, stop) for start, stop in spans))


def rows_of(block: np.ndarray) -> np.ndarray:
    """[N, C, window] as [N, C, taps]; also right for a block of no elements."""
    return block.reshape(*block.shape[:2], math.prod(block.shape[2:]))


def exact_mean(row: np.ndarray, divisor: float) -> float:
    """The sum of a float64 row, rounded once, over the divisor; the sum may pass the largest."""
    values = row.tolist()
    try:
        return math.fsum(values) / divisor
    except ValueError:  # infinities of both signs
        return math.nan
    except OverflowError:
        scale = 2.0**-64
        return math.fsum(value * scale for value in values) / divisor / scale


def mean(block: np.ndarray, divisor: float, dtype: np.dtype) -> np.ndarray:
    """The sum over a float64 block [N, C, window] over the divisor: [N, C] in float64.

    A block without taps gives 0. Sums of values that came from float64 are exact before their
    one rounding; the narrower dtypes leave float64 enough guard bits.
    """
    rows = rows_of(block)
    if rows.shape[2] == 0:
        return np.zeros(rows.shape[:2])
    if dtype != np.float64:
        return rows.sum(axis=-1) / np.float64(divisor)
    result = np.empty(rows.shape[:2])
    for where in np.ndindex(*result.shape):
        result[where] = exact_mean(rows[where], divisor)
    return result


def narrow(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Float64 values rounded once, to nearest even, to the dtype."""
    if dtype != BF16:
        return values.astype(dtype)
    # The cast to bfloat16 goes through float32; rounding to odd there makes it round once.
    with np.errstate(over="ignore"):
        near = values.astype(np.float32)
    back = near.astype(np.float64)
    even = (near.view(np.uint32) & 1) == 0
    fix = even & np.isfinite(near) & (back != values)
    toward = np.where(values > back, np.float32(np.inf), np.float32(-np.inf))
    return np.where(fix, np.nextafter(near, toward), near).astype(BF16)


def ramp(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Unordered multiples of 1/8 in [-6.25, 6.25], exact in every dtype of the bank."""
    order = np.arange(math.prod(shape)) * 7919 % 101
    return ((order - 50) / 8).reshape(shape).astype(dtype)


def line(*values: float, dtype: Any = np.float32) -> np.ndarray:
    """The values as a tensor [1, 1, len(values)]."""
    return np.array([[values]]).astype(dtype)


def plane(*rows: Sequence[float], dtype: Any = np.float32) -> np.ndarray:
    """The rows as a tensor [1, 1, H, W]."""
    return np.array([[rows]]).astype(dtype)


def adaptive_case(x: np.ndarray, *out: int, **attributes: Any) -> Case:
    """A call of an adaptive pooling operator with an int64 output size."""
    return Case([x, np.array(out, np.int64)], attributes)
