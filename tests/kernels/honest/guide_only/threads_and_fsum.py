"""Gives planes to a few threads, each of which adds every window exactly with math.fsum.
Where no thread can be had, it works alone.

op: AvgPool-1
"""

import concurrent.futures
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


def exact_mean(taps, divisor):
    """The mean of a list of numbers, also with infinities and sums beyond float64."""
    special = [x for x in taps if not math.isfinite(x)]
    if special:
        return sum(special)
    try:
        return math.fsum(taps) / divisor
    except OverflowError:
        return math.fsum(x * 2.0**-40 for x in taps) / divisor * 2.0**40


def avgpool(data, kernel, strides, pads_begin, pads_end, exclude_pad, auto_pad="explicit", rounding_type="floor"):
    out, begin, counted = plan(data, kernel, strides, pads_begin, pads_end, exclude_pad, auto_pad, rounding_type)
    sizes = data.shape[2:]
    divisor = np.broadcast_to(divisors(sizes, out, begin, counted, kernel, strides), tuple(out))
    planes = data.astype(np.float64).reshape((data.shape[0] * data.shape[1],) + sizes)
    means = np.zeros((len(planes),) + tuple(out))

    def work(number):
        for place in itertools.product(*map(range, out)):
            starts = [i * s - b for i, s, b in zip(place, strides, begin)]
            window = tuple(slice(min(max(t, 0), z), min(max(t + k, 0), z)) for t, k, z in zip(starts, kernel, sizes))
            taps = planes[number][window].ravel().tolist()
            means[(number,) + place] = exact_mean(taps, int(divisor[place]))

    try:
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            list(pool.map(work, range(len(planes))))
    except RuntimeError:
        for number in range(len(planes)):
            work(number)
    with np.errstate(all="ignore"):
        return means.astype(data.dtype).reshape(data.shape[:2] + tuple(out))
