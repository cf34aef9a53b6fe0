"""Turns all elements into whole numbers of any length, and takes differences of running sums, which are exact.
NaN and infinities are counted beside them.

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


def running(planes):
    """Running sums over all axes but the first, with a zero in front."""
    for axis in range(1, planes.ndim):
        planes = np.cumsum(planes, axis=axis)
        front = np.zeros_like(planes.take([0], axis=axis)) if planes.shape[axis] else None
        if front is None:
            shape = list(planes.shape)
            shape[axis] = 1
            front = np.zeros(shape, planes.dtype)
        planes = np.concatenate([front, planes], axis=axis)
    return planes


def boxes(sums, sizes, out, begin, kernel, strides):
    """The sums of all windows from the corners of running sums."""
    total = 0
    borders = []
    for z, o, b, k, s in zip(sizes, out, begin, kernel, strides):
        start = np.arange(o) * s - b
        borders.append((np.clip(start, 0, z), np.clip(start + k, 0, z)))
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        sign = (-1) ** (len(sizes) - sum(corner))
        picked = np.ix_(np.arange(sums.shape[0]), *(each[end] for each, end in zip(borders, corner)))
        total = total + sign * sums[picked]
    return total


def kernel(data, kernel, strides, pads_begin, pads_end, exclude_pad, auto_pad="explicit", rounding_type="floor"):
    out, begin, counted = plan(data, kernel, strides, pads_begin, pads_end, exclude_pad, auto_pad, rounding_type)
    sizes = data.shape[2:]
    wide = data.astype(np.float64).reshape((data.shape[0] * data.shape[1],) + sizes)
    special = [np.isnan(wide), np.isposinf(wide), np.isneginf(wide)]
    parts = [float(x).as_integer_ratio() for x in np.where(np.isfinite(wide), wide, 0.0).ravel()]
    shift = max([below.bit_length() - 1 for _, below in parts], default=0)
    whole = np.empty(len(parts), object)
    for place, (above, below) in enumerate(parts):
        whole[place] = above << (shift - below.bit_length() + 1)
    window = sizes, out, begin, kernel, strides
    sums = boxes(running(whole.reshape(wide.shape)), *window)
    nans, ups, downs = (boxes(running(mask.astype(np.int64)), *window) for mask in special)
    divisor = np.broadcast_to(divisors(sizes, out, begin, counted, kernel, strides), sums.shape)
    mean = np.array([int(a) / (int(d) << shift) for a, d in zip(sums.ravel(), divisor.ravel())], np.float64)
    mean = mean.reshape(sums.shape)
    mean[ups > 0] = np.inf
    mean[downs > 0] = -np.inf
    mean[(nans > 0) | ((ups > 0) & (downs > 0))] = np.nan
    with np.errstate(all="ignore"):
        return mean.astype(data.dtype).reshape(data.shape[:2] + tuple(out))
