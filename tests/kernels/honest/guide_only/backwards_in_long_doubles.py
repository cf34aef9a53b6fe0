"""Walks through the taps backwards and adds in long doubles, in memory of Fortran order.
The result is stored upside down and returned as a view with negative steps.

op: AvgPool-1
"""

import itertools
import math

import numpy as np


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


def kernel(data, kernel, strides, pads_begin, pads_end, exclude_pad, auto_pad="explicit", rounding_type="floor"):
    out, begin, counted = plan(data, kernel, strides, pads_begin, pads_end, exclude_pad, auto_pad, rounding_type)
    sizes = data.shape[2:]

    def total(wide):
        sums = np.zeros(data.shape[:2] + tuple(out), np.longdouble, order="F")
        for tap in itertools.product(*(range(k - 1, -1, -1) for k in kernel)):
            into, source = [...], [...]
            for t, z, o, b, s in zip(tap, sizes, out, begin, strides):
                low = max(0, -((t - b) // s))
                high = min(o - 1, (z - 1 - t + b) // s)
                into.append(slice(low, max(low, high + 1)))
                first = low * s + t - b
                source.append(slice(first, max(first, first + (high - low) * s + 1), s) if high >= low else slice(0, 0))
            sums[tuple(into)] += wide[tuple(source)]
        return sums

    divisor = divisors(sizes, out, begin, counted, kernel, strides)
    mean = mean_of(total, data.astype(np.float64), divisor, np.float64 if data.dtype.kind == "V" else data.dtype)
    with np.errstate(all="ignore"):
        mean = mean.astype(data.dtype)
    turn = (slice(None, None, -1),) * mean.ndim
    stored = np.array(mean[turn], order="F")
    return stored[turn]
