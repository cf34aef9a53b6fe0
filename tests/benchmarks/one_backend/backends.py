"""Backends that declare less than an operator: a C library, and one with padding modes alone."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from conformance.backends import Capabilities, Exclusion
from conformance.backends.numpy import NumPy

Array = np.ndarray[Any, Any]
PADS_BELOW_KERNEL = "auto_pad == explicit and any(pads_begin >= kernel or pads_end >= kernel)"


@cache
def library() -> ctypes.CDLL:
    """The C library, compiled."""
    folder = tempfile.mkdtemp(prefix="average-")
    source, built = Path(__file__).with_name("average.c"), Path(folder) / "average.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", built, source], check=True)
    return ctypes.CDLL(str(built))


class CLibrary:
    """Averages of f32 images in C: explicit padding below the kernel, rounding down."""

    name, version = "c-library", "1"
    capabilities = Capabilities(
        operators=("AvgPool-1",),
        dtypes=("f32",),
        ranks=(4,),
        excluding=(
            Exclusion("padding modes", "auto_pad != explicit"),
            Exclusion("rounding up", "rounding_type != floor"),
            Exclusion("padding as large as the kernel", PADS_BELOW_KERNEL),
        ),
    )

    def run(self, op: str, inputs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        """The averages. Raises ValueError for attributes that do not fit the image."""
        data = np.ascontiguousarray(inputs[0])
        lists = ("kernel", "strides", "pads_begin", "pads_end")
        if data.ndim != 4 or any(len(attributes[name]) != 2 for name in lists):
            raise ValueError("an image has two axes")
        kernel, strides, begin, end = (np.array(attributes[name], np.intp) for name in lists)
        size = np.array(data.shape[2:], np.intp)
        if min(kernel) < 1 or min(strides) < 1 or min(begin) < 0 or min(end) < 0:
            raise ValueError("kernel and strides are at least 1, padding at least 0")
        span = size + begin + end - kernel
        if min(span) < 0:
            raise ValueError("the kernel is larger than the padded image")
        out = span // strides + 1
        result = np.empty((*data.shape[:2], *out), np.float32)
        library().average(
            *(ctypes.c_void_p(array.ctypes.data) for array in (data, result)),
            ctypes.c_ssize_t(data.shape[0] * data.shape[1]),
            *(ctypes.c_void_p(a.ctypes.data) for a in (size, out, kernel, strides, begin)),
            ctypes.c_int(bool(attributes["exclude-pad"])),
        )
        return [result]


class Modes(NumPy):
    """numpy, as a framework that has same and valid padding and rounds down."""

    name = "modes"
    capabilities = Capabilities(
        operators=("AvgPool-1",),
        dtypes=("f32", "f16"),
        excluding=(
            Exclusion("explicit padding", "auto_pad == explicit"),
            Exclusion("rounding up", "rounding_type != floor"),
        ),
    )
