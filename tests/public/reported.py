"""Backends with the faults of public bug reports, each the oracle's answer with one fault put in.

A report was written down with its mechanism before anyone looked at what the suite says of it, and
stays whatever that is. ``guessed`` says what the thread does not tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from asked import Asked

from conformance.backends import Capabilities
from conformance.backends.capabilities import Exclusion
from conformance.dtypes import DTYPES, Array

LOWEST = np.finfo(np.float32).min
BF16 = DTYPES["bf16"].numpy

MOST_STEPS = 1 << 20
"""Steps of a loop over a window that is run here."""


@dataclass(frozen=True)
class Report:
    """A report, and a backend that has what it tells.

    ``names`` are mutants of the catalogue that are this fault, ``known`` says that one was in the
    catalogue when the report was found.
    """

    id: str
    project: str
    thread: str
    op: str
    says: str
    run: Callable[[Asked], list[Array]]
    dtypes: tuple[str, ...] = ("f32",)
    ranks: tuple[int, ...] = (4,)
    excluding: tuple[Exclusion, ...] = ()
    guessed: str = ""
    names: tuple[str, ...] = ()
    known: bool = False


class Backend:
    """What a report's project would declare, and do."""

    version = "1"

    def __init__(self, report: Report) -> None:
        self.report, self.name = report, report.id
        self.capabilities = Capabilities(
            operators=(report.op,),
            dtypes=report.dtypes,
            ranks=report.ranks,
            excluding=report.excluding,
        )

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        return self.report.run(Asked(op, inputs, attributes))


REPORTS: dict[str, Report] = {}


def report(name: str, **told: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(run: Callable[[Asked], list[Array]]) -> Callable[[Asked], list[Array]]:
        REPORTS[name] = Report(id=name, run=run, **told)
        return run

    return keep


@report(
    "onednn-global-index",
    project="oneDNN, Intel GPU",
    thread="https://github.com/uxlfoundation/oneDNN/pull/3866",
    op="torch.max_pool-2",
    says="The kernel for a window over the whole plane begins with the value of the first element "
    "and with an index of -1, which stays where the first element is the largest.",
    names=("index-minus-one-of-first-if-whole-plane",),
)
def onednn_global_index(asked: Asked) -> list[Array]:
    values, indices = asked.right
    return [values, np.where(indices == 0, -1, indices) if asked.whole else indices]


@report(
    "tensorflow-nan-tail",
    project="TensorFlow, CPU",
    thread="https://github.com/tensorflow/tensorflow/issues/125965",
    op="torch.max_pool-2",
    says="Channels are reduced four at a time by an instruction that hands a NaN on, and those "
    "after the last full four by a comparison that drops it.",
)
def tensorflow_nan_tail(asked: Asked) -> list[Array]:
    nan = np.isnan(asked.data)
    made = asked.under(asked.attributes, np.where(nan, LOWEST, asked.data))
    full = asked.data.shape[1] // 4 * 4
    held = asked.under(asked.attributes, nan.astype(np.float32))[0] > 0
    held[:, full:] = False
    return [np.where(held, np.float32(np.nan), made[0]), made[1]]


@report(
    "onnxruntime-batch-65536",
    project="ONNX Runtime, CUDA",
    thread="https://github.com/microsoft/onnxruntime/issues/29819",
    op="onnx.AveragePool-22",
    says="A batch of 65,536 images or more is refused, as no grid of the library has so many.",
)
def onnxruntime_batch_65536(asked: Asked) -> list[Array]:
    if asked.data.shape[0] >= 65536:
        raise RuntimeError("CUDNN failure 3000: CUDNN_STATUS_NOT_SUPPORTED")
    return asked.right


@report(
    "theano-grid",
    project="Theano, CUDA",
    thread="https://github.com/Theano/Theano/issues/657",
    op="MaxPool-14",
    says="The launch has a block for each plane, and fails above 65,535 images times channels.",
)
def theano_grid(asked: Asked) -> list[Array]:
    if (planes := prod(asked.data.shape[:2])) > 65535:
        raise RuntimeError(
            f"Cuda error: kMaxPool_node_0: invalid configuration argument. (grid: {planes} x 8)"
        )
    return asked.right


@report(
    "tt-torch-override-global",
    project="tt-torch",
    thread="https://github.com/tenstorrent/tt-torch/issues/1247",
    op="torch.avg_pool-2",
    says="Where kernel, stride and data have one size and nothing is padded the mean of the plane "
    "is taken, and divisor_override never read.",
    names=("override-ignored-if-whole-plane",),
)
def tt_torch_override_global(asked: Asked) -> list[Array]:
    size = list(asked.size)
    fits = asked.axes("kernel") == asked.axes("strides") == size
    if not fits or any(asked.axes("pad_begin")):
        return asked.right
    return asked.under({k: v for k, v in asked.attributes.items() if k != "divisor_override"})


@report(
    "tt-metal-wide-face",
    project="tt-metal",
    thread="https://github.com/tenstorrent/tt-metal/issues/27738",
    op="MaxPool-14",
    dtypes=("bf16",),
    says="Above 256 channels, where more than half of the last 32 are there, they are written at "
    "the wrong offset.",
    guessed="that the second 16 of the last block show the first",
    names=("second-half-of-last-32-channels-repeats-the-first",),
)
def tt_metal_wide_face(asked: Asked) -> list[Array]:
    values = asked.right[0]
    channels = values.shape[1]
    rest = channels % 32
    if channels > 256 and rest > 16:
        last = channels - rest
        values[:, last + 16 :] = values[:, last : last + rest - 16].copy()
    return [values, *asked.right[1:]]


@report(
    "tt-metal-ninth-tile",
    project="tt-metal",
    thread="https://github.com/tenstorrent/tt-metal/issues/23681",
    op="AvgPool-1",
    dtypes=("bf16",),
    says="With more than 32 taps the channels are wrong where blocks of 32 come in eights and one "
    "more is left.",
    guessed="that the one that is left is not written",
)
def tt_metal_ninth_tile(asked: Asked) -> list[Array]:
    values = asked.right[0]
    tiles = -(-values.shape[1] // 32)
    if asked.taps > 32 and tiles > 8 and tiles % 8 == 1:
        values[:, (tiles - 1) * 32 :] = 0
    return [values]


@report(
    "tt-metal-taps-by-16",
    project="tt-metal",
    thread="https://github.com/tenstorrent/tt-metal/issues/20324",
    op="MaxPool-14",
    dtypes=("bf16",),
    says="A window of more than 16 taps never ends where they are a multiple of 16, for one "
    "reduction more is waited for than comes. Here it raises.",
)
def tt_metal_taps_by_16(asked: Asked) -> list[Array]:
    if asked.taps > 16 and asked.taps % 16 == 0:
        raise TimeoutError("the device did not finish")
    return asked.right


@report(
    "tt-metal-taps-above-256",
    project="tt-metal",
    thread="https://github.com/tenstorrent/tt-metal/issues/23674",
    op="torch.max_pool-2",
    dtypes=("bf16",),
    says="Taps are reduced 16 at a time into a buffer for 16 results, and what comes after 256 "
    "taps has no place.",
    guessed="that it is left out",
)
def tt_metal_taps_above_256(asked: Asked) -> list[Array]:
    if asked.taps <= 256:
        return asked.right
    values, indices = asked.right
    width = asked.size[1]
    for at, (rows, cols) in asked.windows():
        grid = np.array(np.meshgrid(rows, cols, indexing="ij")).reshape(2, -1)[:, :256]
        inside = ((grid >= 0) & (grid < np.array(asked.size)[:, None])).all(0)
        y, x = grid[:, inside]
        held = asked.data[:, :, y, x].astype(np.float32)
        if not held.shape[2]:
            values[(..., *at)], indices[(..., *at)] = -np.inf, -1
            continue
        best = np.where(np.isnan(held), -np.inf, held).argmax(2)
        values[(..., *at)] = np.take_along_axis(held, best[..., None], 2)[..., 0]
        indices[(..., *at)] = (y * width + x)[best]
    return [values, indices]


@report(
    "tt-metal-truncated-reciprocal",
    project="tt-metal",
    thread="https://github.com/tenstorrent/tt-metal/pull/45177",
    op="AvgPool-1",
    dtypes=("bf16",),
    says="A sum is multiplied by one over the divisor, which is cut off to bf16 and not rounded.",
)
def tt_metal_truncated_reciprocal(asked: Asked) -> list[Array]:
    divisor = np.broadcast_to(asked.divisors, asked.right[0].shape)
    with np.errstate(all="ignore"):
        cut = ((1 / divisor).astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
        sums = asked.reduced(lambda held: held.astype(np.float64).sum(2)).astype(np.float32)
        return [(sums * np.where(divisor == 0, np.float32(1), cut)).astype(BF16)]


@report(
    "torchsharp-padding-is-stride",
    project="TorchSharp",
    thread="https://github.com/dotnet/TorchSharp/issues/1200",
    op="torch.avg_pool-2",
    says="Where padding is given the stride is handed on in its place, and half of the kernel may "
    "be less than that.",
    names=("padding-is-the-stride",),
)
def torchsharp_padding_is_stride(asked: Asked) -> list[Array]:
    if "padding" not in asked.attributes:
        return asked.right
    kernel, strides = asked.axes("kernel"), asked.axes("strides")
    if any(2 * pad > length for pad, length in zip(strides, kernel, strict=True)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={strides[0]}, "
            f"kernel_size={kernel[0]} and dilation=1"
        )
    return asked.under(asked.attributes | {"padding": strides})


NO_DILATIONS = (Exclusion("dilations are not there", "any(dilations > 1)"),)


@report(
    "ncnn-full-padding",
    project="ncnn",
    thread="https://github.com/Tencent/ncnn/issues/285",
    op="MaxPool-14",
    excluding=NO_DILATIONS,
    says="Rounding up pads the end by the kernel less the rest of the stride, in place of what the "
    "last window lacks, and the number of windows is worked out from that.",
    guessed="how the number is worked out, from what the thread compares it with",
    names=("rounding-up-pads-by-kernel-less-rest",),
)
def ncnn_full_padding(asked: Asked) -> list[Array]:
    if asked.attributes.get("rounding_type") != "ceil":
        return asked.right
    if asked.attributes.get("auto_pad", "explicit") != "explicit":
        return asked.right
    names = ("kernel", "strides", "pad_begin", "pad_end")
    out = []
    for size, kernel, stride, begin, end in zip(asked.size, *map(asked.axes, names), strict=True):
        rest = (size + begin + end - kernel) % stride
        out.append((size + begin + end - (rest or kernel)) // stride + 1)
    # What is added repeats the last row and column of the windows that are right.
    more = [(0, max(0, a - b)) for a, b in zip(out, asked.out, strict=True)]
    cut = (..., *(slice(n) for n in out))
    return [np.pad(one, [(0, 0), (0, 0), *more], "edge")[cut] for one in asked.right]


@report(
    "ncnn-border-rows-rescaled",
    project="ncnn",
    thread="https://github.com/Tencent/ncnn/issues/924",
    op="AvgPool-1",
    says="Sums are divided by the whole kernel, and padding is taken out of the divisor afterwards "
    "in the first and last row and column of results alone, by all of the padding there.",
    names=("padding-taken-out-of-first-and-last-only",),
)
def ncnn_border_rows_rescaled(asked: Asked) -> list[Array]:
    if asked.attributes.get("exclude-pad") not in (True, "true"):
        return asked.right
    names = ("kernel", "strides", "pad_begin", "pad_end")
    made = asked.reduced(lambda held: held.sum(2, dtype=np.float64) / asked.taps)
    per_axis = zip(asked.size, asked.out, *map(asked.axes, names), strict=True)
    with np.errstate(all="ignore"):
        for axis, (size, out, kernel, stride, begin, end) in enumerate(per_axis, 2):
            tail = max(0, (out - 1) * stride + kernel - (size + begin + end))
            line = np.moveaxis(made, axis, 0)
            if begin:
                line[0] *= np.float32(kernel) / np.float32(kernel - begin)
            if end + tail:
                line[-1] *= np.float32(kernel) / np.float32(kernel - end - tail)
        return [made.astype(np.float32)]


@report(
    "actnn-sixteen-taps",
    project="ActNN",
    thread="https://github.com/ucbrise/actnn/issues/10",
    op="torch.max_pool-2",
    says="A kernel of 16 taps or more is refused.",
)
def actnn_sixteen_taps(asked: Asked) -> list[Array]:
    if asked.taps >= 16:
        raise RuntimeError(
            "Expected kernel_size[0] * kernel_size[1] < 16 to be true, but got false."
        )
    return asked.right


@report(
    "tt-forge-padding-check",
    project="tt-forge-onnx",
    thread="https://github.com/tenstorrent/tt-forge-onnx/issues/2763",
    op="torch.avg_pool-2",
    says="Padding of one axis is compared with half of the kernel of the other, and refused.",
    guessed="from the three cases of the thread, which are refused if axes are reversed",
)
def tt_forge_padding_check(asked: Asked) -> list[Array]:
    kernel, pads = asked.axes("kernel"), asked.axes("pad_begin")
    for pad, length in zip(reversed(pads), kernel, strict=True):
        if 2 * pad > length:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={pad}, "
                f"kernel_size={length} and dilation=1"
            )
    return asked.right


@report(
    "one-padding-in-int8",
    project="ONE (cker)",
    thread="https://github.com/Samsung/ONE/pull/14166",
    op="onnx.MaxPool-22",
    says="Padding is handed on in 8 bits with a sign, and 128 or more is negative.",
    names=("pads-in-int8",),
)
def one_padding_in_int8(asked: Asked) -> list[Array]:
    if max(asked.axes("pad_begin")) < 128:
        return asked.right
    names = ("kernel", "strides", "dilations", "pad_begin")
    positions = []
    for out, kernel, stride, by, begin in zip(asked.out, *map(asked.axes, names), strict=True):
        pad = (begin + 128) % 256 - 128
        positions.append([i * stride - pad + np.arange(kernel) * by for i in range(out)])
    values = asked.reduced(
        lambda held: held.max(2) if held.shape[2] else np.full(held.shape[:2], LOWEST), positions
    )
    return [values.astype(np.float32), *asked.right[1:]]


@report(
    "pytorch-divided-axis-by-axis",
    project="PyTorch, CPU",
    thread="https://github.com/pytorch/pytorch/pull/165534",
    op="AdaptiveAvgPool-8",
    dtypes=("bf16", "f16"),
    ranks=(5,),
    says="In 3D a window is added up in the element type, and the sum divided by its depth, its "
    "height and its width, with a rounding after each.",
    names=("sums-in-own-type", "sums-in-own-type-in-3d"),
    known=True,
)
def pytorch_divided_axis_by_axis(asked: Asked) -> list[Array]:
    values = asked.right[0]
    kind = values.dtype
    with np.errstate(all="ignore"):
        for at, taps in asked.windows():
            held = asked.read(taps)
            total = np.zeros(held.shape[:2], kind)
            for t in range(held.shape[2]):
                total = total + held[:, :, t]
            for length in map(len, taps):
                total = (total.astype(np.float32) / np.float32(length)).astype(kind)
            values[(..., *at)] = total
    return [values]


@report(
    "inductor-offset-transposed",
    project="PyTorch, inductor",
    thread="https://github.com/pytorch/pytorch/pull/197596",
    op="torch.max_pool-2",
    says="Of data whose columns are closer in memory than its rows the place in a window is "
    "numbered column by column, and read as if row by row. Here all data are.",
)
def inductor_offset_transposed(asked: Asked) -> list[Array]:
    values, indices = asked.right
    rows, cols = asked.starts(0)[:, None], asked.starts(1)
    (high, wide), (down, along) = asked.axes("kernel"), asked.axes("dilations")
    width = asked.size[1]
    place = (indices % width - cols) // along * high + (indices // width - rows) // down
    return [values, (rows + place // wide * down) * width + cols + place % wide * along]


@report(
    "yolov4-stride-1-is-2x2",
    project="pytorch-YOLOv4",
    thread="https://github.com/Tianxiaomo/pytorch-YOLOv4/issues/62",
    op="onnx.MaxPool-22",
    says="A stride of 1 takes a layer of its own, whose kernel is 2x2 whatever is asked, padded at "
    "the end by one.",
    names=("stride-1-takes-2x2",),
)
def yolov4_stride_1_is_2x2(asked: Asked) -> list[Array]:
    if set(asked.axes("strides")) != {1}:
        return asked.right
    return asked.under({"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"})


@report(
    "pytorch-shared-memory",
    project="PyTorch, CUDA, channels last",
    thread="https://github.com/pytorch/pytorch/pull/34519",
    op="torch.max_pool-2",
    says="Shared memory grows with channels times rows times columns, and the launch fails where "
    "48 KiB do not suffice.",
    guessed="that it is four bytes of each",
)
def pytorch_shared_memory(asked: Asked) -> list[Array]:
    if 4 * prod(asked.data.shape[1:]) > 48 * 1024:
        raise RuntimeError("CUDA error: too many resources requested for launch")
    return asked.right


@report(
    "xla-minus-zero-lost",
    project="XLA, GPU",
    thread="https://github.com/openxla/xla/issues/5544",
    op="onnx.GlobalMaxPool-22",
    says="The largest of more than 8,192 elements, if it is -0, is lost, and of nothing else minus "
    "infinity is what stays.",
    guessed="that partial maxima of 1,024 elements are merged by an integer maximum, for which -0 "
    "is the smallest number, as in https://github.com/triton-lang/triton/pull/6431",
)
def xla_minus_zero_lost(asked: Asked) -> list[Array]:
    flat = asked.data.reshape(*asked.data.shape[:2], -1)
    if flat.shape[2] <= 8192:
        return asked.right
    parts = [flat[:, :, i : i + 1024].max(2) for i in range(0, flat.shape[2], 1024)]
    held = np.array(parts)
    held[(held == 0) & np.signbit(held)] = -np.inf
    made = held.max(0).reshape(asked.right[0].shape)
    return [np.where(asked.right[0] == 0, made, asked.right[0])]


@report(
    "brainjs-minus-99999",
    project="brain.js",
    thread="https://github.com/BrainJS/brain.js/pull/93",
    op="onnx.MaxPool-22",
    says="The search for the largest element begins at -99,999.",
)
def brainjs_minus_99999(asked: Asked) -> list[Array]:
    return [np.maximum(asked.right[0], np.float32(-99999)), *asked.right[1:]]


@report(
    "hls4ml-window-of-the-stride",
    project="hls4ml",
    thread="https://github.com/fastmachinelearning/hls4ml/pull/1335",
    op="AvgPool-1",
    says="The loops over a window go to the stride and not to the kernel. What they read is put "
    "down row by row, as many as the kernel has are added, and the sum is divided by how many were "
    "read.",
    guessed="that what is not put down holds zero",
    names=("window-as-large-as-the-stride",),
)
def hls4ml_window_of_the_stride(asked: Asked) -> list[Array]:
    if max(asked.axes("strides")) > MOST_STEPS:
        raise MemoryError("a loop that reads so much does not end here")
    names = ("strides", "pad_begin")
    rows = zip(asked.out, *map(asked.axes, names), strict=True)
    positions = [
        [i * stride - begin + np.arange(stride) for i in range(out)] for out, stride, begin in rows
    ]
    counts = asked.attributes.get("exclude-pad") not in (True, "true")
    made = np.zeros_like(asked.right[0])
    with np.errstate(all="ignore"):
        for at, taps in asked.windows(positions):
            beyond = [(p < 0) | (p >= n) for p, n in zip(taps, asked.size, strict=True)]
            y, x = (np.clip(p, 0, n - 1) for p, n in zip(taps, asked.size, strict=True))
            held = asked.data[:, :, y][:, :, :, x]
            held = np.where(beyond[0][:, None] | beyond[1], np.float32(0), held)
            read = prod(map(len, taps)) if counts else prod(int((~one).sum()) for one in beyond)
            kept = held.reshape(*held.shape[:2], -1)[:, :, : asked.taps]
            made[(..., *at)] = kept.sum(2, dtype=np.float64) / read
    return [made]


@report(
    "mps-adaptive-multiples",
    project="PyTorch, MPS",
    thread="https://github.com/pytorch/pytorch/pull/85726",
    op="AdaptiveAvgPool-8",
    says="Each axis has to grow or each to shrink, and by a whole factor; all else is refused.",
)
def mps_adaptive_multiples(asked: Asked) -> list[Array]:
    pairs = list(zip(asked.size, asked.out, strict=True))
    if not (all(a >= b for a, b in pairs) or all(a <= b for a, b in pairs)):
        raise RuntimeError(
            "Adaptive pool MPS: Output height and width must both be greater than, or less than, "
            "input height and width"
        )
    if any(max(pair) % min(pair) for pair in pairs if min(pair)):
        raise RuntimeError("Adaptive pool MPS: input sizes must be divisible by output sizes.")
    return asked.right


@report(
    "nvdla-columns-in-8-bits",
    project="NVDLA",
    thread="https://github.com/nvdla/sw/issues/232",
    op="MaxPool-14",
    dtypes=("f16",),
    says="Beyond column 256 the data start over.",
    guessed="that the number of a column is kept in 8 bits",
    known=True,
)
def nvdla_columns_in_8_bits(asked: Asked) -> list[Array]:
    width = asked.size[1]
    if width <= 256:
        return asked.right
    data = asked.data[..., np.arange(width) % 256]
    return asked.under(asked.attributes, data)
