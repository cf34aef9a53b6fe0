"""A class that checks its attributes when it is made, and adds row by row from a queue of tap numbers in forward.
It takes tensors or arrays and returns an array; it leaves out bf16, which numpy does not have.

op: AvgPool-1
"""

import math
import queue

import numpy as np

CAPABILITIES = {"dtypes": ["f16", "f32", "f64"], "ranks": [3, 4, 5]}


def plan(data, kernel, strides, pads_begin, pads_end, exclude_pad, auto_pad, rounding_type):
    """Check the case; give windows, padding, and whether padding counts."""
    sizes = data.shape[2:]
    axes = len(sizes)
    if not 1 <= axes <= 3 or 0 in data.shape[:2]:
        raise ValueError("unfit data")
    if any(len(each) != axes for each in (kernel, strides, pads_begin, pads_end)):
        raise ValueError("one entry an axis")
    if min(kernel) < 1 or min(strides) < 1:
        raise ValueError("kernel and strides start from 1")
    if auto_pad not in ("explicit", "same_upper", "same_lower", "valid") or rounding_type not in ("floor", "ceil"):
        raise ValueError("unknown mode")
    begin, end = [0] * axes, [0] * axes
    if auto_pad == "explicit":
        begin, end = [int(b) for b in pads_begin], [int(e) for e in pads_end]
        if min(begin + end) < 0:
            raise ValueError("negative padding")
    elif auto_pad != "valid":
        for a in range(axes):
            total = max(0, (-(-sizes[a] // strides[a]) - 1) * strides[a] + kernel[a] - sizes[a])
            begin[a] = total // 2 if auto_pad == "same_upper" else total - total // 2
            end[a] = total - begin[a]
    out = []
    for a in range(axes):
        span = sizes[a] + begin[a] + end[a] - kernel[a]
        if span < 0 or exclude_pad and max(begin[a], end[a]) >= kernel[a]:
            raise ValueError("window and padding do not fit")
        out.append(int((-(-span // strides[a]) if rounding_type == "ceil" else span // strides[a]) + 1))
    return out, begin, not exclude_pad and sum(begin) + sum(end) > 0


def held_taps(sizes, out, begin, kernel, strides):
    """Count the taps of each window that lie on the data."""
    held = np.ones(())
    for z, o, b, k, s in zip(sizes, out, begin, kernel, strides):
        start = np.arange(o) * s - b
        held = held[..., None] * np.maximum(0, np.minimum(start + k, z) - np.maximum(start, 0))
    return held


def divisors(sizes, out, begin, counted, kernel, strides):
    """What each sum is divided by; 1 where a window without value has nothing."""
    if counted:
        return math.prod(int(k) for k in kernel)
    return np.maximum(1, held_taps(sizes, out, begin, kernel, strides))


def mean_of(total, wide, divisor, dtype):
    """Divide; where a sum overflowed, add again with smaller numbers."""
    with np.errstate(all="ignore"):
        mean = total(wide) / divisor
        lost = ~np.isfinite(mean)
        if lost.any():
            mean = np.where(lost, total(wide * 2.0**-40) / divisor * 2.0**40, mean)
        return mean.astype(dtype)


class ModelNew:
    def __init__(self, kernel, strides, pads_begin, pads_end, exclude_pad, auto_pad="explicit", rounding_type="floor"):
        if min(kernel) < 1 or min(strides) < 1:
            raise ValueError("kernel and strides start from 1")
        self.kernel, self.strides = [int(k) for k in kernel], [int(s) for s in strides]
        self.rest = pads_begin, pads_end, exclude_pad, auto_pad, rounding_type

    def forward(self, data):
        data = np.asarray(data.numpy() if hasattr(data, "numpy") else data)
        kernel, strides = self.kernel, self.strides
        out, begin, counted = plan(data, kernel, strides, *self.rest)
        sizes = data.shape[2:]
        room = [max((o - 1) * s + k, b + z) for o, s, k, b, z in zip(out, strides, kernel, begin, sizes)]
        inside = (...,) + tuple(slice(b, b + z) for b, z in zip(begin, sizes))

        def total(wide):
            padded = np.zeros(data.shape[:2] + tuple(room))
            padded[inside] = wide
            for a in range(len(sizes)):
                taps = queue.SimpleQueue()
                for t in range(kernel[a]):
                    taps.put(t)
                rows = np.moveaxis(padded, a + 2, 0)
                added = np.zeros((out[a],) + rows.shape[1:])
                while not taps.empty():
                    t = taps.get()
                    added += rows[t : t + (out[a] - 1) * strides[a] + 1 : strides[a]]
                padded = np.moveaxis(added, 0, a + 2)
            return padded

        divisor = divisors(sizes, out, begin, counted, kernel, strides)
        return mean_of(total, data.astype(np.float64), divisor, data.dtype)

    __call__ = forward
