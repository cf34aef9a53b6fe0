"""tinygrad's pools, run by its Python emulation, which needs no compiler."""

from __future__ import annotations

import os
from itertools import chain

from conformance.backends import Capabilities, Exclusion, framework
from conformance.errors import Unsupported


class Tinygrad:
    """``Tensor.max_pool2d``, which pools any number of axes."""

    name = "tinygrad"
    marked = True
    capabilities = Capabilities(
        operators=("MaxPool-1",),
        dtypes=("f32", "i32"),
        excluding=tuple(
            Exclusion(reason, when, op="MaxPool-1")
            for when, reason in (
                ("auto_pad not in [explicit, valid]", "padding is given in numbers"),
                ("rounding_type != floor", "windows that overrun are left out"),
                ("any(pad_begin < 0 or pad_end < 0)", "negative padding crops"),
            )
        ),
    )

    def __init__(self) -> None:
        os.environ["PYTHON"] = "1"
        from importlib.metadata import version

        from tinygrad import Tensor

        self.version = version("tinygrad")
        self._tensor = Tensor

    def run(self, op, inputs, attributes):
        """Outputs of ``op``; what is invalid is refused by tinygrad."""
        data, auto_pad = inputs[0], attributes.get("auto_pad", "explicit")
        begin, end = attributes["pads_begin"], attributes["pads_end"]
        if auto_pad == "valid":
            begin = end = [0] * (data.ndim - 2)
        if auto_pad not in ("explicit", "valid") or len(begin) != len(end):
            raise Unsupported("padding is given in numbers, in pairs")
        pads = tuple(chain.from_iterable(zip(reversed(begin), reversed(end), strict=True)))
        kernel, strides = tuple(attributes["kernel"]), tuple(attributes["strides"])
        with framework():
            tensor = self._tensor(data)
            return [tensor.max_pool2d(kernel, strides, padding=pads).numpy()]
