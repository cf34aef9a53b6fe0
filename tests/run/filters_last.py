"""A plain convolution of images NHWC with filters OHWI, which declares both.

Nothing here knows of another layout. As a program it speaks the protocol of `exec:`.
"""

import numpy as np
from channels_last import main

from conformance.backends import Capabilities, Exclusion, Unsupported

CAPABILITIES = Capabilities(
    operators=("onnx.Conv-22",),
    dtypes=("f32",),
    layout={"X": "NHWC", "onnx.Conv-*:W": "OIHW->OHWI", "Y": "NHWC"},
    excluding=(
        Exclusion("no padding by name", "auto_pad != NOTSET"),
        Exclusion("one group", "group != 1"),
    ),
)


class FiltersLast:
    """Convolutions of X (N, H, W, C) with W (M, KH, KW, C)."""

    name, version = "filters-last", "1"
    capabilities = CAPABILITIES

    def run(self, op, inputs, attributes):
        if op != "onnx.Conv-22":
            raise Unsupported(f"{op} is not implemented")
        images, filters, bias = inputs
        if images.shape[3] != filters.shape[3]:
            raise ValueError("other channels")
        if attributes.get("kernel_shape") not in (None, [], list(filters.shape[1:3])):
            raise ValueError("another kernel")
        strides = attributes.get("strides") or [1, 1]
        dilations = attributes.get("dilations") or [1, 1]
        pads = attributes.get("pads") or [0] * 4
        if len(pads) != 4 or min(*strides, *dilations) < 1 or min(pads) < 0:
            raise ValueError("other numbers")
        if bias is not None and bias.shape != filters.shape[:1]:
            raise ValueError("another bias")
        return [convolved(images, filters, bias, strides, dilations, pads)]


def convolved(images, filters, bias, strides, dilations, pads):
    counts = [
        count(images.shape[1 + axis], filters.shape[1 + axis], *numbers)
        for axis, numbers in enumerate(zip(strides, dilations, pads[:2], pads[2:], strict=True))
    ]
    sums = np.zeros((len(images), *counts, len(filters)))
    height, width = images.shape[1:3]
    with np.errstate(all="ignore"):
        for i, j, a, b in np.ndindex(*sums.shape[1:3], *filters.shape[1:3]):
            y = i * strides[0] + a * dilations[0] - pads[0]
            x = j * strides[1] + b * dilations[1] - pads[1]
            if 0 <= y < height and 0 <= x < width:
                sums[:, i, j] += images[:, y, x].astype(float) @ filters[:, a, b].T.astype(float)
        return (sums if bias is None else sums + bias).astype(np.float32)


def count(size, kernel, stride, dilation, begin, end):
    """The number of places of a kernel on an axis."""
    places = (size + begin + end - (kernel - 1) * dilation - 1) // stride + 1
    if places < 1:
        raise ValueError("the kernel does not fit")
    return places


if __name__ == "__main__":
    main(FiltersLast())
